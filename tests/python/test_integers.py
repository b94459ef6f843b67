"""Evidence and lengths: every integer dtype means its values, and what is out of range is named."""

import types

import numpy as np
import plated
import pytest

TABLE = np.random.default_rng(0).normal(size=(3, 2, 2))
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, ">i4", ">u8", "<i2"]


def observe(states, table=TABLE):
    return plated.einsum("ixy->", table, plates="i", evidence={"x": states})


@pytest.mark.parametrize("dtype", INTEGERS)
def test_every_integer_dtype(dtype):
    expected = np.logaddexp.reduce(TABLE[[0, 1, 2], [1, 0, 1]], axis=1).sum()
    np.testing.assert_allclose(observe(np.array([1, 0, 1], dtype=dtype)), expected)
    np.testing.assert_allclose(observe(np.array([1, 7, 0, 7, 1, 7], dtype=dtype)[::2]), expected)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        (np.uint64, 2**64 - 1),
        (np.uint64, 2**63),
        (np.uint64, 2),
        (np.int64, -2),
        (np.int64, -(2**63)),
        (np.int64, 2**63 - 1),
        (np.int8, -128),
        (np.uint8, 255),
        (np.uint16, 65535),
        (np.uint32, 2**32 - 1),
        (">u8", 2**64 - 1),
    ],
)
def test_values_out_of_range_are_named(dtype, value):
    with pytest.raises(plated.ValueError, match=rf"'x' (has|have) the value {value} at index \(1\)"):
        observe(np.array([0, value, 1], dtype=dtype))
    with pytest.raises(plated.ValueError, match=rf"'x' (has|have) the value {value}, "):
        plated.marginals("x->", np.zeros(2), evidence={"x": np.array(value, dtype=dtype)})


def test_the_index_has_an_axis_for_each_plate():
    states = np.zeros((2, 3), dtype=np.uint64)
    states[1, 2] = 2**64 - 1
    with pytest.raises(plated.ValueError, match=r"at index \(1, 2\)"):
        plated.einsum("ijx->", np.zeros((2, 3, 2)), plates="ij", evidence={"x": states})


def test_255_is_a_state_of_256():
    np.testing.assert_allclose(plated.einsum("x->", np.arange(256.0), evidence={"x": np.uint8(255)}), 255.0)


def test_truth_values_are_the_states_0_and_1():
    np.testing.assert_array_equal(observe(np.array([True, False, True])), observe([1, 0, 1]))
    np.testing.assert_array_equal(plated.einsum("x->", TABLE[0, 0], evidence={"x": True}), TABLE[0, 0, 1])


@pytest.mark.parametrize(
    "states", [[0.0, 1.0, 0.0], [0, None, 1], ["0", "1", "0"], [0j, 1, 0], [0, 2**64, 1], np.zeros(3, dtype="m8[s]")]
)
def test_what_is_no_integer_is_refused(states):
    with pytest.raises(plated.DtypeError, match="evidence of 'x' has dtype .*integers are expected"):
        observe(states)


def test_ragged_rows_are_refused_by_name():
    with pytest.raises(plated.DtypeError, match="evidence of 'x' cannot be read as an array: row 1 has 2 entries"):
        observe([[0], [0, 1], [1]])


def test_shapes_of_evidence_are_checked():
    for states in [[], 0, [0, 1], [[0, 1, 0]], [0, 1, 0, 1]]:
        with pytest.raises(plated.ShapeError, match="evidence for 'x'"):
            observe(states)
    assert plated.einsum("ix->", np.zeros((0, 2)), plates="i", evidence={"x": []}) == 0.0


def test_evidence_is_any_mapping_from_names():
    expected = observe([1, -1, 0])
    np.testing.assert_array_equal(
        plated.einsum("ixy->", TABLE, plates="i", evidence=types.MappingProxyType({"x": (1, -1, 0)})), expected
    )
    for evidence in [[("x", 0)], "x", 3, {"x"}]:
        with pytest.raises(TypeError, match="evidence must be a dict"):
            plated.einsum("ixy->", TABLE, plates="i", evidence=evidence)
    with pytest.raises(TypeError, match="a name in evidence must be a str, not 3"):
        plated.einsum("ixy->", TABLE, plates="i", evidence={3: 0})


START, TURN, SEEN = np.zeros(2), np.zeros((2, 2)), np.zeros((2, 4, 2))


def ragged(lengths):
    options = {"batch": "n", "chains": {"t": ["a->b"]}}
    return plated.einsum("a,(t)ab,ntb->", START, TURN, SEEN, lengths={"t": lengths}, **options)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_lengths_of_every_integer_dtype(dtype):
    np.testing.assert_allclose(ragged(np.array([4, 2], dtype=dtype)), np.log([32, 8]))


@pytest.mark.parametrize(
    ("dtype", "value"), [(np.uint64, 2**64 - 1), (np.int64, -1), (np.int8, 5), (np.uint8, 255), (np.uint64, 2**63)]
)
def test_lengths_out_of_range_are_named(dtype, value):
    with pytest.raises(plated.ValueError, match=rf"'t' (has|have) the (length|value) {value} at index \(1\)"):
        ragged(np.array([4, value], dtype=dtype))


@pytest.mark.parametrize("lengths", [[4.0, 2.0], [True, False], [4, None]])
def test_lengths_that_are_no_integers_are_refused(lengths):
    with pytest.raises(plated.DtypeError, match="lengths of 't' have dtype"):
        ragged(lengths)
