"""The builder, plans, chains, batches and evidence."""

import itertools

import numpy as np
import plated
import pytest

RANDOM = np.random.default_rng(1)


def coins():
    graph = plated.FactorGraph()
    graph.plate("i", 4)
    graph.plate("j", 3)
    graph.variable("mint", 2)
    graph.variable("coin", 2)
    graph.factor("prior", ["mint"])
    graph.factor("kind", ["mint", "coin"], tied=["i"])
    graph.factor("throw", ["i", "j", "coin"])
    graph.output([])
    return graph


def test_builder():
    graph = coins()
    assert graph.equation() == "mint, (i) mint coin, i j coin ->"
    assert graph.variable_plates() == {"mint": (), "coin": ("i",)}
    assert [dim.name for dim in graph.dims if dim.kind == "plate"] == ["i", "j"]
    assert graph.factors[1] == plated.Factor("kind", ("mint", "coin"), ("i",), None, False)
    assert graph.factor_plates(2) == ("i", "j") and graph.factor_variables(1) == ("mint", "coin")
    assert graph.components() == [(("mint", "coin"), ("prior", "kind", "throw"))]
    assert graph.outputs == [()] and graph.chains == {}
    assert "coin" in str(graph) and "mint" in repr(graph)


def test_builder_errors():
    graph = coins()
    with pytest.raises(plated.DuplicateNameError):
        graph.variable("coin", 3)
    with pytest.raises(plated.UnknownNameError):
        graph.factor("more", ["nobody"])


def test_factors_have_names_of_their_own():
    graph = coins()
    with pytest.raises(plated.DuplicateNameError, match="factors 1 and 3 are both named 'kind'"):
        graph.factor("kind", ["mint"])
    graph.factor("", ["mint"])
    assert graph.factors[3].name == "f3"
    with pytest.raises(plated.DuplicateNameError, match="factors 3 and 4 are both named 'f3'"):
        graph.factor("f3", ["mint"])


def test_a_graph_without_outputs_is_asked_for_its_total():
    for batch in [False, True]:
        graph = plated.FactorGraph()
        graph.variable("x", 2)
        if batch:
            graph.batch("n", 3)
        graph.factor("f", ["n", "x"] if batch else ["x"])
        operand = RANDOM.normal(size=(3, 2) if batch else 2)
        plan = plated.compile(graph)
        np.testing.assert_allclose(plan(operand), np.logaddexp.reduce(operand, axis=-1))
        assert plan.output_shapes == [(3,) if batch else ()] and graph.outputs == []
        assert plan.value_and_gradient(operand)[1][0].shape == operand.shape
        assert plan.cost().flops > 0 and plated.analyze(graph).steps == plan.steps >= 1
        assert "output" in plan.print() and plan.graph.outputs == [("n",) if batch else ()]


def test_graphs_derived_from_a_graph():
    graph = coins()
    assert graph.asking([["i", "coin"]]).outputs == [("i", "coin")]
    assert {dim.name: dim.size for dim in graph.resized("i", 9).dims}["i"] == 9
    unrolled = graph.unroll("i")
    assert len(unrolled.graph.factors) == 1 + 4 + 4
    assert unrolled.factors[5] == (2, {0: 0})
    operands = [RANDOM.normal(size=2), RANDOM.normal(size=(2, 2)), RANDOM.normal(size=(4, 3, 2))]
    copies = []
    for original, index in unrolled.factors:
        copies.append(operands[original][tuple(index.get(axis, slice(None)) for axis in range(operands[original].ndim))])
    np.testing.assert_allclose(plated.compile(unrolled.graph)(*copies), plated.compile(graph)(*operands))


def test_pictures():
    graph = coins()
    assert "<svg" in graph._repr_svg_()
    assert "mint" in graph.draw(title="Coins") and "Coins" in graph.draw(title="Coins")
    cross = plated.FactorGraph.from_equation("ix,jy,ijxy->", (2, 2), (3, 2), (2, 3, 2, 2), plates="ij")
    verdict = plated.analyze(cross)
    assert cross.draw(certificate=verdict.certificate) != cross.draw()


