"""plated.fit, plated.expected_counts, Model.evaluate and plated.Estimator."""

import pickle

import numpy as np
import pandas as pd
import pytest

import plated


def votes_model(items=3, annotators=2):
    graph = plated.FactorGraph()
    graph.plate("item", items)
    graph.plate("annotator", annotators)
    graph.variable("truth", 2, plates=["item"])
    graph.variable("vote", 2, plates=["item", "annotator"])
    graph.factor("prior", ["truth"], tied=["item"], distribution_of="truth")
    graph.factor("confusion", ["annotator", "truth", "vote"], tied=["item"], distribution_of="vote")
    table = np.tile([[0.8, 0.2], [0.3, 0.7]], (annotators, 1, 1))
    return plated.Model(graph, {"prior": [0.5, 0.5], "confusion": table}, space="real", states={"truth": ["no", "yes"]})


def by_hand(votes, prior, confusion, steps):
    """Dawid and Skene's EM."""
    history = []
    for _ in range(steps):
        likelihood = np.ones((len(votes), 2))
        for a in range(votes.shape[1]):
            seen = votes[:, a] >= 0
            likelihood[seen] *= confusion[a][:, votes[seen, a]].T
        joint = prior * likelihood
        history.append(np.log(joint.sum(1)).sum())
        posterior = joint / joint.sum(1, keepdims=True)
        prior = posterior.sum(0) / len(votes)
        counts = np.zeros_like(confusion)
        for a in range(votes.shape[1]):
            for v in range(2):
                counts[a, :, v] = posterior[votes[:, a] == v].sum(0)
        confusion = counts / counts.sum(2, keepdims=True)
    return prior, confusion, history


@pytest.fixture
def votes():
    random = np.random.default_rng(1)
    truth = random.integers(2, size=50)
    noisy = np.where(random.random((50, 4)) < 0.75, truth[:, None], 1 - truth[:, None])
    return np.where(random.random((50, 4)) < 0.2, -1, noisy).astype(np.int8)


def test_agrees_with_numpy(votes):
    model = votes_model(50, 4)
    fit = plated.fit(model, {"vote": votes}, iterations=8, tolerance=0, accelerate=False)
    prior, confusion, history = by_hand(votes, model.factors["prior"], model.factors["confusion"], 8)
    np.testing.assert_allclose(fit.model.factors["prior"], prior, atol=1e-12)
    np.testing.assert_allclose(fit.model.factors["confusion"], confusion, atol=1e-12)
    np.testing.assert_allclose(fit.history[:8], history, atol=1e-9)
    assert len(fit.history) == 9
    assert fit.history[-1] == fit.log_likelihood == fit.objective
    assert (fit.parameters, fit.observations) == (9, 50)
    assert fit.aic == 2 * 9 - 2 * fit.log_likelihood
    assert fit.bic == pytest.approx(9 * np.log(50) - 2 * fit.log_likelihood)
    assert fit.model.space == "real"
    assert "swapped" in fit.notes[0]


def test_restarts_learn_and_progress(votes):
    told = []
    options = dict(restarts=4, iterations=50, seed=5)
    fit = plated.fit(votes_model(1, 4), {"vote": votes}, **options, progress=lambda *now: told.append(now))
    assert len(fit.restarts) == 4 and fit.restarts[fit.best].objective == fit.objective == max(r.objective for r in fit.restarts)
    assert {restart for restart, _, _ in told} == {0, 1, 2, 3}
    assert list(fit.to_pandas().columns) == ["objective", "iterations", "converged"]
    again = plated.fit(votes_model(1, 4), {"vote": votes}, **options, threads=1)
    assert again.history == fit.history
    fixed = plated.fit(votes_model(1, 4), {"vote": votes}, learn=["confusion"])
    np.testing.assert_array_equal(fixed.model.factors["prior"], [0.5, 0.5])
    table = pd.DataFrame(votes).mask(votes < 0)
    assert plated.fit(votes_model(1, 4), {"vote": table}, **options).history == fit.history
    assert pickle.loads(pickle.dumps(fit)).history == fit.history


def test_what_a_progress_function_raises_ends_the_fit(votes):
    def stop(*now):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        plated.fit(votes_model(1, 4), {"vote": votes}, iterations=10**9, tolerance=0, accelerate=False, progress=stop)


def test_expected_counts_and_scores(votes):
    model = votes_model(50, 4)
    counts = plated.expected_counts(model, {"vote": votes})
    assert list(counts) == ["prior", "confusion"]
    assert counts["prior"].sum() == pytest.approx(50)
    np.testing.assert_allclose(counts["confusion"].sum((1, 2)), (votes >= 0).sum(0))
    score = model.evaluate({"vote": votes}, plate="item")
    assert score.cells == (votes >= 0).sum()
    assert score.slices.sum() == pytest.approx(score.log_likelihood)
    _, _, history = by_hand(votes, model.factors["prior"], model.factors["confusion"], 1)
    assert score.log_likelihood == pytest.approx(history[0])


def test_held_out_data_and_folds(votes):
    model = votes_model(1, 4)
    fit = plated.fit(model, {"vote": votes[:40]}, pseudo_count=0.5, held_out={"vote": votes[40:]}, cross_validate={"item": 4}, seed=2)
    assert fit.held_out == fit.model.evaluate({"vote": votes[40:]}).log_likelihood
    assert sorted(slice for fold in fit.folds for slice in fold.slices) == list(range(40))
    for fold in fit.folds:
        others = plated.fit(model, {"vote": np.delete(votes[:40], fold.slices, axis=0)}, pseudo_count=0.5)
        held_out = others.model.evaluate({"vote": votes[fold.slices]})
        assert fold.log_likelihood == pytest.approx(held_out.log_likelihood)
        assert fold.cells == held_out.cells
    assert fit.cross_validated == pytest.approx(sum(fold.log_likelihood for fold in fit.folds))
    assert pickle.loads(pickle.dumps(fit)).folds == fit.folds
    plain = plated.fit(model, {"vote": votes}, iterations=2)
    assert (plain.held_out, plain.folds, plain.cross_validated) == (None, [], None)
    with pytest.raises(plated.OptionError, match="is learnt and has an axis for plate 'annotator'"):
        plated.fit(model, {"vote": votes}, cross_validate={"annotator": 2})
    with pytest.raises(TypeError, match="cross_validate must be a mapping from a name"):
        plated.fit(model, {"vote": votes}, cross_validate=5)


