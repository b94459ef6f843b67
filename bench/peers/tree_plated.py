"""Plated, called from Python: a compiled plan on NumPy arrays; gradients are written into the caller's memory."""

import numpy

import plated
from tree_model import EQUATION, PLATES


def plan_of(tree, semiring):
    return plated.compile(EQUATION, *tree.shapes, plates=PLATES, semiring=semiring, threads=1)


def value(tree):
    plan, factors = plan_of(tree, "log"), tree.factors
    return lambda: plan(*factors)


def real(tree):
    plan, factors = plan_of(tree, "real"), tree.factors
    return lambda: numpy.log(plan(*factors), dtype=numpy.float64)


def gradient(tree):
    plan, factors = plan_of(tree, "log"), tree.factors
    gradients = [numpy.zeros_like(factor) for factor in factors]

    def call():
        plan.value_and_gradient(*factors, out=gradients)
        return gradients[0]

    return call


def marginals(tree):
    plan, factors = plan_of(tree, "log"), tree.factors
    return lambda: plan.marginals(*factors)["a"]


def map_(tree):
    plan, factors = plan_of(tree, "log"), tree.factors
    return lambda: plan.map(*factors).assignment


def sample(tree):
    plan, factors = plan_of(tree, "log"), tree.factors

    def call():
        return {name: states[0] for name, states in plan.sample(*factors, n=1, seed=0).items()}

    return call


VARIANTS = {"Plated": {"value": value, "real": real, "gradient": gradient, "marginals": marginals, "map": map_,
                       "sample": sample}}  # fmt: skip
