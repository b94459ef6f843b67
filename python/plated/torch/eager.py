"""The same derivatives for eager calls, where a registered operator would cost more than the computation.

PyTorch takes milliseconds to walk the operand list of a registered operator, forward and backward; an unrolled time
series has hundreds of operands. An autograd function has the list as its arguments and takes a fraction of that.
"""

import torch

from . import operators
from .question import can_be_kept, evaluation, kept_gradients, kept_values, values, values_and_gradients


def usable():
    """Whether the call is an ordinary one that is not being traced."""
    return not (torch.compiler.is_compiling() or torch._C._get_tracing_state())


class Einsum(torch.autograd.Function):
    """Outputs of a question. Their gradients are computed along with them where a cotangent can only scale them;
    otherwise the forward run is kept, and the backward one starts from it."""

    @staticmethod
    def forward(ctx, question, lengths, *operands):
        wanted = [k for k, needed in enumerate(ctx.needs_input_grad[2:]) if needed]
        ctx.set_materialize_grads(False)
        ctx.question, ctx.lengths, ctx.wanted = question, lengths, wanted
        gradients = []
        ctx.evaluation = None
        ctx.separable = separable(question, wanted)
        if ctx.separable:
            results, gradients = values_and_gradients(question, operands, lengths, None, wanted)
        elif wanted and can_be_kept(question):
            ctx.evaluation = evaluation(question, operands, lengths)
            results = kept_values(ctx.evaluation)
        else:
            results = values(question, operands, lengths)
        ctx.outputs = [(result.shape, result.dtype) for result in results]
        ctx.save_for_backward(*operands, *gradients)
        return tuple(results)

    @staticmethod
    def backward(ctx, *cotangents):
        count = len(ctx.needs_input_grad) - 2
        answer = [None] * (count + 2)
        if all(cotangent is None for cotangent in cotangents):
            return tuple(answer)
        operands, gradients = ctx.saved_tensors[:count], ctx.saved_tensors[count:]
        cotangents = [
            torch.zeros(shape, dtype=dtype) if cotangent is None else cotangent
            for cotangent, (shape, dtype) in zip(cotangents, ctx.outputs)
        ]
        if torch.is_grad_enabled() and ctx.evaluation is not None:  # a graph of the gradients is wanted
            products = Gradients.apply(ctx, count, *operands, *cotangents)
        elif torch.is_grad_enabled():
            products = operators.einsum_vjp(list(operands), cotangents, ctx.lengths, ctx.wanted, *ctx.question)
        elif ctx.separable:
            products = scaled(ctx.question, gradients, cotangents[0], ctx.wanted)
        elif ctx.evaluation is not None:
            products = kept_gradients(ctx.evaluation, cotangents, ctx.wanted)
        else:
            products = values_and_gradients(ctx.question, operands, ctx.lengths, cotangents, ctx.wanted)[1]
        for k, product in zip(ctx.wanted, products):
            answer[k + 2] = product
        return tuple(answer)


class Gradients(torch.autograd.Function):
    """The vector–Jacobian products of a kept run, which can be differentiated like those of the operator."""

    @staticmethod
    def forward(ctx, run, count, *tensors):
        operands, cotangents = tensors[:count], tensors[count:]
        operators.keep_vjp(ctx, (operands, cotangents, run.lengths, run.wanted, *run.question), None)
        return tuple(kept_gradients(run.evaluation, cotangents, run.wanted))

    @staticmethod
    def backward(ctx, *directions):
        products, tangents, *_ = operators.vjp_backward(ctx, directions)
        return None, None, *products, *tangents


def separable(question, wanted):
    """Whether the vector–Jacobian product is the gradient of the outputs' sum, scaled by the cotangent of its batch.

    It is where the one output has batch dims only and every operand in question has all of them: each entry of its
    gradient then belongs to one entry of the output.
    """
    equation = question.parsed()
    if not wanted or question.semiring not in ("log", "real") or len(equation.outputs) != 1:
        return False
    output = equation.outputs[0]
    if not set(output) <= set(equation.batch):
        return False
    return all(all(equation.operands[k].dims.count(dim) == 1 for dim in output) for k in wanted)


def scaled(question, gradients, cotangent, wanted):
    """The gradients times the cotangent, whose axes are found among the operands' by name."""
    if cotangent.dim() == 0:
        return [gradient * cotangent.to(gradient.dtype) for gradient in gradients]
    equation = question.parsed()
    (output,) = equation.outputs
    products = []
    for k, gradient in zip(wanted, gradients):
        dims = equation.operands[k].dims
        order = [output.index(dim) for dim in dims if dim in output]
        shape = [size if dim in output else 1 for dim, size in zip(dims, gradient.shape)]
        products.append(gradient * cotangent.permute(order).reshape(shape).to(gradient.dtype))
    return products
