"""Evidence of models as people hold it: names, numbers, truth values, lists, masked arrays, and what is missing."""

import numpy as np
import plated
import pytest


def model(states=None, size=3, plate=4):
    graph = plated.FactorGraph()
    graph.plate("i", plate)
    graph.variable("x", size)
    graph.factor("f", ["x"], tied=["i"])
    return plated.Model(graph, {"f": np.arange(1.0, size + 1)}, space="real", states=states)


NAMED = {"x": ["low", "mid", "high"]}
GIVEN = [
    ["low", "high", None, "mid"],
    ["low", "high", float("nan"), "mid"],
    ["low", 2, -1, "1"],
    [0, 2, -1, 1],
    np.array(["low", "high", None, "mid"], dtype=object),
    np.ma.masked_array(["low", "high", "none of them", "mid"], mask=[0, 0, 1, 0]),
    np.ma.masked_array([0, 2, 99, 1], mask=[0, 0, 1, 0]),
    np.array([0, 2, -1, 1], dtype=np.int8),
    (0, 2, None, np.int16(1)),
]


@pytest.mark.parametrize("states", GIVEN, ids=str)
def test_evidence(states):
    expected = np.log([1, 3, 6, 2]).sum()
    np.testing.assert_allclose(model(NAMED).log_partition(evidence={"x": states}), expected)
    np.testing.assert_array_equal(
        model(NAMED).map(evidence={"x": states}).assignment["x"], [0, 2, 2, 1]
    )  # what is not observed has its best state


def test_arrays_of_names():
    states = np.array(["low", "high", "high", "mid"])
    np.testing.assert_allclose(model(NAMED).log_partition(evidence={"x": states}), np.log([1, 3, 3, 2]).sum())


def test_unknown_states_are_told_the_legal_ones():
    with pytest.raises(plated.UnknownNameError, match="'x' has no state 'hihg': its states are 'low', 'mid', 'high'"):
        model(NAMED).marginals(evidence={"x": ["low", "hihg", "low", "low"]})
    with pytest.raises(plated.UnknownNameError, match="'x' has no state 'low': its states are 0 … 2"):
        model().marginals(evidence={"x": ["low"] * 4})
    with pytest.raises(plated.ValueError, match=r"'x' has the value 3 at index \(1\), and its states are 0 … 2"):
        model(NAMED).marginals(evidence={"x": [0, 3, 0, 0]})
    with pytest.raises(plated.UnknownNameError, match="no variable 'y' to observe"):
        model(NAMED).marginals(evidence={"y": 0})


@pytest.mark.parametrize("states", [[0.0, 1.0, 2.0, 0.0], [0, 1j, 2, 0], [0, [1], 2, 0], [0, {}, 2, 0]])
def test_what_is_neither_name_nor_number(states):
    with pytest.raises(plated.DtypeError, match="evidence of 'x'"):
        model(NAMED).log_partition(evidence={"x": states})


def test_shapes():
    for states in [0, "low", [0, 1], [[0, 1, 2, 0]]]:
        with pytest.raises(plated.ShapeError, match=r"evidence of 'x' has the shape .*it is in \{'i'\}: \(4\) is expected"):
            model(NAMED).marginals(evidence={"x": states})


def test_nothing_observed_in_any_slice():
    observed = plated.Model(model().graph, {"f": [1.0, 2.0, 3.0]}, space="real", evidence={"x": [0, 0, 0, 0]})
    for nothing in [None, float("nan"), np.ma.masked, -1]:
        np.testing.assert_allclose(observed.log_partition(evidence={"x": nothing}), 4 * np.log(6))


def test_truth_values_are_states_of_that_name():
    yes = model({"x": ["true", "false"]}, size=2)
    np.testing.assert_allclose(yes.log_partition(evidence={"x": [True, True, False, True]}), np.log(2))
    np.testing.assert_allclose(model(size=2).log_partition(evidence={"x": np.array([1, 1, 0, 1], dtype=bool)}), np.log(8))
    with pytest.raises(plated.UnknownNameError, match="no state 'True': its states are 'yes', 'no'"):
        model({"x": ["yes", "no"]}, size=2).log_partition(evidence={"x": [True, True, False, True]})
