"""Pyro's tensor trees as plated factor graphs: connected components, and the dims that each of them keeps.

A tensor tree maps ordinals, which are sets of plates, to packed tensors. Terms that share a variable belong together.
Pyro contracts each such component down to the plates that all its terms lie in, and does not multiply over those: for
Plated they are batch dims, as are dims that are neither summed nor plates, such as the guide's enumerated ones.
"""

from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from pyro.util import ignore_jit_warnings

import plated
import plated.torch

from .chain import spell_chains
from .spelling import spell


@dataclass(eq=False)
class Component:
    terms: list = field(default_factory=list)  # packed tensors
    ordinals: list = field(default_factory=list)  # the plates that each of them lies in
    variables: set = field(default_factory=set)  # the symbols that are summed
    _plates: object = None  # of every dim, once they have been asked for

    def add(self, term, ordinal, variables):
        self._plates = None
        self.terms.append(term)
        self.ordinals.append(ordinal)
        self.variables |= variables

    def take(self, other):
        self._plates = None
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
        if self._plates is None:
            self._plates = {}
            for term, ordinal in zip(self.terms, self.ordinals):
                for dim in term._pyro_dims:
                    self._plates[dim] = self._plates.get(dim, ordinal) & ordinal
        return self._plates[variable]

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
        results = self._contract_chains(outputs, batch, semiring)
        if results is None:
            spelling = self.spelled(outputs, batch)
            with _as_pyro_refuses():
                results = plated.torch.einsum(spelling.equation, *self.terms, semiring=semiring, **spelling.keywords())
            results = results if isinstance(results, tuple) else (results,)
        return [packed_as(result, dims) for result, dims in zip(results, outputs)]

    def _contract_chains(self, outputs, batch, semiring):
        """The same by way of chains, or None where there are none, or where they cannot be taken."""
        chained = spell_chains(self, outputs, batch)
        if chained is None:
            return None
        try:
            results = plated.torch.einsum(chained.equation, *chained.operands, semiring=semiring, **chained.keywords)
        except (plated.IntractableError, plated.PlateError):
            return None
        results = results if isinstance(results, tuple) else (results,)
        return [results[k] if step is None else results[k].select(0, step) for k, step in chained.reads]

    def assignment(self, temperature):
        """For each variable a packed tensor of indices: the best assignment (temperature 0), or a random one (1)."""
        batch = self.batch(self.ordinal)
        chained = spell_chains(self, ("",), batch)
        if chained is not None:
            try:
                found = _choose(chained.equation, chained.operands, temperature, chained.keywords)
                return {variable: self._chosen_in_step(chained, found, variable, batch) for variable in self.variables}
            except (plated.IntractableError, plated.PlateError):
                pass
        spelling = self.spelled(("",), batch)
        with _as_pyro_refuses():
            found = _choose(spelling.equation, self.terms, temperature, spelling.keywords())
        result = {}
        for variable in self.variables:
            dims = self._axes(list(spelling.names), variable, batch)
            result[variable] = packed_as(found[spelling.names[variable]], "".join(dims))
        return result

    def _axes(self, declared, variable, batch):
        """The axes of a variable's answer: batch dims, then its plates, each in the order of declaration."""
        plates = self.plates_of(variable)
        return [dim for dim in declared if dim in batch] + [dim for dim in declared if dim in plates and dim not in batch]

    def _chosen_in_step(self, chained, found, variable, batch):
        name, dim, step = chained.name(variable)
        declared = chained.writer.declared
        dims = self._axes(declared, variable, batch)
        if dim is None:
            return packed_as(found[name], "".join(dims))
        before = len(dims)  # a chain comes behind all plates, a plate of steps has its place among them
        if dim not in chained.keywords["chains"]:
            before = sum(1 for d in dims if d in batch or declared.index(d) < declared.index(dim))
        return packed_as(found[name].select(before, step), "".join(dims))


@contextmanager
def _as_pyro_refuses():
    try:
        yield
    except plated.IntractableError as error:
        raise NotImplementedError(f"Expected tree-structured plate nesting: {error}") from error


def _choose(equation, operands, temperature, keywords):
    operands = [operand.detach() for operand in operands]
    if temperature == 0:
        return plated.map(equation, *operands, semiring="max_plus", **keywords).assignment
    drawn = plated.sample(equation, *operands, n=1, seed=_seed(), **keywords)
    return {name: indices[0] for name, indices in drawn.items()}


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
