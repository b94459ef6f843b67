"""Plated for PyTorch: plated einsum and log partition functions that autograd differentiates, and layers.

>>> import torch
>>> import plated.torch
>>> weights = torch.zeros(3, 2, dtype=torch.float64, requires_grad=True)
>>> log_z = plated.torch.log_partition("ix->", weights, plates="i")
>>> log_z.backward()
>>> weights.grad
tensor([[0.5000, 0.5000],
        [0.5000, 0.5000],
        [0.5000, 0.5000]], dtype=torch.float64)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

import plated

from .. import FactorGraph, Model, Plan
from . import eager, operators
from .layer import Layer as Layer
from .question import DATA, Question, tensors, values, write
from .subject import resolve

__all__ = ["Layer", "einsum", "log_partition"]


def einsum(
    subject: str | Plan | FactorGraph | Model,
    /,
    *operands: Tensor | Mapping[str, Tensor],
    plates: str | None = None,
    batch: str | None = None,
    chains: Mapping[str, str | Sequence[str]] | None = None,
    semiring: str | None = None,
    sizes: Mapping[str, int] | None = None,
    lengths: Mapping[str, Any] | None = None,
    weights: Mapping[str, Any] | None = None,
    evidence: Mapping[str, Any] | None = None,
    spaced: bool | None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    check: str | None = None,
    progress: Callable[[float], object] | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
    **named: Tensor,
) -> Tensor | tuple[Tensor, ...]:
    """Plated einsum of tensors: sums over variables, multiplies over plates.

    The arguments are those of `plated.einsum`; instead of an equation there may be a `Plan`, a `FactorGraph` (which is
    planned in every call) or a `Model`, whose own numbers stand for the factors that no tensor is given for. Operands of
    these may be named. One output is a tensor, several are a tuple. In the log and real semirings the result can be
    differentiated by every operand, twice. Under `torch.compile` it is one registered operator,
    `torch.ops.plated.einsum`.

    >>> a, b = torch.tensor([0.0, -2000.0]), torch.tensor([-2000.0, 0.0])
    >>> einsum("x,x->", a, b)
    tensor(-1999.3069)
    >>> plan = plated.compile("x,xy->y", (2,), (2, 3), observable=["x"])
    >>> einsum(plan, f0=a, f1=torch.zeros(2, 3), evidence={"x": 1})
    tensor([-2000., -2000., -2000.])
    """
    options: dict[str, Any] = {
        "plates": plates, "batch": batch, "chains": chains, "semiring": semiring, "sizes": sizes, "spaced": spaced,
        "threads": threads, "memory_limit": memory_limit, "check": check, "progress": progress,
    }  # fmt: skip
    data: dict[str, Any] = {"lengths": lengths, "weights": weights, "evidence": evidence}
    return _answer(subject, operands, named, options, data, out, total=False)


def log_partition(
    subject: str | Plan | FactorGraph | Model,
    /,
    *operands: Tensor | Mapping[str, Tensor],
    plates: str | None = None,
    batch: str | None = None,
    chains: Mapping[str, str | Sequence[str]] | None = None,
    sizes: Mapping[str, int] | None = None,
    lengths: Mapping[str, Any] | None = None,
    weights: Mapping[str, Any] | None = None,
    evidence: Mapping[str, Any] | None = None,
    spaced: bool | None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    check: str | None = None,
    progress: Callable[[float], object] | None = None,
    **named: Tensor,
) -> Tensor:
    """log Z of log factors, one number for each batch; an equation ends in `->`, or has no arrow at all.

    Its gradient by a factor is the factor's posterior. Tensors for a `Model` are log factors, too, whatever its space.

    >>> log_partition("x,ixy", torch.zeros(2), torch.zeros(4, 2, 3), plates="i")
    tensor(5.0876)
    """
    options: dict[str, Any] = {
        "plates": plates, "batch": batch, "chains": chains, "semiring": "log", "sizes": sizes, "spaced": spaced,
        "threads": threads, "memory_limit": memory_limit, "check": check, "progress": progress,
    }  # fmt: skip
    data: dict[str, Any] = {"lengths": lengths, "weights": weights, "evidence": evidence}
    total = _answer(subject, operands, named, options, data, None, total=True)
    assert isinstance(total, Tensor)
    return total


def _answer(
    subject: Any, operands: Any, named: Any, options: dict[str, Any], data: dict[str, Any], out: Any, total: bool
) -> Tensor | tuple[Tensor, ...]:
    options = {name: value for name, value in options.items() if value is not None}
    data = {kind: data[kind] for kind in DATA if data[kind]}
    subject, operands = resolve(subject, operands, named, options, data, total)
    for operand in operands:
        if not isinstance(operand, torch.Tensor):
            raise TypeError(f"plated.torch takes tensors, not {type(operand).__name__}; plated.einsum takes any array")
    for dim, weight in data.get("weights", {}).items():
        if isinstance(weight, torch.Tensor) and weight.requires_grad:
            raise TypeError(f"weights of '{dim}' require grad, and are not differentiated: detach() them")
    if not eager.usable():
        return _traced(subject, operands, options, data, out)
    question = Question(subject, options, data)
    if torch.is_grad_enabled() and any([operand.requires_grad for operand in operands]):
        if out is not None:
            raise TypeError("what is written into out is not differentiated: detach() the operands")
        results = eager.Einsum.apply(question, *operands)
    elif out is not None:
        return question.ask("einsum", operands, out=out)
    else:
        results = values(question, operands)
    return results[0] if len(results) == 1 else tuple(results)


def _traced(subject: Any, operands: Any, options: dict[str, Any], data: dict[str, Any], out: Any) -> Any:
    """The question as the registered operator. Written so that torch.compile can trace it."""
    if out is not None or "progress" in options:
        raise TypeError("a program that is traced or compiled has no out and no progress")
    if "sizes" in options:
        options["sizes"] = {dim: f"{size}" for dim, size in options["sizes"].items()}
    names, held = tensors(data)
    results = operators.einsum(list(operands), held, write(subject, options, names))
    return results[0] if len(results) == 1 else tuple(results)