def test_plan():
    plan = plated.compile(coins(), semiring="real", threads=1)
    operands = [RANDOM.random(2), RANDOM.random((2, 2)), RANDOM.random((4, 3, 2))]
    expected = (operands[0] * ((operands[1] * operands[2].prod(axis=1)[:, None]).sum(axis=-1)).prod(axis=0)).sum()
    for value in [plan(*operands), plan.run(*operands), plan.einsum(*operands)]:
        np.testing.assert_allclose(value, expected)
    np.testing.assert_allclose(plan(*(np.log(o) for o in operands), semiring="log"), np.log(expected))
    assert plan.steps >= 1 and set(plan.elimination_order) == {"mint", "coin"} and plan.dropped == []
    assert "SumProduct" in plan.print() and plan.graph.equation() == coins().equation()
    assert plan.cost().exps == 0 and plan.cost(semiring="log").exps > 0
    assert plan.cost(dtype="float64").bytes_read > plan.cost(dtype=np.float32).bytes_read
    assert plan.analyze().tractable and plan.analyze().cost == plan.cost()
    assert plan._repr_html_().startswith("<table>") and "SumProduct" in plan._repr_html_()


def test_plan_options():
    plan = plated.compile("xy,yz,zw->", (2, 3), (3, 4), (4, 5), search="greedy", trials=3, seed=7, seconds=1.0)
    assert len(plan.elimination_order) == 4
    with pytest.raises(plated.OptionError, match="search is 'best'"):
        plated.compile("x->", (2,), search="best")
    with pytest.raises(plated.OptionError, match="give no operands"):
        plated.compile(coins(), plates="i")
    for name in plated.Plan.passes():
        plated.compile("ixy,ix->", (2, 3, 4), (2, 3), plates="i", without=[name])


def test_batches():
    operands = RANDOM.normal(size=(5, 4, 3))
    value = plated.einsum("nix->", operands, plates="i", batch="n")
    np.testing.assert_allclose(value, np.logaddexp.reduce(operands, axis=2).sum(axis=1))
    assert plated.map("nix->", operands, plates="i", batch="n").assignment["x"].shape == (5, 4)
    assert plated.sample("nix->", operands, plates="i", batch="n", n=7)["x"].shape == (7, 5, 4)


def test_sizes_of_dims_that_no_operand_has():
    np.testing.assert_allclose(plated.einsum("(i)x->", np.zeros(2), plates="i", sizes={"i": 10}), 10 * np.log(2))


def test_spaced_names():
    value = plated.einsum("state, item state kind ->", np.zeros(2), np.zeros((4, 2, 3)), plates="item")
    np.testing.assert_allclose(value, np.log(2) + 4 * np.log(3))


def test_evidence():
    joint = RANDOM.normal(size=(3, 2, 4))
    np.testing.assert_allclose(plated.einsum("xyz->", joint, evidence={"x": 2}), np.logaddexp.reduce(joint[2].ravel()))
    plan = plated.compile("xyz->", joint, observable=["y", "z"])
    np.testing.assert_allclose(plan(joint, evidence={"y": np.int32(1)}), np.logaddexp.reduce(joint[:, 1].ravel()))
    np.testing.assert_allclose(plan(joint), np.logaddexp.reduce(joint.ravel()))
    assert plan.map(joint, evidence={"z": 3}).assignment["z"] == 3
    with pytest.raises(plated.OptionError, match="not compiled to observe"):
        plan(joint, evidence={"x": 0})
    with pytest.raises(plated.DtypeError, match="evidence of 'y'"):
        plan(joint, evidence={"y": 0.5})


