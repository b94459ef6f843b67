"""Registers the operators that torch.compile, torch.export and torch.jit.trace see.

Three of them, each the derivative of the one before: `plated::einsum`, its vector–Jacobian product and the derivative
of that. The last has no derivative of its own, so derivatives end at the second order.
"""

from typing import List, Sequence

import torch
from torch import Tensor

from .question import read, second_derivatives, values, values_and_gradients

# Every operator takes a question last, as text, and before it the tensors of the question's data.


@torch.library.custom_op("plated::einsum", mutates_args=(), device_types="cpu")
def einsum(
    operands: Sequence[Tensor],
    data: Sequence[Tensor],
    question: str,
) -> List[Tensor]:
    return values(read(question, data), operands)


@torch.library.custom_op("plated::einsum_vjp", mutates_args=(), device_types="cpu")
def einsum_vjp(
    operands: Sequence[Tensor],
    cotangents: Sequence[Tensor],
    data: Sequence[Tensor],
    wanted: Sequence[int],
    question: str,
) -> List[Tensor]:
    return values_and_gradients(read(question, data), operands, cotangents, wanted)[1]


@torch.library.custom_op("plated::einsum_hvp", mutates_args=(), device_types="cpu")
def einsum_hvp(
    operands: Sequence[Tensor],
    directions: Sequence[Tensor],
    cotangents: Sequence[Tensor],
    data: Sequence[Tensor],
    question: str,
) -> List[Tensor]:
    tangents, products = second_derivatives(read(question, data), operands, directions, cotangents)
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
def _(operands, data, question):
    return _outputs_like(read(question, data), operands)


@einsum_vjp.register_fake
def _(operands, cotangents, data, wanted, question):
    return [_row_major(operands[k]) for k in wanted]


@einsum_hvp.register_fake
def _(operands, directions, cotangents, data, question):
    return _outputs_like(read(question, data), operands) + [_row_major(operand) for operand in operands]


def _keep_einsum(ctx, inputs, output):
    operands, data, question = inputs
    ctx.set_materialize_grads(False)
    ctx.question = question
    ctx.count = len(operands)
    # Only shapes and dtypes are needed of outputs, where one of them has no cotangent.
    ctx.outputs = [(value.shape, value.dtype) for value in output]
    ctx.save_for_backward(*operands, *data)


def _einsum_backward(ctx, cotangents):
    operands, data = list(ctx.saved_tensors[: ctx.count]), list(ctx.saved_tensors[ctx.count :])
    wanted = [k for k in range(ctx.count) if ctx.needs_input_grad[0][k]]
    gradients = [None] * ctx.count
    if wanted and any(cotangent is not None for cotangent in cotangents):
        cotangents = [
            operands[0].new_zeros(shape, dtype=dtype) if cotangent is None else cotangent
            for cotangent, (shape, dtype) in zip(cotangents, ctx.outputs)
        ]
        for k, gradient in zip(wanted, einsum_vjp(operands, cotangents, data, wanted, ctx.question)):
            gradients[k] = gradient
    return gradients, [None] * len(data), None


einsum.register_autograd(_einsum_backward, setup_context=_keep_einsum)


def _keep_vjp(ctx, inputs, output):
    operands, cotangents, data, wanted, question = inputs
    ctx.set_materialize_grads(False)
    ctx.question, ctx.wanted = question, wanted
    ctx.count, ctx.outputs = len(operands), len(cotangents)
    ctx.save_for_backward(*operands, *cotangents, *data)


def _vjp_backward(ctx, directions):
    """The derivatives of ⟨u, Jᵀc⟩ = cᵀJu, for the directions u that come in.

    By the cotangents c it is Ju, the derivative of the outputs in direction u. By the operands it is the Hessian of
    ⟨c, outputs⟩ times u. One Hessian–vector product gives both.
    """
    saved = list(ctx.saved_tensors)
    operands = saved[: ctx.count]
    cotangents = saved[ctx.count : ctx.count + ctx.outputs]
    data = saved[ctx.count + ctx.outputs :]
    tangents, products = [None] * ctx.outputs, [None] * ctx.count
    if any(direction is not None for direction in directions):
        given = dict(zip(ctx.wanted, directions))
        along = [
            torch.zeros_like(operand) if given.get(k) is None else given[k] for k, operand in enumerate(operands)
        ]
        both = einsum_hvp(operands, along, cotangents, data, ctx.question)
        tangents, products = both[: ctx.outputs], both[ctx.outputs :]
    return products, tangents, [None] * len(data), None, None


einsum_vjp.register_autograd(_vjp_backward, setup_context=_keep_vjp)
