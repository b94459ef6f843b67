"""dynamax: its filter, and its smoother with summed posteriors of pairs, compiled by JAX for each size, in float32."""

import time

import jax
import jax.numpy as jnp
from dynamax.hidden_markov_model.inference import hmm_filter, hmm_smoother


def compiled(model, answer):
    """A call whose result is ready when it returns; its `compile_seconds` are apart."""
    arguments = [jnp.asarray(array, jnp.float32) for array in (model.start, model.transition, model.emissions)]
    begin = time.perf_counter()
    function = jax.jit(answer).lower(*arguments).compile()
    seconds = time.perf_counter() - begin

    def call():
        return jax.block_until_ready(function(*arguments))[0]

    call.compile_seconds = seconds
    return call


def over_sequences(model, function):
    """Plain for one sequence, which is what it takes least time for; else mapped over them."""
    if model.sequences == 1:
        return lambda start, transition, frames: function(start, transition, frames[0])
    return jax.vmap(function, in_axes=(None, None, 0))


def value(model):
    # The filtered states are not among the results, so that the compiler may leave them out.
    filtered = over_sequences(model, lambda *arguments: hmm_filter(*arguments).marginal_loglik)
    return compiled(model, lambda *arguments: (filtered(*arguments).sum(),))


def gradient(model):
    def answers(*arguments):
        posterior = hmm_smoother(*arguments)
        return posterior.marginal_loglik, posterior.smoothed_probs, posterior.trans_probs

    smoothed = over_sequences(model, answers)

    def summed(*arguments):
        total, states, pairs = smoothed(*arguments)
        return total.sum(), states, pairs.reshape(-1, *pairs.shape[-2:]).sum(axis=0)

    return compiled(model, summed)


VARIANTS = {"dynamax": {"value": value, "gradient": gradient}}
