"""Sizes that no operand tells come from evidence and lengths."""

import numpy as np
import plated
import pytest

PRIOR, EMIT = np.log([0.25, 0.75]), np.log([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
MOVE = np.log([[0.9, 0.1], [0.2, 0.8]])


def test_evidence_tells_how_many_slices_a_tied_plate_has():
    seen = [0, 2, 2, 1]
    options = {"plates": "i", "evidence": {"y": seen}}
    expected = np.log(np.sum(np.exp(PRIOR + EMIT[:, seen].sum(1))))
    np.testing.assert_allclose(plated.einsum("x,(i)xy->", PRIOR, EMIT, **options), expected)
    assert plated.marginals("x,(i)xy->", PRIOR, EMIT, **options)["y"].shape == (4, 3)
    with pytest.raises(plated.SizeError, match="dim 'i' is only tied"):
        plated.einsum("x,(i)xy->", PRIOR, EMIT, plates="i")
    with pytest.raises(plated.ShapeError, match="evidence for 'y'"):
        plated.einsum("x,(i)xy->", PRIOR, EMIT, plates="i", evidence={"y": seen}, sizes={"i": 3})


def test_plans_serve_evidence_of_any_length():
    plan = plated.compile("x,(i)xy->", (2,), (2, 3), plates="i", sizes={"i": 1}, observable=["y"])
    for seen in ([], [1], [0, 2, 2, 1]):
        expected = np.log(np.sum(np.exp(PRIOR + EMIT[:, seen].sum(1))))
        np.testing.assert_allclose(plan(PRIOR, EMIT, evidence={"y": seen}), expected, atol=1e-12)


def test_hidden_markov_models_of_states_that_were_seen():
    rows = np.array([[0, 1, 2, 2, 0], [2, 2, 1, -1, -1]])
    equation, options = "(n)a,(nt)ab,(nt)by->", {"batch": "n", "chains": {"t": "a->b"}}
    found = plated.einsum(equation, PRIOR, MOVE, EMIT, evidence={"y": rows}, lengths={"t": [5, 3]}, **options)
    for row, length, log_p in zip(rows, [5, 3], found):
        message = PRIOR
        for state in row[:length]:
            message = np.logaddexp.reduce(message[:, None] + MOVE, 0) + EMIT[:, state]
        np.testing.assert_allclose(np.logaddexp.reduce(message), log_p)


def test_lengths_alone_tell_the_size_of_a_chain():
    found = plated.einsum("(n)a,(nt)ab->", PRIOR, MOVE * 2, batch="n", chains={"t": "a->b"}, lengths={"t": [1, 3, 0]})
    single = [np.logaddexp.reduce(PRIOR)]
    message = PRIOR
    for _ in range(3):
        message = np.logaddexp.reduce(message[:, None] + MOVE * 2, 0)
        single.append(np.logaddexp.reduce(message))
    np.testing.assert_allclose(found, [single[1], single[3], single[0]], atol=1e-12)
