"""The model's elimination written by hand in PyTorch, and the same compiled by torch.compile."""

import torch

torch.set_num_threads(1)


def log_z(a, abi, bcij, adj, deij):
    left = (abi + bcij.logsumexp(1).sum(2)).logsumexp(1).sum(1)
    right = (adj + deij.logsumexp(1).sum(1)).logsumexp(1).sum(1)
    return (a + left + right).logsumexp(0)


def tensors(tree):
    return [torch.from_numpy(factor) for factor in tree.factors]


def value(function):
    def make(tree):
        factors = tensors(tree)

        def call():
            with torch.inference_mode():
                return function(*factors).item()

        return call

    return make


def gradient(function):
    def make(tree):
        factors = [factor.requires_grad_() for factor in tensors(tree)]
        return lambda: torch.autograd.grad(function(*factors), factors)[0]

    return make


compiled = torch.compile(log_z)
VARIANTS = {
    "torch": {"value": value(log_z), "gradient": gradient(log_z)},
    "torch.compile": {"value": value(compiled), "gradient": gradient(compiled)},
}
