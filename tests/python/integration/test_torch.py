"""plated.torch: values, first and second derivatives, torch.compile, training."""

import doctest
import itertools

import numpy
import pytest

torch = pytest.importorskip("torch")
plated = pytest.importorskip("plated")
import plated.torch  # noqa: E402
from torch.autograd import gradcheck, gradgradcheck  # noqa: E402

# Equation, shapes, options: scalar and batched totals, plated outputs, several outputs, ties, diagonals, names.
EQUATIONS = [
    ("x->", [(3,)], {}),
    ("x,iy,ijxy->", [(2,), (3, 2), (3, 2, 2, 2)], {"plates": "ij"}),
    ("x,iy,ijxy->iy", [(2,), (3, 2), (3, 2, 2, 2)], {"plates": "ij"}),
    ("ab,bc->a,b,c", [(2, 3), (3, 2)], {}),
    ("ab,bc->ac", [(2, 3), (3, 2)], {}),
    ("ix->i", [(3, 2)], {"plates": "i"}),
    ("nix,ixy->", [(2, 3, 2), (3, 2, 2)], {"plates": "i", "batch": "n"}),
    ("nx,xyn->", [(2, 3), (3, 2, 2)], {"batch": "n"}),
    ("mxn,nxm->nm", [(2, 3, 4), (4, 3, 2)], {"batch": "mn"}),
    ("m,(i)mc,ic->", [(2,), (2, 3), (4, 3)], {"plates": "i"}),
    ("xx,x->", [(3, 3), (3,)], {}),
    ("one, each one two -> each two", [(2,), (3, 2, 2)], {"plates": "each"}),
    ("a,(t)ab,tb->", [(2,), (2, 2), (3, 2)], {"chains": {"t": "a->b"}}),
    ("a,tab,ntb->", [(2,), (3, 2, 2), (2, 3, 2)], {"chains": {"t": ["a->b"]}, "batch": "n"}),
    ("ma,mtab->b$", [(2, 2), (2, 3, 2, 2)], {"chains": {"t": "a->b"}, "batch": "m"}),
    ("a,(t)ab,tib->", [(2,), (2, 2), (3, 2, 2)], {"chains": {"t": "a->b"}, "plates": "i"}),
]
IDS = [case[0] for case in EQUATIONS]


def operands_of(shapes, semiring="log"):
    made = [torch.randn(shape) for shape in shapes]
    return [(x.exp() if semiring == "real" else x).requires_grad_() for x in made]


def run(equation, semiring="log", **options):
    return lambda *operands: plated.torch.einsum(equation, *operands, semiring=semiring, **options)


@pytest.mark.parametrize("semiring", ["log", "real"])
@pytest.mark.parametrize("equation, shapes, options", EQUATIONS, ids=IDS)
class TestDerivatives:
    def test_first(self, equation, shapes, options, semiring):
        assert gradcheck(run(equation, semiring, **options), operands_of(shapes, semiring))

    def test_second(self, equation, shapes, options, semiring):
        assert gradgradcheck(run(equation, semiring, **options), operands_of(shapes, semiring))

    def test_of_some_operands_only(self, equation, shapes, options, semiring):
        for asked in itertools.product([False, True], repeat=len(shapes)):
            if not any(asked):
                continue
            operands = [x.detach().requires_grad_(on) for x, on in zip(operands_of(shapes, semiring), asked)]
            assert gradcheck(run(equation, semiring, **options), operands)
            assert gradgradcheck(run(equation, semiring, **options), operands)

    def test_through_the_registered_operator(self, equation, shapes, options, semiring):
        question = plated.torch.write(equation, {"semiring": semiring, **options}, [])
        operands = operands_of(shapes, semiring)
        direct = run(equation, semiring, **options)(*operands)
        direct = direct if isinstance(direct, tuple) else (direct,)
        registered = torch.ops.plated.einsum(operands, [], question)
        for one, other in zip(direct, registered):
            torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)
        assert gradcheck(lambda *xs: tuple(torch.ops.plated.einsum(xs, [], question)), operands)
        assert gradgradcheck(lambda *xs: tuple(torch.ops.plated.einsum(xs, [], question)), operands)


@pytest.mark.parametrize("equation, shapes, options", EQUATIONS, ids=IDS)
def test_operators_keep_what_their_registration_promises(equation, shapes, options):
    question = plated.torch.write(equation, options, [])
    torch.library.opcheck(torch.ops.plated.einsum.default, (operands_of(shapes), [], question))


