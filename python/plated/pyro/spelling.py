"""Spells equations for Pyro's packed tensors: their dims are single Unicode symbols, Plated gets plain names."""

from functools import lru_cache
from typing import NamedTuple


class Spelling(NamedTuple):
    """An equation, its options, and the name that each of Pyro's symbols has in it."""

    equation: str
    plates: str
    batch: str
    names: dict  # symbol → name, in the order of declaration

    def keywords(self):
        return {"plates": self.plates, "batch": self.batch, "spaced": True}


@lru_cache(maxsize=1024)
def spell(terms, tied, outputs, plates, batch):
    """The equation of operands with the dims `terms`, each of which also lies in the plates `tied`.

    `terms`, `tied` and `outputs` are tuples of strings of symbols; `plates` and `batch` are frozensets of them.
    """
    names = {}
    for dims, more in zip(terms, tied):
        for symbol in more + dims:
            names.setdefault(symbol, f"d{len(names)}")

    def written(symbols):
        return " ".join(names[symbol] for symbol in symbols)

    operands = [(f"({written(more)}) " if more else "") + written(dims) for dims, more in zip(terms, tied)]
    equation = ", ".join(operands) + " -> " + ", ".join(map(written, outputs))
    return Spelling(
        equation,
        written(symbol for symbol in names if symbol in plates),
        written(symbol for symbol in names if symbol in batch),
        names,
    )
