"""Parses equations for PyTorch's shape inference: the dims of each operand and output, never their data."""

import re
from functools import lru_cache
from typing import NamedTuple

# A name in spaced form: a word or a single other character, perhaps with brackets, perhaps an end of a chain.
_SPACED = re.compile(r"->|[,()]|\^?(?:\w+|[^\s,()\-])(?:\[[^\s\[\]]*\])?\$?")
_COMPACT = re.compile(r"->|[,()]|\^?[^\s,()\-]\$?")
_BLANK_BETWEEN_DIMS = re.compile(r"[^\s,()\->][()]*\s[\s()]*[^\s,()\->]")


class Term(NamedTuple):
    """The dims of an operand's or output's axes, and the dims an operand is tied in."""

    dims: tuple[str, ...]
    tied: tuple[str, ...]


class Equation(NamedTuple):
    operands: tuple[Term, ...]
    outputs: tuple[tuple[str, ...], ...]
    batch: tuple[str, ...]

    def output_shapes(self, shapes, sizes):
        """The shapes of the outputs of operands with these shapes; `sizes` are those that no operand gives."""
        known = dict(sizes)
        for term, shape in zip(self.operands, shapes):
            known.update(zip(map(bare, term.dims), shape))
        return [tuple(known[bare(dim)] for dim in output) for output in self.outputs]


def bare(name):
    """The variable of which `^v` and `v$` are the ends."""
    return name.removeprefix("^").removesuffix("$")


@lru_cache(maxsize=4096)
def parse(text, batch="", spaced=None):
    """An equation's terms; outputs begin with the batch dims that they do not write, as the engine's do."""
    if spaced is None:
        spaced = _BLANK_BETWEEN_DIMS.search(text) is not None
    pattern = _SPACED if spaced else _COMPACT
    batch_dims = set(pattern.findall(batch))
    terms = [[]]
    arrow = None
    in_parenthesis = False
    for token in pattern.findall(text):
        if token == ",":
            terms.append([])
        elif token == "->":
            arrow = len(terms)
            terms.append([])
        elif token in "()":
            in_parenthesis = token == "("
        else:
            terms[-1].append((token, in_parenthesis))
    if arrow is None:
        raise ValueError(f"the equation {text!r} has no '->'")
    operands = tuple(
        Term(tuple(name for name, tied in term if not tied), tuple(name for name, tied in term if tied))
        for term in terms[:arrow]
    )
    order = dict.fromkeys(name for term in terms[:arrow] for name, _ in term if name in batch_dims)
    outputs = []
    for term in terms[arrow:]:
        written = tuple(name for name, _ in term)
        outputs.append(tuple(name for name in order if name not in written) + written)
    return Equation(operands, tuple(outputs), tuple(order))
