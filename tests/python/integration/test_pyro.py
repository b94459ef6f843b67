"""Pyro's models on Plated: the same results to rounding, and right ones where Pyro is wrong."""

import math

import pytest

torch = pytest.importorskip("torch")
pyro = pytest.importorskip("pyro")
pytest.importorskip("plated")
import plated.pyro  # noqa: E402
import pyro.distributions as dist  # noqa: E402
import pyro_models as models  # noqa: E402
from pyro import poutine  # noqa: E402
from pyro.infer import JitTraceEnum_ELBO, TraceEnum_ELBO, config_enumerate, infer_discrete  # noqa: E402
from plated.pyro.component import components  # noqa: E402
from pyro.infer.discrete import TraceEnumSample_ELBO  # noqa: E402
from pyro_checks import assert_same, fresh, loss_and_gradients  # noqa: E402

ALL = [*models.MODELS, models.guide_enumeration]


@pytest.mark.parametrize("build", ALL, ids=lambda build: build.__name__)
class TestElbo:
    def test_loss_and_grads(self, build):
        case = build()
        reference = loss_and_gradients(case)
        with plated.pyro.installed():
            assert_same(loss_and_gradients(case), reference)

    def test_loss(self, build):
        case = build()
        elbo = TraceEnum_ELBO(max_plate_nesting=case.max_plate_nesting)
        fresh()
        reference = elbo.loss(case.model, case.guide)
        fresh()
        with plated.pyro.installed(), torch.no_grad():
            assert elbo.loss(case.model, case.guide) == pytest.approx(reference, rel=1e-9)

    def test_differentiable_loss(self, build):
        case = build()
        elbo = TraceEnum_ELBO(max_plate_nesting=case.max_plate_nesting)

        def answers():
            fresh()
            loss = elbo.differentiable_loss(case.model, case.guide)
            names, values = zip(*pyro.get_param_store().named_parameters())
            return float(loss), dict(zip(names, torch.autograd.grad(loss, values)))

        reference = answers()
        with plated.pyro.installed():
            assert_same(answers(), reference)

    def test_particles(self, build):
        case = build()
        reference = loss_and_gradients(case, num_particles=3, vectorize_particles=True)
        with plated.pyro.installed():
            assert_same(loss_and_gradients(case, num_particles=3, vectorize_particles=True), reference)


