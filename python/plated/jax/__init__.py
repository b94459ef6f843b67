"""Plated einsum as a function of JAX: under jit, grad and vmap, without a callback into Python.

>>> import jax, jax.numpy as jnp, plated.jax
>>> prior, table = jnp.log(jnp.array([0.25, 0.75])), jnp.log(jnp.array([[0.5, 0.5], [0.2, 0.8]]))
>>> log_z = jax.jit(lambda f, g: plated.jax.einsum("x,ixy->", f, g, plates="i"))
>>> posterior = jax.grad(log_z)(prior, jnp.stack([table] * 3))
>>> [round(float(p), 3) for p in posterior]
[0.25, 0.75]

The derivative is that of ``plated.value_and_gradient`` in the log and real semirings, and can itself be differentiated once
more. Values and derivatives are computed on the CPU by functions that XLA calls directly (``jax.ffi``).
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.ffi
import jax.numpy as jnp
import numpy

from . import _core
from ._errors import DtypeError, OptionError
from ._integers import read_lengths

__all__ = ["einsum"]

for _name, _handler in _core.jax_handlers().items():
    jax.ffi.register_ffi_target(_name, _handler, platform="cpu")


class _Reading(NamedTuple):
    """How an equation is read, as comparable values: JAX uses it as the key of a trace."""

    equation: str
    plates: str
    batch: str
    chains: tuple[tuple[str, tuple[str, ...]], ...]
    semiring: str
    sizes: tuple[tuple[str, int], ...]
    lengths: tuple[str, ...]
    threads: int

    def attributes(self, operands: int, rank: int) -> dict[str, Any]:
        """The arguments of the C++ functions, in the types of XLA's attributes."""
        return {
            "equation": self.equation,
            "plates": self.plates,
            "batch": self.batch,
            "chains": ";".join(f"{chain}={','.join(links)}" for chain, links in self.chains),
            "semiring": self.semiring,
            "sizes": ";".join(f"{dim}={size}" for dim, size in self.sizes),
            "lengths": ";".join(self.lengths),
            "threads": numpy.int64(self.threads),
            "operands": numpy.int64(operands),
            "rank": numpy.int64(rank),
        }


def einsum(
    equation: str,
    *operands: jax.Array,
    plates: str = "",
    chains: Mapping[str, str | Sequence[str]] | None = None,
    batch: str = "",
    semiring: str = "log",
    lengths: Mapping[str, jax.Array] | None = None,
    sizes: Mapping[str, int] | None = None,
    threads: int = 0,
) -> Any:
    """``plated.einsum`` as a function that JAX can compile, differentiate and map.

    One output is an array, several are a tuple. ``lengths`` may be traced; everything else but the operands is fixed when
    a function is traced. Raises what ``plated.einsum`` raises while tracing; what only the data shows (an entry that the
    semiring does not admit, a length out of range) is JAX's runtime error with Plated's message.
    """
    arrays = tuple(_operand(index, operand) for index, operand in enumerate(operands))
    ragged = {name: _lengths(name, values) for name, values in (lengths or {}).items()}
    reading = _Reading(
        equation,
        plates,
        batch,
        tuple((name, (links,) if isinstance(links, str) else tuple(links)) for name, links in (chains or {}).items()),
        semiring,
        tuple((name, _whole(f"the size of '{name}'", size)) for name, size in (sizes or {}).items()),
        tuple(ragged),
        _whole("threads", threads),
    )
    values = _value(reading, arrays, tuple(ragged.values()))
    return values[0] if len(values) == 1 else values


def _operand(index: int, operand: Any) -> jax.Array:
    if isinstance(operand, numpy.ma.MaskedArray):
        raise DtypeError(
            f"operand {index} is a masked array, and its mask would be ignored: call .filled() with what masked entries stand for"
        )
    array = jnp.asarray(operand)
    if array.dtype not in (jnp.float32, jnp.float64):
        raise DtypeError(f"operand {index} is an array of {array.dtype}: Plated takes float32 and float64")
    return array


