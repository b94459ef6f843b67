"""Plated for PyTorch: plated einsum and log partition functions that autograd differentiates.

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

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from . import eager, operators
from .question import ask, values

__all__ = ["einsum", "log_partition"]


def einsum(
    equation: str,
    *operands: Tensor,
    plates: str = "",
    batch: str = "",
    chains: Mapping[str, str | Sequence[str]] | None = None,
    semiring: str = "log",
    sizes: Mapping[str, int] | None = None,
    lengths: Mapping[str, Tensor] | None = None,
    spaced: bool | None = None,
    threads: int = 0,
) -> Tensor | tuple[Tensor, ...]:
    """Plated einsum of tensors: sums over variables, multiplies over plates.

    The arguments are those of `plated.einsum`. One output is a tensor, several are a tuple. In the log and real
    semirings the result can be differentiated by every operand, twice (with chains, once). Under `torch.compile` it is
    one registered operator, `torch.ops.plated.einsum`.

    >>> a, b = torch.tensor([0.0, -2000.0]), torch.tensor([-2000.0, 0.0])
    >>> einsum("x,x->", a, b)
    tensor(-1999.3069)
    """
    question, ragged = ask(equation, plates, batch, semiring, chains, sizes, lengths, spaced, threads)
    for operand in operands:
        if not isinstance(operand, torch.Tensor):
            raise TypeError(f"plated.torch takes tensors, not {type(operand).__name__}; plated.einsum takes any array")
    for length in ragged:
        if not isinstance(length, torch.Tensor):
            raise TypeError(f"plated.torch takes lengths as tensors, not {type(length).__name__}")
    if not eager.usable():
        results = operators.einsum(list(operands), ragged, *question)
    elif torch.is_grad_enabled() and any([operand.requires_grad for operand in operands]):
        results = eager.Einsum.apply(question, ragged, *operands)
    else:
        results = values(question, operands, ragged)
    return results[0] if len(results) == 1 else tuple(results)


def log_partition(
    equation: str,
    *operands: Tensor,
    plates: str = "",
    batch: str = "",
    chains: Mapping[str, str | Sequence[str]] | None = None,
    sizes: Mapping[str, int] | None = None,
    lengths: Mapping[str, Tensor] | None = None,
    spaced: bool | None = None,
    threads: int = 0,
) -> Tensor:
    """log Z of log factors, one number for each batch; `equation` ends in `->`, or has no arrow at all.

    Its gradient by a factor is the factor's posterior.

    >>> log_partition("x,ixy", torch.zeros(2), torch.zeros(4, 2, 3), plates="i")
    tensor(5.0876)
    """
    if "->" not in equation:
        equation = equation + "->"
    elif not equation.rstrip().endswith("->"):
        raise ValueError(f"log_partition keeps batch dims only, and {equation!r} has an output: einsum keeps others")
    total = einsum(
        equation,
        *operands,
        plates=plates,
        batch=batch,
        chains=chains,
        sizes=sizes,
        lengths=lengths,
        spaced=spaced,
        threads=threads,
    )
    assert isinstance(total, Tensor)
    return total
