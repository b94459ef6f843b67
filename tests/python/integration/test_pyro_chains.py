"""Steps that repeat become chains and plates: the answers are those of the equation of all terms."""

import pytest

torch = pytest.importorskip("torch")
pyro = pytest.importorskip("pyro")
pytest.importorskip("plated")
import opt_einsum  # noqa: E402
import plated  # noqa: E402
import plated.pyro  # noqa: E402
import pyro.distributions as dist  # noqa: E402
from plated.pyro import chain, component, runs  # noqa: E402
from pyro.infer import TraceEnum_ELBO, config_enumerate, infer_discrete  # noqa: E402


@pytest.fixture(autouse=True)
def double():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    pyro.clear_param_store()
    pyro.set_rng_seed(0)
    yield
    torch.set_default_dtype(before)


def table(name, *shape):
    return pyro.param(name, lambda: torch.randn(shape))


def first_order(data):
    move, locs = table("move", 3, 3), table("locs", 3)
    x = 0
    for t in pyro.markov(range(len(data))):
        x = pyro.sample(f"x{t}", dist.Categorical(logits=move[x]))
        pyro.sample(f"y{t}", dist.Normal(locs[x], 1.0), obs=data[t])


def second_order(data):
    move, locs = table("move", 3, 3, 3), table("locs", 3)
    x, before = 0, 0
    for t in pyro.markov(range(len(data)), history=2):
        x, before = pyro.sample(f"x{t}", dist.Categorical(logits=move[before, x])), x
        pyro.sample(f"y{t}", dist.Normal(locs[x], 1.0), obs=data[t])


def factorial_in_a_plate(data):
    """Two chains, one of them outside of the plate, and a variable that all steps see."""
    move, turn, locs, shift = table("move", 3, 3), table("turn", 2, 2), table("locs", 3, 2), table("shift", 2)
    bias = pyro.sample("bias", dist.Categorical(torch.ones(2)))
    x, w = 0, 0
    tones = pyro.plate("tones", 4, dim=-1)
    for t in pyro.markov(range(len(data))):
        x = pyro.sample(f"x{t}", dist.Categorical(logits=move[x]))
        w = pyro.sample(f"w{t}", dist.Categorical(logits=turn[w]))
        with tones:
            pyro.sample(f"y{t}", dist.Normal(locs[x, w] + shift[bias], 1.0), obs=data[t] * torch.arange(4.0))


def in_a_plate_of_series(data):
    move, locs = table("move", 3, 3), table("locs", 3)
    with pyro.plate("series", 2, dim=-1):
        x = 0
        for t in pyro.markov(range(len(data))):
            x = pyro.sample(f"x{t}", dist.Categorical(logits=move[x]))
            pyro.sample(f"y{t}", dist.Normal(locs[x], 1.0), obs=data[t] + torch.arange(2.0))


def sequential_plate(data):
    """Steps that do not look back, with a variable that all of them see."""
    means, weights = table("means", 2, 3), table("weights", 3)
    side = pyro.sample("side", dist.Categorical(torch.ones(2)))
    for i in pyro.plate("data", len(data)):
        z = pyro.sample(f"z{i}", dist.Categorical(logits=weights))
        pyro.sample(f"y{i}", dist.Normal(means[side, z], 1.0), obs=data[i])


def two_series(data):
    """One after the other, of unequal lengths."""
    move, locs = table("move", 3, 3), table("locs", 3)
    for name, length in (("a", len(data)), ("b", len(data) - 3)):
        x = 0
        for t in pyro.markov(range(length)):
            x = pyro.sample(f"x{name}{t}", dist.Categorical(logits=move[x]))
            pyro.sample(f"y{name}{t}", dist.Normal(locs[x], 1.0), obs=data[t])


MODELS = [first_order, second_order, factorial_in_a_plate, in_a_plate_of_series, sequential_plate, two_series]


def no_guide(*_):
    pass


