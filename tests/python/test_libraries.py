"""Arrays of PyTorch and JAX are read without copies, and answers are arrays of the same library."""

import subprocess
import sys

import numpy as np
import plated
import pytest

MATRIX = np.random.default_rng(0).normal(size=(4, 3))
EXPECTED = np.logaddexp.reduce(MATRIX, axis=1)


def test_plated_imports_neither_torch_nor_jax():
    program = "import sys, numpy, plated; plated.einsum('x->', numpy.zeros(2)); print('torch' in sys.modules, 'jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="PyTorch is not installed: its arrays are NOT tested here")


@pytest.fixture
def jax():
    return pytest.importorskip("jax", reason="JAX is not installed: its arrays are NOT tested here")


def test_torch(torch):
    matrix = torch.tensor(MATRIX)
    value = plated.einsum("xy->x", matrix)
    assert isinstance(value, torch.Tensor) and value.dtype == torch.float64
    np.testing.assert_allclose(value.numpy(), EXPECTED)
    np.testing.assert_allclose(plated.einsum("yx->x", matrix.T).numpy(), EXPECTED)
    assert isinstance(plated.einsum("xy->", matrix.float()), torch.Tensor)
    total, (gradient,) = plated.value_and_gradient("xy->", matrix)
    assert isinstance(gradient, torch.Tensor) and gradient.shape == (4, 3) and total.shape == ()
    assert isinstance(plated.marginals("xy->", matrix)["x"], torch.Tensor)
    best = plated.map("xy->", matrix)
    assert best.assignment["x"].dtype == torch.int64
    draws = plated.sample("xy->", matrix, n=10)
    assert draws["y"].shape == (10,) and isinstance(draws["y"], torch.Tensor)


def test_torch_writes_in_place(torch):
    matrix, target = torch.tensor(MATRIX), torch.empty(4, dtype=torch.float64)
    address = target.data_ptr()
    assert plated.einsum("xy->x", matrix, out=target) is target and target.data_ptr() == address
    np.testing.assert_allclose(target.numpy(), EXPECTED)


def test_torch_tensors_that_are_refused(torch):
    with pytest.raises(plated.DtypeError, match="operand 0 requires grad.*detach"):
        plated.einsum("xy->", torch.tensor(MATRIX, requires_grad=True))
    with torch.no_grad():
        plated.einsum("xy->", torch.tensor(MATRIX, requires_grad=True))
    with torch.no_grad(), pytest.raises(plated.DtypeError, match="out requires grad"):
        plated.einsum("xy->", torch.tensor(MATRIX), out=torch.zeros((), dtype=torch.float64, requires_grad=True))
    with pytest.raises(plated.DtypeError, match="operand 0 .*resolve_neg"):
        plated.einsum("x->", torch.zeros(2, dtype=torch.complex128).conj().imag)
    with pytest.raises(plated.DtypeError, match="operand 0 .*int64"):
        plated.einsum("x->", torch.zeros(2, dtype=torch.int64))
    with pytest.raises(plated.DtypeError, match="operand 0 .*bfloat16"):
        plated.einsum("x->", torch.zeros(2, dtype=torch.bfloat16))
    with pytest.raises(plated.DtypeError, match="operand 0 .*meta"):
        plated.einsum("x->", torch.zeros(2, device="meta"))
    with pytest.raises(plated.DtypeError, match="operand 0 "):
        plated.einsum("x->", torch.zeros(2).to_sparse())
    masked = torch.masked.masked_tensor(torch.zeros(2), torch.tensor([True, False]))
    with pytest.raises(plated.NullDataError, match="operand 0 is a .*MaskedTensor.* no elements in memory"):
        plated.einsum("x->", masked)


def test_evidence_of_torch(torch):
    table = torch.tensor(MATRIX)
    assert plated.einsum("xy->", table, evidence={"x": torch.tensor(1), "y": torch.tensor(2)}) == table[1, 2]
    with pytest.raises(plated.ValueError, match="'x' has the value 18446744073709551615"):
        plated.einsum("xy->", table, evidence={"x": torch.tensor(2**64 - 1, dtype=torch.uint64)})
    with pytest.raises(plated.DtypeError, match="evidence of 'x'"):
        plated.einsum("xy->", table, evidence={"x": torch.tensor(1, device="meta")})


def test_numpy_beside_torch_answers_in_torch(torch):
    assert isinstance(plated.einsum("xy,x->", MATRIX, torch.zeros(4, dtype=torch.float64)), torch.Tensor)


def test_jax(jax):
    matrix = jax.numpy.asarray(MATRIX, dtype=jax.numpy.float32)
    value = plated.einsum("xy->x", matrix)
    assert isinstance(value, jax.Array) and value.dtype == np.float32
    np.testing.assert_allclose(np.asarray(value), EXPECTED, rtol=1e-5)
    assert isinstance(plated.value_and_gradient("xy->", matrix)[1][0], jax.Array)
    assert isinstance(plated.map("xy->", matrix).assignment["x"], jax.Array)
    assert isinstance(plated.sample("xy->", matrix, n=3)["x"], jax.Array)
    with pytest.raises(plated.DtypeError, match="operand 0 .*int32"):
        plated.einsum("x->", jax.numpy.zeros(2, dtype="int32"))
    with pytest.raises(plated.Error):
        jax.jit(lambda x: plated.einsum("x->", x))(jax.numpy.zeros(2))
    target = jax.numpy.ones(())
    with pytest.raises(plated.ShapeError, match="out is an array of JAX, which nobody may write to"):
        plated.einsum("xy->", matrix, out=target)
    assert target == 1.0
