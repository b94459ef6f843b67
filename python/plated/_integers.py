"""Evidence and lengths as arrays of integers, which stay where they are and of the width that they have."""

from __future__ import annotations

from typing import Any

import numpy

from ._errors import DtypeError, ValueError
from ._rows import as_array


def read_evidence(values: Any, what: str) -> Any:
    """Observed states. Masked entries are not observed: -1. False and True are the states 0 and 1."""
    if values is numpy.ma.masked:
        return numpy.array(-1, dtype=numpy.int64)
    if not isinstance(values, numpy.ma.MaskedArray):
        return _read(values, what, "iub")
    # What lies under a mask may be anything: it is not looked at.
    states = _read(values.filled(0) if values.dtype.kind in "iub" else values.data, what, "iub")
    states = states.astype(numpy.int64)  # a copy, which has -1
    states[numpy.ma.getmaskarray(values)] = -1
    return states


def read_lengths(values: Any, what: str) -> Any:
    """Lengths of chains. A masked one is none, and truth values are a mask, not lengths."""
    if isinstance(values, numpy.ma.MaskedArray):
        raise DtypeError(f"{what} are a masked array, and its mask would be ignored: call .filled() on it")
    return _read(values, what, "iu")


def read_slices(values: Any, what: str) -> Any:
    """The slices that rows are about."""
    return read_lengths(values, what)


def _read(values: Any, what: str, kinds: str) -> Any:
    is_, has = ("is", "has") if what.startswith("evidence") else ("are", "have")
    if _masks_inside(values):
        raise DtypeError(
            f"{what} {is_} a list with masked entries, which would be lost: make it one array, numpy.ma.array()"
        )
    array = as_array(values, what)
    kind = array.dtype.kind
    if array.size == 0 and kind == "f":  # [] is an array of floats for NumPy
        return numpy.empty(array.shape, dtype=numpy.int64)
    if kind not in kinds:
        entry = f", as of {array.flat[0]!r}" if kind == "O" and array.size > 0 else ""
        raise DtypeError(f"{what} {has} dtype {array.dtype}{entry}: integers are expected")
    most = numpy.iinfo(numpy.int64).max
    if kind == "u" and array.size > 0 and array.max() > most:  # in either byte order
        index = numpy.unravel_index(int(numpy.argmax(array > most)), array.shape)
        place = f" at index ({', '.join(str(int(axis)) for axis in index)})" if array.ndim > 0 else ""
        raise ValueError(f"{what} {has} the value {int(array[index])}{place}, which is beyond 2^63 - 1 and out of any range")
    if kind == "b":
        return array.view(numpy.uint8)
    native = numpy.asarray(array, dtype=array.dtype.newbyteorder("="))
    in_elements = all(stride % native.itemsize == 0 for stride in native.strides)
    return native if in_elements and native.flags.aligned else native.copy()


def _masks_inside(values: Any) -> bool:
    """Whether a list holds masked arrays: NumPy would make one array of them, and forget their masks."""
    if not isinstance(values, (list, tuple)):
        return False
    return any(isinstance(entry, numpy.ma.MaskedArray) or _masks_inside(entry) for entry in values)