def test_documentation():
    torch.set_default_dtype(torch.float32)
    found = doctest.testmod(plated.torch)
    assert found.failed == 0 and found.attempted > 5


def test_gradient_is_the_posterior():
    f, g = torch.randn(3, requires_grad=True), torch.randn(4, 3, requires_grad=True)
    log_z = plated.torch.log_partition("x,ix", f, g, plates="i")
    torch.testing.assert_close(log_z, (f + g.sum(0)).logsumexp(0))
    log_z.backward()
    posterior = (f + g.sum(0)).softmax(0)
    torch.testing.assert_close(f.grad, posterior)
    torch.testing.assert_close(g.grad, posterior.expand(4, 3))


def test_hessian_matches_torch():
    f, g = torch.randn(3), torch.randn(4, 3)
    own = torch.autograd.functional.hessian(lambda f, g: plated.torch.log_partition("x,ix->", f, g, plates="i"), (f, g))
    reference = torch.autograd.functional.hessian(lambda f, g: (f + g.sum(0)).logsumexp(0), (f, g))
    for i, j in itertools.product(range(2), repeat=2):
        torch.testing.assert_close(own[i][j], reference[i][j])


def test_misaligned_maxima_do_not_underflow():
    a = torch.tensor([0.0, -2000.0], requires_grad=True)
    b = torch.tensor([-2000.0, 0.0])
    total = plated.torch.einsum("x,x->", a, b)
    torch.testing.assert_close(total, torch.tensor(2.0).log() - 2000.0)
    total.backward()
    torch.testing.assert_close(a.grad, torch.tensor([0.5, 0.5]))


def test_structural_zeros_have_gradient_zero():
    a = torch.tensor([0.0, -torch.inf], requires_grad=True)
    plated.torch.log_partition("x", a).backward()
    torch.testing.assert_close(a.grad, torch.tensor([1.0, 0.0]))


def test_no_grad_makes_no_graph():
    x = torch.randn(3, requires_grad=True)
    with torch.no_grad():
        assert not plated.torch.log_partition("x->", x).requires_grad
    assert not plated.torch.log_partition("x->", x.detach()).requires_grad
    assert plated.torch.log_partition("x->", x).requires_grad


def test_strided_and_expanded_operands():
    x = torch.randn(4, 6, requires_grad=True)
    view = lambda x: x.t()[::2].unsqueeze(0).expand(5, 3, 4)  # noqa: E731
    assert gradcheck(lambda x: plated.torch.einsum("iab,b->a", view(x), x[:, 0], plates="i"), [x])


def test_chains_and_lengths():
    start, move, seen = torch.randn(2, requires_grad=True), torch.randn(2, 2, requires_grad=True), torch.randn(3, 5, 2)
    lengths = torch.tensor([5, 0, 3])
    options = {"chains": {"t": ["a->b"]}, "batch": "n", "lengths": {"t": lengths}}

    def by_hand(start, move, seen):
        totals = []
        for n, length in enumerate(lengths):
            message = start
            for t in range(length):
                message = (message[:, None] + move).logsumexp(0) + seen[n, t]
            totals.append(message.logsumexp(0))
        return torch.stack(totals)

    own = plated.torch.einsum("a,(t)ab,ntb->", start, move, seen, **options)
    torch.testing.assert_close(own, by_hand(start, move, seen))
    assert gradcheck(lambda *xs: plated.torch.einsum("a,(t)ab,ntb->", *xs, **options), [start, move, seen])


def test_float32_stays_float32():
    x = torch.randn(3, dtype=torch.float32, requires_grad=True)
    total = plated.torch.log_partition("x->", x)
    total.backward()
    assert total.dtype == x.grad.dtype == torch.float32


def test_other_semirings_have_values_but_no_gradients():
    x = torch.randn(3, 2, requires_grad=True)
    best = plated.torch.einsum("ix->", x, plates="i", semiring="max_plus")
    torch.testing.assert_close(best, x.max(1).values.sum())
    with pytest.raises(plated.OptionError, match="log and real"):
        best.backward()


def test_errors_are_plated_errors():
    with pytest.raises(plated.ShapeError, match="two sizes"):
        plated.torch.einsum("x,x->", torch.randn(2), torch.randn(3))
    with pytest.raises(TypeError, match="tensors"):
        plated.torch.einsum("x->", [1.0, 2.0])
    with pytest.raises(ValueError, match="output"):
        plated.torch.log_partition("ab->a", torch.randn(2, 2))


