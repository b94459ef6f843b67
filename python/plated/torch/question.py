"""A question to the engine without its operands, in types that an operator's schema can carry."""

from functools import lru_cache
from typing import NamedTuple, Optional

import plated

from .equation import parse


class Question(NamedTuple):
    """An equation and its options as strings and numbers: operators of PyTorch take those, but no dicts."""

    equation: str
    plates: str = ""
    batch: str = ""
    semiring: str = "log"
    chains: str = ""  # "t: a->b, c->d; s: e->f"
    sizes: str = ""  # "t: 100; s: 3"
    lengths: str = ""  # the chains that have lengths, in their order: "t; s"
    spaced: Optional[bool] = None
    threads: int = 0

    def parsed(self):
        return parse(self.equation, self.batch, self.spaced)

    def output_shapes(self, shapes):
        return self.parsed().output_shapes(shapes, _sizes(self.sizes))

    def keywords(self, lengths):
        """The arguments of the engine's verbs, after the equation and the operands."""
        named = dict(_keywords(self))
        if self.lengths:
            named["lengths"] = dict(zip(self.lengths.split("; "), (length.detach() for length in lengths)))
        return named


def ask(equation, plates, batch, semiring, chains, sizes, lengths, spaced, threads):
    """The question, and the lengths of ragged chains in its order. Written so that torch.compile can trace it."""
    chained = "; ".join(
        [f"{chain}: {links if isinstance(links, str) else ', '.join(links)}" for chain, links in (chains or {}).items()]
    )
    sized = "; ".join([f"{dim}: {size}" for dim, size in (sizes or {}).items()])
    named = "; ".join(list((lengths or {}).keys()))
    question = Question(equation, plates, batch, semiring, chained, sized, named, spaced, threads)
    return question, list((lengths or {}).values())


@lru_cache(maxsize=4096)
def _sizes(text):
    return {name: int(size) for name, size in _entries(text)}


@lru_cache(maxsize=4096)
def _keywords(question):
    named = {"plates": question.plates, "batch": question.batch, "semiring": question.semiring}
    if question.chains:
        named["chains"] = {chain: links.split(", ") for chain, links in _entries(question.chains)}
    if question.sizes:
        named["sizes"] = _sizes(question.sizes)
    if question.spaced is not None:
        named["spaced"] = question.spaced
    if question.threads:
        named["threads"] = question.threads
    return named


def _entries(text):
    return [entry.split(": ", 1) for entry in text.split("; ")] if text else []


def values(question, operands, lengths):
    """The outputs, one tensor for each."""
    result = plated.einsum(question.equation, *_plain(operands), **question.keywords(lengths))
    return list(result) if isinstance(result, tuple) else [result]


def values_and_gradients(question, operands, lengths, cotangents, wanted):
    """The outputs, and their vector–Jacobian products for the operands at `wanted`; without cotangents, with ones."""
    value, gradients = plated.value_and_gradient(
        question.equation,
        *_plain(operands),
        **question.keywords(lengths),
        cotangents=None if cotangents is None else _plain(cotangents),
        wrt=wanted,
    )
    return (list(value) if isinstance(value, tuple) else [value]), [gradients[k] for k in wanted]


def can_be_kept(question):
    """Whether a forward run of the question can be kept for its gradients."""
    return question.semiring in ("log", "real") and not question.chains


def evaluation(question, operands, lengths):
    """A forward run that is kept."""
    return plated.evaluate(question.equation, *_plain(operands), **question.keywords(lengths))


def kept_values(kept):
    """The outputs of a kept run, one tensor for each."""
    result = kept.value()
    return list(result) if isinstance(result, tuple) else [result]


def kept_gradients(kept, cotangents, wanted):
    """The vector–Jacobian products of a kept run for the operands at `wanted`."""
    gradients = kept.gradient(_plain(cotangents), wrt=wanted)
    return [gradients[k] for k in wanted]


def second_derivatives(question, operands, lengths, directions, cotangents):
    """The derivatives in a direction of the outputs and of their vector–Jacobian products."""
    tangents, products = plated.hessian_vector_product(
        question.equation,
        *_plain(operands),
        **question.keywords(lengths),
        direction=_plain(directions),
        cotangents=_plain(cotangents),
    )
    return (list(tangents) if isinstance(tangents, tuple) else [tangents]), list(products)


def _plain(tensors):
    """Detaches tensors: arrays that require gradients cannot be exported."""
    return [tensor.detach() for tensor in tensors]
