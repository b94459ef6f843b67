"""Data in rows, and rows with weights."""

import pickle

import numpy as np
import pytest

import plated


def votes_model(count, annotators):
    graph = plated.FactorGraph()
    graph.plate("item", count)
    graph.plate("annotator", annotators)
    graph.variable("truth", 2, plates=["item"])
    graph.variable("vote", 2, plates=["item", "annotator"])
    graph.factor("prior", ["truth"], tied=["item"], distribution_of="truth")
    graph.factor("votes", ["annotator", "truth", "vote"], tied=["item"], distribution_of="vote")
    tables = {"prior": [0.4, 0.6], "votes": [[[0.8, 0.2], [0.3, 0.7]]] * annotators}
    return plated.Model(graph, tables, space="real", states={"vote": ["no", "yes"]})


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64"])
def test_lists_of_rows(dtype):
    random = np.random.default_rng(1)
    dense = random.integers(-1, 2, size=(30, 4))
    dense[-1, 0] = 1
    item, annotator = np.nonzero(dense >= 0)
    order = random.permutation(len(item))
    item, annotator = item[order].astype(dtype), annotator[order].astype(dtype)
    rows = plated.Long(dense[item, annotator].astype(dtype), item=item, annotator=annotator)
    arrays = plated.fit(votes_model(30, 4), {"vote": dense}, iterations=5, accelerate=False)
    lists = plated.fit(votes_model(1, 4), {"vote": rows}, iterations=5, accelerate=False)
    np.testing.assert_allclose(lists.history, arrays.history, rtol=1e-12)
    np.testing.assert_allclose(lists.model.factors["votes"], arrays.model.factors["votes"])
    names = plated.Long([["no", "yes"][k] for k in rows.states], item=item.tolist(), annotator=annotator.tolist())
    assert plated.fit(votes_model(1, 4), {"vote": names}, iterations=5, accelerate=False).history == lists.history
    model = votes_model(30, 4)
    with_rows = plated.Model(model.graph, model.factors, space="real", evidence={"vote": rows})
    with_array = plated.Model(model.graph, model.factors, space="real", evidence={"vote": dense})
    assert with_rows.log_partition() == pytest.approx(with_array.log_partition())
    np.testing.assert_allclose(with_rows.marginals(query=["truth"])["truth"], with_array.marginals(query=["truth"])["truth"])
    assert model.evaluate({"vote": rows}).log_likelihood == pytest.approx(float(with_array.log_partition()))
    assert (with_rows.evidence["vote"].states == rows.states).all()
    again = pickle.loads(pickle.dumps(with_rows))
    assert again.log_partition() == with_rows.log_partition()
    assert list(with_rows.marginals()) == ["truth"]
    assert plated.fit(with_rows, iterations=2).history == plated.fit(model, {"vote": rows}, iterations=2).history
    with pytest.raises(TypeError, match="plated.Long is evidence of plated.Model"):
        model.log_partition(evidence={"vote": rows})
    with pytest.raises(plated.ShapeError, match="do not say which slice of 'annotator'"):
        plated.fit(model, {"vote": plated.Long([0, 1], item=[0, 1])})


def test_weights_are_copies():
    data = np.array([[0, 1, 1, 0], [1, 1, 0, 0], [0, 0, 0, 1]])
    copies = plated.fit(votes_model(6, 4), {"vote": data[[0, 1, 1, 2, 2, 2]]}, iterations=5)
    weighted = plated.fit(votes_model(3, 4), {"vote": data}, weights={"item": [1, 2, 3]}, iterations=5)
    np.testing.assert_allclose(weighted.history, copies.history, rtol=1e-12)
    assert weighted.observations == 6


def test_batches():
    random = np.random.default_rng(2)
    truth = random.integers(0, 2, size=(300, 1))
    data = np.where(random.random((300, 4)) < 0.8, truth, 1 - truth)
    whole = plated.fit(votes_model(300, 4), {"vote": data})
    batches = plated.fit(votes_model(300, 4), {"vote": data}, batch={"item": 25}, iterations=60, tolerance=0, seed=1)
    assert 0 <= whole.log_likelihood - batches.log_likelihood + 1e-6 < 0.05
    assert batches.restarts[0].iterations == 60
    item, annotator = np.indices(data.shape).reshape(2, -1)
    rows = plated.Long(data.ravel(), item=item, annotator=annotator)
    lists = plated.fit(votes_model(300, 4), {"vote": rows}, batch={"item": 25}, iterations=60, tolerance=0, seed=1)
    np.testing.assert_allclose(lists.history, batches.history, rtol=1e-9)
    with pytest.raises(plated.OptionError, match="has an axis for it"):
        plated.fit(votes_model(300, 4), {"vote": data}, batch={"annotator": 2})
