"""Warnings of Plated: what is allowed, and probably not what was meant."""

from __future__ import annotations

import pathlib
import sys
import warnings

_PACKAGE = str(pathlib.Path(__file__).parent)


class SemiringWarning(UserWarning):
    """Numbers that look wrong for the semiring: probabilities where logarithms are taken, or the other way around.

    Given once per process, equation and semiring, for what the first call shows. It is silenced like any warning:
    ``warnings.simplefilter("ignore", plated.SemiringWarning)``.
    """


def warn(message: str) -> None:
    """Warns at the line that called Plated."""
    frame, level = sys._getframe(1), 2
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1  # type: ignore[assignment]
    warnings.warn(message, SemiringWarning, stacklevel=level)
