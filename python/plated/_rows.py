"""Makes arrays of nested lists, and names the row that does not fit where they are ragged."""

from __future__ import annotations

import builtins
import warnings
from typing import Any, Optional

import numpy

from ._errors import DtypeError


def as_array(values: Any, what: str, of: str = "", dtype: Any = None) -> Any:
    """What NumPy makes of values. Raises DtypeError, with the row that is too long or too short."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # older NumPy makes objects of ragged rows, and warns
            array = numpy.asarray(values, dtype=dtype)
    except (TypeError, RuntimeError, builtins.ValueError) as error:
        why = odd_row(values) or str(error)
        raise DtypeError(f"{what} cannot be read as an array{of}: {why}") from error
    if array.dtype.kind == "O" and (why := odd_row(values) or ""):
        raise DtypeError(f"{what} cannot be read as an array{of}: {why}")
    return array


def odd_row(values: Any) -> Optional[str]:
    """The first row of nested lists that is not as long as the first one beside it."""
    levels = [((), values)]
    while all(isinstance(row, (list, tuple)) for _, row in levels):
        rows = [((*index, k), row) for index, above in levels for k, row in enumerate(above)]
        nested = [(index, row) for index, row in rows if isinstance(row, (list, tuple))]
        if not nested:
            return None
        if len(nested) < len(rows):
            index = next(index for index, row in rows if not isinstance(row, (list, tuple)))
            return f"row {_place(nested[0][0])} is a list, and entry {_place(index)} is not"
        first, row = nested[0]
        for index, other in nested:
            if len(other) != len(row):
                return f"row {_place(index)} has {_entries(other)}, and row {_place(first)} has {_entries(row)}"
        levels = nested
    return None


def _place(index: tuple[int, ...]) -> str:
    return str(index[0]) if len(index) == 1 else str(index)


def _entries(row: Any) -> str:
    return f"{len(row)} entr{'y' if len(row) == 1 else 'ies'}"
