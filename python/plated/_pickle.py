"""Pickles of graphs, plans and models: what they were made from, and the version that wrote them; of verbs, by name."""

from __future__ import annotations

import copyreg
from typing import TYPE_CHECKING, Any

from ._core import FactorGraph, Model, _restored_model, compile, einsum
from ._errors import Error, FormatError

if TYPE_CHECKING:
    from ._core import Plan

    _Reduced = tuple[Any, tuple[Any, ...]]


def reduce_graph(graph: FactorGraph) -> _Reduced:
    return restore_graph, (_version(), _written(graph))


def reduce_plan(plan: Plan, options: dict[str, Any]) -> _Reduced:
    return restore_plan, (_version(), _written(plan.graph), options)


def reduce_model(model: Model, factors: list[Any], rest: dict[str, Any]) -> _Reduced:
    return restore_model, (_version(), _written(model.graph), factors, rest)


def restore_graph(version: str, written: dict[str, Any]) -> FactorGraph:
    _check(version, "FactorGraph")
    return _read(written)


def restore_plan(version: str, written: dict[str, Any], options: dict[str, Any]) -> Plan:
    _check(version, "Plan")
    return compile(_read(written), **options)


def restore_model(version: str, written: dict[str, Any], factors: list[Any], rest: dict[str, Any]) -> Model:
    _check(version, "Model")
    return _restored_model(_read(written), factors, rest)


def _version() -> str:
    from . import __version__

    return __version__


def _check(version: str, what: str) -> None:
    if version != _version():
        raise FormatError(
            f"this pickle of a plated.{what} was written by plated {version}, and this is {_version()}: make it anew, "
            "or keep models in files (plated.write_model), which every version reads"
        )


def _written(graph: FactorGraph) -> dict[str, Any]:
    """All that the builder was told, in an order that gives dims the same numbers."""
    written = {
        "dims": [tuple(dim) for dim in graph.dims],
        "chains": graph.chains,
        "factors": [tuple(factor) for factor in graph.factors],
        "outputs": graph.outputs,
        "stated": {},
    }
    try:
        plates = graph.variable_plates()
        inferred = _read(written).variable_plates()
        written["stated"] = {v: of for v, of in plates.items() if inferred[v] != of}
    except Error:
        written["stated"] = _plates_or_nothing(graph)
    return written


def _plates_or_nothing(graph: FactorGraph) -> dict[str, tuple[str, ...]]:
    """The plates of all variables; of a graph that is not finished there are none to be told."""
    try:
        return graph.variable_plates()
    except Error:
        return {}


def _read(written: dict[str, Any]) -> FactorGraph:
    graph = FactorGraph()
    links = [(chain, *link) for chain, of_chain in written["chains"].items() for link in of_chain]
    factors, outputs = iter(written["factors"]), iter(written["outputs"])
    for name, kind, size in written["dims"]:
        if kind == "variable" and (name.startswith("^") or name.endswith("$")):
            # An end is declared by the first factor or output that has it, and links come before these.
            while links:
                graph.link(*links.pop(0))
            while name not in {dim.name for dim in graph.dims}:
                _add_next(graph, factors, outputs)
        elif kind == "variable":
            graph.variable(name, size, written["stated"].get(name))
        else:
            getattr(graph, kind)(name, size)
    for link in links:
        graph.link(*link)
    for factor in factors:
        _add_factor(graph, factor)
    for output in outputs:
        graph.output(output)
    return graph


def _add_next(graph: FactorGraph, factors: Any, outputs: Any) -> None:
    factor = next(factors, None)
    if factor is not None:
        _add_factor(graph, factor)
    else:
        graph.output(next(outputs))


def _add_factor(graph: FactorGraph, factor: Any) -> None:
    name, dims, tied, distribution_of, trusted = factor
    graph.factor(name, dims, tied=tied, distribution_of=distribution_of, trusted=trusted)


# Functions and methods of the extension module, as those of Python: other processes find them by name.
copyreg.pickle(type(einsum), lambda function: function.__name__)
copyreg.pickle(type(FactorGraph().print), lambda method: (getattr, (method.__self__, method.__name__)))
