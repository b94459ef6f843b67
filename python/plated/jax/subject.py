"""What a question is about, as an equation: plans, graphs and models are spelled, and named operands become a list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import jax.numpy as jnp

from .._core import FactorGraph, Model, Plan
from .._pickle import reduce_graph, restore_graph
from .._subjects import check_reading, in_order, space_of, total_of, total_of_equation


class Spelled(NamedTuple):
    """A graph as an equation, with the sizes that runs have where nothing else tells them."""

    equation: str
    reading: dict[str, Any]  # plates, batch, chains, spaced
    sizes: dict[str, int]  # of dims that no operand has
    unheld: dict[str, int]  # of dims that nothing has
    names: tuple[str, ...]
    ones: tuple[int, ...]  # domains of variables whose plates only a factor of ones lets an equation say
    options: dict[str, Any]  # that a plan was compiled with, and runs take by default


_spelled: WeakKeyDictionary[Any, dict[bool, Spelled]] = WeakKeyDictionary()
_RUN = ("semiring", "threads", "memory_limit", "check")


def resolve(
    subject: Any, operands: tuple[Any, ...], named: Mapping[str, Any], options: dict[str, Any], data: dict[str, Any], total: bool
) -> tuple[str, tuple[Any, ...], dict[str, int]]:
    """The equation, its operands in order, and default sizes; `options` and `data` become those of the subject, too."""
    if isinstance(subject, str):
        if named:
            raise TypeError(f"an equation's operands have no names, and there is no option {next(iter(named))!r}")
        return total_of_equation(subject) if total else subject, operands, {}
    if not isinstance(subject, (FactorGraph, Model, Plan)):
        raise TypeError(f"an equation, Plan, FactorGraph or Model is expected, not {type(subject).__name__}")
    check_reading(subject, options)
    spelled = _of(subject, total)
    for option in _RUN:
        if option in spelled.options:
            options.setdefault(option, spelled.options[option])
    options.update(spelled.reading)
    options["sizes"] = {**spelled.unheld, **options.get("sizes", {})}
    own: dict[str, Any] = {}
    if isinstance(subject, Model):
        numbers = subject.in_space(space_of(options.get("semiring", "log"))).factors
        own = {name: jnp.asarray(array) for name, array in numbers.items()}
        data["evidence"] = _evidence(subject, data.get("evidence", {}))
        data["lengths"] = {**subject.lengths, **data.get("lengths", {})}
    if named or own or (len(operands) == 1 and isinstance(operands[0], Mapping)):
        operands = in_order(spelled.names, operands, named, own)
    return spelled.equation, (*operands, *_ones(spelled, operands, options.get("semiring", "log"))), spelled.sizes


def _ones(spelled: Spelled, operands: tuple[Any, ...], semiring: str) -> list[Any]:
    """Operands that change nothing."""
    if not spelled.ones or len(operands) != len(spelled.names):
        return []
    dtypes = [jnp.asarray(operand).dtype for operand in operands]
    one = 0.0 if semiring in ("log", "max_plus", "min_plus") else 1.0
    return [jnp.full((size,), one, dtype=jnp.result_type(*dtypes, jnp.float32)) for size in spelled.ones]


def _evidence(model: Model, given: Mapping[str, Any]) -> dict[str, Any]:
    """The model's evidence and a call's, whose states have names only where they are no arrays of JAX."""
    traced = {name: values for name, values in given.items() if isinstance(values, jnp.ndarray)}
    held = model._evidence_with({name: values for name, values in given.items() if name not in traced})
    variables = {label: variable for variable, label in model.labels.items()}
    return {**held, **{variables.get(name, name): values for name, values in traced.items()}}


def _of(subject: Any, total: bool) -> Spelled:
    if isinstance(subject, FactorGraph):  # which may change
        return _spell(subject, {}, total)
    kept = _spelled.setdefault(subject, {})
    if total not in kept:
        options = subject.__reduce__()[1][2] if isinstance(subject, Plan) else {}
        kept[total] = _spell(subject.graph, options, total)
    return kept[total]


def _spell(graph: FactorGraph, options: dict[str, Any], total: bool) -> Spelled:
    batch = [dim.name for dim in graph.dims if dim.kind == "batch"]
    if total and any(set(output) - set(batch) for output in graph.outputs):
        if options:
            raise ValueError("log_partition keeps batch dims only, and the plan has other outputs: einsum keeps them")
        graph = total_of(graph)
    _, (_, written) = reduce_graph(graph)
    names = tuple(factor.name for factor in graph.factors)
    held = {name for factor in graph.factors for name in (*factor.dims, *factor.tied)}
    ends = {name: name.removeprefix("^").removesuffix("$") for name in held}
    silent = [
        dim
        for dim in graph.dims
        if dim.name in written["stated"] or (dim.kind == "variable" and dim.name not in {*ends, *ends.values()})
    ]
    if silent:  # an equation says the plates of a variable by factors alone: one of ones does
        plates = graph.variable_plates()
        graph = restore_graph(*reduce_graph(graph)[1])
        for dim in silent:
            graph.factor(_unused(f"ones of {dim.name}", names), [dim.name], tied=plates[dim.name])
        held.update(name for dim in silent for name in (dim.name, *plates[dim.name]))
    carried = {name for factor in graph.factors for name in factor.dims}
    reading = {
        "plates": " ".join(dim.name for dim in graph.dims if dim.kind == "plate"),
        "batch": " ".join(batch),
        "chains": {chain: [f"{a}->{b}" for a, b in links] for chain, links in graph.chains.items()},
        "spaced": True,
    }
    sizes = {dim.name: dim.size for dim in graph.dims if dim.kind != "variable" and dim.name not in carried}
    unheld = {name: size for name, size in sizes.items() if name not in held}
    return Spelled(graph.equation(), reading, sizes, unheld, names, tuple(dim.size for dim in silent), options)


def _unused(name: str, taken: tuple[str, ...]) -> str:
    return _unused(name + "'", taken) if name in taken else name
