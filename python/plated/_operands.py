"""Operands that are no arrays: numbers, lists of them, and tables of pandas that lie in memory as arrays do."""

from __future__ import annotations

from typing import Any

import numpy

from ._errors import DtypeError
from ._rows import as_array


def read_operand(values: Any, what: str) -> Any:
    """An array to read in place of a list, or of a table without a copy. Raises DtypeError, with what to do instead."""
    if hasattr(values, "to_numpy"):
        return _table(values, what)
    if _holds_arrays(values):
        raise DtypeError(f"{what} is a list of arrays, which would be copied into one: stack them, as numpy.stack() does")
    array = as_array(values, what, " of numbers")
    if array.dtype.kind not in "iuf":
        raise DtypeError(f"{what} has the dtype {array.dtype}: Plated takes float32 and float64, and lists of numbers")
    return array.astype(numpy.float64)


def _table(values: Any, what: str) -> Any:
    array = values.to_numpy()
    if array.dtype not in (numpy.float32, numpy.float64):
        raise DtypeError(f"{what} has the dtype {array.dtype}: call to_numpy(dtype=float) on it")
    if array.size > 0 and not numpy.may_share_memory(array, values.to_numpy()):
        raise DtypeError(
            f"{what} is a {type(values).__name__} whose columns lie apart in memory, so that it would be copied in every "
            "call: call to_numpy() on it once"
        )
    return array


def _holds_arrays(values: Any) -> bool:
    if not isinstance(values, (list, tuple)):
        return False
    return any(hasattr(entry, "shape") and entry.shape != () or _holds_arrays(entry) for entry in values)
