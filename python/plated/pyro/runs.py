"""Finds the steps of a model that repeat: pyro.markov and sequential plates give each step variables and terms alike.

Variables are numbered in the order in which Pyro has named them, which is that of the trace. A term belongs to the last of
its variables. Where the terms of variable k look like those of variable k + m, but for the numbers of the variables, and do
so many times in a row, these variables are steps of m variables each.
"""

import string
from typing import NamedTuple

from pyro.util import ignore_jit_warnings

LEAST_STEPS = 8
MOST_VARIABLES = 8  # of a step
FARTHEST = (32, 16, 8, 4)  # how many variables back a step may look; what others see from farther away is of all steps


class Slot(NamedTuple):
    """A term of every step: which terms they are, and the dims that all of them have in this order."""

    terms: list  # the number of the term in each step
    dims: tuple  # symbols, and (position, lag) of the variables of steps


class Run(NamedTuple):
    """Steps alike: variable number first + step · period + position is at this position of this step."""

    first: int
    period: int
    steps: int
    lags: tuple  # by position, how many steps back others look at it
    slots: list

    def place(self, k):
        """The position and step of a variable; steps before the first have negative numbers. None outside."""
        step, position = divmod(k - self.first, self.period)
        return (position, step) if -self.lags[position] <= step < self.steps else None


class _Looks(NamedTuple):
    """What is the same of terms in steps alike: where their dims are, relative to the variable they belong to."""

    dims: tuple
    shape: tuple
    ordinal: frozenset
    dtype: object


def find_runs(component):
    """The runs of a component, and its variables in order. No variable is in two runs."""
    variables = sorted(component.variables, key=_order)
    if len(variables) < LEAST_STEPS:
        return [], variables
    number = {symbol: k for k, symbol in enumerate(variables)}
    held = [sorted(number[d] for d in term._pyro_dims if d in number) for term in component.terms]
    tried = None
    for farthest in FARTHEST:
        shared = {k for numbers in held for k in numbers if numbers[-1] - k > farthest}
        if shared != tried and (runs := _runs(component, number, held, shared)):
            return runs, variables
        tried = shared
    return [], variables


def _runs(component, number, held, shared):
    """The runs, where the variables in `shared` belong to all steps."""
    owned = [[] for _ in number]
    with ignore_jit_warnings():  # in a trace sizes are tensors, and the trace is for these sizes
        for index, numbers in enumerate(held):
            own = [k for k in numbers if k not in shared]
            if own:
                owned[own[-1]].append((_looks(component, index, number, shared, own[-1]), index))
    for terms in owned:
        if len(terms) > 1:
            terms.sort(key=lambda term: (str(term[0].dims), term[0].shape, sorted(term[0].ordinal), term[1]))
    kinds = {}  # numbers instead of looks: they are compared often
    looks = [kinds.setdefault(tuple(look for look, _ in terms), len(kinds)) for terms in owned]
    for k in shared:
        looks[k] = -1 - k  # of no step
    runs, taken = [], 0
    while (run := _next_run(looks, owned, taken)) is not None:
        taken = run.first + run.period * run.steps
        runs.append(run)
    return runs


def _order(symbol):
    """The number of a symbol of opt_einsum: letters first."""
    return string.ascii_letters.index(symbol) if symbol in string.ascii_letters else ord(symbol)


def _looks(component, index, number, shared, owner):
    term = component.terms[index]

    def place(dim):
        k = number.get(dim)
        return dim if k is None or k in shared else owner - k

    sizes = sorted(((place(d), int(size)) for d, size in zip(term._pyro_dims, term.shape)), key=_by_place)
    return _Looks(tuple(d for d, _ in sizes), tuple(size for _, size in sizes), component.ordinals[index], term.dtype)


def _by_place(entry):
    place, _ = entry
    return (0, place, 0) if isinstance(place, str) else (1, "", -place)


def _next_run(looks, owned, taken):
    """The first run from variable number `taken` on that reads none before it."""
    count = len(looks)
    for first in range(taken, count):
        for period in range(1, MOST_VARIABLES + 1):
            steps = 1
            while first + (steps + 1) * period <= count and all(
                looks[first + steps * period + p] == looks[first + p] for p in range(period)
            ):
                steps += 1
            if steps >= LEAST_STEPS and (run := _run(owned, first, period, steps, taken)) is not None:
                return run
    return None


def _run(owned, first, period, steps, taken):
    lags, slots = [0] * period, []
    for p in range(period):
        for q, (look, _) in enumerate(owned[first + p]):
            dims = []
            for place in look.dims:
                if isinstance(place, str):
                    dims.append(place)
                    continue
                step, position = divmod(p - place, period)
                lags[position] = max(lags[position], -step)
                dims.append((position, -step))
            slots.append(Slot([owned[first + s * period + p][q][1] for s in range(steps)], tuple(dims)))
    earliest = min(first + p - lag * period for p, lag in enumerate(lags))
    return Run(first, period, steps, tuple(lags), slots) if earliest >= taken else None
