"""infer_discrete on Plated: the same assignments as Pyro's, samples of the same distribution."""

import pytest

torch = pytest.importorskip("torch")
pyro = pytest.importorskip("pyro")
pytest.importorskip("plated")
import plated.pyro  # noqa: E402
import pyro_models as models  # noqa: E402
from pyro import poutine  # noqa: E402
from pyro.infer import infer_discrete  # noqa: E402
from pyro_checks import DISCRETE, decoded, fresh  # noqa: E402


@pytest.mark.parametrize("build", DISCRETE, ids=lambda build: build.__name__)
class TestInferDiscrete:
    def test_temperature_0_is_the_same_assignment(self, build):
        case = build()
        fresh()
        reference = decoded(case, 0)
        with plated.pyro.installed():
            own = decoded(case, 0)
        assert own.keys() == reference.keys()
        for name, value in reference.items():
            assert own[name].shape == value.shape and own[name].dtype == value.dtype, name
            assert torch.equal(own[name], value), name

    def test_the_seed_decides(self, build):
        case = build()
        fresh()
        with plated.pyro.installed():
            one, same = decoded(case, 1, seed=3), decoded(case, 1, seed=3)
        assert all(torch.equal(one[name], same[name]) for name in one)


def small_series():
    return models.hmm(3, 2)


def small_mixture():
    return models.mixture(3, 2)


def small_nest():
    return models.nested_plates(2, 2)


def small_overlap():
    return models.overlapping_plates(2, 2)


@pytest.mark.parametrize("build", [small_series, small_mixture, small_nest, small_overlap], ids=lambda b: b.__name__)
def test_temperature_1_has_the_same_distribution(build):
    """Means and pairwise products of all sites, within five standard errors of the difference.

    The draws are slices of one more plate around the model.
    """
    case = build()
    nesting, draws = case.max_plate_nesting, 4000

    def repeated():
        with pyro.plate("draws", draws, dim=-1 - nesting):
            case.model()

    def moments():
        values = decoded(models.Case(repeated, models.no_guide, nesting + 1), 1).values()
        assert all(value.shape[0] == draws for value in values)
        table = torch.cat([value.double().reshape(draws, -1) for value in values], 1)
        products = (table[:, :, None] * table[:, None, :]).reshape(draws, -1)
        return torch.cat([table, products], 1)

    fresh()
    reference = moments()
    with plated.pyro.installed():
        own = moments()
    error = ((reference.var(0) + own.var(0)) / draws).sqrt()
    assert bool(((reference.mean(0) - own.mean(0)).abs() <= 5 * error + 1e-12).all())
    assert bool((own.std(0) > 0).any())


def test_infer_discrete_leaves_the_same_independence():
    case = models.nested_plates()
    fresh()

    def frames():
        decoder = infer_discrete(case.model, first_available_dim=-3, temperature=0)
        sites = poutine.trace(decoder).get_trace().nodes.items()
        return {name: [f.name for f in site["cond_indep_stack"]] for name, site in sites if site["type"] == "sample"}

    reference = frames()
    with plated.pyro.installed():
        assert frames() == reference


def test_infer_discrete_refuses_other_temperatures():
    case = models.hmm()
    fresh()
    with plated.pyro.installed(), pytest.raises(ValueError, match="temperature"):
        decoded(case, 0.5)