def answers(model, data):
    """The loss, its gradients, marginals and the best assignment."""
    pyro.clear_param_store()
    pyro.set_rng_seed(3)
    model = config_enumerate(model)
    with plated.pyro.installed():
        elbo = TraceEnum_ELBO(max_plate_nesting=1, strict_enumeration_warning=False)
        loss = elbo.differentiable_loss(model, no_guide, data)
        names = sorted(pyro.get_param_store().keys())
        gradients = torch.autograd.grad(loss, [pyro.param(name).unconstrained() for name in names])
        marginals = {name: found.logits for name, found in elbo.compute_marginals(model, no_guide, data).items()}
        best = pyro.poutine.trace(infer_discrete(model, first_available_dim=-2, temperature=0)).get_trace(data)
        drawn = pyro.poutine.trace(infer_discrete(model, first_available_dim=-2, temperature=1)).get_trace(data)
    chosen = [{n: site["value"] for n, site in trace.nodes.items() if site["type"] == "sample" and not site["is_observed"]}
              for trace in (best, drawn)]  # fmt: skip
    return loss.detach(), gradients, marginals, *chosen


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_answers_are_those_of_all_terms(model, monkeypatch):
    data = torch.randn(13)
    taken = []
    spell = chain.spell_chains
    monkeypatch.setattr(component, "spell_chains", lambda *arguments: taken.append(spell(*arguments)) or taken[-1])
    found = answers(model, data)
    assert taken and None not in taken
    monkeypatch.setattr(component, "spell_chains", lambda *arguments: None)
    expected = answers(model, data)
    for got, wanted in zip(found[:3], expected[:3]):
        torch.testing.assert_close(got, wanted, rtol=1e-10, atol=1e-10)
    assert found[3].keys() == expected[3].keys()
    for name, value in expected[3].items():
        assert torch.equal(found[3][name], value), name
    for name, value in expected[4].items():
        assert found[4][name].shape == value.shape, name


def test_samples_are_of_the_posterior(monkeypatch):
    data = torch.randn(9)
    model = config_enumerate(first_order)
    with plated.pyro.installed():
        marginals = TraceEnum_ELBO().compute_marginals(model, no_guide, data)
        counts = torch.zeros(9, 3)
        for _ in range(300):
            trace = pyro.poutine.trace(infer_discrete(model, first_available_dim=-1, temperature=1)).get_trace(data)
            for t in range(9):
                counts[t, trace.nodes[f"x{t}"]["value"]] += 1
    for t in range(9):
        torch.testing.assert_close(counts[t] / 300, marginals[f"x{t}"].probs.detach(), rtol=0, atol=0.12)


def series(steps, states=2, joined=()):
    """Terms of a hidden Markov model; `joined` are steps whose states something outside joins."""
    symbols = [opt_einsum.get_symbol(k) for k in range(steps + 1)]
    held = component.Component()
    for t in range(steps):
        if t > 0:
            pair = symbols[t - 1 : t + 1][:: 1 if t % 2 else -1]  # Pyro recycles dims, so that the order changes
            table = torch.randn(states, states)
            held.add(component.packed_as(table, "".join(pair)), frozenset(), set(pair))
        held.add(component.packed_as(torch.randn(states), symbols[t]), frozenset(), {symbols[t]})
    if joined:
        dims = "".join(symbols[t] for t in joined)
        held.add(component.packed_as(torch.randn((states,) * len(joined)), dims), frozenset(), set(dims))
    return held


def test_what_joins_the_middle_of_a_series_is_left_to_all_terms(monkeypatch):
    for joined in [(4, 9), (0, 11)]:
        held = series(12, joined=joined)
        (found,) = held.contract(("",), frozenset())
        monkeypatch.setattr(runs, "LEAST_STEPS", 10**6)
        (expected,) = held.contract(("",), frozenset())
        monkeypatch.undo()
        torch.testing.assert_close(found, expected)


def test_the_equation_of_a_long_series_is_short():
    held = series(3857)
    chained = chain.spell_chains(held, ("",), frozenset())
    assert len(chained.equation) < 200 and len(chained.operands) < 10
    (total,) = held.contract(("",), frozenset())
    assert torch.isfinite(total)


def test_few_steps_stay_as_they_are():
    assert chain.spell_chains(series(runs.LEAST_STEPS - 1), ("",), frozenset()) is None
