"""Pyro on Plated's engine.

    import plated.pyro
    plated.pyro.install()

From then on `TraceEnum_ELBO` (and its jitted and sampling kin), `infer_discrete`, `compute_marginals`, enumeration
inside HMC and NUTS, `TraceTMC_ELBO` and `pyro.ops.contract.einsum` sum over discrete variables with Plated.
`uninstall()` gives Pyro its own functions back, and `with plated.pyro.installed():` does both. Pyro is not a
requirement of Plated: `pip install plated[pyro]`.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pyro.infer.discrete
import pyro.infer.mcmc.util
import pyro.infer.traceenum_elbo
import pyro.infer.tracetmc_elbo
import pyro.infer.util
import pyro.ops.contract

from . import contract, discrete, elbo

__all__ = ["install", "installed", "is_installed", "uninstall"]

# What is replaced: the owner, the name there, and what Plated puts in its place. Pyro's modules import these functions
# by name, so each importer is a place of its own.
_PLACES = [
    (pyro.infer.traceenum_elbo, "_compute_dice_elbo", elbo.compute_dice_elbo),
    (pyro.infer.traceenum_elbo, "_compute_marginals", elbo.compute_marginals),
    (pyro.infer.util.Dice, "compute_expectation", elbo.compute_expectation),
    (pyro.infer.discrete, "_sample_posterior_from_trace", discrete.sample_posterior_from_trace),
    (pyro.infer.tracetmc_elbo, "einsum", contract.einsum),
    (pyro.ops.contract, "einsum", contract.einsum),
    *(
        (owner, name, getattr(contract, name))
        for name in ("contract_tensor_tree", "contract_to_tensor")
        for owner in (
            pyro.ops.contract,
            pyro.infer.traceenum_elbo,
            pyro.infer.discrete,
            pyro.infer.mcmc.util,
        )
        if hasattr(owner, name)
    ),
]
_pyros_own = {}


def install() -> None:
    """Replaces Pyro's contractions by Plated's. A second call changes nothing."""
    if is_installed():
        return
    for owner, name, replacement in _PLACES:
        _pyros_own[owner, name] = getattr(owner, name)
        setattr(owner, name, replacement)


def uninstall() -> None:
    """Restores the functions that `install` replaced."""
    for (owner, name), function in _pyros_own.items():
        setattr(owner, name, function)
    _pyros_own.clear()


def is_installed() -> bool:
    return bool(_pyros_own)


@contextmanager
def installed() -> Iterator[None]:
    """Installs Plated inside the `with` block and restores the previous state afterwards."""
    before = is_installed()
    install()
    try:
        yield
    finally:
        if not before:
            uninstall()