def test_numbers_of_states():
    random = np.random.default_rng(4)
    truth = random.integers(3, size=400)
    votes = np.where(random.random((400, 6)) < 0.8, truth[:, None], random.integers(3, size=(400, 6)))
    graph = plated.FactorGraph()
    graph.plate("item", 1)
    graph.plate("annotator", 6)
    graph.variable("truth", 2, plates=["item"])
    graph.variable("vote", 3, plates=["item", "annotator"])
    graph.factor("prior", ["truth"], tied=["item"], distribution_of="truth")
    graph.factor("confusion", ["truth", "vote"], tied=["item", "annotator"], distribution_of="vote")
    model = plated.Model(graph, {}, space="real", learn=["prior", "confusion"])
    fit = plated.fit(model, {"vote": votes}, vary={"truth": range(1, 6)}, restarts=4, cross_validate={"item": 2})
    assert [row.states for row in fit.varied] == [1, 2, 3, 4, 5]
    assert [row.parameters for row in fit.varied] == [2, 5, 8, 11, 14]
    assert fit.bic == min(row.bic for row in fit.varied) == fit.varied[2].bic
    assert fit.cross_validated == fit.varied[2].cross_validated
    assert fit.model.factors["confusion"].shape == (3, 3)
    assert pickle.loads(pickle.dumps(fit)).varied == fit.varied
    alone = plated.fit(model, {"vote": votes}, vary={"truth": 4}, restarts=4)
    assert alone.log_likelihood == fit.varied[3].log_likelihood
    with pytest.raises(plated.OptionError, match="the number of states of 'vote' cannot be varied: it has data"):
        plated.fit(model, {"vote": votes}, vary={"vote": [2, 3]})


def test_standard_errors():
    graph = plated.FactorGraph()
    graph.plate("i", 1)
    graph.variable("coin", 2, plates=["i"])
    graph.factor("bias", ["coin"], tied=["i"], distribution_of="coin")
    for space, start in [("real", [0.5, 0.5]), ("log", np.log([0.5, 0.5]))]:
        model = plated.Model(graph, {"bias": start}, space=space)
        fit = plated.fit(model, {"coin": [0, 1, 1, 1]}, standard_errors=True)
        np.testing.assert_allclose(fit.standard_errors["bias"], np.sqrt(0.25 * 0.75 / 4))
        assert plated.fit(model, {"coin": [0, 1, 1, 1]}).standard_errors == {}
        certain = plated.fit(model, {"coin": [1, 1]}, standard_errors=True)
        np.testing.assert_array_equal(certain.standard_errors["bias"], 0)
        assert "factor 'bias': entries (0) are zero, at the boundary" in certain.notes[0]


def test_models_say_what_is_learnt():
    graph = votes_model().graph
    model = plated.Model(graph, {"prior": [0.5, 0.5]}, space="real", learn=["confusion"], prior={"confusion": 0.5})
    assert model.learning["confusion"]["started"] is False
    assert pickle.loads(pickle.dumps(model)).learning["confusion"]["prior"] == 0.5
    fit = plated.fit(model, {"vote": [[0, 1], [1, 1], [0, 0]]}, seed=3)
    np.testing.assert_array_equal(fit.model.factors["prior"], [0.5, 0.5])
    assert fit.model.learning["confusion"]["started"] is True


def test_refusals():
    model = votes_model()
    with pytest.raises(plated.OptionError, match="no data"):
        plated.fit(model)
    with pytest.raises(plated.ValueError, match="has the value 2 at index"):
        plated.fit(model, {"vote": [[0, 1], [2, 1], [0, 0]]})
    with pytest.raises(plated.ValueError, match="all data of 'vote' are missing"):
        plated.fit(model, {"vote": np.full((3, 2), -1)})
    with pytest.raises(plated.UnknownNameError, match="no factor 'x' to learn"):
        plated.fit(model, {"vote": np.zeros((3, 2), int)}, learn="x")
    with pytest.raises(TypeError, match="tolerance must be a number"):
        plated.fit(model, {"vote": np.zeros((3, 2), int)}, tolerance="small")


def test_estimator(votes):
    estimator = plated.Estimator(votes_model(1, 4), "truth", iterations=100)
    assert estimator.fit({"vote": votes}) is estimator
    posterior = estimator.predict_proba({"vote": votes[:7]})
    assert posterior.shape == (7, 2)
    np.testing.assert_allclose(posterior.sum(1), 1)
    assert list(estimator.predict({"vote": votes[:7]})) == ["yes" if p[1] > p[0] else "no" for p in posterior]
    assert estimator.score({"vote": votes}) == pytest.approx(estimator.fit_.log_likelihood / (votes >= 0).sum())
    assert estimator.score({"vote": votes}, estimator.predict({"vote": votes})) == 1
    assert estimator.sample(n=3)["vote"].shape[0] == 3
    assert estimator.get_params()["iterations"] == 100
    with pytest.raises(AttributeError, match="not fitted"):
        plated.Estimator(votes_model()).score({"vote": votes})
