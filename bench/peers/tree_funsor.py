"""Funsor's plated einsum over PyTorch tensors, by its own optimizer."""

from collections import OrderedDict

import funsor
import torch

funsor.set_backend("torch")
torch.set_num_threads(1)

import funsor.ops as ops  # noqa: E402
from funsor.sum_product import sum_product  # noqa: E402

from tree_model import EQUATION, PLATES  # noqa: E402

INPUTS = EQUATION[:-2].split(",")
VARIABLES = frozenset("".join(INPUTS)) - frozenset(PLATES)


def contracted(tensors, sum_op, prod_op):
    factors = [funsor.Tensor(tensor, OrderedDict((dim, funsor.Bint[size]) for dim, size in zip(dims, tensor.shape)))
               for dims, tensor in zip(INPUTS, tensors)]  # fmt: skip
    return sum_product(sum_op, prod_op, factors, eliminate=VARIABLES | frozenset(PLATES), plates=frozenset(PLATES)).data


def value(tree):
    tensors = [torch.from_numpy(factor) for factor in tree.factors]
    return lambda: contracted(tensors, ops.logaddexp, ops.add).item()


def real(tree):
    tensors = [torch.from_numpy(factor) for factor in tree.factors]
    return lambda: contracted(tensors, ops.add, ops.mul).double().log()


def gradient(tree):
    tensors = [torch.from_numpy(factor).requires_grad_() for factor in tree.factors]
    return lambda: torch.autograd.grad(contracted(tensors, ops.logaddexp, ops.add), tensors)[0]


VARIANTS = {"Funsor": {"value": value, "real": real, "gradient": gradient}}
