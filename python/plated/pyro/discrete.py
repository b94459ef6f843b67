"""infer_discrete: enumerated sites take their jointly most probable values, or joint samples, from Plated."""

import warnings
from collections import OrderedDict

from pyro import poutine
from pyro.infer.discrete import SamplePosteriorMessenger
from pyro.ops import packed

from .component import components


def sample_posterior_from_trace(model, enum_trace, temperature, strict_enumeration_warning, *args, **kwargs):
    """Runs the model with its enumerated sites fixed to an assignment: the best at temperature 0, a random one at 1."""
    if temperature not in (0, 1):
        raise ValueError("temperature must be 0 (map) or 1 (sample) for now")
    tree, sum_dims, enumerated = _factors(enum_trace)
    if strict_enumeration_warning and not enumerated:
        warnings.warn(
            "infer_discrete found no sample sites configured for enumeration. If you want to enumerate sites, you need "
            'to @config_enumerate or set infer={"enumerate": "sequential"} or infer={"enumerate": "parallel"}.'
        )
    chosen, ordinals = {}, {}
    for component in components(tree, sum_dims, merge=True):
        chosen.update(component.assignment(temperature))
        ordinals.update(dict.fromkeys(component.variables, component.ordinal))
    with SamplePosteriorMessenger(trace=_collapsed(enum_trace, chosen, ordinals)):
        return model(*args, **kwargs)


def _factors(enum_trace):
    """The log factors that enumerated variables touch, masked, not scaled; the variables; whether a site enumerates."""
    tree, sum_dims, enumerated = OrderedDict(), set(), False
    for site in _sample_sites(enum_trace):
        ordinal = frozenset(enum_trace.plate_to_symbol[frame.name] for frame in _slices(site))
        log_prob = _masked_log_prob(site)
        sum_dims.update(set(log_prob._pyro_dims) - ordinal)
        if not sum_dims.isdisjoint(log_prob._pyro_dims):
            tree.setdefault(ordinal, []).append(log_prob)
            enumerated |= site["infer"].get("_enumerate_dim") is not None
    return tree, sum_dims, enumerated


def _collapsed(enum_trace, chosen, ordinals):
    """A trace of the unobserved sites with the enumerated dims of their values gathered at the chosen indices.

    A site that is joined to others across slices of a plate is no longer independent there: it leaves the plates that
    its component does not share.
    """
    collapsed = poutine.Trace()
    for site in _sample_sites(enum_trace):
        if site["is_observed"]:
            continue
        value, frames = site["value"], site["cond_indep_stack"]
        touched = [symbol for symbol in _masked_log_prob(site)._pyro_dims if symbol in chosen]
        if touched:
            kept = ordinals[touched[0]]
            leaving = {frame.name for frame in _slices(site) if enum_trace.plate_to_symbol[frame.name] not in kept}
            frames = tuple(frame for frame in frames if frame.name not in leaving)
            value = packed.pack(value, site["infer"]["_dim_to_symbol"])
            for symbol in touched:
                if symbol in value._pyro_dims:
                    value = packed.gather(value, chosen[symbol], symbol)
            value = packed.unpack(value, enum_trace.symbol_to_dim)
        collapsed.add_node(
            site["name"],
            type="sample",
            name=site["name"],
            is_observed=False,
            infer=site["infer"].copy(),
            cond_indep_stack=frames,
            value=value,
        )
    return collapsed


def _sample_sites(trace):
    return [site for site in trace.nodes.values() if site["type"] == "sample"]


def _slices(site):
    """The plates of a site that have more than one slice."""
    return [frame for frame in site["cond_indep_stack"] if frame.vectorized and frame.size > 1]


def _masked_log_prob(site):
    tensors = site["packed"]
    if "masked_log_prob" not in tensors:
        tensors["masked_log_prob"] = packed.scale_and_mask(tensors["unscaled_log_prob"], mask=tensors["mask"])
    return tensors["masked_log_prob"]
