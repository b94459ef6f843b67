"""What a question is about: an equation as it is; graphs and models become plans, and named operands a list."""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakKeyDictionary

import torch

import plated

from .._subjects import check_reading, in_order, space_of, total_of, total_of_equation
from . import plans

_of_models: WeakKeyDictionary[plated.Model, dict] = WeakKeyDictionary()


def resolve(subject, operands, named, options, data, total):
    """The equation or plan, and its operands in order; `data` becomes that of a model where it is about one.

    `total` says that only batch dims may be kept.
    """
    if isinstance(subject, str):
        if named:
            raise TypeError(f"an equation's operands have no names, and there is no option {next(iter(named))!r}")
        return total_of_equation(subject) if total else subject, operands
    check_reading(subject, options)
    if torch.compiler.is_compiling() and isinstance(subject, (plated.FactorGraph, plated.Model)):
        raise TypeError("under torch.compile, give a plan (plated.compile) or a Layer instead of a graph or a model")
    if isinstance(subject, plated.Model):
        own = own_factors(subject, options.get("semiring", "log"))
        operands = in_order(_names(subject.graph), operands, named, own)
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
        operands = in_order(_names_of_plan(subject), operands, named, {})
    return subject, operands


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
    return {name: torch.tensor(array) for name, array in model.in_space(space_of(semiring)).factors.items()}


def _plan_of_model(model, observable, total):
    """A plan for what a call observes; a model keeps those it has."""
    kept = _of_models.setdefault(model, {})
    if (observable, total) not in kept:
        graph = total_of(model.graph) if total else model.graph
        kept[observable, total] = plated.compile(graph, observable=observable)
    return kept[observable, total]
