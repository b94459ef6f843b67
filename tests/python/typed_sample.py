"""A small user program that must pass mypy --strict."""

from typing import Any

import numpy as np
import plated
from numpy.typing import NDArray

f: NDArray[np.float64] = np.zeros(2)
g: NDArray[np.float64] = np.zeros((4, 2))

total: NDArray[np.float64] = plated.einsum("x,ix->", f, g, plates="i", threads=1)
value, gradients = plated.value_and_gradient("x,ix->", f, g, plates="i", wrt=[0])
posterior: plated.Marginals = plated.marginals("x,ix->", f, g, plates="i", log=True)
first_table: Any = posterior["x"]
best = plated.map("x,ix->", f, g, plates="i")
states: dict[str, Any] = best.assignment
draws: dict[str, Any] = plated.sample("x,ix->", f, g, plates="i", n=10, seed=1)
nats: NDArray[np.float64] = plated.entropy("x,ix->", f, g, plates="i")

graph = plated.FactorGraph()
graph.plate("i", 4)
graph.variable("x", 2)
index: int = graph.factor("f", ["i", "x"])
plan: plated.Plan = plated.compile(graph.asking([[]]), semiring="real")
flops: float = plan.cost().flops
again: NDArray[np.float64] = plan(g)
named: NDArray[np.float64] = plan(f=g)
model = plated.Model(graph, {"f": g}, states={"x": ["no", "yes"]})
answer: plated.ModelMarginals = model.marginals(query=["x", ("x",)], evidence={"x": ["yes", None, 1, 0]}, threads=1)
ln_z: float = float(model.log_partition())
told: plated.Explanation = model.explain("marginals")
try:
    plated.compile("ix,jy,ijxy->", (2, 2), (2, 2), (2, 2, 2, 2), plates="ij")
except plated.IntractableError as error:
    why: plated.Certificate = error.certificate
    name: str = why.u
