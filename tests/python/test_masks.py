"""Masked arrays of NumPy: refused wherever a mask would be ignored, and evidence that is masked is not observed."""

import warnings

import numpy as np
import plated
import pytest

PRIOR = np.log([0.25, 0.75])
SEEN = np.log([[0.5, 0.1], [0.2, 0.9], [0.3, 0.3]])
PLATED = {"plates": "i"}
MASKED = np.ma.masked_array(PRIOR, mask=[True, False])
UNMASKED = np.ma.masked_array(PRIOR)

VERBS = [
    (plated.einsum, {}),
    (plated.value_and_gradient, {}),
    (plated.hessian_vector_product, {"direction": [PRIOR, SEEN]}),
    (plated.marginals, {}),
    (plated.max_marginals, {}),
    (plated.entropy, {}),
    (plated.expectation, {"statistics": [PRIOR, None]}),
    (plated.leave_one_out, {"plate": "i"}),
    (plated.map, {}),
    (plated.sample, {"n": 2}),
]


@pytest.mark.parametrize(("verb", "options"), VERBS, ids=[verb.__name__ for verb, _ in VERBS])
@pytest.mark.parametrize("operand", [MASKED, UNMASKED], ids=["masked", "nothing masked"])
def test_operands(verb, options, operand):
    with pytest.raises(plated.DtypeError, match=r"operand 0 is a masked array.*\.filled\(\)"):
        verb("x,ix->", operand, SEEN, **PLATED, **options)
    plan = plated.compile("x,ix->", PRIOR, SEEN, **PLATED)
    with pytest.raises(plated.DtypeError, match=r"operand 1 is a masked array.*\.filled\(\)"):
        getattr(plan, verb.__name__)(PRIOR, np.ma.masked_array(SEEN), **options)
    assert isinstance(verb("x,ix->", operand.filled(0.0), SEEN, **PLATED, **options), object)


@pytest.mark.parametrize(
    ("verb", "options", "words"),
    [
        (plated.value_and_gradient, {"cotangents": np.ma.masked_array(1.0)}, "cotangent is a masked array"),
        (plated.value_and_gradient, {"out": [np.ma.zeros(2), None]}, "out 0 is a masked array"),
        (plated.hessian_vector_product, {"direction": [MASKED, SEEN]}, "direction 0 is a masked array"),
        (plated.expectation, {"statistics": [None, np.ma.masked_array(SEEN)]}, "statistics 1 is a masked array"),
        (plated.einsum, {"out": np.ma.zeros(())}, "out is a masked array"),
    ],
)
def test_other_arrays(verb, options, words):
    with pytest.raises(plated.DtypeError, match=words):
        verb("x,ix->", PRIOR, SEEN, **PLATED, **options)


def test_scalars_and_subclasses_of_masked_arrays():
    class Mine(np.ma.MaskedArray):
        pass

    for operand in [np.ma.masked, PRIOR.view(Mine), np.ma.masked_array(PRIOR)[:1]]:
        with pytest.raises(plated.DtypeError, match="masked array"):
            plated.einsum("x->", operand)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_masked_evidence_is_not_observed(dtype):
    # What lies under a mask is not looked at: 99 is no state.
    evidence = np.ma.masked_array(np.array([1, 99, 0], dtype=dtype), mask=[False, True, False])
    factor = np.random.default_rng(0).normal(size=(3, 2))
    expected = plated.einsum("ix->", factor, **PLATED, evidence={"x": [1, -1, 0]})
    np.testing.assert_array_equal(plated.einsum("ix->", factor, **PLATED, evidence={"x": evidence}), expected)
    plan = plated.compile("ix->", factor, **PLATED, observable="x")
    np.testing.assert_array_equal(plan(factor, evidence={"x": evidence}), expected)
    assert evidence.data[1] == 99 and evidence.mask[1]


def test_masked_evidence_of_a_variable_without_plates():
    observed = np.ma.masked_array([0, 1], mask=[True, False])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for evidence in [observed[0], np.ma.masked_array(0, mask=True), np.ma.masked]:
            np.testing.assert_allclose(plated.einsum("x->", PRIOR, evidence={"x": evidence}), 0.0, atol=1e-15)
        np.testing.assert_allclose(plated.einsum("x->", PRIOR, evidence={"x": observed[1]}), PRIOR[1])


def test_unmasked_states_of_masked_evidence_are_checked():
    evidence = np.ma.masked_array([1, 2**64 - 1, 2**64 - 1], mask=[False, True, False], dtype=np.uint64)
    with pytest.raises(plated.ValueError, match=r"evidence of 'x' (has|have) the value 18446744073709551615 at index \(2\)"):
        plated.einsum("ix->", SEEN, **PLATED, evidence={"x": evidence})


def test_masks_that_numpy_would_drop_from_a_list_are_refused():
    rows = [np.ma.masked_array([1, 0], mask=[True, False]), np.ma.masked_array([0, 1])]
    with pytest.raises(plated.DtypeError, match=r"evidence of 'x' .*numpy\.ma\.array"):
        plated.einsum("ijx->", np.zeros((2, 2, 2)), plates="ij", evidence={"x": rows})
    with pytest.raises(plated.DtypeError, match=r"evidence of 'x' .*numpy\.ma\.array"):
        plated.einsum("ix->", SEEN, **PLATED, evidence={"x": [0, np.ma.masked, 1]})
    whole = np.ma.array(rows)
    assert plated.einsum("ijx->", np.zeros((2, 2, 2)), plates="ij", evidence={"x": whole}) == np.log(2)


def test_masked_evidence_of_floats_is_refused():
    with pytest.raises(plated.DtypeError, match="evidence of 'x' has dtype float64"):
        plated.einsum("ix->", SEEN, **PLATED, evidence={"x": np.ma.masked_array([0.0, 1.0, 0.0])})


def test_masked_lengths_are_refused():
    lengths = {"t": np.ma.masked_array([4, 2], mask=[False, True])}
    with pytest.raises(plated.DtypeError, match=r"lengths of 't' are a masked array.*\.filled\(\)"):
        plated.einsum(
            "a,(t)ab,ntb->",
            np.zeros(2),
            np.zeros((2, 2)),
            np.zeros((2, 4, 2)),
            batch="n",
            chains={"t": "a->b"},
            lengths=lengths,
        )
