"""Evidence and numbers of models, as their users hold them: names of states, lists, masked arrays, pandas."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Optional

import numpy

from ._errors import DtypeError
from ._integers import read_lengths as read_integers
from ._rows import as_array


def read_numbers(values: Any, what: str) -> Any:
    """What can be read as floats without a surprise, as an array; arrays that say themselves what they are stay."""
    if isinstance(values, numpy.ma.MaskedArray):
        return values  # refused where it is read, with a hint
    plain = isinstance(values, (list, tuple, int, float)) or _is_pandas(values)
    if not plain and not (isinstance(values, (numpy.ndarray, numpy.generic)) and values.dtype.kind in "iub"):
        return values
    return as_array(values, what, " of numbers", numpy.float64)


def read_states(values: Any, what: str, names: Optional[Sequence[str]], named: Callable[[str], int]) -> Any:
    """Observed states as integers, -1 where they are missing; ``named`` finds a state by its name, or raises."""
    missing = None
    is_table = _is_pandas(values)
    if isinstance(values, numpy.ma.MaskedArray):
        missing, values = numpy.ma.getmaskarray(values), values.data
    elif is_table:
        missing, values = numpy.asarray(values.isna()), values.to_numpy(dtype=object)
    array = values if isinstance(values, numpy.ndarray) else _as_array(values, what)
    if array.dtype.kind in "iu":
        states = read_integers(numpy.where(missing, 0, array) if missing is not None else array, what)
        return states if missing is None else numpy.where(missing, -1, states.astype(numpy.int64))
    known: dict[Any, int] = {}
    flat = numpy.empty(array.size, dtype=numpy.int64)
    hidden = numpy.zeros(array.size, dtype=bool) if missing is None else missing.ravel()
    for k, entry in enumerate(array.ravel().tolist()):
        if hidden[k] or _is_missing(entry):
            flat[k] = -1
            continue
        key = (type(entry), entry)
        try:
            if key not in known:
                known[key] = _state(entry, what, names, named, is_table)
        except TypeError as error:
            raise DtypeError(f"{what} has an entry {entry!r}: names of states or integers are expected") from error
        flat[k] = known[key]
    return flat.reshape(array.shape)


def _as_array(values: Any, what: str) -> Any:
    """An array of integers, else one of objects: NumPy would make names of what stands beside names."""
    array = as_array(values, what)
    if array.dtype.kind in "iu" or not isinstance(values, (list, tuple)):
        return array
    return as_array(values, what, dtype=object)


def _state(entry: Any, what: str, names: Optional[Sequence[str]], named: Callable[[str], int], whole_floats: bool) -> int:
    if isinstance(entry, str):
        return named(entry)
    if isinstance(entry, (bool, numpy.bool_)):
        if names is None:
            return int(entry)
        # True is the state of that name: number 1 of "yes" and "no" would be the wrong one.
        word = str(entry)
        return named(next((spelled for spelled in (word, word.lower(), word.upper()) if spelled in names), word))
    if isinstance(entry, float) and whole_floats and entry.is_integer():
        return int(entry)  # pandas makes floats of integers where one is missing
    return operator.index(entry)


def _is_missing(entry: Any) -> bool:
    if entry is None or entry is numpy.ma.masked or type(entry).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(entry, float) and entry != entry


def _is_pandas(values: Any) -> bool:
    return hasattr(values, "isna") and hasattr(values, "to_numpy")