def _lengths(name: str, values: Any) -> jax.Array:
    """Lengths as int32. What 32 bits cannot hold becomes what they hold at most, which is no chain's length either."""
    limits = jnp.iinfo(jnp.int32)
    if not isinstance(values, jax.Array):
        array = read_lengths(values, f"lengths of '{name}'")
        return jnp.asarray(numpy.clip(array, limits.min, limits.max).astype(numpy.int32))
    if not jnp.issubdtype(values.dtype, jnp.integer):
        raise DtypeError(f"lengths of '{name}' have dtype {values.dtype}: integers are expected")
    held = jnp.iinfo(values.dtype)
    if held.max > limits.max:
        values = jnp.minimum(values, limits.max)
    if held.min < limits.min:
        values = jnp.maximum(values, limits.min)
    return values.astype(jnp.int32)


def _whole(what: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{what} must be an int, not {value!r}")
    return operator.index(value)


@functools.lru_cache(maxsize=1024)
def _output_shapes(reading: _Reading, shapes: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    """The shapes of the outputs. Plans for it, so that errors are raised while tracing."""
    plan = _core.compile(
        reading.equation,
        *shapes,
        plates=reading.plates,
        batch=reading.batch,
        chains=dict(reading.chains),
        semiring=reading.semiring,
        sizes=dict(reading.sizes),
        threads=reading.threads,
    )
    return tuple(plan.output_shapes)


def _call(name: str, reading: _Reading, results: Sequence[jax.ShapeDtypeStruct], operands: int, arguments: Sequence[Any]) -> Any:
    # The C++ functions find the axes that vmap adds in front by the rank of the first result.
    function = jax.ffi.ffi_call(name, tuple(results), vmap_method="expand_dims")
    return function(*arguments, **reading.attributes(operands, len(results[0].shape)))


def _outputs(reading: _Reading, operands: Sequence[jax.Array]) -> list[jax.ShapeDtypeStruct]:
    shapes = _output_shapes(reading, tuple(tuple(operand.shape) for operand in operands))
    dtype = jnp.result_type(*operands)
    return [jax.ShapeDtypeStruct(shape, dtype) for shape in shapes]


def _like(arrays: Sequence[jax.Array]) -> list[jax.ShapeDtypeStruct]:
    return [jax.ShapeDtypeStruct(array.shape, array.dtype) for array in arrays]


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _value(reading: _Reading, operands: tuple[jax.Array, ...], lengths: tuple[jax.Array, ...]) -> Any:
    return tuple(_call("plated_value", reading, _outputs(reading, operands), len(operands), (*operands, *lengths)))


def _value_forward(reading: _Reading, operands: Any, lengths: Any) -> Any:
    if reading.semiring not in ("log", "real"):
        raise OptionError(f"the {reading.semiring} semiring has no gradient: only log and real have")
    return _value(reading, operands, lengths), (operands, lengths)


def _value_backward(reading: _Reading, saved: Any, cotangents: Any) -> Any:
    operands, lengths = saved
    return _gradient(reading, operands, lengths, cotangents), None


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _gradient(reading: _Reading, operands: Any, lengths: Any, cotangents: Any) -> Any:
    arguments = (*operands, *lengths, *cotangents)
    return tuple(_call("plated_gradient", reading, _like(operands), len(operands), arguments))


def _gradient_forward(reading: _Reading, operands: Any, lengths: Any, cotangents: Any) -> Any:
    return _gradient(reading, operands, lengths, cotangents), (operands, lengths, cotangents)


def _gradient_backward(reading: _Reading, saved: Any, directions: Any) -> Any:
    # <direction, gradient> is the outputs' derivative in that direction, times the cotangents: its derivative by the
    # cotangents is the former, by the operands the Hessian times the direction.
    operands, lengths, cotangents = saved
    results = [*_like(cotangents), *_like(operands)]
    arguments = (*operands, *lengths, *directions, *cotangents)
    answers = _call("plated_hessian", reading, results, len(operands), arguments)
    return tuple(answers[len(cotangents) :]), None, tuple(answers[: len(cotangents)])


_value.defvjp(_value_forward, _value_backward)
_gradient.defvjp(_gradient_forward, _gradient_backward)
