"""plated.torch on plans, graphs and models, with all options of plated.einsum."""

import json
import pathlib
import subprocess
import sys

import numpy
import pytest

torch = pytest.importorskip("torch")
plated = pytest.importorskip("plated")
import plated.torch  # noqa: E402
from torch.autograd import gradcheck, gradgradcheck  # noqa: E402

MODELS = pathlib.Path(__file__).resolve().parents[3] / "examples" / "models"
CHAIN = ("a,(t)ab,ntb->", (3,), (3, 3), (1, 1, 3))
READING = {"batch": "n", "chains": {"t": "a->b"}}


def chain_plan(**options):
    return plated.compile(*CHAIN, **READING, observable=["b"], **options)


def chain_operands(sentences=2, steps=4):
    return [torch.randn(shape, requires_grad=True) for shape in [(3,), (3, 3), (sentences, steps, 3)]]


def graph_of_names():
    graph = plated.FactorGraph()
    graph.plate("i", 4)
    graph.variable("x", 2)
    graph.variable("y", 3)
    graph.factor("prior", ["x"])
    graph.factor("seen", ["i", "x", "y"])
    return graph


RUNS = [
    {},
    {"evidence": {"b": [[0, 1, 2, 1], [2, -1, 1, 0]]}},
    {"lengths": {"t": [4, 2]}},
    {"lengths": {"t": numpy.array([4, 0])}, "evidence": {"b": torch.tensor([[0, 1, 2, 1], [2, 2, 1, 0]])}},
    {"memory_limit": 1 << 30, "check": "none", "threads": 1, "semiring": "real"},
]


@pytest.mark.parametrize("options", RUNS, ids=map(str, range(len(RUNS))))
def test_a_plan_is_its_equation(options):
    operands = chain_operands()
    if options.get("semiring") == "real":
        operands = [x.detach().exp().requires_grad_() for x in operands]
    of_plan = lambda *xs: plated.torch.einsum(chain_plan(), *xs, **options)  # noqa: E731
    of_equation = plated.torch.einsum(CHAIN[0], *operands, **READING, **options)
    torch.testing.assert_close(of_plan(*operands), of_equation, rtol=1e-12, atol=1e-12)
    assert gradcheck(of_plan, operands) and gradgradcheck(of_plan, operands)


def test_a_graph_is_planned_with_what_is_observed():
    prior, seen = torch.randn(2, requires_grad=True), torch.randn(4, 2, 3, requires_grad=True)
    by_hand = (prior + seen[:, :, 1].sum(0)).logsumexp(0)
    found = plated.torch.log_partition(graph_of_names(), prior, seen, evidence={"y": [1] * 4})
    torch.testing.assert_close(found, by_hand)
    torch.testing.assert_close(torch.autograd.grad(found, seen), torch.autograd.grad(by_hand, seen))


def test_operands_by_name():
    prior, seen = torch.randn(2), torch.randn(4, 2, 3)
    plan = plated.compile(graph_of_names())
    expected = plated.torch.einsum(plan, prior, seen)
    for found in [
        plated.torch.einsum(plan, seen=seen, prior=prior),
        plated.torch.log_partition(plan, {"seen": seen, "prior": prior}),
        plated.torch.log_partition(plan, {"seen": seen}, prior=prior),
    ]:
        assert torch.equal(found, expected)
    with pytest.raises(plated.OperandCountError, match="'seen' has no operand"):
        plated.torch.einsum(plan, prior=prior)
    with pytest.raises(plated.OperandCountError, match="some operands are named"):
        plated.torch.einsum(plan, prior, seen=seen)
    with pytest.raises(plated.UnknownNameError, match="no factor 'sen'; the factors are prior, seen"):
        plated.torch.einsum(plan, prior=prior, sen=seen)
    with pytest.raises(plated.DuplicateNameError, match="two operands"):
        plated.torch.einsum(plan, {"prior": prior, "seen": seen}, prior=prior)
    with pytest.raises(TypeError, match="no names"):
        plated.torch.einsum("x->", f0=prior)


def test_a_model_has_numbers_and_names_of_states():
    model = plated.read_model(MODELS / "sprinkler.bif")
    own = plated.torch.log_partition(model, evidence={"wet grass": "yes", "rain": "no"})
    torch.testing.assert_close(own.item(), float(model.log_partition(evidence={"wet grass": "yes", "rain": "no"})))
    assert plated.torch.log_partition(model).abs() < 1e-12
    name = list(model.factors)[0]
    factor = torch.tensor(model.in_space("log").factors[name], requires_grad=True)
    total = plated.torch.log_partition(model, {name: factor}, evidence={"wet grass": "yes"})
    (posterior,) = torch.autograd.grad(total, factor)
    (variable,) = model.graph.factors[0].dims
    expected = model.marginals(evidence={"wet grass": "yes"})[variable]
    torch.testing.assert_close(posterior, torch.tensor(expected))
    with pytest.raises(plated.Error, match="yes"):
        plated.torch.log_partition(model, evidence={"wet grass": "perhaps"})
    with pytest.raises(plated.OptionError, match="boolean"):
        plated.torch.einsum(model, semiring="boolean")
    best = plated.torch.einsum(model, semiring="max_product", evidence={"wet grass": "yes"})
    torch.testing.assert_close(best.log().item(), float(model.map(evidence={"wet grass": "yes"}).score))


