"""Input and output arrays: strides, element types, the caller's memory."""

import array
import ctypes

import numpy as np
import plated
import pytest

RANDOM = np.random.default_rng(0)
MATRIX = RANDOM.normal(size=(4, 6))


@pytest.mark.parametrize(
    "view",
    [
        MATRIX.T,
        MATRIX[::-1],
        MATRIX[:, ::-2],
        np.asfortranarray(MATRIX),
        np.broadcast_to(MATRIX[0], (3, 6)),
        np.broadcast_to(np.float64(0.5), (2, 3)),
        np.lib.stride_tricks.sliding_window_view(MATRIX[0], 3),
    ],
    ids=["transposed", "reversed", "every other backwards", "Fortran", "broadcast", "broadcast scalar", "overlapping"],
)
def test_any_strides_without_a_copy(view):
    weights = RANDOM.normal(size=view.shape[1])
    expected = np.logaddexp.reduce(np.ascontiguousarray(view) + weights, axis=1)
    np.testing.assert_allclose(plated.einsum("xy,y->x", view, weights), expected)


def test_read_only_arrays_are_read():
    locked = MATRIX.copy()
    locked.flags.writeable = False
    np.testing.assert_allclose(plated.einsum("xy->", locked), np.logaddexp.reduce(MATRIX.ravel()))


def test_answers_are_numpy_arrays_that_can_be_written():
    value = plated.einsum("xy->x", MATRIX)
    assert type(value) is np.ndarray and value.flags.writeable and value.flags.c_contiguous
    value += 1
    total = plated.einsum("xy->", MATRIX)
    assert type(total) is np.ndarray and total.shape == ()


def test_answers_outlive_what_made_them():
    answers = [plated.einsum("xy->x", np.full((50, 2), float(k))) for k in range(200)]
    for k, answer in enumerate(answers):
        np.testing.assert_allclose(answer, k + np.log(2))


