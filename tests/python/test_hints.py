"""Hints where numbers look wrong for the semiring. Each test has equations of its own: a hint is given once."""

import warnings

import numpy as np
import plated
import pytest

PRIOR, TABLE = np.array([0.2, 0.8]), np.array([[0.9, 0.1], [0.3, 0.7]])


def hints(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(warning.message) for warning in caught if warning.category is plated.SemiringWarning]


def test_probabilities_in_the_log_semiring_are_hinted_at_once():
    (hint,) = hints(lambda: plated.einsum("p,pq->", PRIOR, TABLE))
    assert "operand 0 sums to one over 'p'" in hint and "look like probabilities" in hint and "semiring='real'?" in hint
    assert not hints(lambda: plated.einsum("p,pq->", PRIOR, TABLE))
    assert not hints(lambda: plated.einsum("p,pr->", PRIOR, TABLE, semiring="real"))


def test_each_equation_and_semiring_is_looked_at():
    assert hints(lambda: plated.marginals("a,ab->", PRIOR, TABLE))
    (hint,) = hints(lambda: plated.map("a,ac->", PRIOR, TABLE, semiring="max_plus"))
    assert "semiring='max_product'?" in hint
    (hint,) = hints(lambda: plated.compile("a,ad->", PRIOR, TABLE)(PRIOR, TABLE))
    assert "operand 0" in hint


def test_joints_and_plates():
    joint = TABLE / 2
    (hint,) = hints(lambda: plated.einsum("jk->", joint))
    assert "over 'j', 'k'" in hint
    (hint,) = hints(lambda: plated.einsum("ijl->", np.stack([joint] * 5), plates="i"))
    assert "over 'j', 'l'" in hint
    # Over a plate nothing is normalised.
    assert not hints(lambda: plated.einsum("ijm->", np.stack([[[0.5, 0.9]], [[0.5, 0.1]]]), plates="i"))


def test_logarithms_in_the_real_semiring():
    (hint,) = hints(lambda: plated.einsum("u,uv->", np.log(PRIOR), np.log(TABLE), semiring="real"))
    assert "exponentials that sum to one over 'u'" in hint and "semiring='log'?" in hint


@pytest.mark.parametrize("operand", [[0.0, 1.0], [0.5, 0.6], [1.5, -0.5], [0.0, 0.0], [np.log(0.5)] * 2])
def test_scores_are_not_hinted_at(operand):
    equation = f"x{abs(hash(tuple(operand))) % 10**9} ->"
    assert not hints(lambda: plated.einsum(equation, np.array(operand), spaced=True))


def test_float32_and_unchecked_operands():
    assert hints(lambda: plated.einsum("e,ef->", PRIOR.astype("f4"), TABLE.astype("f4")))
    assert not hints(lambda: plated.einsum("e,eg->", PRIOR, TABLE, check="none"))


def test_models():
    graph = plated.FactorGraph.from_equation("rain, rain wet ->", (2,), (2, 2))
    (hint,) = hints(lambda: plated.Model(graph, {"f0": PRIOR, "f1": TABLE}))
    assert "factor 'f0' sums to one over 'rain'" in hint and "space='real'?" in hint


def test_the_warning_names_the_line_of_the_caller_and_can_be_an_error():
    with pytest.warns(plated.SemiringWarning) as caught:
        plated.einsum("n,no->", PRIOR, TABLE)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", plated.SemiringWarning)
        with pytest.raises(plated.SemiringWarning):
            plated.einsum("n,np->", PRIOR, TABLE)
        plated.einsum("n,np->", PRIOR, TABLE)


