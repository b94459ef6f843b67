"""The exceptions of Plated, named as in C++; each also derives from the matching built-in exception."""

from __future__ import annotations

import builtins
from typing import NamedTuple


class Certificate(NamedTuple):
    """Why a graph is intractable: u in plate a but not b, w in b but not a, and the factors in both that join them."""

    u: str
    w: str
    a: str
    b: str
    factors: tuple[str, ...]


class Repair(NamedTuple):
    """Plates to unroll (FactorGraph.unroll), and the cost of the plan then."""

    unroll: tuple[str, ...]
    flops: float
    peak_bytes: int


class Error(Exception):
    """Base of every exception that Plated raises on purpose."""


class ParseError(Error, builtins.ValueError):
    """An equation or a name that cannot be read; the message points at the column."""


class ShapeError(Error, builtins.ValueError):
    """Operands whose shapes do not fit the model."""


class RankError(ShapeError):
    """An operand with more or fewer axes than its term has dims."""


class SizeError(ShapeError):
    """A dim with two sizes, or a size that is negative."""


class SizeOverflowError(ShapeError):
    """Sizes whose product does not fit in 63 bits."""


class OverlapError(ShapeError):
    """An array to write into that overlaps itself, an operand or another output in memory."""


class DtypeError(Error, TypeError):
    """An operand that is not an array of float32 or float64 in main memory."""


class UnknownNameError(Error, LookupError):
    """A name that nothing declares."""


class DuplicateNameError(Error, builtins.ValueError):
    """A name declared twice, or a dim written twice where only one makes sense."""


class PlateError(Error, builtins.ValueError):
    """Plates that do not fit."""


class OperandCountError(Error, builtins.ValueError):
    """More or fewer operands than the model has factors."""


class NullDataError(Error, builtins.ValueError):
    """An operand without data."""


class ValueError(Error, builtins.ValueError):
    """An entry that the semiring does not admit, or a conditional factor that does not sum to one."""


class OptionError(Error, builtins.ValueError):
    """An option whose value makes no sense, alone or together with another."""


class ImpossibleError(Error, ArithmeticError):
    """A model, or its evidence, under which every assignment has weight zero: there is no posterior."""


class FileError(Error, OSError):
    """A file that cannot be opened, read or written."""


class FormatError(FileError, builtins.ValueError):
    """A file that is not what it claims to be."""


class CancelledError(Error):
    """A run that was asked to stop."""


class MemoryLimitError(Error, MemoryError):
    """A plan that needs more memory than it may take; nothing has been allocated."""

    def __init__(self, message: str, bytes_needed: int, limit: int) -> None:
        super().__init__(message, bytes_needed, limit)
        self.bytes_needed = bytes_needed
        self.limit = limit

    def __str__(self) -> str:
        return str(self.args[0])


class IntractableError(Error):
    """A graph whose cost is exponential in a plate's size, with the reason and possible repairs as data."""

    def __init__(self, message: str, certificate: Certificate, repairs: list[Repair]) -> None:
        super().__init__(message, certificate, repairs)
        self.certificate = certificate
        self.repairs = repairs

    def __str__(self) -> str:
        return str(self.args[0])
