"""TraceEnum_ELBO's estimate and marginals: the model's enumerated variables are summed by Plated."""

import math
from collections import OrderedDict

import pyro.infer.traceenum_elbo as traceenum
import torch
from pyro.infer.util import Dice
from pyro.ops import packed

import plated.torch

from .component import components, packed_as
from .spelling import spell


def compute_dice_elbo(model_trace, guide_trace):
    """The ELBO of a pair of traces.

    Factors that enumerated variables touch are contracted unscaled, masks inside, and what is left is scaled by the
    scale that all of them share: a subsampled plate stands for more slices of the same kind, each with its own sum.
    """
    costs, log_factors, ordering, sum_dims, scale = traceenum._compute_model_factors(model_trace, guide_trace)
    for component in components(log_factors, sum_dims, merge=True):
        batch = component.batch(component.ordinal)
        terms = component.terms
        if component.variables:
            terms = component.contract(("".join(sorted(batch)),), batch)
        costs.setdefault(component.ordinal, []).extend(packed.scale_and_mask(term, scale=scale) for term in terms)
    for name, site in guide_trace.nodes.items():
        if site["type"] == "sample":
            costs.setdefault(ordering[name], []).append(packed.neg(site["packed"]["log_prob"]))
    return compute_expectation(Dice(guide_trace, ordering), costs)


def compute_expectation(dice, costs):
    """The expected sum of costs under the guide, each weighted by the probability of the sites upstream of it.

    The weight of a cost is the product of the guide's factors that it depends on, summed down to the cost's own dims. A
    cost without a dim that others of its ordinal have counts once for each index.
    """
    expected = 0.0
    for ordinal, terms in costs.items():
        weights = dice._get_log_factors(ordinal)
        scale = math.exp(sum(weight for weight in weights if not isinstance(weight, torch.Tensor)))
        weights = [weight for weight in weights if isinstance(weight, torch.Tensor)]
        sizes = {dim: size for term in terms + weights for dim, size in zip(term._pyro_dims, term.shape)}
        for cost, weight in zip(terms, _probabilities(weights, terms)):
            seen = set(cost._pyro_dims)
            if weight is not None:
                seen.update(*(factor._pyro_dims for factor in weights))
                cost = _weighted(cost, weight)
            repeated = math.prod(size for dim, size in sizes.items() if dim not in seen)
            expected = expected + scale * repeated * cost.sum()
    return expected


def _probabilities(weights, costs):
    """For each cost the probabilities of its dims, as far as there are weights."""
    if not weights:
        return [None] * len(costs)
    known = set().union(*(weight._pyro_dims for weight in weights))
    outputs = tuple(dict.fromkeys("".join(sorted(known.intersection(cost._pyro_dims))) for cost in costs))
    spelling = spell(tuple(w._pyro_dims for w in weights), ("",) * len(weights), outputs, frozenset(), frozenset())
    results = plated.torch.einsum(spelling.equation, *weights, **spelling.keywords())
    results = results if isinstance(results, tuple) else (results,)
    by_dims = {dims: packed.exp(packed_as(result, dims)) for dims, result in zip(outputs, results)}
    return [by_dims["".join(sorted(known.intersection(cost._pyro_dims)))] for cost in costs]


def _weighted(cost, weight):
    cost, weight = packed.broadcast_all(cost, weight)
    mask = weight > 0
    if torch._C._get_tracing_state() or not mask.all():  # what is impossible costs nothing, not even infinity
        return weight.masked_select(mask) * cost.masked_select(mask)
    return weight * cost


def compute_marginals(model_trace, guide_trace):
    """The posterior of every site that is enumerated in the model, as a distribution; one plan for all of them."""
    _, log_factors, _, sum_dims, _ = traceenum._compute_model_factors(model_trace, guide_trace)
    logits = {}
    for component in components(log_factors, sum_dims, merge=True):
        batch = component.batch(component.ordinal)
        known = frozenset(component.sizes)
        variables = sorted(component.variables)
        outputs = tuple(
            "".join(sorted(batch | component.plates_of(variable) & known)) + variable for variable in variables
        )
        if variables:
            logits.update(zip(variables, component.contract(outputs, batch)))
    marginals = OrderedDict()
    for name, site in model_trace.nodes.items():
        if site["type"] != "sample" or name in guide_trace.nodes or site["infer"].get("_enumerate_dim") is None:
            continue
        dim = site["infer"]["_enumerate_dim"]
        table = packed.unpack(logits[site["infer"]["_enumerate_symbol"]], model_trace.symbol_to_dim)
        table = table.unsqueeze(-1).transpose(-1, dim - 1)
        while table.shape[0] == 1:
            table = table.squeeze(0)
        marginals[name] = traceenum._make_dist(site["fn"], table)
    return marginals
