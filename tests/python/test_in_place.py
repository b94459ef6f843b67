"""Observations of any width and strides, which are read where they are."""

import tracemalloc

import numpy as np
import pytest

import plated

WIDTHS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", ">i2", "<u4"]


def forms(states):
    """The same numbers in other strides."""
    yield states
    yield np.asfortranarray(states)
    yield np.repeat(states, 2, axis=0)[::2]
    yield states[::-1].copy()[::-1]
    frozen = states.copy()
    frozen.flags.writeable = False
    yield frozen


@pytest.mark.parametrize("width", WIDTHS)
def test_equations_read_every_width_in_any_strides(width):
    table = np.random.default_rng(3).random((5, 4, 3, 200))
    states = np.random.default_rng(4).integers(0, 127, size=(5, 4))
    expected = plated.value_and_gradient("ijxy->", table, plates="ij", evidence={"y": states})
    for form in forms(states.astype(width)):
        found = plated.value_and_gradient("ijxy->", table, plates="ij", evidence={"y": form})
        np.testing.assert_allclose(found[0], expected[0])
        np.testing.assert_allclose(found[1][0], expected[1][0])


def answers_model(questions=4, states=3):
    graph = plated.FactorGraph()
    graph.plate("row", 1)
    graph.plate("question", questions)
    graph.variable("kind", 2, plates=["row"])
    graph.variable("answer", states, plates=["row", "question"])
    graph.factor("kinds", ["kind"], tied=["row"], distribution_of="kind")
    graph.factor("answers", ["question", "kind", "answer"], tied=["row"], distribution_of="answer")
    table = np.random.default_rng(5).dirichlet(np.ones(states), size=(questions, 2))
    return plated.Model(graph, {"kinds": [0.4, 0.6], "answers": table}, space="real")


@pytest.mark.parametrize("width", WIDTHS)
def test_fit_reads_every_width_in_any_strides(width):
    states = np.random.default_rng(7).integers(0, 3, size=(40, 4))
    expected = plated.fit(answers_model(), {"answer": states}, iterations=4)
    for form in forms(states.astype(width)):
        found = plated.fit(answers_model(), {"answer": form}, iterations=4)
        assert found.history == pytest.approx(expected.history)


def test_missing_cells_of_every_width():
    states = np.random.default_rng(7).integers(-1, 3, size=(40, 4))
    expected = plated.fit(answers_model(), {"answer": states}, iterations=4)
    for width in ["int8", "int16", "int32", ">i8"]:
        found = plated.fit(answers_model(), {"answer": states.astype(width)}, iterations=4)
        assert found.history == pytest.approx(expected.history)


def test_memory_mapped_files_that_cannot_be_written_to(tmp_path):
    states = np.random.default_rng(7).integers(0, 3, size=(40, 4)).astype("uint8")
    np.save(tmp_path / "answer.npy", states)
    mapped = np.load(tmp_path / "answer.npy", mmap_mode="r")
    expected = plated.fit(answers_model(), {"answer": states}, iterations=4)
    assert plated.fit(answers_model(), {"answer": mapped}, iterations=4).history == expected.history
    assert plated.fit(answers_model(), {"answer": np.load(tmp_path / "answer.npy", mmap_mode="r")[::2]}, iterations=1)


def test_nothing_is_made_wider():
    states = np.random.default_rng(7).integers(0, 3, size=(500_000, 4)).astype("uint8")
    tracemalloc.start()
    plated.fit(answers_model(), {"answer": states}, iterations=1)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < states.nbytes / 4


def test_a_model_keeps_its_own_evidence():
    states = np.zeros((1, 4), dtype="uint8")
    graph = answers_model()
    model = plated.Model(graph.graph, graph.factors, space="real", evidence={"answer": states})
    states[:] = 2
    np.testing.assert_array_equal(model.evidence["answer"], np.zeros((1, 4)))


@pytest.mark.parametrize("width", ["uint8", "int16", "uint64"])
def test_states_out_of_range_are_named_with_their_place(width):
    states = np.zeros((5, 4), dtype=width)
    states[3, 1] = 7
    with pytest.raises(plated.ValueError, match=r"has the value 7 at index \(3, 1\)"):
        plated.fit(answers_model(), {"answer": states})


def test_empty_arrays():
    found = plated.fit(answers_model(), {"answer": np.empty((0, 4), dtype="uint8")})
    assert found.log_likelihood == 0
