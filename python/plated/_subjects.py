"""What PyTorch's and JAX's functions share: operands by name, and graphs asked for their total."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ._core import FactorGraph
from ._errors import DuplicateNameError, OperandCountError, OptionError, UnknownNameError

# The options that say how an equation is read.
READING = ("plates", "batch", "chains", "spaced")
_SPACES = {"log": "log", "max_plus": "log", "real": "real", "max_product": "real"}


def space_of(semiring: str) -> str:
    """The space that the numbers of a model have in a semiring."""
    if semiring not in _SPACES:
        raise OptionError(f"the numbers of a model are for the semirings {', '.join(_SPACES)}, not {semiring}")
    return _SPACES[semiring]


def total_of(graph: FactorGraph) -> FactorGraph:
    """The same graph with its total, one for each batch, as its only output."""
    return graph.asking([[dim.name for dim in graph.dims if dim.kind == "batch"]])


def total_of_equation(equation: str) -> str:
    if "->" not in equation:
        return equation + "->"
    if not equation.rstrip().endswith("->"):
        raise ValueError(f"log_partition keeps batch dims only, and {equation!r} has an output: einsum keeps others")
    return equation


def check_reading(subject: Any, options: Mapping[str, Any]) -> None:
    """Raises TypeError for options of equations beside something else."""
    for option in READING:
        if option in options:
            raise TypeError(f"{option} is for equations: a {type(subject).__name__} knows its own")


def in_order(names: Sequence[str], operands: tuple[Any, ...], named: Mapping[str, Any], own: Mapping[str, Any]) -> tuple[Any, ...]:
    """Operands in the order of `names`, from a dict, from keywords, and from those that the model itself has."""
    if len(operands) == 1 and isinstance(operands[0], Mapping):
        given, operands = operands[0], ()
        for name in named:
            if name in given:
                raise DuplicateNameError(f"factor '{name}' has two operands")
        named = {**given, **named}
    for name in named:
        if name not in names:
            raise UnknownNameError(f"there is no factor '{name}'; the factors are {', '.join(names)}")
    if operands and named:
        raise OperandCountError(f"some operands are named and {len(operands)} are not: name all of them, or none")
    if operands:
        return operands
    for name in names:
        if name not in named and name not in own:
            raise OperandCountError(f"factor '{name}' has no operand")
    return tuple([named[name] if name in named else own[name] for name in names])
