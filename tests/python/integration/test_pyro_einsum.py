"""pyro.ops.contract's functions on Plated, against Pyro's own and against its naive unroller."""

import warnings
from collections import OrderedDict

import pytest

torch = pytest.importorskip("torch")
pyro = pytest.importorskip("pyro")
pytest.importorskip("plated")
import plated.pyro  # noqa: E402
import pyro.ops.contract as contract  # noqa: E402

LOG = "pyro.ops.einsum.torch_log"
EQUATIONS = [
    ("->", ""),
    ("a->", ""),
    ("ab,bc->a,b,c", ""),
    ("a,abi->", "i"),
    ("ab,ai,bi->b", "i"),
    ("abi,abi->bi", "i"),
    ("a,abi,bcij->", "ij"),
    ("a,abi,bcij->a,bi,bcij,cij", "ij"),
    ("ai,aij,bj->", "ij"),
    ("a,abi,acj->bi,cj", "ij"),
]
SIZES = dict(zip("abcij", (2, 3, 2, 3, 2)))


def operands_of(equation):
    inputs = equation.split("->")[0].split(",")
    return [torch.randn([SIZES[dim] for dim in dims]) for dims in inputs]


@pytest.mark.parametrize("backend", ["torch", LOG])
@pytest.mark.parametrize("equation, plates", EQUATIONS)
def test_einsum_is_the_unrolled_contraction(equation, plates, backend):
    operands = operands_of(equation)
    if backend == "torch":
        operands = [operand.exp() for operand in operands]
    expected = contract.naive_ubersum(equation, *operands, plates=plates, backend=backend)
    with plated.pyro.installed():
        found = contract.einsum(equation, *operands, plates=plates, backend=backend, modulo_total=True)
    assert isinstance(found, tuple) and len(found) == len(expected)
    for own, reference, dims in zip(found, expected, equation.split("->")[1].split(",")):
        assert own._pyro_dims == dims
        torch.testing.assert_close(own, reference, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("equation, plates", EQUATIONS)
def test_maxima_are_pyros(equation, plates):
    """Pyro's total; every slice of every output has it as its maximum."""
    operands, backend = operands_of(equation), "pyro.ops.einsum.torch_map"
    inputs, outputs = equation.split("->")
    (total,) = contract.einsum(inputs + "->", *operands, plates=plates, backend=backend)
    with plated.pyro.installed():
        found = contract.einsum(equation, *operands, plates=plates, backend=backend, modulo_total=True)
    for output, dims in zip(found, outputs.split(",")):
        states = [axis for axis, dim in enumerate(dims) if dim not in plates]
        best = output.amax(states) if states else output
        torch.testing.assert_close(best, total.expand_as(best), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("equation, plates", EQUATIONS)
def test_gradients_are_pyros(equation, plates):
    inputs = equation.split("->")[0]

    def gradients():
        torch.manual_seed(1)
        operands = [operand.requires_grad_() for operand in operands_of(equation)]
        (total,) = contract.einsum(inputs + "->", *operands, plates=plates, backend=LOG)
        return torch.autograd.grad(total, operands)

    reference = gradients()
    with plated.pyro.installed():
        own = gradients()
    for one, other in zip(own, reference):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)


def test_ubersum_is_einsum_in_log_space():
    a, b = torch.randn(2), torch.randn(2, 3)
    with plated.pyro.installed(), pytest.warns(DeprecationWarning):
        (total,) = contract.ubersum("a,ai->", a, b, batch_dims="i")
    torch.testing.assert_close(total, (a + b.sum(1)).logsumexp(0))


def test_errors_are_pyros():
    a, ai = torch.randn(2), torch.randn(2, 3)
    with plated.pyro.installed():
        with pytest.raises(ValueError, match="size mismatch"):
            contract.einsum("a,a->", a, torch.randn(3))
        with pytest.raises(NotImplementedError, match="modulo_total"):
            contract.einsum("a->a", a)
        with pytest.raises(ValueError, match="nonsensical"):
            contract.einsum("ai->a", ai, plates="i", modulo_total=True)
        with pytest.raises(NotImplementedError, match="backends"):
            contract.einsum("a->", a, backend="numpy")
        with pytest.raises(NotImplementedError, match="tree-structured") as refusal:
            contract.einsum("ai,bj,abij->", ai, torch.randn(2, 2), torch.randn(2, 2, 3, 2), plates="ij", backend=LOG)
        assert isinstance(refusal.value.__cause__, plated.IntractableError)


def test_traces_without_warnings():
    def total(a, ai):
        return contract.einsum("a,ai->", a, ai, plates="i", modulo_total=True, backend=LOG)[0]

    operands = operands_of("a,ai->")
    with plated.pyro.installed(), warnings.catch_warnings():
        warnings.simplefilter("error", torch.jit.TracerWarning)
        traced = torch.jit.trace(total, operands, check_trace=False)
        torch.testing.assert_close(traced(*operands), total(*operands))


def tree():
    """World w; x in plate i, tied to w; y in plates i and j, tied to x; z in plate k, on its own."""

    def term(dims):
        sizes = dict(zip("wxyzijk", (2, 3, 2, 2, 3, 2, 4)))
        tensor = torch.randn([sizes[dim] for dim in dims])
        tensor._pyro_dims = dims
        return tensor

    terms = ["w", "wxi", "xyij", "zk", "zk", "i", "wij"]
    result = OrderedDict()
    for dims in terms:
        result.setdefault(frozenset(dims) & frozenset("ijk"), []).append(term(dims))
    return result, set("wxyz")


def summed(contracted):
    """One tensor for each ordinal, however many the components came as."""
    return {ordinal: sum(terms) for ordinal, terms in contracted.items()}


def test_contract_tensor_tree():
    torch.manual_seed(2)
    own_contract, (terms, sum_dims) = contract.contract_tensor_tree, tree()
    reference = summed(own_contract(terms, sum_dims))
    with plated.pyro.installed():
        assert contract.contract_tensor_tree is not own_contract
        found = summed(contract.contract_tensor_tree(terms, sum_dims))
    assert found.keys() == reference.keys()
    for ordinal in reference:
        torch.testing.assert_close(found[ordinal], reference[ordinal], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "ordinal, dims", [("", ""), ("i", ""), ("ik", ""), ("", "w"), ("i", "x"), ("ij", "y"), ("k", "z")]
)
def test_contract_to_tensor(ordinal, dims):
    """Equal to Pyro's; where dims are kept, up to the constant in each slice that Pyro leaves open."""
    torch.manual_seed(2)
    terms, sum_dims = tree()
    arguments = terms, sum_dims, frozenset(ordinal), set(dims)
    ring = pyro.ops.rings.LogRing(dim_to_size=dict(zip("ijk", (3, 2, 4))))
    reference = contract.contract_to_tensor(*arguments, ring=ring)
    with plated.pyro.installed():
        found = contract.contract_to_tensor(*arguments, ring=ring)
    assert set(found._pyro_dims) == set(reference._pyro_dims)
    found = found.permute([found._pyro_dims.index(dim) for dim in reference._pyro_dims])
    if dims:
        axis = reference._pyro_dims.index(dims)
        found, reference = found.log_softmax(axis), reference.log_softmax(axis)
    torch.testing.assert_close(found, reference, rtol=1e-9, atol=1e-12)
