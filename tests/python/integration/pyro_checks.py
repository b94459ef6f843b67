"""Checks that the tests of Pyro on Plated run on each case, and how they compare answers."""

import pyro
import pyro_models as models
import pytest
import torch
from pyro import poutine
from pyro.infer import TraceEnum_ELBO, infer_discrete
from pyro.poutine.util import prune_subsample_sites

DISCRETE = [build for build in models.MODELS if build().infer_discrete]


def fresh(seed=0):
    pyro.clear_param_store()
    pyro.set_rng_seed(seed)


def loss_and_gradients(case, **options):
    fresh()
    elbo = TraceEnum_ELBO(max_plate_nesting=case.max_plate_nesting, **options)
    loss = elbo.loss_and_grads(case.model, case.guide)
    parameters = pyro.get_param_store().named_parameters()
    return loss, {name: value.grad.clone() for name, value in parameters}


def assert_same(own, reference):
    assert own[0] == pytest.approx(reference[0], rel=1e-9)
    assert own[1].keys() == reference[1].keys() and own[1]
    for name, gradient in reference[1].items():
        scale = gradient.abs().max()
        torch.testing.assert_close(own[1][name], gradient, rtol=1e-9, atol=float(1e-9 * scale), msg=name)


def decoded(case, temperature, seed=0):
    """The values of all sites after infer_discrete."""
    pyro.set_rng_seed(seed)
    decoder = infer_discrete(case.model, first_available_dim=-1 - case.max_plate_nesting, temperature=temperature)
    trace = prune_subsample_sites(poutine.trace(decoder).get_trace())
    sites = [site for site in trace.nodes.values() if site["type"] == "sample" and not site["is_observed"]]
    return {site["name"]: site["value"] for site in sites}
