"""Options of a wrong type or out of range are errors in Python's words, and never another value."""

import fractions
import types

import numpy as np
import plated
import pytest

VECTOR = np.zeros(2)
TURNS = (np.zeros(2), np.zeros((2, 2)))


def einsum(**options):
    return plated.einsum("x->", VECTOR, **options)


def sample(**options):
    return plated.sample("x->", VECTOR, **options)


def plan(**options):
    return plated.compile("x->", VECTOR, **options)


@pytest.mark.parametrize("value", [1.5, 2.0, np.float64(2.7), np.float32(2.0), "2", b"2", True, False, np.True_, [2],
                                   np.array([2]), np.nan, fractions.Fraction(5, 2), 2j])  # fmt: skip
@pytest.mark.parametrize(
    ("call", "option"),
    [(einsum, "threads"), (einsum, "memory_limit"), (sample, "n"), (sample, "seed"), (sample, "first"), (plan, "trials"),
     (plan, "seed"), (plan, "threads"), (plan, "memory_limit")],
)  # fmt: skip
def test_integers(call, option, value):
    with pytest.raises(TypeError, match=f"{option} must be an int, not"):
        call(**{option: value})


@pytest.mark.parametrize(
    ("call", "option", "value"),
    [
        (einsum, "threads", -1),
        (einsum, "threads", 2**31),
        (einsum, "threads", -(2**70)),
        (einsum, "memory_limit", -1),
        (einsum, "memory_limit", 2**63),
        (sample, "n", -1),
        (sample, "n", 2**63),
        (sample, "first", -1),
        (sample, "first", 2**63 - 1),
        (sample, "seed", -1),
        (sample, "seed", 2**64),
        (plan, "seed", -1),
        (plan, "trials", -1),
        (plan, "trials", 2**31),
        (plan, "seconds", -1),
        (plan, "seconds", np.nan),
    ],
)
def test_integers_out_of_range(call, option, value):
    with pytest.raises(plated.OptionError):
        call(**{option: value})


def test_integers_of_numpy():
    draws = sample(n=np.int32(3), seed=np.uint64(2**64 - 1), first=np.array(2))
    np.testing.assert_array_equal(draws["x"], sample(n=3, seed=2**64 - 1, first=2)["x"])
    assert einsum(threads=np.int8(1), memory_limit=np.int64(10**6)) == einsum(threads=None, memory_limit=None)


def test_more_samples_than_memory_are_refused():
    with pytest.raises((plated.Error, MemoryError)):
        sample(n=2**62)


@pytest.mark.parametrize("value", [1, 0, "yes", None, np.array(True), [True]])
@pytest.mark.parametrize("option", ["variables", "factors", "ends", "filtered", "log"])
def test_flags(option, value):
    with pytest.raises(TypeError, match=f"{option} must be True or False, not"):
        plated.marginals("x->", VECTOR, **{option: value})


def test_flags_of_numpy():
    assert plated.marginals("x->", VECTOR, log=np.bool_(True))["x"][0] == -np.log(2)
    with pytest.raises(TypeError, match="sums_only must be True or False"):
        plan(sums_only="no")
    with pytest.raises(TypeError, match="spaced must be True or False"):
        einsum(spaced=0)


@pytest.mark.parametrize("value", ["1", True, None, [1.0]])
def test_seconds(value):
    with pytest.raises(TypeError, match="seconds must be a number"):
        plan(seconds=value)


@pytest.mark.parametrize(
    ("option", "value"),
    [("plates", 3), ("plates", b"i"), ("plates", ["i"]), ("batch", None), ("semiring", 1), ("check", True)],
)
def test_texts(option, value):
    with pytest.raises(TypeError, match=f"{option} must be a str, not"):
        einsum(**{option: value})


@pytest.mark.parametrize("size", [2.7, np.float64(3.0), True, "3", None])
def test_sizes(size):
    with pytest.raises(TypeError, match="the size of 'i' must be an int, not"):
        plated.einsum("(i)x->", VECTOR, plates="i", sizes={"i": size})


def test_mappings():
    sizes = types.MappingProxyType({"i": np.int64(3)})
    np.testing.assert_allclose(plated.einsum("(i)x->", VECTOR, plates="i", sizes=sizes), 3 * np.log(2))
    for option in ["sizes", "chains", "lengths", "evidence"]:
        with pytest.raises(TypeError, match=f"{option} must be a dict, not"):
            einsum(**{option: [("i", 3)]})
        with pytest.raises(TypeError, match=f"a name in {option} must be a str, not"):
            einsum(**{option: {3: 3}})
    with pytest.raises(plated.OptionError, match="the size of 'i' is 9223372036854775808"):
        plated.einsum("(i)x->", VECTOR, plates="i", sizes={"i": 2**63})


