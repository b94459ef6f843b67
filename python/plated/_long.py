"""Observations as rows: which slice, which state."""

from __future__ import annotations

from typing import Any


class Long:
    """What was observed of a variable, one row for each observation: sparse data without an array of all slices.

    >>> import plated
    >>> plated.Long([1, 0, 1], item=[0, 0, 2], annotator=[1, 4, 1])
    <plated.Long: 3 rows by item, annotator>

    ``states`` are numbers or names; -1 and missing ones say nothing. A keyword for each plate of the variable gives the
    slice that a row is about, from 0; several rows may be about one. NumPy arrays of integers, memory-mapped ones too,
    are read where they are.
    """

    def __init__(self, states: Any, /, **slices: Any) -> None:
        self.states = states
        self.slices = slices

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        return f"<plated.Long: {len(self)} rows by {', '.join(self.slices)}>"
