"""Every verb on random plated models against the naive unroller."""

import numpy as np
import plated
import pytest
from hypothesis import given, settings
from models import models
from naive import ONE, Unrolled

TOLERANCE = {"rtol": 1e-9, "atol": 1e-9}


def ask(verb, model, **options):
    """The answer, or None where the model is intractable; then its certificate must name what the model has."""
    equation, operands, plates = model
    try:
        return verb(equation, *operands, plates=plates, **options)
    except plated.IntractableError as error:
        why = error.certificate
        assert {why.a, why.b} <= set(plates) and why.a != why.b
        assert {why.u, why.w} <= set(equation) - set(plates)
        assert len(why.factors) > 0
        return None


def in_semiring(operands, semiring):
    if semiring in ("real", "max_product"):
        return [np.exp(operand) for operand in operands]
    if semiring == "boolean":
        return [(operand > -0.5).astype(float) for operand in operands]
    return operands


@pytest.mark.parametrize("semiring", list(ONE))
@settings(max_examples=60, deadline=None)
@given(model=models())
def test_einsum(semiring, model):
    equation, operands, plates = model
    model = equation, in_semiring(operands, semiring), plates
    value = ask(plated.einsum, model, semiring=semiring)
    if value is not None:
        expected = Unrolled(*model, semiring=semiring).value()
        assert value.shape == expected.shape and value.dtype == np.float64
        np.testing.assert_allclose(value, expected, **TOLERANCE)


@settings(max_examples=60, deadline=None)
@given(model=models())
def test_einsum_in_float32(model):
    equation, operands, plates = model
    value = ask(plated.einsum, (equation, [operand.astype(np.float32) for operand in operands], plates))
    if value is not None:
        assert value.dtype == np.float32
        np.testing.assert_allclose(value, Unrolled(*model).value(), rtol=1e-4, atol=1e-4)


@settings(max_examples=60, deadline=None)
@given(model=models(output=""))
def test_value_and_gradient(model):
    answer = ask(plated.value_and_gradient, model)
    if answer is not None:
        unrolled = Unrolled(*model)
        np.testing.assert_allclose(answer[0], unrolled.value(), **TOLERANCE)
        for gradient, expected in zip(answer[1], unrolled.gradient()):
            np.testing.assert_allclose(gradient, expected, **TOLERANCE)


@settings(max_examples=60, deadline=None)
@given(model=models(output=""))
def test_marginals(model):
    answer = ask(plated.marginals, model)
    if answer is not None:
        unrolled = Unrolled(*model)
        np.testing.assert_allclose(answer.log_partition, unrolled.value(), **TOLERANCE)
        expected = unrolled.marginals()
        assert answer.keys() == expected.keys()
        for variable, table in expected.items():
            np.testing.assert_allclose(answer[variable], table, **TOLERANCE)


@settings(max_examples=60, deadline=None)
@given(model=models(output=""))
def test_map(model):
    best = ask(plated.map, model)
    if best is not None:
        unrolled = Unrolled(*model)
        np.testing.assert_allclose(best.score, unrolled.weights.max(), **TOLERANCE)
        np.testing.assert_allclose(unrolled.score(best.assignment), unrolled.weights.max(), **TOLERANCE)


@settings(max_examples=20, deadline=None)
@given(model=models(smallest_plate=1, output=""))
def test_sample(model):
    draws = ask(plated.sample, model, n=4000, seed=3)
    if draws is not None:
        for variable, table in Unrolled(*model).marginals().items():
            assert draws[variable].shape == (4000, *table.shape[:-1]) and draws[variable].dtype == np.int64
            seen = (draws[variable][..., None] == np.arange(table.shape[-1])).mean(axis=0)
            # Six standard deviations of a frequency.
            np.testing.assert_array_less(np.abs(seen - table), 6 * np.sqrt(0.25 / 4000))


@settings(max_examples=30, deadline=None)
@given(model=models(output=""))
def test_entropy_and_expectation(model):
    equation, operands, _ = model
    entropy = ask(plated.entropy, model)
    if entropy is not None:
        unrolled = Unrolled(*model)
        p = unrolled.probabilities()
        np.testing.assert_allclose(entropy, -(p * np.log(p)).sum(), **TOLERANCE)
        mean = ask(plated.expectation, model, statistics=operands)
        expected = sum((gradient * operand).sum() for gradient, operand in zip(unrolled.gradient(), operands))
        np.testing.assert_allclose(mean, expected, **TOLERANCE)


@settings(max_examples=30, deadline=None)
@given(model=models(smallest_plate=1, output=""))
def test_max_marginals(model):
    scores = ask(plated.max_marginals, model)
    if scores is not None:
        unrolled = Unrolled(*model)
        for variable, table in scores.items():
            np.testing.assert_allclose(table.max(axis=-1), unrolled.weights.max(), **TOLERANCE)
            for index in np.ndindex(*table.shape):
                at = dict(zip(unrolled.variable_plates[variable], index))
                chosen = unrolled.weights[unrolled.states(variable, at) == index[-1]]
                np.testing.assert_allclose(table[index], chosen.max(), **TOLERANCE)


@settings(max_examples=30, deadline=None)
@given(model=models(output=""))
def test_plan_answers_as_the_functions_do(model):
    equation, operands, plates = model
    try:
        plan = plated.compile(equation, *operands, plates=plates)
    except plated.IntractableError:
        return
    np.testing.assert_array_equal(plan(*operands), plated.einsum(equation, *operands, plates=plates))
    for one, other in zip(plan.value_and_gradient(*operands)[1],
                          plated.value_and_gradient(equation, *operands, plates=plates)[1]):  # fmt: skip
        np.testing.assert_array_equal(one, other)
