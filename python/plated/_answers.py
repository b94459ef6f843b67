"""Result types of the verbs that return more than an array."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

from ._errors import Certificate, Repair

if TYPE_CHECKING:
    from ._core import FactorGraph, Plan


class Marginals(dict[str, Any]):
    """Posteriors by variable; attributes hold log Z and, if requested, those of factors and of sets of variables."""

    __slots__ = ("factors", "log_partition", "sets")

    def __init__(self, variables: dict[str, Any], log_partition: Any, factors: list[Any], sets: list[Any]) -> None:
        super().__init__(variables)
        self.log_partition = log_partition
        self.factors = factors
        self.sets = sets


class MapResult(NamedTuple):
    """The best assignment and its score."""

    score: Any
    assignment: dict[str, Any]


class Cost(NamedTuple):
    """The predicted cost of one run."""

    flops: float
    exps: float
    bytes_read: float
    bytes_written: float
    peak_bytes: int
    run_bytes: int
    sequential: float
    span: float


class Analysis(NamedTuple):
    """The analysis of a model before it is run."""

    tractable: bool
    certificate: Optional[Certificate]
    repairs: list[Repair]
    cost: Optional[Cost]
    elimination_order: list[str]
    dropped: list[str]
    steps: int


class Explanation(NamedTuple):
    """What answering a question about a model would take; as text also the schedules."""

    question: str
    absorbed: int
    determined: int
    impossible: int
    dropped: list[str]
    cost: Cost
    sweeps: int
    plans: list[Plan]

    def __str__(self) -> str:
        asked = {"log_partition": "value"}.get(self.question, self.question)
        lines = [
            f"question       {self.question}",
            f"absorbed       {self.absorbed} variables that evidence removes",
            f"determined     {self.determined} variables with a single state left",
            f"impossible     {self.impossible} states of others, left out",
            f"dropped        {' '.join(self.dropped) or 'nothing'}: barren variables",
            f"cost           {self.cost.flops:.3g} operations, {self.cost.exps:.3g} exponentials and logarithms, "
            f"{self.cost.peak_bytes:,} bytes at the peak",
            f"marginals      {self.sweeps} sweeps forwards and back",
        ]
        return "\n".join([*lines, *(plan.print(asked) for plan in self.plans)])


class Dim(NamedTuple):
    """A named dim: its kind is variable, plate, batch or chain."""

    name: str
    kind: str
    size: int


class Factor(NamedTuple):
    """A factor: the axes of its operand, and the plates it is tied in."""

    name: str
    dims: tuple[str, ...]
    tied: tuple[str, ...]
    distribution_of: Optional[str]
    trusted: bool


class UnrolledGraph(NamedTuple):
    """A graph of copies; of each factor and output, the index of its original and {axis: index} of its slice."""

    graph: FactorGraph
    factors: list[tuple[int, dict[int, int]]]
    outputs: list[tuple[int, dict[int, int]]]


def plan_html(plan: Plan) -> str:
    """A plan as a table: its cost, and its schedule."""
    cost = plan.cost()
    figures = [
        ("equation", plan.graph.equation()),
        ("steps", f"{plan.steps:,}"),
        ("elimination order", " ".join(plan.elimination_order) or "–"),
        ("operations", f"{cost.flops:.3g}"),
        ("exponentials and logarithms", f"{cost.exps:.3g}"),
        ("bytes read, written", f"{cost.bytes_read:.3g}, {cost.bytes_written:.3g}"),
        ("peak memory for intermediates", f"{cost.peak_bytes:,} bytes"),
        ("parallel depth", f"{cost.span:.3g}"),
    ]
    rows = "".join(
        f'<tr><th style="text-align:left">{name}</th><td style="text-align:left">{html.escape(value)}</td></tr>'
        for name, value in figures
    )
    schedule = html.escape(plan.print())
    return f"<table>{rows}</table><details><summary>schedule</summary><pre>{schedule}</pre></details>"
