"""The forward algorithm as a loop over tensors of PyTorch in log space, and its gradient by autograd, in float32."""

import torch

torch.set_num_threads(1)


def tensors(model):
    prior = torch.tensor(model.prior).log().float()
    transition = torch.tensor(model.transition).log().float()
    return prior, transition, torch.from_numpy(model.emissions)


def forward(prior, transition, emissions):
    message = prior.expand(emissions.shape[0], -1)
    for emission in emissions.unbind(1):
        message = torch.logsumexp(message[:, :, None] + transition, dim=1) + emission
    return torch.logsumexp(message, dim=1).double().sum()


def value(model):
    arguments = tensors(model)

    def call():
        with torch.inference_mode():
            return forward(*arguments).item()

    return call


def gradient(model):
    arguments = [tensor.requires_grad_() for tensor in tensors(model)]

    def call():
        total = forward(*arguments)
        torch.autograd.grad(total, arguments)
        return total.item()

    return call


VARIANTS = {"torch loop": {"value": value, "gradient": gradient}}
