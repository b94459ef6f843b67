"""The same derivatives for eager calls, where a registered operator would cost more than the computation.

PyTorch takes milliseconds to walk the operand list of a registered operator, forward and backward; an unrolled time
series has hundreds of operands. An autograd function has the list as its arguments and takes a fraction of that.
"""

import torch

from .question import can_be_kept, kept_gradients, kept_values, second_derivatives, values, values_and_gradients


def usable():
    """Whether the call is an ordinary one that is not being traced."""
    return not (torch.compiler.is_compiling() or torch._C._get_tracing_state())


class Einsum(torch.autograd.Function):
    """Outputs of a question. Their gradients are computed along with them where a cotangent can only scale them;
    otherwise the forward run is kept, and the backward one starts from it."""

    @staticmethod
    def forward(ctx, question, *operands):
        wanted = [k for k, needed in enumerate(ctx.needs_input_grad[1:]) if needed]
        ctx.set_materialize_grads(False)
        ctx.question, ctx.wanted = question, wanted
        gradients = []
        ctx.evaluation = None
        ctx.separable = separable(question, wanted)
        if ctx.separable:
            results, gradients = values_and_gradients(question, operands, None, wanted)
        elif wanted and can_be_kept(question):
            ctx.evaluation = question.ask("evaluate", operands)
            results = kept_values(ctx.evaluation)
        else:
            results = values(question, operands)
        ctx.outputs = [(result.shape, result.dtype) for result in results]
        ctx.save_for_backward(*operands, *gradients)
        return tuple(results)

    @staticmethod
    def backward(ctx, *cotangents):
        count = len(ctx.needs_input_grad) - 1
        answer = [None] * (count + 1)
        if all(cotangent is None for cotangent in cotangents):
            return tuple(answer)
        operands, gradients = ctx.saved_tensors[:count], ctx.saved_tensors[count:]
        cotangents = [
            torch.zeros(shape, dtype=dtype) if cotangent is None else cotangent
            for cotangent, (shape, dtype) in zip(cotangents, ctx.outputs)
        ]
        if torch.is_grad_enabled():  # a graph of the gradients is wanted
            products = Gradients.apply(ctx, count, *operands, *cotangents)
        elif ctx.separable:
            products = scaled(ctx.question, gradients, cotangents[0], ctx.wanted)
        elif ctx.evaluation is not None:
            products = kept_gradients(ctx.evaluation, cotangents, ctx.wanted)
        else:
            products = values_and_gradients(ctx.question, operands, cotangents, ctx.wanted)[1]
        for k, product in zip(ctx.wanted, products):
            answer[k + 1] = product
        return tuple(answer)


class Gradients(torch.autograd.Function):
    """Vector–Jacobian products that can be differentiated: those of a kept run, or computed anew."""

    @staticmethod
    def forward(ctx, run, count, *tensors):
        operands, cotangents = tensors[:count], tensors[count:]
        ctx.set_materialize_grads(False)
        ctx.question, ctx.wanted, ctx.count = run.question, run.wanted, count
        ctx.save_for_backward(*tensors)
        if run.evaluation is not None:
            return tuple(kept_gradients(run.evaluation, cotangents, run.wanted))
        return tuple(values_and_gradients(run.question, operands, cotangents, run.wanted)[1])

    @staticmethod
    def backward(ctx, *directions):
        if all(direction is None for direction in directions):
            return (None,) * (2 + len(ctx.saved_tensors))
        operands = ctx.saved_tensors[: ctx.count]
        given = dict(zip(ctx.wanted, directions))
        along = [torch.zeros_like(x) if given.get(k) is None else given[k] for k, x in enumerate(operands)]
        both = SecondDerivatives.apply(ctx.question, ctx.count, *along, *ctx.saved_tensors)
        outputs = len(ctx.saved_tensors) - ctx.count
        return None, None, *both[outputs:], *both[:outputs]


class SecondDerivatives(torch.autograd.Function):
    """The derivatives in a direction of the outputs and of their gradients: ⟨u, Jᵀc⟩ by c and by the operands, which
    operators._vjp_backward explains. They have no derivative of their own."""

    @staticmethod
    def forward(ctx, question, count, *tensors):
        directions, operands, cotangents = tensors[:count], tensors[count : 2 * count], tensors[2 * count :]
        tangents, products = second_derivatives(question, operands, directions, cotangents)
        return *tangents, *products

    @staticmethod
    def backward(ctx, *_):
        raise RuntimeError("plated.torch has first and second derivatives; this asks for a third, that of einsum_hvp")


def separable(question, wanted):
    """Whether the vector–Jacobian product is the gradient of the outputs' sum, scaled by the cotangent of its batch.

    It is where the one output has batch dims only and every operand in question has all of them: each entry of its
    gradient then belongs to one entry of the output.
    """
    equation = question.parsed()
    if not wanted or question.semiring() not in ("log", "real") or len(equation.outputs) != 1:
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