def test_weights_count_slices():
    scores = torch.randn(3, 2, requires_grad=True)
    total = plated.torch.log_partition("ix->", scores, plates="i", weights={"i": [1.0, 2.0, 0.5]})
    torch.testing.assert_close(total, scores.logsumexp(1) @ torch.tensor([1.0, 2.0, 0.5]))
    with pytest.raises(TypeError, match="weights of 'i' require grad"):
        plated.torch.log_partition("ix->", scores, plates="i", weights={"i": torch.ones(3, requires_grad=True)})


def test_limits_checks_and_progress():
    x = torch.randn(2000, 30, 30, requires_grad=True)
    shares = []
    plated.torch.log_partition("iab->", x, plates="i", progress=shares.append, threads=1)
    assert shares == sorted(shares) and shares[-1] == 1.0
    with pytest.raises(plated.MemoryLimitError):
        plated.torch.einsum("iab->ia", x, plates="i", memory_limit=100)
    plated.torch.log_partition("x->", torch.tensor([0.0, torch.nan]), check="none")
    with pytest.raises(plated.ValueError):
        plated.torch.log_partition("x->", torch.tensor([0.0, torch.nan]))


def test_out_is_written_into():
    x, target = torch.randn(3, 2), torch.empty(3)
    assert plated.torch.einsum("xy->x", x, out=target) is target
    torch.testing.assert_close(target, x.logsumexp(1))
    with pytest.raises(TypeError, match="out is not differentiated"):
        plated.torch.einsum("xy->x", x.requires_grad_(), out=target)


def test_parameters_under_no_grad():
    x = torch.nn.Parameter(torch.randn(3))
    with torch.no_grad():
        assert torch.equal(plated.einsum("x->", x), plated.einsum("x->", x.detach()))
        assert torch.equal(plated.marginals("x->", x)["x"], plated.marginals("x->", x.detach())["x"])
    with pytest.raises(plated.DtypeError, match="requires grad"):
        plated.einsum("x->", x)


def test_what_has_no_meaning_is_refused():
    plan = chain_plan()
    with pytest.raises(TypeError, match="plates is for equations"):
        plated.torch.einsum(plan, *chain_operands(), plates="t")
    with pytest.raises(TypeError, match="Plan, FactorGraph or Model"):
        plated.torch.einsum(3, torch.zeros(2))
    with pytest.raises(ValueError, match="other outputs"):
        plated.torch.log_partition(plated.compile("ab->a", (2, 2)), torch.zeros(2, 2))


def test_compiles_with_a_plan():
    plan = chain_plan()

    def loss(start, move, seen, tags, lengths):
        total = plated.torch.log_partition(plan, start, move, seen, lengths={"t": lengths})
        return (total - plated.torch.log_partition(plan, f0=start, f1=move, f2=seen, evidence={"b": tags},
                                                   lengths={"t": lengths})).sum()  # fmt: skip

    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    for steps in (4, 6):
        operands = chain_operands(steps=steps)
        more = torch.randint(3, (2, steps)), torch.tensor([steps, 1])
        expected, found = loss(*operands, *more), compiled(*operands, *more)
        torch.testing.assert_close(found, expected)
        for one, other in zip(torch.autograd.grad(found, operands), torch.autograd.grad(expected, operands)):
            torch.testing.assert_close(one, other)


def test_compiles_with_lists_and_sizes():
    def total(x):
        return plated.torch.einsum("x->", x, sizes={}) + plated.torch.einsum(
            "a,(t)ab,ntb->", x, x + x[:, None], x.expand(2, 3, 3), **READING, lengths={"t": [3, 1]}
        ).sum() + plated.torch.einsum("(i)x->", x, plates="i", sizes={"i": 4})  # fmt: skip

    x = torch.randn(3)
    torch.testing.assert_close(torch.compile(total, fullgraph=True, backend="aot_eager")(x), total(x))


def test_a_traced_program_carries_its_plan(tmp_path):
    plan, operands = chain_plan(), [x.detach() for x in chain_operands()]
    module = torch.nn.Module()
    module.forward = lambda *xs: plated.torch.log_partition(plan, *xs, lengths={"t": [4, 2]})
    exported = torch.export.export(module, tuple(operands), strict=False)
    torch.export.save(exported, tmp_path / "chain.pt2")
    torch.save(operands, tmp_path / "operands.pt")
    script = """import json, sys, torch, plated.torch
program = torch.export.load(sys.argv[1]).module()
print(json.dumps(program(*torch.load(sys.argv[2])).tolist()))"""
    said = subprocess.run([sys.executable, "-c", script, tmp_path / "chain.pt2", tmp_path / "operands.pt"],
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert json.loads(said.stdout.splitlines()[-1]) == module.forward(*operands).tolist()
