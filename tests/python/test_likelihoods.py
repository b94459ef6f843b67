"""Likelihoods of observed numbers in plated.Model, plated.fit, verbs and plated.Estimator."""

import pickle

import numpy as np
import pandas as pd
import pytest

import plated


def mixture(**more):
    graph = plated.FactorGraph()
    graph.plate("row", 1)
    graph.variable("kind", 2, plates=["row"])
    graph.factor("kinds", ["kind"], tied=["row"], distribution_of="kind")
    graph.factor("sizes", ["kind"], tied=["row"])
    start = {"family": "normal", "of": "size", "mean": [0.0, 4.0], "deviation": 1.0}
    return plated.Model(graph, {"kinds": [0.5, 0.5]}, space="real", likelihoods={"sizes": start}, **more)


def by_hand(x, steps):
    """EM of a mixture of two normal distributions; NaN says nothing."""
    share, mean, deviation = np.full(2, 0.5), np.array([0.0, 4.0]), np.ones(2)
    history = []
    for _ in range(steps + 1):
        density = np.exp(-0.5 * ((x[:, None] - mean) / deviation) ** 2) / deviation / np.sqrt(2 * np.pi)
        joint = share * np.where(np.isnan(x)[:, None], 1, density)
        history.append(np.log(joint.sum(1)).sum())
        posterior = joint / joint.sum(1, keepdims=True)
        share = posterior.mean(0)
        seen = ~np.isnan(x)
        weight = posterior[seen].sum(0)
        mean = (posterior[seen] * x[seen, None]).sum(0) / weight
        deviation = np.sqrt((posterior[seen] * (x[seen, None] - mean) ** 2).sum(0) / weight)
    return history


def test_fit_agrees_with_em_by_hand():
    x = np.array([0.5, -0.2, 3.1, np.nan, 4.4, 5.2, 0.1])
    fit = plated.fit(mixture(), {"size": x}, iterations=5, tolerance=0, accelerate=False)
    np.testing.assert_allclose(fit.history, by_hand(x, 5), rtol=1e-12)
    assert fit.parameters == 5
    found = fit.model.likelihoods["sizes"]
    assert found["family"] == "normal" and found["of"] == "size" and not found["zero_inflated"]
    assert found["mean"].shape == (2,)
    assert "sizes" not in fit.model.factors


def test_batches_reach_the_optimum():
    random = np.random.default_rng(0)
    x = np.where(random.random(1000) < 0.4, random.normal(-1, 0.5, 1000), random.normal(5, 1, 1000))
    x[::13] = np.nan
    at_once = plated.fit(mixture(), {"size": x})
    batches = plated.fit(mixture(), {"size": x}, batch={"row": 50}, iterations=50, tolerance=0)
    assert 0 <= at_once.log_likelihood - batches.log_likelihood + 1e-6 < 0.2
    found, wanted = (fit.model.likelihoods["sizes"]["mean"] for fit in (batches, at_once))
    np.testing.assert_allclose(found, wanted, atol=0.05)


def test_standard_errors_of_parameters():
    x = np.array([1.0, 2, 4, 5, 8])
    graph = plated.FactorGraph()
    graph.plate("row", 1)
    graph.factor("sizes", [], tied=["row"])
    model = plated.Model(graph, {}, likelihoods={"sizes": {"family": "normal", "of": "size"}})
    errors = plated.fit(model, {"size": x}, standard_errors=True).likelihood_errors["sizes"]
    assert float(errors["mean"]) == pytest.approx(x.std() / np.sqrt(5))
    assert float(errors["deviation"]) == pytest.approx(x.std() / np.sqrt(10))
    assert plated.fit(model, {"size": x}).likelihood_errors == {}
    far = np.concatenate([x, x + 100])
    fit = plated.fit(mixture(), {"size": far}, standard_errors=True)
    np.testing.assert_allclose(fit.likelihood_errors["sizes"]["mean"], [x.std() / np.sqrt(5)] * 2, rtol=1e-6)
    np.testing.assert_allclose(fit.standard_errors["kinds"], [0.5 / np.sqrt(10)] * 2, rtol=1e-6)


def test_models_hold_numbers():
    model = mixture(measurements={"size": [5.0]})
    ratio = np.exp(-0.5) / np.exp(-0.5 * 25)
    assert model.marginals()["kind"][0, 1] == pytest.approx(ratio / (1 + ratio))
    again = pickle.loads(pickle.dumps(model))
    assert again.marginals()["kind"][0, 1] == model.marginals()["kind"][0, 1]
    np.testing.assert_array_equal(again.measurements["size"], [5.0])


def test_files_hold_likelihoods(tmp_path):
    plated.write_model(mixture(measurements={"size": [np.nan]}), tmp_path / "m.json")
    read = plated.read_model(tmp_path / "m.json")
    np.testing.assert_array_equal(read.likelihoods["sizes"]["mean"], [0, 4])
    assert np.isnan(read.measurements["size"][0])


def test_estimator_predicts_from_numbers():
    table = pd.DataFrame({"size": [0.1, -0.4, 4.2, 3.9, 0.3, None]})
    estimator = plated.Estimator(mixture(), "kind").fit(table)
    np.testing.assert_array_equal(estimator.predict({"size": [4.5, 0.0]}), [1, 0])
    assert np.isfinite(estimator.score(table))
    assert set(estimator.sample(3)) >= {"kind"}


def test_what_makes_no_sense_is_refused():
    with pytest.raises(plated.ValueError, match=r"have inf at \(1\)"):
        plated.fit(mixture(), {"size": [0.0, np.inf]})
    with pytest.raises(plated.OptionError, match="no family 'gauss'"):
        graph = plated.FactorGraph()
        graph.variable("k", 2)
        graph.factor("f", ["k"])
        plated.Model(graph, {}, likelihoods={"f": {"family": "gauss"}})
