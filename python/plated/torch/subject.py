"""What a question is about: an equation as it is; graphs and models become plans, and named operands a list."""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakKeyDictionary

import torch

import plated

from . import plans

_READING = ("plates", "batch", "chains", "spaced")
_SPACES = {"log": "log", "max_plus": "log", "real": "real", "max_product": "real"}

_of_models: WeakKeyDictionary[plated.Model, dict] = WeakKeyDictionary()


def resolve(subject, operands, named, options, data, total):
    """The equation or plan, and its operands in order; `data` becomes that of a model where it is about one.

    `total` says that only batch dims may be kept.
    """
    if isinstance(subject, str):
        if named:
            raise TypeError(f"an equation's operands have no names, and there is no option {next(iter(named))!r}")
        return _total_of_equation(subject) if total else subject, operands
    for option in _READING:
        if option in options:
            raise TypeError(f"{option} is for equations: a {type(subject).__name__} knows its own")
    if torch.compiler.is_compiling() and isinstance(subject, (plated.FactorGraph, plated.Model)):
        raise TypeError("under torch.compile, give a plan (plated.compile) or a Layer instead of a graph or a model")
    if isinstance(subject, plated.Model):
        own = own_factors(subject, options.get("semiring", "log"))
        operands = _in_order(_names(subject.graph), operands, named, own)
        data["evidence"] = subject._evidence_with(data.get("evidence", {}))
        data["lengths"] = {**subject.lengths, **data.get("lengths", {})}
        return _plan_of_model(subject, tuple(data["evidence"]), total), operands
    if isinstance(subject, plated.FactorGraph):
        subject = plated.compile(subject, observable=tuple(data.get("evidence", {})))
    elif not isinstance(subject, plated.Plan):
        raise TypeError(f"an equation, Plan, FactorGraph or Model is expected, not {type(subject).__name__}")
    if total:
        _check_total(subject)
    if named or (len(operands) == 1 and isinstance(operands[0], Mapping)):
        operands = _in_order(_names_of_plan(subject), operands, named, {})
    return subject, operands


def _total_of_equation(equation):
    if "->" not in equation:
        return equation + "->"
    if not equation.rstrip().endswith("->"):
        raise ValueError(f"log_partition keeps batch dims only, and {equation!r} has an output: einsum keeps others")
    return equation


@torch.compiler.assume_constant_result
def _check_total(plan):
    equation = plans.known(plan).equation
    if len(equation.outputs) != 1 or not set(equation.outputs[0]) <= set(equation.batch):
        raise ValueError(f"log_partition keeps batch dims only, and {plan!r} has other outputs: einsum keeps them")


@torch.compiler.assume_constant_result
def _names_of_plan(plan):
    return plans.known(plan).names


def _names(graph):
    return tuple(factor.name for factor in graph.factors)


def own_factors(model, semiring):
    """The numbers of a model as tensors, in the space of a semiring; they are copied: a model's do not change."""
    if semiring not in _SPACES:
        raise plated.OptionError(f"the numbers of a model are for the semirings {', '.join(_SPACES)}, not {semiring}")
    return {name: torch.tensor(array) for name, array in model.in_space(_SPACES[semiring]).factors.items()}


def total_of(graph):
    """The same graph with its total, one for each batch, as its only output."""
    return graph.asking([[dim.name for dim in graph.dims if dim.kind == "batch"]])


def _plan_of_model(model, observable, total):
    """A plan for what a call observes; a model keeps those it has."""
    kept = _of_models.setdefault(model, {})
    if (observable, total) not in kept:
        graph = total_of(model.graph) if total else model.graph
        kept[observable, total] = plated.compile(graph, observable=observable)
    return kept[observable, total]


def _in_order(names, operands, named, own):
    """Operands in the order of `names`, from a dict, from keywords, and from those that the model itself has."""
    if len(operands) == 1 and isinstance(operands[0], Mapping):
        given, operands = operands[0], ()
        for name in named:
            if name in given:
                raise plated.DuplicateNameError(f"factor '{name}' has two operands")
        named = {**given, **named}
    for name in named:
        if name not in names:
            raise plated.UnknownNameError(f"there is no factor '{name}'; the factors are {', '.join(names)}")
    if operands and named:
        raise plated.OperandCountError(
            f"some operands are named and {len(operands)} are not: name all of them, or none"
        )
    if operands:
        return operands
    for name in names:
        if name not in named and name not in own:
            raise plated.OperandCountError(f"factor '{name}' has no operand")
    return tuple([named[name] if name in named else own[name] for name in names])
