"""The functions that XLA calls, with their derivatives: JAX's custom_vjp around Plated's C++ functions."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.ffi
import jax.numpy as jnp
import numpy

from .. import _core
from .._errors import OptionError

for _name, _handler in _core.jax_handlers().items():
    jax.ffi.register_ffi_target(_name, _handler, platform="cpu")


class Reading(NamedTuple):
    """How an equation is read and run, as comparable values: JAX uses it as the key of a trace."""

    equation: str
    plates: str
    batch: str
    chains: tuple[tuple[str, tuple[str, ...]], ...]
    spaced: bool | None
    semiring: str
    sizes: tuple[tuple[str, int], ...]
    lengths: tuple[str, ...]
    evidence: tuple[str, ...]
    weights: tuple[str, ...]
    threads: int
    memory_limit: int
    check: str

    def attributes(self, operands: int, rank: int) -> dict[str, Any]:
        """The arguments of the C++ functions, in the types of XLA's attributes."""
        return {
            "equation": self.equation,
            "plates": self.plates,
            "batch": self.batch,
            "chains": ";".join(f"{chain}={','.join(links)}" for chain, links in self.chains),
            "spaced": "" if self.spaced is None else "spaced" if self.spaced else "compact",
            "semiring": self.semiring,
            "sizes": ";".join(f"{dim}={size}" for dim, size in self.sizes),
            "lengths": ";".join(self.lengths),
            "evidence": ";".join(self.evidence),
            "weights": ";".join(self.weights),
            "threads": numpy.int64(self.threads),
            "memory_limit": numpy.int64(self.memory_limit),
            "check": self.check,
            "operands": numpy.int64(operands),
            "rank": numpy.int64(rank),
        }

    def as_options(self) -> dict[str, Any]:
        """The same as the options of plated.compile."""
        return {
            "plates": self.plates,
            "batch": self.batch,
            "chains": dict(self.chains),
            "spaced": self.spaced,
            "sizes": dict(self.sizes),
        }


@functools.lru_cache(maxsize=1024)
def _output_shapes(reading: Reading, shapes: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    """The shapes of the outputs. Plans for it, so that errors are raised while tracing."""
    plan = _core.compile(
        reading.equation,
        *shapes,
        **reading.as_options(),
        semiring=reading.semiring,
        threads=reading.threads,
        memory_limit=reading.memory_limit,
        check=reading.check,
        observable=reading.evidence,
    )
    return tuple(plan.output_shapes)


def _call(name: str, reading: Reading, results: Sequence[jax.ShapeDtypeStruct], operands: int, arguments: Sequence[Any]) -> Any:
    # The C++ functions find the axes that vmap adds in front by the rank of the first result.
    function = jax.ffi.ffi_call(name, tuple(results), vmap_method="expand_dims")
    return function(*arguments, **reading.attributes(operands, len(results[0].shape)))


def _outputs(reading: Reading, operands: Sequence[jax.Array]) -> list[jax.ShapeDtypeStruct]:
    shapes = _output_shapes(reading, tuple(tuple(operand.shape) for operand in operands))
    dtype = jnp.result_type(*operands)
    return [jax.ShapeDtypeStruct(shape, dtype) for shape in shapes]


def _like(arrays: Sequence[jax.Array]) -> list[jax.ShapeDtypeStruct]:
    return [jax.ShapeDtypeStruct(array.shape, array.dtype) for array in arrays]


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def value(reading: Reading, operands: tuple[jax.Array, ...], extra: tuple[jax.Array, ...]) -> Any:
    return tuple(_call("plated_value", reading, _outputs(reading, operands), len(operands), (*operands, *extra)))


def _value_forward(reading: Reading, operands: Any, extra: Any) -> Any:
    if reading.semiring not in ("log", "real"):
        raise OptionError(f"the {reading.semiring} semiring has no gradient: only log and real have")
    return value(reading, operands, extra), (operands, extra)


def _value_backward(reading: Reading, saved: Any, cotangents: Any) -> Any:
    operands, extra = saved
    return _gradient(reading, operands, extra, cotangents), None


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _gradient(reading: Reading, operands: Any, extra: Any, cotangents: Any) -> Any:
    arguments = (*operands, *extra, *cotangents)
    return tuple(_call("plated_gradient", reading, _like(operands), len(operands), arguments))


def _gradient_forward(reading: Reading, operands: Any, extra: Any, cotangents: Any) -> Any:
    return _gradient(reading, operands, extra, cotangents), (operands, extra, cotangents)


def _gradient_backward(reading: Reading, saved: Any, directions: Any) -> Any:
    # <direction, gradient> is the outputs' derivative in that direction, times the cotangents: its derivative by the
    # cotangents is the former, by the operands the Hessian times the direction.
    operands, extra, cotangents = saved
    results = [*_like(cotangents), *_like(operands)]
    arguments = (*operands, *extra, *directions, *cotangents)
    answers = _call("plated_hessian", reading, results, len(operands), arguments)
    return tuple(answers[len(cotangents) :]), None, tuple(answers[: len(cotangents)])


value.defvjp(_value_forward, _value_backward)
_gradient.defvjp(_gradient_forward, _gradient_backward)
