"""Evaluations: one forward run, any number of questions, and slices that change."""

import numpy as np
import pytest

import plated

RANDOM = np.random.default_rng(11)


def model(slices=5):
    return "x,ixy->,y", [RANDOM.normal(size=3), RANDOM.normal(size=(slices, 3, 2))], {"plates": "i"}


def total(slices=5):
    _, operands, options = model(slices)
    return "x,ixy->", operands, options


def test_answers_are_those_of_the_verbs():
    equation, operands, options = total()
    e = plated.evaluate(equation, *operands, **options)
    assert e.semiring == "log"
    value, gradients = plated.value_and_gradient(equation, *operands, **options)
    np.testing.assert_allclose(e.value(), value)
    for mine, other in zip(e.gradient(), gradients):
        np.testing.assert_allclose(mine, other)
    first, second = e.gradient(np.array(2.0), wrt=[1])
    assert first is None
    np.testing.assert_allclose(second, 2 * gradients[1])
    posterior = plated.marginals(equation, *operands, **options, factors=True, sets=[["x", "y"]])
    mine = e.marginals(factors=True, sets=[["x", "y"]])
    for name in posterior:
        np.testing.assert_allclose(mine[name], posterior[name])
    np.testing.assert_allclose(mine.factors[1], posterior.factors[1])
    np.testing.assert_allclose(mine.sets[0], posterior.sets[0])
    np.testing.assert_allclose(e.entropy(), plated.entropy(equation, *operands, **options))
    statistics = [None, operands[1]]
    expected = plated.expectation(equation, *operands, **options, statistics=statistics)
    np.testing.assert_allclose(e.expectation(statistics), expected)
    assert e.sample(7, seed=3)["y"].shape == (7, 5)


def test_best_assignments():
    equation, operands, options = total()
    plan = plated.compile(equation, *operands, **options, semiring="max_plus")
    e = plan.evaluate(*operands)
    best = plan.map(*operands)
    np.testing.assert_allclose(e.map().score, best.score)
    np.testing.assert_array_equal(e.map().assignment["y"], best.assignment["y"])
    for name, scores in plan.max_marginals(*operands).items():
        np.testing.assert_allclose(e.max_marginals()[name], scores)
    with pytest.raises(plated.OptionError, match="max_plus"):
        e.marginals()


def test_update_has_the_bits_of_a_fresh_evaluation():
    equation, operands, options = total(1000)
    graph = plated.FactorGraph()
    graph.plate("i", 1000)
    graph.variable("x", 3)
    graph.variable("y", 2)
    graph.factor("prior", ["x"])
    graph.factor("seen", ["i", "x", "y"])
    plan = plated.compile(graph)
    e = plan.evaluate(*operands)
    for operand, index in [(1, 3), ("seen", (999,)), ("seen", [0])]:
        at = index if isinstance(index, int) else index[0]
        operands[1][at] += 0.5
        e.update(operand, index)
        fresh = plan.evaluate(*operands)
        assert e.value() == fresh.value()
        np.testing.assert_array_equal(e.marginals()["y"], fresh.marginals()["y"])


def test_updates_of_what_is_not_there():
    equation, operands, options = total()
    e = plated.evaluate(equation, *operands, **options)
    for operand, index, error in [
        (1, 5, plated.ShapeError),
        (1, (0, 0), plated.ShapeError),
        (0, 0, plated.ShapeError),
        (2, 0, plated.OperandCountError),
        ("seen", 0, plated.UnknownNameError),
    ]:
        with pytest.raises(error):
            e.update(operand, index)
    with pytest.raises(TypeError):
        e.update(1, 0.5)


def test_chains_are_evaluated():
    random = np.random.default_rng(3)
    operands = [random.normal(size=2), random.normal(size=(5, 2, 2))]
    chains = {"t": "a->b"}
    evaluation = plated.evaluate("a,tab->", *operands, chains=chains)
    np.testing.assert_allclose(evaluation.value(), plated.einsum("a,tab->", *operands, chains=chains), rtol=1e-12)
    marginals = plated.marginals("a,tab->", *operands, chains=chains)
    np.testing.assert_allclose(evaluation.marginals()["b"], marginals["b"], rtol=1e-12)