def test_progress_is_a_function():
    with pytest.raises(TypeError, match="progress must be a function, not 5"):
        einsum(progress=5)


def test_operands_with_respect_to_which():
    for wrt in [[True, False], [0.0], ["0"]]:
        with pytest.raises(TypeError, match="an operand in wrt must be an int"):
            plated.value_and_gradient("x,xy->", *TURNS, wrt=wrt)
    with pytest.raises(plated.OptionError, match="wrt names operand 1 twice"):
        plated.value_and_gradient("x,xy->", *TURNS, wrt=[1, 0, 1])
    with pytest.raises(plated.OptionError, match="operand -1"):
        plated.value_and_gradient("x,xy->", *TURNS, wrt=[-1])
    with pytest.raises(TypeError, match="wrt must be a list"):
        plated.value_and_gradient("x,xy->", *TURNS, wrt=1)
    nothing, gradient = plated.value_and_gradient("x,xy->", *TURNS, wrt=np.array([1]))[1]
    assert nothing is None and gradient.shape == (2, 2)


def test_names_given_twice():
    with pytest.raises(plated.DuplicateNameError, match="'y' twice"):
        plated.marginals("x,xy->", *TURNS, sets=[["x"], ["y", "y"]])
    with pytest.raises(plated.DuplicateNameError, match="'x' is named twice"):
        plated.compile("x,xy->", *TURNS, observable=["x", "x"])
    for option in ["plates", "batch"]:
        with pytest.raises(plated.DuplicateNameError, match=f"'x' is listed twice in '{option}'"):
            plated.einsum("x,xy->", *TURNS, **{option: "xx"})
    with pytest.raises(plated.DuplicateNameError, match="factor 'f2' is named twice"):
        plated.leave_one_out(
            "a,(t)ab,tb->", *TURNS, np.zeros((3, 2)), chains={"t": "a->b"}, plate="t", factors=["f2", "f2"]
        )


@pytest.mark.parametrize("sets", ["xy", ["x", "y"], ["xy"], [["x"], "y"]])
def test_a_name_is_no_set(sets):
    with pytest.raises(TypeError, match=r"sets must be lists of names in a list, as in \[\['x', 'y'\]\]"):
        plated.marginals("x,xy->", *TURNS, sets=sets)


def test_sets_are_any_iterables():
    joint = plated.marginals("x,xy->", *TURNS, sets=({"x", "y"}, ("x",), iter(["y"]))).sets
    assert [posterior.shape for posterior in joint] == [(2, 2), (2,), (2,)]


@pytest.mark.parametrize("shape", [(2.0,), ("2",), "2", (True,), (None,), 2, b"\x02", (np.float64(2.0),)])
def test_shapes(shape):
    with pytest.raises(TypeError, match="operand 0"):
        plated.compile("x->", shape)
    with pytest.raises(TypeError, match="operand 0"):
        plated.FactorGraph.from_equation("x->", shape)


def test_shapes_of_numpy_integers():
    assert plated.compile("xy->xy", [np.int32(2), np.array(3)]).graph.dims[1].size == 3
    with pytest.raises(plated.SizeError):
        plated.compile("x->", (-1,))


@pytest.mark.parametrize("size", [2.0, 2.7, np.float64(2.0), True, "2", None, 2**63])
def test_sizes_in_the_builder(size):
    graph = plated.FactorGraph()
    for declare in [graph.plate, graph.batch, graph.chain, graph.variable]:
        with pytest.raises(TypeError):
            declare("i", size)
    assert graph.dims == []
    graph.plate("i", np.int16(3))
    assert graph.dims[0].size == 3
    with pytest.raises(TypeError):
        graph.resized("i", size)


def test_names_in_the_builder():
    graph = plated.FactorGraph()
    graph.variable("x", 2)
    graph.variable("y", 2)
    for dims in ["xy", b"xy", [1], None]:
        with pytest.raises(TypeError):
            graph.factor("f", dims)
        with pytest.raises(TypeError):
            graph.output(dims)
    for name in [3, None, b"f"]:
        with pytest.raises(TypeError):
            graph.factor(name, ["x"])
        with pytest.raises(TypeError):
            graph.variable(name, 2)
    with pytest.raises(IndexError, match="no factor 0"):
        graph.factor_plates(0)
    with pytest.raises(IndexError, match="no factor -1"):
        graph.factor_variables(-1)