def test_several_outputs_are_a_tuple():
    total, rows, columns = plated.einsum("xy->,x,y", MATRIX)
    np.testing.assert_allclose(total, np.logaddexp.reduce(MATRIX.ravel()))
    np.testing.assert_allclose(rows, np.logaddexp.reduce(MATRIX, axis=1))
    np.testing.assert_allclose(columns, np.logaddexp.reduce(MATRIX, axis=0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype_is_kept(dtype):
    assert plated.einsum("xy->x", MATRIX.astype(dtype)).dtype == dtype
    value, (gradient,) = plated.value_and_gradient("xy->", MATRIX.astype(dtype))
    assert value.dtype == gradient.dtype == dtype


def test_the_widest_dtype_wins():
    assert plated.einsum("xy,y->x", MATRIX.astype(np.float32), MATRIX[0]).dtype == np.float64


@pytest.mark.parametrize("dtype", ["int64", "int32", "bool", "float16", "complex128", ">f8", "datetime64[s]", "O"])
def test_other_dtypes_are_refused_by_name(dtype):
    operand = np.zeros((2, 2), dtype=dtype)
    with pytest.raises(plated.DtypeError, match="operand 1 has the dtype") as caught:
        plated.einsum("x,xy->", np.zeros(2), operand)
    assert str(operand.dtype) in str(caught.value)
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize("operand", [None, "x", object(), {0: 1.0}])
def test_what_is_no_array_is_refused(operand):
    with pytest.raises(plated.DtypeError, match="operand 0 is a .*not an array"):
        plated.einsum("x->", operand)


def test_strides_that_split_elements_are_refused():
    packed = np.zeros(4, dtype=[("tag", "i1"), ("weight", "f8")])
    with pytest.raises(plated.ShapeError, match="stride of 9 bytes"):
        plated.einsum("x->", packed["weight"])


def test_addresses_that_split_elements_are_refused():
    for dtype in ["f4", "f8"]:
        shifted = np.zeros(33, dtype="u1")[1:].view(dtype)
        with pytest.raises(plated.ShapeError, match="operand 0 begins at an address that is no multiple.*copy it"):
            plated.einsum("x->", shifted)
        np.testing.assert_allclose(plated.einsum("x->", shifted.copy()), np.log(len(shifted)), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "longdouble", "complex64", ">f4", "O", "S8", "m8[s]", "i1", "?"])
def test_numbers_of_other_dtypes_are_refused_without_axes_too(dtype):
    with pytest.raises(plated.DtypeError, match="operand 0"):
        plated.einsum("->", np.zeros((), dtype=dtype))


def test_tables_of_other_libraries_are_pointed_to_numpy():
    class Frame:
        def to_numpy(self):
            return np.zeros((2, 2))

    with pytest.raises(plated.DtypeError, match=r"operand 0 is a .*Frame.*to_numpy\(\)"):
        plated.einsum("xy->", Frame())
    np.testing.assert_allclose(plated.einsum("xy->", Frame().to_numpy()), np.log(4))


def test_buffers_of_the_standard_library():
    np.testing.assert_allclose(plated.einsum("x->", array.array("d", [0.0, 0.0])), np.log(2))
    rows = ((ctypes.c_double * 3) * 2)((0.0, 1.0, 2.0), (3.0, 4.0, 5.0))
    np.testing.assert_array_equal(plated.einsum("xy->yx", rows), np.arange(6.0).reshape(2, 3).T)
    np.testing.assert_allclose(plated.einsum("x->", memoryview(array.array("f", [0.0, 0.0]))), np.log(2), rtol=1e-6)


def test_scalars_of_numpy():
    np.testing.assert_allclose(plated.einsum(",x->", np.float64(2.0), np.zeros(2)), 2 + np.log(2))


def test_no_elements():
    assert plated.einsum("ix->", np.empty((0, 3)), plates="i") == 0.0
    assert plated.einsum("x->", np.empty(0)) == -np.inf
    assert plated.einsum("ix->ix", np.empty((0, 3)), plates="i").shape == (0, 3)
    value, (gradient,) = plated.value_and_gradient("ix->", np.empty((0, 3)), plates="i")
    assert value == 0.0 and gradient.shape == (0, 3)
    assert plated.value_and_gradient("ix->", np.empty((0, 3)), plates="i", wrt=[0])[1][0].shape == (0, 3)
    assert plated.map("ix->", np.empty((0, 3)), plates="i").assignment["x"].shape == (0,)
    assert plated.sample("ix->", np.empty((0, 3)), plates="i", n=5)["x"].shape == (5, 0)
    assert plated.sample("x->", np.zeros(2), n=0)["x"].shape == (0,)


@pytest.mark.parametrize("target", [np.empty(4), np.empty(8)[::2], np.empty(4)[::-1], np.empty(4, dtype=np.float32)])
def test_outputs_into_memory_of_the_callers(target):
    assert plated.einsum("xy->x", MATRIX, out=target) is target
    np.testing.assert_allclose(target, np.logaddexp.reduce(MATRIX, axis=1), rtol=1e-6)


def test_several_outputs_into_memory_of_the_callers():
    targets = [np.empty(()), np.empty(6)]
    plan = plated.compile("xy->,y", MATRIX)
    assert plan(MATRIX, out=targets) is targets
    np.testing.assert_array_equal(targets[1], plan(MATRIX)[1])


def test_outputs_that_cannot_be_written():
    locked = np.empty(4)
    locked.flags.writeable = False
    with pytest.raises(plated.ShapeError, match="out is read-only"):
        plated.einsum("xy->x", MATRIX, out=locked)
    with pytest.raises(plated.SizeError):
        plated.einsum("xy->x", MATRIX, out=np.empty(5))
    shared = MATRIX.copy()
    with pytest.raises(plated.OverlapError):
        plated.einsum("xy->x", shared, out=shared[:, 0])


def test_gradients_into_memory_of_the_callers():
    weights = RANDOM.normal(size=4)
    target = np.empty((6, 4)).T
    value, gradients = plated.value_and_gradient("xy,x->", MATRIX, weights, out=[target, None])
    assert gradients[0] is target and gradients[1] is None
    expected = plated.value_and_gradient("xy,x->", MATRIX, weights)
    np.testing.assert_allclose(target, expected[1][0])
    np.testing.assert_allclose(value, expected[0])


def test_one_array_is_the_place_of_one_gradient():
    target = np.empty((4, 6))
    _, (gradient,) = plated.value_and_gradient("xy->", MATRIX, out=target)
    assert gradient is target
    np.testing.assert_allclose(target.sum(), 1.0)
    with pytest.raises(plated.OperandCountError):
        plated.value_and_gradient("x,x->", MATRIX[0], MATRIX[1], out=np.empty((2, 6)))


def test_gradients_of_some_operands():
    weights = RANDOM.normal(size=4)
    everything = plated.value_and_gradient("xy,x->", MATRIX, weights)[1]
    none, some = plated.value_and_gradient("xy,x->", MATRIX, weights, wrt=[1])[1]
    assert none is None
    np.testing.assert_array_equal(some, everything[1])
    with pytest.raises(plated.OptionError, match="operand 2"):
        plated.value_and_gradient("xy,x->", MATRIX, weights, wrt=[2])


def test_cotangents():
    cotangent = RANDOM.normal(size=4)
    _, (gradient,) = plated.value_and_gradient("xy->x", MATRIX, cotangents=cotangent)
    posterior = np.exp(MATRIX - np.logaddexp.reduce(MATRIX, axis=1)[:, None])
    np.testing.assert_allclose(gradient, cotangent[:, None] * posterior)
    _, (both,) = plated.value_and_gradient("xy->x,", MATRIX, cotangents=[cotangent, np.array(2.0)])
    np.testing.assert_allclose(both, gradient + 2 * np.exp(MATRIX - np.logaddexp.reduce(MATRIX.ravel())))


def test_empty_lists_of_arrays_are_not_taken_for_none_given():
    for cotangents in [[], ()]:
        with pytest.raises(plated.OperandCountError, match="no cotangents"):
            plated.value_and_gradient("xy->", MATRIX, cotangents=cotangents)
        with pytest.raises(plated.OperandCountError, match="no cotangents"):
            plated.hessian_vector_product("xy->", MATRIX, direction=[MATRIX], cotangents=cotangents)
    with pytest.raises(plated.OperandCountError, match="out has no places"):
        plated.value_and_gradient("xy->", MATRIX, out=[])
    with pytest.raises(plated.OperandCountError):
        plated.hessian_vector_product("xy->", MATRIX, direction=[])
    with pytest.raises(plated.OperandCountError):
        plated.expectation("xy->", MATRIX, statistics=[])


def test_hessian_vector_product_against_differences():
    direction = RANDOM.normal(size=MATRIX.shape)
    tangent, (product,) = plated.hessian_vector_product("xy->", MATRIX, direction=[direction])
    step = 1e-5
    ahead, (ahead_gradient,) = plated.value_and_gradient("xy->", MATRIX + step * direction)
    behind, (behind_gradient,) = plated.value_and_gradient("xy->", MATRIX - step * direction)
    np.testing.assert_allclose(tangent, (ahead - behind) / (2 * step), rtol=1e-6)
    np.testing.assert_allclose(product, (ahead_gradient - behind_gradient) / (2 * step), rtol=1e-5, atol=1e-8)