def test_second_derivatives_of_the_loss():
    case = models.nested_plates()
    elbo = TraceEnum_ELBO(max_plate_nesting=case.max_plate_nesting)

    def answers():
        fresh()
        loss = elbo.differentiable_loss(case.model, case.guide)
        locs = pyro.param("locs").unconstrained()
        (gradient,) = torch.autograd.grad(loss, locs, create_graph=True)
        return torch.stack([torch.autograd.grad(entry, locs, retain_graph=True)[0] for entry in gradient])

    reference = answers()
    with plated.pyro.installed():
        torch.testing.assert_close(answers(), reference, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("build", [models.hmm, models.mixture, models.nested_plates], ids=lambda build: build.__name__)
def test_jitted_elbo(build):
    case = build()
    reference = loss_and_gradients(case)
    with plated.pyro.installed():
        fresh()
        TraceEnum_ELBO(max_plate_nesting=case.max_plate_nesting).loss(case.model, case.guide)  # makes the parameters
        elbo = JitTraceEnum_ELBO(max_plate_nesting=case.max_plate_nesting, ignore_jit_warnings=True)
        for _ in range(2):  # traced, then run from the trace
            for _, value in pyro.get_param_store().named_parameters():
                value.grad = None
            loss = elbo.loss_and_grads(case.model, case.guide)
            own = loss, {name: value.grad.clone() for name, value in pyro.get_param_store().named_parameters()}
            assert_same(own, reference)


@pytest.mark.parametrize("build", [b for b in models.MODELS if b is not models.plate_of_one], ids=lambda b: b.__name__)
def test_compute_marginals(build):
    case = build()
    elbo = TraceEnum_ELBO(max_plate_nesting=case.max_plate_nesting)
    fresh()
    reference = elbo.compute_marginals(case.model, case.guide)
    fresh()
    with plated.pyro.installed():
        own = elbo.compute_marginals(case.model, case.guide)
    assert list(own) == list(reference) and own
    for name, posterior in reference.items():
        assert type(own[name]) is type(posterior)
        torch.testing.assert_close(own[name].probs, posterior.probs, rtol=1e-9, atol=1e-12)


def test_compute_marginals_in_a_plate_of_one():
    """Pyro's own compute_marginals has no size for such a plate and raises KeyError; all values have a shape here."""
    case = models.plate_of_one()
    fresh()
    with plated.pyro.installed():
        own = TraceEnum_ELBO(max_plate_nesting=1).compute_marginals(case.model, case.guide)
    fresh()
    trace = poutine.trace(case.model).get_trace()
    weights, locs = pyro.param("weights"), pyro.param("locs")
    seen = dist.Normal(locs, 1.0).log_prob(trace.nodes["y"]["value"])
    joint = pyro.param("worlds").log()[:, None] + weights.log() + seen
    joint = (joint - joint.logsumexp((0, 1))).exp()
    torch.testing.assert_close(own["world"].probs, joint.sum(1))
    torch.testing.assert_close(own["z"].probs.reshape(-1), joint.sum(0))


def test_compute_marginals_can_be_differentiated():
    case = models.hmm(4)
    elbo = TraceEnum_ELBO(max_plate_nesting=0)

    def gradient():
        fresh()
        posterior = elbo.compute_marginals(case.model, case.guide)
        total = sum(((t + 1) * marginal.probs[..., 0]).sum() for t, marginal in enumerate(posterior.values()))
        return torch.autograd.grad(total, pyro.param("locs").unconstrained())[0]

    reference = gradient()
    with plated.pyro.installed():
        torch.testing.assert_close(gradient(), reference, rtol=1e-9, atol=1e-12)


def test_sample_posterior_has_the_marginals():
    case, draws = models.hmm(4), 4000

    def repeated():
        with pyro.plate("draws", draws):
            return case.model()

    with plated.pyro.installed():
        fresh()
        expected = TraceEnum_ELBO(max_plate_nesting=0).compute_marginals(case.model, case.guide)["x_2"].probs.detach()
        path = TraceEnum_ELBO(max_plate_nesting=1).sample_posterior(repeated, case.guide)
    found = torch.bincount(path[2], minlength=3) / draws
    error = (expected * (1 - expected) / draws).sqrt()
    assert bool(((found - expected).abs() <= 5 * error).all())


def test_sampling_elbo():
    case = models.mixture()
    elbo = TraceEnumSample_ELBO(max_plate_nesting=1)
    fresh()
    reference = elbo.loss(case.model, case.guide)
    fresh()
    with plated.pyro.installed():
        assert elbo.loss(case.model, case.guide) == pytest.approx(reference, rel=1e-9)
        z = elbo.sample_saved()
    assert z.shape == (20,) and set(z.tolist()) <= {0, 1, 2}


def test_svi_trains():
    case = models.hmm(6)

    def train():
        fresh()
        svi = pyro.infer.SVI(case.model, case.guide, pyro.optim.Adam({"lr": 0.05}), TraceEnum_ELBO(max_plate_nesting=0))
        return [svi.step() for _ in range(20)]

    reference = train()
    with plated.pyro.installed():
        own = train()
    assert own == pytest.approx(reference, rel=1e-7)
    assert own[-1] < own[0]


def test_hmc_with_enumeration():
    case = models.mixture(6)

    def potential():
        fresh()

        def model():
            pyro.sample("offset", dist.Normal(0.0, 1.0))
            case.model()

        _, function, _, _ = pyro.infer.mcmc.util.initialize_model(model, max_plate_nesting=1)
        return function({"offset": torch.tensor(0.3)})

    reference = potential()
    with plated.pyro.installed():
        torch.testing.assert_close(potential(), reference, rtol=1e-9, atol=0)


def test_misaligned_maxima_are_right_where_pyro_underflows():
    """Two factors whose maxima lie at different states: exp after shifting each by its own maximum leaves nothing."""

    @config_enumerate
    def model():
        prior = pyro.param("prior", torch.tensor([0.0, -900.0]))
        x = pyro.sample("x", dist.Categorical(logits=prior))
        pyro.factor("seen", torch.tensor([-900.0, 0.0])[x])

    elbo = TraceEnum_ELBO(max_plate_nesting=0)
    fresh()
    assert elbo.loss(model, models.no_guide) == math.inf
    fresh()
    with plated.pyro.installed():
        assert elbo.loss_and_grads(model, models.no_guide) == pytest.approx(900 - math.log(2), rel=1e-12)
        marginal = elbo.compute_marginals(model, models.no_guide)["x"].probs
    torch.testing.assert_close(pyro.param("prior").grad, torch.tensor([0.5, -0.5]))
    torch.testing.assert_close(marginal, torch.tensor([0.5, 0.5]))


def test_intractable_plates_are_refused_with_the_certificate():
    @config_enumerate
    def model():
        down, across = pyro.plate("rows", 2, dim=-2), pyro.plate("columns", 3, dim=-1)
        with down:
            a = pyro.sample("a", dist.Bernoulli(0.3))
        with across:
            b = pyro.sample("b", dist.Bernoulli(0.6))
        with down, across:
            pyro.sample("y", dist.Normal(a + b, 1.0), obs=torch.zeros(2, 3))

    elbo = TraceEnum_ELBO(max_plate_nesting=2)
    fresh()
    with pytest.raises(NotImplementedError):
        elbo.loss(model, models.no_guide)
    with plated.pyro.installed(), pytest.raises(NotImplementedError, match="tree-structured") as refusal:
        elbo.loss(model, models.no_guide)
    assert isinstance(refusal.value.__cause__, plated.IntractableError)
    assert {refusal.value.__cause__.certificate.a, refusal.value.__cause__.certificate.b}


def test_infinite_densities_are_refused():
    @config_enumerate
    def model():
        x = pyro.sample("x", dist.Bernoulli(0.3))
        pyro.factor("bad", torch.tensor([0.0, math.inf])[x.long()])

    fresh()
    with plated.pyro.installed(), pytest.raises(plated.Error, match="operand"):
        TraceEnum_ELBO(max_plate_nesting=0).loss(model, models.no_guide)


def test_impossible_observations():
    """The loss is infinite, as in Pyro; but there is no assignment to give."""

    @config_enumerate
    def model():
        x = pyro.sample("x", dist.Bernoulli(0.3))
        pyro.factor("never", torch.tensor([-math.inf, -math.inf])[x.long()])

    fresh()
    with plated.pyro.installed():
        assert TraceEnum_ELBO(max_plate_nesting=0).loss(model, models.no_guide) == math.inf
        for temperature in (0, 1):
            with pytest.raises(plated.ImpossibleError):
                infer_discrete(model, first_available_dim=-1, temperature=temperature)()


def factors_of(case):
    """The one component that Plated is given for a model without a guide."""
    trace = TraceEnum_ELBO(max_plate_nesting=case.max_plate_nesting)._get_traces(case.model, case.guide, (), {})
    _, tree, _, variables, _ = pyro.infer.traceenum_elbo._compute_model_factors(*next(trace))
    (component,) = components(tree, variables, merge=True)
    return component


def test_unrolled_series_cost_what_a_forward_pass_costs():
    states = 4
    for steps in (20, 300):
        fresh()
        component = factors_of(models.hmm(steps, states))
        assert len(component.variables) == steps
        spelling = component.spelled(("",), frozenset())
        shapes = [tuple(term.shape) for term in component.terms]
        plan = plated.compile(spelling.equation, *shapes, **spelling.keywords())
        assert plan.cost().flops < 4 * steps * states * states


def test_long_series():
    """300 unrolled steps against the forward algorithm."""
    case = models.hmm(300, 4)
    with plated.pyro.installed():
        fresh()
        loss = TraceEnum_ELBO(max_plate_nesting=0).loss(case.model, case.guide)
    data = models.observations(300)
    start, move, locs = (pyro.param(name).detach() for name in ("start", "move", "locs"))
    message = start.log() + dist.Normal(locs, 0.8).log_prob(data[0])
    for seen in data[1:]:
        message = (message[:, None] + move.log()).logsumexp(0) + dist.Normal(locs, 0.8).log_prob(seen)
    assert loss == pytest.approx(-message.logsumexp(0).item(), rel=1e-9)


class TestInstalling:
    def test_uninstall_gives_back_everything(self):
        import pyro.infer.discrete
        import pyro.infer.traceenum_elbo
        import pyro.ops.contract

        modules = [pyro.infer.traceenum_elbo, pyro.infer.discrete, pyro.ops.contract, pyro.infer.util.Dice]
        before = [dict(vars(module)) for module in modules]
        plated.pyro.install()
        plated.pyro.install()
        assert plated.pyro.is_installed()
        assert pyro.ops.contract.einsum is not before[2]["einsum"]
        plated.pyro.uninstall()
        assert not plated.pyro.is_installed()
        assert [dict(vars(module)) for module in modules] == before
        plated.pyro.uninstall()

    def test_context_restores_what_was_there(self):
        with plated.pyro.installed():
            with plated.pyro.installed():
                assert plated.pyro.is_installed()
            assert plated.pyro.is_installed()
        assert not plated.pyro.is_installed()
        with pytest.raises(RuntimeError), plated.pyro.installed():
            raise RuntimeError
        assert not plated.pyro.is_installed()