def hidden_markov(start, turn, seen, length):
    """log Z of all paths, one by one."""
    totals = []
    for path in itertools.product(range(len(start)), repeat=length + 1):
        steps = sum(turn[path[t], path[t + 1]] + seen[t, path[t + 1]] for t in range(length))
        totals.append(start[path[0]] + steps)
    return np.logaddexp.reduce(totals)


def test_chains():
    start, turn, seen = RANDOM.normal(size=3), RANDOM.normal(size=(3, 3)), RANDOM.normal(size=(4, 3))
    options = {"chains": {"t": ["a->b"]}}
    value = plated.einsum("a,(t)ab,tb->", start, turn, seen, **options)
    np.testing.assert_allclose(value, hidden_markov(start, turn, seen, 4))
    np.testing.assert_array_equal(plated.einsum("a,(t)ab,tb->", start, turn, seen, chains={"t": "a->b"}), value)
    posterior = plated.marginals("a,(t)ab,tb->", start, turn, seen, ends=True, **options)
    assert posterior["a"].shape == posterior["b"].shape == (4, 3) and posterior["^a"].shape == (3,)
    np.testing.assert_allclose(posterior["b$"], posterior["b"][-1])
    assert plated.map("a,(t)ab,tb->", start, turn, seen, **options).assignment["b"].shape == (4,)
    np.testing.assert_allclose(
        plated.einsum("a,(t)ab->", start, turn, chains={"t": ["a->b"]}, sizes={"t": 4}),
        hidden_markov(start, turn, np.zeros((4, 3)), 4),
    )


def test_lengths():
    start, turn, seen = RANDOM.normal(size=3), RANDOM.normal(size=(3, 3)), RANDOM.normal(size=(2, 4, 3))
    seen[1, 2:] = np.nan  # never read
    options = {"chains": {"t": ["a->b"]}, "batch": "n", "lengths": {"t": np.array([4, 2], dtype=np.int32)}}
    value = plated.einsum("a,(t)ab,ntb->", start, turn, seen, **options)
    np.testing.assert_allclose(value, [hidden_markov(start, turn, seen[n], length) for n, length in enumerate([4, 2])])
    assert (plated.sample("a,(t)ab,ntb->", start, turn, seen, n=3, **options)["b"][:, 1, 2:] == -1).all()


def test_chains_in_the_builder():
    graph = plated.FactorGraph()
    graph.chain("t", 4)
    graph.variable("a", 3)
    graph.variable("b", 3)
    graph.link("t", "a", "b")
    graph.factor("start", [plated.first("a")])
    graph.factor("turn", ["a", "b"], tied=["t"])
    graph.output([plated.last("b")])
    assert graph.chains == {"t": [("a", "b")]}
    assert plated.compile(graph)(np.zeros(3), np.zeros((3, 3))).shape == (3,)


def test_leave_one_out():
    prior, seen = np.log([0.5, 0.5]), RANDOM.normal(size=(5, 2))
    answer = plated.leave_one_out("c,ic->", prior, seen, plates="i", plate="i")
    for i in range(5):
        rest = plated.einsum("c,ic->", prior, np.delete(seen, i, axis=0), plates="i")
        np.testing.assert_allclose(answer[i], plated.einsum("c,ic->", prior, seen, plates="i") - rest)


def test_samples_continue():
    operands = RANDOM.normal(size=(3, 2))
    all_of_them = plated.sample("ix->", operands, plates="i", n=100, seed=5)["x"]
    rest = plated.sample("ix->", operands, plates="i", n=60, seed=5, first=40)["x"]
    np.testing.assert_array_equal(all_of_them[40:], rest)
    np.testing.assert_array_equal(all_of_them, plated.sample("ix->", operands, plates="i", n=100, seed=5, threads=1)["x"])


