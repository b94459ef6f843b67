"""Operands that are no arrays: lists, numbers and tables of pandas."""

import numpy as np
import plated
import pytest

TABLE = [[0.5, 1.0], [2.0, 0.25]]


def test_lists_and_numbers():
    expected = plated.einsum("x,xy,->y", np.array([1.0, 2.0]), np.array(TABLE), np.array(3.0), semiring="real")
    np.testing.assert_array_equal(plated.einsum("x,xy,->y", [1, 2], TABLE, 3, semiring="real"), expected)
    np.testing.assert_array_equal(plated.einsum("x,xy,->y", (1.0, 2.0), tuple(TABLE), 3.0, semiring="real"), expected)
    plan = plated.compile("x,xy->", (2,), (2, 2))
    np.testing.assert_array_equal(plan(f0=[0.0, 1.0], f1=TABLE), plan(np.array([0.0, 1.0]), np.array(TABLE)))


@pytest.mark.parametrize(
    ("operand", "words"),
    [
        ([[0.0, 1.0], [0.0]], "operand 0 cannot be read as an array of numbers: row 1 has 1 entry, and row 0 has 2 entries"),
        ([0.0, "a"], "operand 0 has the dtype"),
        ([True, False], "operand 0 has the dtype bool"),
        ([np.zeros(2), np.zeros(2)], r"operand 0 is a list of arrays.*numpy\.stack"),
    ],
)
def test_what_would_surprise_is_refused(operand, words):
    with pytest.raises(plated.DtypeError, match=words):
        plated.einsum("xy->", operand)


def test_rows_that_are_too_long_are_named():
    rows = [[[0, 1], [1, 1]], [[0, 0], [1, 0, 1]]]
    with pytest.raises(plated.DtypeError, match=r"evidence of 'x' cannot .*: row \(1, 1\) has 3 entries, and row \(0, 0\) has 2"):
        plated.einsum("ijkx->", np.zeros((2, 2, 2, 2)), plates="ijk", evidence={"x": rows})
    with pytest.raises(plated.DtypeError, match="row 1 is a list, and entry 0 is not"):
        plated.einsum("ix->", np.zeros((2, 2)), plates="i", lengths={"i": [1, [2]]})
    graph = plated.FactorGraph.from_equation("xy->", (2, 2))
    with pytest.raises(plated.DtypeError, match="factor 'f0' cannot .* numbers: row 1 has 1 entry"):
        plated.Model(graph, {"f0": [[0.0, 1.0], [0.0]]})


def test_pandas_tables_are_read_in_place():
    pandas = pytest.importorskip("pandas")
    array = np.array(TABLE)
    frame = pandas.DataFrame(array, columns=["a", "b"])
    np.testing.assert_array_equal(plated.einsum("xy->y", frame), plated.einsum("xy->y", array))
    np.testing.assert_array_equal(plated.einsum("x->", frame["a"]), plated.einsum("x->", array[:, 0]))
    mixed = pandas.DataFrame({"a": np.zeros(2), "b": np.zeros(2, dtype="f4")})
    with pytest.raises(plated.DtypeError, match=r"operand 0 is a DataFrame whose columns lie apart.*to_numpy\(\)"):
        plated.einsum("xy->", mixed)
    with pytest.raises(plated.DtypeError, match=r"operand 0 has the dtype int64: call to_numpy\(dtype=float\)"):
        plated.einsum("x->", pandas.Series([1, 2]))
