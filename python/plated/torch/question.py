"""A question to the engine without its operands, as an object and as text that an operator's schema can carry."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, NamedTuple, Union

import torch
from torch import Tensor

import plated

from .._integers import read_evidence, read_lengths
from . import plans
from .equation import parse

DATA = {"lengths": read_lengths, "evidence": read_evidence, "weights": None}


class Question(NamedTuple):
    """An equation or a plan, and arguments of the engine's verbs; operands come later."""

    subject: Union[str, plated.Plan]
    options: dict[str, Any]
    data: dict[str, dict[str, Any]]  # lengths, evidence and weights, by the names of dims

    def ask(self, verb, operands, **more):
        """The engine's answer; operands are detached: what requires a gradient cannot be exported."""
        plain = [operand.detach() for operand in operands]
        if isinstance(self.subject, str):
            return getattr(plated, verb)(self.subject, *plain, **self.options, **self.data, **more)
        return getattr(self.subject, verb)(*plain, **self.options, **self.data, **more)

    def parsed(self):
        """The dims of operands and outputs."""
        if isinstance(self.subject, str):
            return parse(self.subject, self.options.get("batch", ""), self.options.get("spaced"))
        return plans.known(self.subject).equation

    def semiring(self):
        default = "log" if isinstance(self.subject, str) else plans.known(self.subject).semiring
        return self.options.get("semiring", default)

    def output_shapes(self, shapes):
        sizes = {} if isinstance(self.subject, str) else plans.known(self.subject).sizes
        return self.parsed().output_shapes(shapes, {**sizes, **self.options.get("sizes", {})})


@torch.compiler.assume_constant_result
def write(subject, options, names):
    """The question as text; `names` are those of its data, in the order of their tensors."""
    plan = "" if isinstance(subject, str) else plans.write(subject)
    return json.dumps([plan or subject, bool(plan), options, names])


def read(text, tensors):
    """The question of a text and of the tensors that its data are."""
    subject, options, names = _read(text)
    data: dict[str, dict[str, Any]] = {}
    for (kind, name), tensor in zip(names, tensors):
        data.setdefault(kind, {})[name] = tensor
    return Question(subject, options, data)


@lru_cache(maxsize=4096)
def _read(text):
    subject, is_plan, options, names = json.loads(text)
    if "sizes" in options:
        options["sizes"] = {dim: int(size) for dim, size in options["sizes"].items()}
    return plans.read(subject) if is_plan else subject, options, names


def tensors(data):
    """The names of data, and tensors of them, for an operator. Written so that torch.compile can trace it."""
    pairs = [(kind, name, value) for kind, named in data.items() for name, value in named.items()]
    return [(kind, name) for kind, name, _ in pairs], [_tensor(*pair) for pair in pairs]


def _tensor(kind, name, value):
    if isinstance(value, Tensor):
        return value.detach()
    if torch.compiler.is_compiling() or DATA[kind] is None:
        return torch.as_tensor(value, dtype=torch.float64 if kind == "weights" else None)
    return torch.from_numpy(DATA[kind](value, f"{kind} of '{name}'"))


def values(question, operands):
    """The outputs, one tensor for each."""
    return _listed(question.ask("einsum", operands))


def values_and_gradients(question, operands, cotangents, wanted):
    """The outputs, and their vector–Jacobian products for the operands at `wanted`; without cotangents, with ones."""
    plain = None if cotangents is None else [cotangent.detach() for cotangent in cotangents]
    value, gradients = question.ask("value_and_gradient", operands, cotangents=plain, wrt=wanted)
    return _listed(value), [gradients[k] for k in wanted]


def second_derivatives(question, operands, directions, cotangents):
    """The derivatives in a direction of the outputs and of their vector–Jacobian products."""
    direction, plain = ([tensor.detach() for tensor in tensors] for tensors in (directions, cotangents))
    tangents, products = question.ask("hessian_vector_product", operands, direction=direction, cotangents=plain)
    return _listed(tangents), list(products)


def can_be_kept(question):
    """Whether a forward run of the question is kept for its gradients.

    What is kept cannot be cut to a limit of memory; and a chain's values and gradients take less time together than a
    chain's evaluation, which keeps every slice, and its gradients (9 states, 50 steps, 32 sequences: 0.60 to 0.76 ms).
    """
    chained, limited = bool(question.options.get("chains")), False
    if not isinstance(question.subject, str):
        known = plans.known(question.subject)
        chained, limited = known.chained, known.limited
    return (
        question.semiring() in ("log", "real") and not chained and not question.options.get("memory_limit", limited)
    )


def kept_gradients(kept, cotangents, wanted):
    """The vector–Jacobian products of a kept run for the operands at `wanted`."""
    gradients = kept.gradient([cotangent.detach() for cotangent in cotangents], wrt=wanted)
    return [gradients[k] for k in wanted]


def _listed(outputs):
    return list(outputs) if isinstance(outputs, tuple) else [outputs]


def kept_values(kept):
    """The outputs of a kept run, one tensor for each."""
    return _listed(kept.value())
