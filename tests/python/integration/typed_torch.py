"""A small program with PyTorch that must pass mypy --strict."""

import plated
import plated.torch
import torch

plan: plated.Plan = plated.compile("x,ix->", (2,), (4, 2), plates="i", observable=["x"])
f, g = torch.zeros(2), torch.zeros(4, 2)
total: torch.Tensor = plated.torch.log_partition(plan, f, g, evidence={"x": 1}, lengths=None, memory_limit=1 << 20)
named: torch.Tensor = plated.torch.log_partition(plan, f0=f, f1=g)
output = plated.torch.einsum("x,ix->x", f, g, plates="i", check="none")
assert isinstance(output, torch.Tensor)
layer: torch.nn.Module = plated.torch.Layer(plan, {"f0": f}, distributions={"f0": "x"})
marginals: plated.Marginals = plated.torch.Layer(plan, {"f0": f}).marginals(g)
best: plated.MapResult = plated.torch.Layer(plan, {"f0": f}).map(f1=g)
