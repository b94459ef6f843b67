"""Pyro's adjoint algebra (pyro.ops.einsum.adjoint): the backward pass of a contraction, answered by Plated's verbs.

A tensor marked by `require_backward` gets, when the backward pass of a result runs, its log marginal, or the indices that
its summed dims take in the best assignment or in a random one; which of them, the ring of the contraction says.
"""

import torch
from pyro.ops import packed
from pyro.ops.einsum.adjoint import SAMPLE_SYMBOL, Backward
from pyro.ops.rings import MapRing, MarginalRing, SampleRing

from .component import Component, packed_as


def record(result, components, kept, ring):
    """Lets the backward pass of a result, in which the symbols `kept` are not summed, reach the marked terms."""
    kind = ring if isinstance(ring, type) else type(ring)
    marked = [component for component in components if any(map(_is_marked, component.terms))]
    if marked and issubclass(kind, (MapRing, SampleRing, MarginalRing)):
        result._pyro_backward = _ContractionBackward(marked, frozenset(kept), kind)
    return result


def _is_marked(term):
    return hasattr(term, "_pyro_backward")


class _ContractionBackward(Backward):
    def __init__(self, components, kept, ring):
        self.components = components
        self.kept = kept
        self.ring = ring

    def process(self, message):
        if message is not None:
            raise NotImplementedError(
                "a result of Plated was contracted again by pyro.ops.einsum: contract all tensors in one call"
            )
        for component in self.components:
            answer = self._marginals if issubclass(self.ring, MarginalRing) else self._indices
            yield from answer(component)

    def _summed(self, component, term):
        return sorted(component.variables.intersection(term._pyro_dims) - self.kept)

    def _marginals(self, component):
        """For each marked term the sum over everything but its own dims, all of them from one plan."""
        marked = [term for term in component.terms if _is_marked(term)]
        asked = [term for term in marked if self._summed(component, term)]
        found = iter(component.contract(tuple(term._pyro_dims for term in asked), frozenset()) if asked else ())
        for term in marked:
            yield term._pyro_backward, next(found) if self._summed(component, term) else None

    def _indices(self, component):
        """For each marked term a tensor of indices, one row for each summed dim, as Pyro has them."""
        given = Component(component.terms, component.ordinals, component.variables - self.kept)
        chosen = given.assignment(0 if issubclass(self.ring, MapRing) else 1) if given.variables else {}
        for term in filter(_is_marked, component.terms):
            summed = self._summed(component, term)
            yield term._pyro_backward, _stacked([chosen[dim] for dim in summed], summed) if summed else None


def _stacked(indices, dims):
    rows = packed.broadcast_all(*indices)
    sample = packed_as(torch.stack(rows), SAMPLE_SYMBOL + rows[0]._pyro_dims)
    sample._pyro_sample_dims = "".join(dims)
    return sample