def test_what_would_be_read_wrongly_is_refused():
    operands = torch.zeros(2), torch.zeros(2, 2), torch.zeros(3, 5, 2)
    options = {"batch": "n", "chains": {"t": "a->b"}}
    for lengths in [torch.tensor([5.0, 0.0, 3.0]), torch.tensor([True, False, True]), numpy.ma.array([5, 0, 3])]:
        with pytest.raises(plated.DtypeError, match="lengths of 't'"):
            plated.torch.einsum("a,(t)ab,ntb->", *operands, lengths={"t": lengths}, **options)
    with pytest.raises(TypeError, match="takes tensors, not MaskedArray"):
        plated.torch.einsum("x->", numpy.ma.zeros(2))
    with pytest.raises(plated.NullDataError, match="MaskedTensor"):
        plated.torch.einsum("x->", torch.masked.masked_tensor(torch.zeros(2), torch.tensor([True, False])))


@pytest.mark.parametrize("graph", [False, True], ids=["first order", "second order"])
def test_backward_starts_from_the_forward_run_that_was_kept(graph, monkeypatch):
    operands = operands_of([(2,), (3, 2)])
    out = plated.torch.einsum("x,ix->x", *operands, plates="i")

    def fail(*_, **__):
        raise AssertionError("it runs forward again")

    monkeypatch.setattr(plated.torch.eager, "values_and_gradients", fail)
    monkeypatch.setattr(plated.torch.operators, "einsum_vjp", fail)
    first = torch.autograd.grad(out[0], operands, create_graph=graph)
    assert all(gradient.requires_grad == graph for gradient in first)


def test_third_derivatives_are_refused():
    x = torch.randn(3, requires_grad=True)
    (first,) = torch.autograd.grad(plated.torch.log_partition("x->", x), x, create_graph=True)
    (second,) = torch.autograd.grad(first[0], x, create_graph=True)
    with pytest.raises(RuntimeError, match="einsum_hvp"):
        torch.autograd.grad(second[0], x)


@pytest.mark.parametrize("dynamic", [False, True])
def test_compiles_without_graph_breaks(dynamic):
    def loss(f, g, h):
        total = plated.torch.log_partition("x,iy,ijxy", f, g.log_softmax(-1), h, plates="ij")
        kept = plated.torch.einsum("x,iy->x,iy", f, g, plates="i")
        return total * 2 + kept[0].sum() - kept[1].exp().mean()

    compiled = torch.compile(loss, fullgraph=True, dynamic=dynamic, backend="aot_eager")
    for slices in (3, 5):
        shapes = [(2,), (slices, 2), (slices, 2, 2, 2)]
        operands = [torch.randn(shape).requires_grad_() for shape in shapes]
        expected, found = loss(*operands), compiled(*operands)
        torch.testing.assert_close(found, expected)
        for one, other in zip(torch.autograd.grad(found, operands), torch.autograd.grad(expected, operands)):
            torch.testing.assert_close(one, other)


def test_compiles_with_chains():
    def loss(start, move, seen, lengths):
        return plated.torch.einsum("a,(t)ab,ntb->", start, move, seen, batch="n", chains={"t": ["a->b"]},
                                   lengths={"t": lengths}).sum()  # fmt: skip

    operands = torch.randn(2, requires_grad=True), torch.randn(2, 2, requires_grad=True), torch.randn(3, 5, 2)
    lengths = torch.tensor([5, 0, 3])
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(*operands, lengths), loss(*operands, lengths))


def test_jit_trace_keeps_the_operator():
    traced = torch.jit.trace(lambda x: plated.torch.log_partition("ix->", x, plates="i"), torch.randn(3, 2))
    x = torch.randn(3, 2)
    torch.testing.assert_close(traced(x), x.logsumexp(-1).sum())


def test_training_loop_fits_a_mixture():
    data = torch.cat([torch.randn(60) - 3, torch.randn(40) + 2])
    logits, locs = torch.nn.Parameter(torch.zeros(2)), torch.nn.Parameter(torch.tensor([-0.5, 0.5]))
    optimizer = torch.optim.Adam([logits, locs], lr=0.1)
    losses = []
    for _ in range(120):
        optimizer.zero_grad()
        scores = -0.5 * (data[:, None] - locs) ** 2
        weights = logits.log_softmax(0)
        loss = -plated.torch.log_partition("(i)z,iz->", weights, scores, plates="i")
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] - 100
    assert abs(locs[0].item() + 3) < 0.5 and abs(locs[1].item() - 2) < 0.5
    assert abs(logits.softmax(0)[0].item() - 0.6) < 0.05
