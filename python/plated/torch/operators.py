"""Registers the operators that torch.compile, torch.export and torch.jit.trace see.

Three of them, each the derivative of the one before: `plated::einsum`, its vector–Jacobian product and the derivative
of that. The last has no derivative of its own, so derivatives end at the second order.
"""

from typing import List, Optional, Sequence

import torch
from torch import Tensor

from .question import Question, second_derivatives, values, values_and_gradients

# Every operator takes a Question's fields last; the schema that PyTorch reads from annotations allows no star.


@torch.library.custom_op("plated::einsum", mutates_args=(), device_types="cpu")
def einsum(
    operands: Sequence[Tensor],
    lengths: Sequence[Tensor],
    equation: str,
    plates: str,
    batch: str,
    semiring: str,
    chains: str,
    sizes: str,
    ragged: str,
    spaced: Optional[bool],
    threads: int,
) -> List[Tensor]:
    question = Question(equation, plates, batch, semiring, chains, sizes, ragged, spaced, threads)
    return values(question, operands, lengths)


@torch.library.custom_op("plated::einsum_vjp", mutates_args=(), device_types="cpu")
def einsum_vjp(
    operands: Sequence[Tensor],
    cotangents: Sequence[Tensor],
    lengths: Sequence[Tensor],
    wanted: Sequence[int],
    equation: str,
    plates: str,
    batch: str,
    semiring: str,
    chains: str,
    sizes: str,
    ragged: str,
    spaced: Optional[bool],
    threads: int,
) -> List[Tensor]:
    question = Question(equation, plates, batch, semiring, chains, sizes, ragged, spaced, threads)
    return values_and_gradients(question, operands, lengths, cotangents, wanted)[1]


@torch.library.custom_op("plated::einsum_hvp", mutates_args=(), device_types="cpu")
def einsum_hvp(
    operands: Sequence[Tensor],
    directions: Sequence[Tensor],
    cotangents: Sequence[Tensor],
    lengths: Sequence[Tensor],
    equation: str,
    plates: str,
    batch: str,
    semiring: str,
    chains: str,
    sizes: str,
    ragged: str,
    spaced: Optional[bool],
    threads: int,
) -> List[Tensor]:
    question = Question(equation, plates, batch, semiring, chains, sizes, ragged, spaced, threads)
    tangents, products = second_derivatives(question, operands, lengths, directions, cotangents)
    return tangents + products


def _dtype(operands):
    widest = operands[0].dtype
    for operand in operands:
        widest = torch.promote_types(widest, operand.dtype)
    return widest


def _outputs_like(question, operands):
    dtype = _dtype(operands)
    shapes = question.output_shapes([operand.shape for operand in operands])
    return [operands[0].new_empty(shape, dtype=dtype) for shape in shapes]


def _row_major(tensor):
    return tensor.new_empty(tensor.shape)


@einsum.register_fake
def _(operands, lengths, *question):
    return _outputs_like(Question(*question), operands)


@einsum_vjp.register_fake
def _(operands, cotangents, lengths, wanted, *question):
    return [_row_major(operands[k]) for k in wanted]


@einsum_hvp.register_fake
def _(operands, directions, cotangents, lengths, *question):
    return _outputs_like(Question(*question), operands) + [_row_major(operand) for operand in operands]


def _keep_einsum(ctx, inputs, output):
    operands, lengths, *question = inputs
    ctx.set_materialize_grads(False)
    ctx.question = question
    ctx.count = len(operands)
    # Only shapes and dtypes are needed of outputs, where one of them has no cotangent.
    ctx.outputs = [(value.shape, value.dtype) for value in output]
    ctx.save_for_backward(*operands, *lengths)


def _einsum_backward(ctx, cotangents):
    operands, lengths = list(ctx.saved_tensors[: ctx.count]), list(ctx.saved_tensors[ctx.count :])
    wanted = [k for k in range(ctx.count) if ctx.needs_input_grad[0][k]]
    gradients = [None] * ctx.count
    if wanted and any(cotangent is not None for cotangent in cotangents):
        cotangents = [
            operands[0].new_zeros(shape, dtype=dtype) if cotangent is None else cotangent
            for cotangent, (shape, dtype) in zip(cotangents, ctx.outputs)
        ]
        for k, gradient in zip(wanted, einsum_vjp(operands, cotangents, lengths, wanted, *ctx.question)):
            gradients[k] = gradient
    return gradients, [None] * len(lengths), *[None] * len(ctx.question)


einsum.register_autograd(_einsum_backward, setup_context=_keep_einsum)


def keep_vjp(ctx, inputs, output):
    operands, cotangents, lengths, wanted, *question = inputs
    ctx.set_materialize_grads(False)
    ctx.question, ctx.wanted = question, wanted
    ctx.count, ctx.outputs = len(operands), len(cotangents)
    ctx.save_for_backward(*operands, *cotangents, *lengths)


def vjp_backward(ctx, directions):
    """The derivatives of ⟨u, Jᵀc⟩ = cᵀJu, for the directions u that come in.

    By the cotangents c it is Ju, the derivative of the outputs in direction u. By the operands it is the Hessian of
    ⟨c, outputs⟩ times u. One Hessian–vector product gives both.
    """
    saved = list(ctx.saved_tensors)
    operands = saved[: ctx.count]
    cotangents = saved[ctx.count : ctx.count + ctx.outputs]
    lengths = saved[ctx.count + ctx.outputs :]
    tangents, products = [None] * ctx.outputs, [None] * ctx.count
    if any(direction is not None for direction in directions):
        given = dict(zip(ctx.wanted, directions))
        along = [
            torch.zeros_like(operand) if given.get(k) is None else given[k] for k, operand in enumerate(operands)
        ]
        both = einsum_hvp(operands, along, cotangents, lengths, *ctx.question)
        tangents, products = both[: ctx.outputs], both[ctx.outputs :]
    return products, tangents, [None] * len(lengths), None, *[None] * len(ctx.question)


einsum_vjp.register_autograd(vjp_backward, setup_context=keep_vjp)
