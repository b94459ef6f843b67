"""Plated einsum and log partition functions in JAX: under jit, grad and vmap, without a callback into Python.

>>> import jax, jax.numpy as jnp, plated.jax
>>> prior, table = jnp.log(jnp.array([0.25, 0.75])), jnp.log(jnp.array([[0.5, 0.5], [0.2, 0.8]]))
>>> log_z = jax.jit(lambda f, g: plated.jax.einsum("x,ixy->", f, g, plates="i"))
>>> posterior = jax.grad(log_z)(prior, jnp.stack([table] * 3))
>>> [round(float(p), 3) for p in posterior]
[0.25, 0.75]

The derivative is that of ``plated.value_and_gradient`` in the log and real semirings, and can itself be differentiated once
more. What ``jit`` forbids is what is not an array: equations, options and the shapes of evidence are fixed while tracing, names
of states are for evidence that is not traced, and there is no ``out``, ``progress`` or ``plated.SemiringWarning``. Values and
derivatives are computed on the CPU by functions that XLA calls directly (``jax.ffi``).
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy

import plated

from .. import FactorGraph, Model, Plan, _core
from .._errors import DtypeError, OptionError
from .._integers import read_evidence, read_lengths
from .operators import Reading, value
from .subject import resolve

__all__ = ["einsum", "log_partition"]


def einsum(
    subject: str | Plan | FactorGraph | Model,
    /,
    *operands: jax.Array | Mapping[str, jax.Array],
    plates: str | None = None,
    chains: Mapping[str, str | Sequence[str]] | None = None,
    batch: str | None = None,
    semiring: str | None = None,
    lengths: Mapping[str, Any] | None = None,
    evidence: Mapping[str, Any] | None = None,
    weights: Mapping[str, Any] | None = None,
    sizes: Mapping[str, int] | None = None,
    spaced: bool | None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    check: str | None = None,
    **named: jax.Array,
) -> Any:
    """``plated.einsum`` as a function that JAX can compile, differentiate and map.

    Instead of an equation there may be a ``Plan``, a ``FactorGraph`` or a ``Model``, whose own numbers stand for the
    factors that no array is given for; operands of these may be named. One output is an array, several are a tuple.

    >>> plan = plated.compile("x,xy->y", (2,), (2, 3), observable=["x"])
    >>> einsum(plan, f0=jnp.array([0.0, -1.0]), f1=jnp.zeros((2, 3)), evidence={"x": 1}).tolist()
    [-1.0, -1.0, -1.0]

    Operands, ``lengths``, ``evidence`` and ``weights`` may be traced; everything else is fixed when a function is
    traced. Raises what ``plated.einsum`` raises while tracing; what only the data shows (an entry that the semiring does
    not admit, a length out of range) is JAX's runtime error with Plated's message.
    """
    return _answer(
        subject, operands, named, False, plates=plates, chains=chains, batch=batch, semiring=semiring, lengths=lengths,
        evidence=evidence, weights=weights, sizes=sizes, spaced=spaced, threads=threads, memory_limit=memory_limit, check=check,
    )  # fmt: skip


def log_partition(
    subject: str | Plan | FactorGraph | Model,
    /,
    *operands: jax.Array | Mapping[str, jax.Array],
    plates: str | None = None,
    chains: Mapping[str, str | Sequence[str]] | None = None,
    batch: str | None = None,
    lengths: Mapping[str, Any] | None = None,
    evidence: Mapping[str, Any] | None = None,
    weights: Mapping[str, Any] | None = None,
    sizes: Mapping[str, int] | None = None,
    spaced: bool | None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    check: str | None = None,
    **named: jax.Array,
) -> jax.Array:
    """log Z of log factors, one number for each batch; an equation ends in ``->``, or has no arrow at all.

    Its gradient by a factor is the factor's posterior. Arrays for a ``Model`` are log factors, too, whatever its space.

    >>> print(log_partition("x,ixy", jnp.zeros(2), jnp.zeros((4, 2, 3)), plates="i").round(4))
    5.0876
    """
    total = _answer(
        subject, operands, named, True, plates=plates, chains=chains, batch=batch, semiring="log", lengths=lengths,
        evidence=evidence, weights=weights, sizes=sizes, spaced=spaced, threads=threads, memory_limit=memory_limit, check=check,
    )  # fmt: skip
    assert isinstance(total, jax.Array)
    return total


def _answer(subject: Any, operands: Any, named: Any, total: bool, **given: Any) -> Any:
    data = {kind: dict(given.pop(kind) or {}) for kind in ("lengths", "evidence", "weights")}
    data = {kind: values for kind, values in data.items() if values}
    options = {name: value for name, value in given.items() if value is not None}
    equation, operands, defaults = resolve(subject, operands, named, options, data, total)
    arrays = tuple(_operand(index, operand) for index, operand in enumerate(operands))
    ragged, observed, weighted = (data.get(kind, {}) for kind in ("lengths", "evidence", "weights"))
    reading = Reading(
        equation,
        options.get("plates", ""),
        options.get("batch", ""),
        tuple((name, (links,) if isinstance(links, str) else tuple(links)) for name, links in options.get("chains", {}).items()),
        options.get("spaced"),
        options.get("semiring", "log"),
        tuple((name, _whole(f"the size of '{name}'", size)) for name, size in options.get("sizes", {}).items()),
        tuple(ragged),
        tuple(observed),
        tuple(weighted),
        _whole("threads", options.get("threads", 0)),
        _whole("memory_limit", options.get("memory_limit", 0)),
        options.get("check", "all"),
    )
    reading = reading._replace(sizes=_sizes(reading, arrays, ragged, observed, defaults))
    extra = (
        *(_integers("lengths", name, values) for name, values in ragged.items()),
        *(_integers("evidence", name, values) for name, values in observed.items()),
        *(_weights(name, values) for name, values in weighted.items()),
    )
    values = value(reading, arrays, extra)
    return values[0] if len(values) == 1 else values


def _sizes(reading: Reading, arrays: Any, ragged: Any, observed: Any, defaults: dict[str, int]) -> Any:
    """The sizes of dims that no operand has: those given, those that evidence and lengths tell, those compiled."""
    if not ragged and not observed:
        return tuple({**defaults, **dict(reading.sizes)}.items())

    def implied(lengths: Any) -> dict[str, int]:
        return _core._implied_sizes(
            reading.equation,
            *(array.shape for array in arrays),
            **reading.as_options(),
            lengths={name: _shaped(values) for name, values in lengths.items()},
            evidence={name: _shaped(values) for name, values in observed.items()},
        )

    found = implied(ragged)
    for name, values in ragged.items():
        if name in dict(reading.sizes) or name not in found or not isinstance(values, jax.core.Tracer):
            continue
        if name not in implied({other: ragged[other] for other in ragged if other != name}):
            if name not in defaults:
                raise OptionError(f"only its lengths tell the size of '{name}', and they are traced: give it in sizes")
            del found[name]
    return tuple({**defaults, **found}.items())


def _shaped(values: Any) -> Any:
    """What has the shape of values; those of a traced array are not known."""
    return numpy.zeros(values.shape, dtype=numpy.int64) if isinstance(values, jax.core.Tracer) else values


def _operand(index: int, operand: Any) -> jax.Array:
    if isinstance(operand, numpy.ma.MaskedArray):
        raise DtypeError(
            f"operand {index} is a masked array, and its mask would be ignored: call .filled() with what masked entries stand for"
        )
    array = jnp.asarray(operand)
    if array.dtype not in (jnp.float32, jnp.float64):
        raise DtypeError(f"operand {index} is an array of {array.dtype}: Plated takes float32 and float64")
    return array


def _integers(kind: str, name: str, values: Any) -> jax.Array:
    """Lengths or states as int32. What 32 bits cannot hold becomes what they hold at most, which is none of them either."""
    limits = jnp.iinfo(jnp.int32)
    if not isinstance(values, jax.Array):
        array = (read_lengths if kind == "lengths" else read_evidence)(values, f"{kind} of '{name}'")
        return jnp.asarray(numpy.clip(array, limits.min, limits.max).astype(numpy.int32))
    if not jnp.issubdtype(values.dtype, jnp.integer):
        have = "have" if kind == "lengths" else "has"
        raise DtypeError(f"{kind} of '{name}' {have} dtype {values.dtype}: integers are expected")
    held = jnp.iinfo(values.dtype)
    if held.max > limits.max:
        values = jnp.minimum(values, limits.max)
    if held.min < limits.min:
        values = jnp.maximum(values, limits.min)
    return values.astype(jnp.int32)


def _weights(name: str, values: Any) -> jax.Array:
    """Weights of a plate's slices, which are not differentiated."""
    array = jnp.asarray(values)
    if not jnp.issubdtype(array.dtype, jnp.floating):
        array = array.astype(jnp.result_type(float))
    return jax.lax.stop_gradient(array)


def _whole(what: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{what} must be an int, not {value!r}")
    return operator.index(value)
