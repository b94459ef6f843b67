"""Operands of plans by the names of their factors."""

import numpy as np
import plated
import pytest

PRIOR, SEEN = np.log([0.25, 0.75]), np.log([[0.5, 0.1], [0.2, 0.9], [0.3, 0.3]])


def plan(first="prior", second="likelihood", **options):
    graph = plated.FactorGraph()
    graph.plate("i", 3)
    graph.variable("x", 2)
    graph.factor(first, ["x"])
    graph.factor(second, ["i", "x"])
    return plated.compile(graph, **options)


def test_operands_by_name():
    expected = plan()(PRIOR, SEEN)
    np.testing.assert_array_equal(plan()(likelihood=SEEN, prior=PRIOR), expected)
    np.testing.assert_array_equal(plan().run(prior=PRIOR, likelihood=SEEN, threads=1), expected)
    np.testing.assert_array_equal(plan()({"prior": PRIOR, "likelihood": SEEN}), expected)
    np.testing.assert_array_equal(plan()({"prior": PRIOR}, likelihood=SEEN), expected)
    assert plan().marginals(prior=PRIOR, likelihood=SEEN)["x"].tolist() == plan().marginals(PRIOR, SEEN)["x"].tolist()
    assert plan().sample(prior=PRIOR, likelihood=SEEN, n=3)["x"].shape == (3,)
    value, gradients = plan().value_and_gradient(likelihood=SEEN, prior=PRIOR)
    assert [gradient.shape for gradient in gradients] == [(2,), (3, 2)]  # in the order of the factors


def test_names_of_options_win_and_a_dict_has_the_others():
    shared = plan("threads", "out")
    expected = plan()(PRIOR, SEEN)
    np.testing.assert_array_equal(shared({"threads": PRIOR, "out": SEEN}), expected)
    target = np.empty(())
    assert shared({"threads": PRIOR, "out": SEEN}, threads=1, out=target) is target
    np.testing.assert_array_equal(target, expected)


@pytest.mark.parametrize(
    ("given", "named", "error", "words"),
    [
        ([], {"prior": PRIOR}, plated.OperandCountError, "factor 'likelihood' has no operand"),
        ([PRIOR], {"likelihood": SEEN}, plated.OperandCountError, "some operands are named and 1 are not"),
        ([{"prior": PRIOR}], {"prior": PRIOR, "likelihood": SEEN}, plated.DuplicateNameError, "'prior' has two operands"),
        ([{"prior": PRIOR, "likelihood": SEEN, "more": SEEN}], {}, plated.UnknownNameError, "no factor 'more'"),
        ([], {"prior": PRIOR, "likelihood": SEEN, "more": SEEN}, TypeError, "unexpected keyword argument 'more'"),
        ([], {"prior": PRIOR, "likelihood": ["1"]}, plated.DtypeError, "the operand of 'likelihood' has the dtype"),
    ],
)
def test_what_does_not_fit(given, named, error, words):
    with pytest.raises(error, match=words):
        plan()(*given, **named)
