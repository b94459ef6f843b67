"""Plans as text, and what PyTorch's shape inference has to know of them."""

from __future__ import annotations

import json
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import plated

from .._pickle import restore_plan
from .equation import Equation, Term


class Known(NamedTuple):
    """What a plan was compiled from."""

    equation: Equation
    names: tuple[str, ...]  # of its factors
    sizes: dict[str, int]
    semiring: str
    chained: bool  # it has chains
    limited: bool  # runs have a limit of memory
    text: str


_known: WeakKeyDictionary[plated.Plan, Known] = WeakKeyDictionary()
# By text. Programs that were traced have no other hold of their plans.
_written: dict[str, plated.Plan] = {}


def known(plan: plated.Plan) -> Known:
    found = _known.get(plan)
    if found is None:
        found = _known[plan] = _read(plan)
    return found


def _read(plan: plated.Plan) -> Known:
    _, (version, graph, options) = plan.__reduce__()
    operands = tuple(Term(tuple(dims), tuple(tied)) for _, dims, tied, *_ in graph["factors"])
    outputs = tuple(map(tuple, graph["outputs"])) or ((),)
    batch = tuple(name for name, kind, _ in graph["dims"] if kind == "batch")
    return Known(
        Equation(operands, outputs, batch),
        tuple(name for name, *_ in graph["factors"]),
        {name: size for name, _, size in graph["dims"]},
        options.get("semiring", "log"),
        bool(graph["chains"]),
        bool(options.get("memory_limit")),
        json.dumps([version, graph, options], default=_plain),
    )


def _plain(value: Any) -> Any:
    """A number of NumPy or a set as JSON has them."""
    return value.item() if hasattr(value, "item") else list(value)


def write(plan: plated.Plan) -> str:
    """A text that the plan can be made from, in this process or in another."""
    text = known(plan).text
    _written.setdefault(text, plan)
    return text


def read(text: str) -> plated.Plan:
    """The plan of a text: that which was written, or one compiled anew where another process wrote it."""
    if text not in _written:
        _written[text] = restore_plan(*json.loads(text))
    return _written[text]
