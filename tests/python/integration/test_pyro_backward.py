"""Pyro's adjoint algebra on Plated: what the backward pass leaves at tensors marked by require_backward."""

import pytest

torch = pytest.importorskip("torch")
pyro = pytest.importorskip("pyro")
pytest.importorskip("plated")
import plated.pyro  # noqa: E402
import pyro.ops.contract as contract  # noqa: E402
from pyro.ops import packed  # noqa: E402
from pyro.ops.einsum.adjoint import require_backward  # noqa: E402

ADJOINTS = [("a,a->", ""), ("ab,bc->", ""), ("ab,bc->b", ""), ("a,abi,bcij->", "ij"), ("ai,abij,acik->i", "ijk")]
BACKWARD = "pyro.ops.einsum.torch_"


def backward_results(equation, plates, operands, backend):
    """What Pyro's backward pass leaves at operands that are all marked."""
    inputs, output = equation.split("->")
    marked = []
    for dims, operand in zip(inputs.split(","), operands):
        marked.append(operand.clone())
        marked[-1]._pyro_dims = dims
        require_backward(marked[-1])
    (result,) = contract.einsum(equation, *marked, plates=plates, modulo_total=True, backend=BACKWARD + backend)
    result._pyro_backward()
    return [tensor._pyro_backward_result for tensor in marked]


def adjoint_operands(equation):
    sizes = dict(zip("abcijk", (2, 3, 4, 2, 3, 2)))
    return [torch.randn([sizes[dim] for dim in dims]) for dims in equation.split("->")[0].split(",")]


@pytest.mark.parametrize("equation, plates", [case for case in ADJOINTS if not case[0].endswith("->b")])
def test_marked_tensors_get_their_marginals(equation, plates):
    operands = adjoint_operands(equation)
    expected = backward_results(equation, plates, operands, "marginal")
    with plated.pyro.installed():
        found = backward_results(equation, plates, operands, "marginal")
    for dims, one, other in zip(equation.split("->")[0].split(","), found, expected):
        if not equation.endswith("->"):  # a result in plates has marginals up to a scale in each slice
            summed = [axis for axis, dim in enumerate(dims) if dim not in plates]
            one, other = (table - table.logsumexp(summed, keepdim=True) for table in (one, other))
        torch.testing.assert_close(one, other)


def indices_by_dim(results):
    """The indices of each summed dim, which marked tensors must agree on, by sorted dims."""
    found = {}
    for result in results:
        dims = result._pyro_dims[1:]
        for dim, index in zip(result._pyro_sample_dims, result):
            index._pyro_dims = dims
            found.setdefault(dim, []).append(index)
    return found


@pytest.mark.parametrize("equation, plates", ADJOINTS)
def test_marked_tensors_get_the_best_indices(equation, plates):
    operands = adjoint_operands(equation)
    expected = indices_by_dim(backward_results(equation, plates, operands, "map"))
    with plated.pyro.installed():
        found = indices_by_dim(backward_results(equation, plates, operands, "map"))
    assert found.keys() == expected.keys()
    for dim in expected:
        for one in found[dim]:
            for other in expected[dim]:
                assert torch.equal(*packed.broadcast_all(one, other))


def test_marked_tensors_get_samples():
    pyro.set_rng_seed(0)
    a, ai = torch.tensor([0.25, 0.75]).log(), torch.zeros(2, 3)
    with plated.pyro.installed():
        drawn = [backward_results("a,ai->", "i", [a, ai], "sample") for _ in range(2000)]
    assert all(one[0].item() == other[0].item() for one, other in drawn)
    assert abs(sum(one[0].item() for one, _ in drawn) / len(drawn) - 0.75) < 0.04


def test_a_marked_result_is_not_contracted_twice():
    a = torch.randn(2)
    a._pyro_dims = "a"
    require_backward(a)
    with plated.pyro.installed():
        (result,) = contract.einsum("a->a", a, modulo_total=True, backend=BACKWARD + "map")
        with pytest.raises(NotImplementedError, match="in one call"):
            list(result._pyro_backward.process(torch.zeros(1, dtype=torch.long)))
