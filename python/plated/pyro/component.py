"""Pyro's tensor trees as plated factor graphs: connected components, and the dims that each of them keeps.

A tensor tree maps ordinals, which are sets of plates, to packed tensors. Terms that share a variable belong together.
Pyro contracts each such component down to the plates that all its terms lie in, and does not multiply over those: for
Plated they are batch dims, as are dims that are neither summed nor plates, such as the guide's enumerated ones.
"""

from dataclasses import dataclass, field

import torch
from pyro.util import ignore_jit_warnings

import plated
import plated.torch

from .spelling import spell


@dataclass(eq=False)
class Component:
    terms: list = field(default_factory=list)  # packed tensors
    ordinals: list = field(default_factory=list)  # the plates that each of them lies in
    variables: set = field(default_factory=set)  # the symbols that are summed

    def add(self, term, ordinal, variables):
        self.terms.append(term)
        self.ordinals.append(ordinal)
        self.variables |= variables

    def take(self, other):
        self.terms += other.terms
        self.ordinals += other.ordinals
        self.variables |= other.variables

    @property
    def ordinal(self):
        """The plates that all terms lie in."""
        return frozenset.intersection(*self.ordinals)

    @property
    def sizes(self):
        with ignore_jit_warnings():  # in a trace sizes are tensors, and the trace is for these sizes
            return {dim: int(size) for term in self.terms for dim, size in zip(term._pyro_dims, term.shape)}

    def plates_of(self, variable):
        """The plates of a variable: those that all the terms holding it share."""
        return frozenset.intersection(
            *(ordinal for term, ordinal in zip(self.terms, self.ordinals) if variable in term._pyro_dims)
        )

    def batch(self, kept):
        """Dims that are independent problems, where the plates in `kept` are not multiplied over."""
        plates = frozenset().union(*self.ordinals) - kept
        return frozenset(self.sizes) - self.variables - plates

    def spelled(self, outputs, batch):
        """The component as an equation with these outputs, which are strings of symbols.

        A term may lie in a plate without having its dim; then it is the same in every slice. A plate that no term has
        the dim of has one slice, and is not there for Plated.
        """
        sizes = self.sizes
        plates = frozenset(sizes) - self.variables - batch
        dims = tuple(term._pyro_dims for term in self.terms)
        tied = tuple(
            "".join(sorted(ordinal & plates - set(term._pyro_dims))) for term, ordinal in zip(self.terms, self.ordinals)
        )
        return spell(dims, tied, tuple(outputs), plates, batch)

    def contract(self, outputs, batch, semiring="log"):
        """The outputs as packed tensors. Raises NotImplementedError for an intractable component, as Pyro does."""
        spelling = self.spelled(outputs, batch)
        try:
            results = plated.torch.einsum(spelling.equation, *self.terms, semiring=semiring, **spelling.keywords())
        except plated.IntractableError as error:
            raise NotImplementedError(f"Expected tree-structured plate nesting: {error}") from error
        results = results if isinstance(results, tuple) else (results,)
        return [packed_as(result, dims) for result, dims in zip(results, outputs)]

    def assignment(self, temperature):
        """For each variable a packed tensor of indices: the best assignment (temperature 0), or a random one (1)."""
        batch = self.batch(self.ordinal)
        spelling = self.spelled(("",), batch)
        operands = [term.detach() for term in self.terms]
        try:
            if temperature == 0:
                found = plated.map(spelling.equation, *operands, semiring="max_plus", **spelling.keywords()).assignment
            else:
                found = plated.sample(spelling.equation, *operands, n=1, seed=_seed(), **spelling.keywords())
        except plated.IntractableError as error:
            raise NotImplementedError(f"Expected tree-structured plate nesting: {error}") from error
        result = {}
        for variable in self.variables:
            plates = self.plates_of(variable)
            dims = [dim for dim in spelling.names if dim in batch]
            dims += [dim for dim in spelling.names if dim in plates and dim not in batch]
            indices = found[spelling.names[variable]]
            result[variable] = packed_as(indices if temperature == 0 else indices[0], "".join(dims))
        return result


def components(tensor_tree, sum_dims, merge=False):
    """The connected components of a tree, in the order of their first terms.

    With `merge`, components that are left with the same plates and dims become one: their product is wanted, not each.
    """
    of_variable = {}
    found = {}  # an ordered set
    for ordinal, terms in tensor_tree.items():
        for term in terms:
            variables = sum_dims.intersection(term._pyro_dims)
            touched = dict.fromkeys(of_variable[v] for v in variables if v in of_variable)
            # The largest takes the others in: a long chain is not copied once for each of its links.
            joined = max(touched, key=lambda component: len(component.terms), default=None) or Component()
            found[joined] = None
            for other in touched:
                if other is not joined:
                    joined.take(other)
                    of_variable.update(dict.fromkeys(other.variables, joined))
                    del found[other]
            joined.add(term, ordinal, variables)
            of_variable.update(dict.fromkeys(variables, joined))
    return _merged(found) if merge else list(found)


def _merged(found):
    alike = {}
    for component in found:
        if not component.variables:
            alike[id(component)] = component
            continue
        key = component.ordinal, component.batch(component.ordinal)
        if (first := alike.setdefault(key, component)) is not component:
            first.take(component)
    return list(alike.values())


def packed_as(tensor, dims):
    tensor._pyro_dims = dims
    assert tensor.dim() == len(dims)
    return tensor


def _seed():
    """A seed for Plated's generator from PyTorch's, so that pyro.set_rng_seed controls it."""
    return int(torch.randint(2**62, ()))
