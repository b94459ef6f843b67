"""The model's elimination written by hand in JAX, compiled by jit."""

import jax
import jax.numpy as jnp
from jax.nn import logsumexp


def log_z(a, abi, bcij, adj, deij):
    left = logsumexp(abi + logsumexp(bcij, 1).sum(2), 1).sum(1)
    right = logsumexp(adj + logsumexp(deij, 1).sum(1), 1).sum(1)
    return logsumexp(a + left + right)


def timed(function):
    def make(tree):
        factors = [jnp.asarray(factor) for factor in tree.factors]
        compiled = jax.jit(function)
        return lambda: jax.block_until_ready(compiled(*factors))

    return make


def gradient(tree):
    call = timed(jax.grad(log_z, argnums=tuple(range(5))))(tree)
    return lambda: call()[0]


VARIANTS = {"JAX, jit": {"value": timed(log_z), "gradient": gradient}}
