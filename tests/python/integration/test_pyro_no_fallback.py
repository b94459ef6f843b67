"""Nothing falls back to Pyro: with Pyro's own contractions disabled, the answers stay the same."""

import pytest

torch = pytest.importorskip("torch")
pyro = pytest.importorskip("pyro")
pytest.importorskip("plated")
import opt_einsum  # noqa: E402
import plated.pyro  # noqa: E402
import pyro.infer.discrete  # noqa: E402
import pyro.infer.mcmc.util  # noqa: E402
import pyro.infer.traceenum_elbo  # noqa: E402
import pyro.infer.tracetmc_elbo  # noqa: E402
import pyro.ops.contract  # noqa: E402
import pyro.ops.einsum  # noqa: E402
import pyro.ops.einsum.adjoint  # noqa: E402
import pyro.ops.einsum.torch_log  # noqa: E402
import pyro.ops.einsum.torch_map  # noqa: E402
import pyro.ops.einsum.torch_marginal  # noqa: E402
import pyro.ops.einsum.torch_sample  # noqa: E402
import pyro.ops.rings  # noqa: E402
import pyro_checks as checks  # noqa: E402
import pyro_models as models  # noqa: E402
from pyro.infer import TraceEnum_ELBO  # noqa: E402

# Wherever Pyro contracts: its tree walk, its rings, its backends, opt_einsum below them.
CONTRACTIONS = [
    *(
        (module, name)
        for module in (
            pyro.ops.contract,
            pyro.infer.traceenum_elbo,
            pyro.infer.discrete,
            pyro.infer.mcmc.util,
            pyro.infer.tracetmc_elbo,
        )
        for name in ("contract_tensor_tree", "contract_to_tensor", "einsum", "_contract_component", "_partition_terms")
        if hasattr(module, name)
    ),
    *((ring, "sumproduct") for ring in (pyro.ops.rings.LinearRing, pyro.ops.rings.LogRing)),
    *((ring, "product") for ring in (pyro.ops.rings.LinearRing, pyro.ops.rings.LogRing)),
    (pyro.ops.rings, "contract"),
    (pyro.ops.einsum, "contract"),
    (pyro.ops.einsum, "contract_expression"),
    (pyro.ops.einsum.torch_log, "einsum"),
    (pyro.ops.einsum.torch_map, "einsum"),
    (pyro.ops.einsum.torch_marginal, "einsum"),
    (pyro.ops.einsum.torch_sample, "einsum"),
    (pyro.ops.einsum.adjoint, "einsum_backward_sample"),
    (opt_einsum, "contract"),
    (opt_einsum, "contract_expression"),
    (torch, "einsum"),
]


@pytest.fixture
def raising(monkeypatch):
    """Makes every contraction of Pyro's raise, then installs Plated; called when the references are there."""

    def forbidden(*args, **kwargs):
        raise AssertionError("Pyro contracted something itself")

    def forbid():
        for owner, name in CONTRACTIONS:
            monkeypatch.setattr(owner, name, forbidden)
        plated.pyro.install()

    yield forbid
    plated.pyro.uninstall()


def test_the_trap_works(raising):
    raising()
    plated.pyro.uninstall()
    case = models.hmm()
    checks.fresh()
    with pytest.raises(AssertionError, match="itself"):
        TraceEnum_ELBO(max_plate_nesting=0).loss(case.model, case.guide)
    checks.fresh()
    with pytest.raises(AssertionError, match="itself"):
        checks.decoded(case, 0)


@pytest.mark.parametrize("build", models.MODELS, ids=lambda build: build.__name__)
def test_loss_and_gradients(build, raising):
    case = build()
    reference = checks.loss_and_gradients(case)
    raising()
    checks.assert_same(checks.loss_and_gradients(case), reference)


@pytest.mark.parametrize("build", checks.DISCRETE, ids=lambda build: build.__name__)
def test_assignments(build, raising):
    case = build()
    checks.fresh()
    reference = checks.decoded(case, 0)
    raising()
    own = checks.decoded(case, 0)
    assert all(torch.equal(own[name], value) for name, value in reference.items())
    assert checks.decoded(case, 1).keys() == reference.keys()


@pytest.mark.parametrize("build", models.MODELS, ids=lambda build: build.__name__)
def test_marginals(build, raising):
    case = build()
    raising()
    checks.fresh()
    own = TraceEnum_ELBO(max_plate_nesting=case.max_plate_nesting).compute_marginals(case.model, case.guide)
    assert own


def test_einsum(raising):
    a, b = torch.randn(2), torch.randn(2, 3)
    raising()
    (total,) = pyro.ops.contract.einsum("a,ai->", a, b, plates="i", backend="pyro.ops.einsum.torch_log")
    torch.testing.assert_close(total, (a + b.sum(1)).logsumexp(0))
