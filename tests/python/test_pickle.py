"""Graphs, plans and models pickle and copy, and what comes back gives the same bits."""

import copy
import multiprocessing
import pickle
import subprocess
import sys

import numpy as np
import plated
import pytest
from hypothesis import given, settings
from models import models
from test_model import sprinkler_model

RANDOM = np.random.default_rng(0)


def chained():
    """A graph whose ends are declared between other dims, with plates that are stated and links in a row."""
    graph = plated.FactorGraph()
    graph.plate("i", 3)
    graph.chain("t", 4)
    graph.batch("n", 2)
    for name in "abc":
        graph.variable(name, 2)
    graph.link("t", "b", "c")
    graph.link("t", "a", "b")
    graph.factor("start", [plated.first("a"), "i"])
    graph.variable("x", 3, ["i"])
    graph.factor("turn", ["a", "b", "c"], tied=["i", "t"])
    graph.factor("end", ["n", "i", plated.last("c"), "x"])
    graph.variable("alone", 5, ["i"])
    graph.output([])
    graph.output(["i", "x"])
    return graph


def operands(graph):
    sizes = {dim.name: dim.size for dim in graph.dims}
    return [RANDOM.normal(size=[sizes[d] for d in factor.dims]) for factor in graph.factors]


def same_graph(graph, other):
    assert other.dims == graph.dims and other.factors == graph.factors and other.outputs == graph.outputs
    assert other.chains == graph.chains and other.variable_plates() == graph.variable_plates()
    assert other.print() == graph.print()


@pytest.mark.parametrize("again", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
def test_graphs(again):
    graph = chained()
    other = again(graph)
    same_graph(graph, other)
    other.variable("more", 2)
    assert len(graph.dims) + 1 == len(other.dims)  # a copy of its own


def test_graphs_that_are_not_finished():
    graph = plated.FactorGraph()
    graph.plate("i", 3)
    graph.variable("x", 2, ["i"])
    graph.factor("f", ["x"])  # outside of its plate
    with pytest.raises(plated.PlateError):
        graph.validate()
    again = pickle.loads(pickle.dumps(graph))
    assert again.dims == graph.dims and again.factors == graph.factors


def test_distributions_and_ties_stay():
    model = sprinkler_model()
    same_graph(model.graph, pickle.loads(pickle.dumps(model.graph)))


@settings(max_examples=50, deadline=None)
@given(models())
def test_plans_of_any_equation(model):
    equation, arrays, plates = model
    try:
        plan = plated.compile(equation, *arrays, plates=plates, semiring="log", trials=16)
    except plated.IntractableError:
        return
    again = pickle.loads(pickle.dumps(plan))
    assert again.print() == plan.print()
    np.testing.assert_array_equal(again(*arrays), plan(*arrays))


@pytest.mark.parametrize("again", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
def test_plans_keep_their_options(again):
    graph = chained()
    plan = plated.compile(graph, semiring="max_plus", observable=["x"], check="none", questions=["map"], threads=1)
    other = again(plan)
    arrays = operands(graph)
    for mine, theirs in zip(plan(*arrays, evidence={"x": [0, 1, -1]}), other(*arrays, evidence={"x": [0, 1, -1]})):
        np.testing.assert_array_equal(mine, theirs)
    assert other.map(*arrays).score.tolist() == plan.map(*arrays).score.tolist()
    assert other.print() == plan.print()


@pytest.mark.parametrize("again", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
def test_models(again, repository):
    given_one = sprinkler_model(evidence={"rain": "yes"}, name="grass", labels={"wet": "wet grass"}, observed=["cloudy"])
    for model in [
        given_one,
        plated.read_model(repository / "examples" / "models" / "anesthesia.json"),
        plated.read_model(repository / "examples" / "models" / "sprinkler.bif"),
    ]:
        other = again(model)
        same_graph(model.graph, other.graph)
        for name, numbers in model.factors.items():
            np.testing.assert_array_equal(other.factors[name], numbers)
            assert other.factors[name].dtype == numbers.dtype
        for field in ["name", "space", "variables", "states", "labels", "observed", "notes", "directed"]:
            assert getattr(other, field) == getattr(model, field)
        np.testing.assert_array_equal(other.log_partition(), model.log_partition())
        for variable, table in model.marginals().items():
            np.testing.assert_array_equal(other.marginals()[variable], table)


def test_arrays_keep_their_order_in_memory(tmp_path):
    numbers = np.asfortranarray(RANDOM.normal(size=(7, 5)))
    np.save(tmp_path / "f.npy", numbers)
    (tmp_path / "m.json").write_text(
        '{"format": "plated", "version": 1, "space": "log", "variables": {"x": 7, "y": 5},'
        ' "factors": [{"name": "f", "dims": ["x", "y"], "values": {"file": "f.npy"}}]}'
    )
    model = plated.read_model(tmp_path / "m.json")
    again = pickle.loads(pickle.dumps(model))
    assert again.factors["f"].strides == model.factors["f"].strides
    np.testing.assert_array_equal(again.factors["f"], numbers)


def test_answers_about_models():
    model = sprinkler_model()
    for answer in [model.marginals(query=["rain", ("rain", "wet")]), model.sample(n=3), model.map().assignment]:
        again = pickle.loads(pickle.dumps(answer))
        assert type(again) is type(answer) and list(again) == list(answer)
        for key, array in answer.items():
            np.testing.assert_array_equal(again[key], array)


def test_another_version_is_refused(monkeypatch):
    written = [pickle.dumps(thing) for thing in (chained(), plated.compile("x->", (2,)), sprinkler_model())]
    monkeypatch.setattr(plated, "__version__", "9.9.9")
    for text in written:
        with pytest.raises(plated.FormatError, match=r"was written by plated 0\.1\.0, and this is 9\.9\.9"):
            pickle.loads(text)


def ask(plan, arrays):
    return plan(*arrays)[0]


def test_other_processes():
    plan = plated.compile(chained())
    arrays = operands(chained())
    expected = ask(plan, arrays)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for answer in pool.starmap(ask, [(plan, arrays)] * 3):
            np.testing.assert_array_equal(answer, expected)


def test_verbs():
    plan = plated.compile("x->", (2,))
    assert pickle.loads(pickle.dumps(plated.einsum)) is plated.einsum
    assert pickle.loads(pickle.dumps(plan.marginals))(np.zeros(2))["x"].tolist() == [0.5, 0.5]


def test_joblib():
    joblib = pytest.importorskip("joblib")
    model = sprinkler_model()
    answers = joblib.Parallel(n_jobs=2)(
        joblib.delayed(model.marginals)(evidence={"wet": state}) for state in ["yes", "no"]
    )
    for state, answer in zip(["yes", "no"], answers):
        np.testing.assert_array_equal(answer["rain"], model.marginals(evidence={"wet": state})["rain"])


def test_nothing_is_reported_at_exit():
    program = (
        "import sys, plated, pickle\n"
        "plan = plated.compile('x->', (2,)); sys.kept = [plan, plan.graph]; sys.kept.append(sys.kept)\n"
        "from plated import *\nassert map(str, [1]).__next__() == '1' and compile('1', '', 'eval') and einsum\n"
        "assert ValueError.__module__ == 'builtins'\n"
        "import threading; threading.local().plan = plan\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