def test_marginals_of_factors_and_sets():
    f, g = RANDOM.normal(size=2), RANDOM.normal(size=(2, 3))
    joint = np.exp(f[:, None] + g)
    joint /= joint.sum()
    posterior = plated.marginals("x,xy->", f, g, factors=True, sets=[["x", "y"]])
    assert isinstance(posterior, dict)
    np.testing.assert_allclose(posterior.factors[1], joint)
    np.testing.assert_allclose(posterior.sets[0], joint)
    np.testing.assert_allclose(plated.marginals("x,xy->", f, g, log=True)["y"], np.log(joint.sum(axis=0)))


def test_one_plan_runs_on_any_number_of_slices():
    plan = plated.compile("x,ixy->", (3,), (100, 3, 2), plates="i")
    for slices in (100, 37, 1, 0):
        expected = np.log(3) + slices * np.log(2)
        np.testing.assert_allclose(plan(np.zeros(3), np.zeros((slices, 3, 2))), expected)
        np.testing.assert_allclose(plated.einsum("x,ixy->", np.zeros(3), np.zeros((slices, 3, 2)), plates="i"), expected)
    with pytest.raises(plated.SizeError, match="'x' has size 3"):
        plan(np.zeros(4), np.zeros((5, 4, 2)))
    tied = plated.compile("(i)x->", (2,), plates="i", sizes={"i": 5})
    np.testing.assert_allclose(tied(np.zeros(2)), 5 * np.log(2))
    np.testing.assert_allclose(tied(np.zeros(2), sizes={"i": 3}), 3 * np.log(2))


def test_sizes_of_graphs_of_equations():
    graph = plated.FactorGraph.from_equation("(i)x->", (2,), plates="i", sizes={"i": 4})
    np.testing.assert_allclose(plated.compile(graph)(np.zeros(2)), 4 * np.log(2))


def test_questions_are_priced_and_printed():
    plan = plated.compile("x,ixy->", (3,), (100, 3, 2), plates="i", questions=["marginals"])
    assert plan.cost("marginals").flops > plan.cost().flops > plan.cost(sizes={"i": 5}).flops
    assert plan.cost("marginals").run_bytes > 0
    assert "Weigh" in plan.print("marginals") and "Weigh" not in plan.print()
    assert "LeaveOneOut" in plan.print(("leave_one_out", "i"))
    with pytest.raises(plated.OptionError, match="marginals"):
        plan.cost("posterior")


def test_weights_and_lengths_of_plates():
    seen = np.log(RANDOM.random((4, 3)) + 0.1)
    weights = np.array([1.0, 2.0, 0.0, 0.5])
    slices = np.log(np.exp(seen).sum(axis=1))
    np.testing.assert_allclose(plated.einsum("ix->", seen, plates="i", weights={"i": weights}), weights @ slices)
    np.testing.assert_allclose(plated.einsum("ix->", seen, plates="i", weights={"i": 2}), 2 * slices.sum())
    seen[2:] = np.nan
    ragged = {"plates": "i", "lengths": {"i": 2}}
    np.testing.assert_allclose(plated.einsum("ix->", seen, **ragged), slices[:2].sum())
    assert (plated.marginals("ix->", seen, **ragged)["x"][2:] == 0).all()
    assert (plated.map("ix->", seen, **ragged).assignment["x"][2:] == -1).all()
    with pytest.raises(plated.ValueError, match="weights of plate 'i'"):
        plated.einsum("ix->", np.zeros((4, 3)), plates="i", weights={"i": [1, -1, 0, 0]})


def test_weights_and_lengths_are_priced_and_printed_by_name():
    plan = plated.compile("x,ijxy->", (3,), (10, 20, 3, 2), plates="ij")
    assert "weights of" not in plan.print()
    assert "weights of i" in plan.print(weights=["i"])
    assert "weights of j" in plan.print("marginals", lengths=["j"])
    assert plan.cost(weights=["i"]).flops > plan.cost().flops
    assert plan.cost("gradient", lengths=["j"]).run_bytes > plan.cost("gradient", weights=["j"]).run_bytes
    with pytest.raises(plated.UnknownNameError, match="weights are given for 'x'"):
        plan.cost(weights=["x"])
