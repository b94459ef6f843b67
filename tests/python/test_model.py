"""plated.Model: made from a graph, its numbers, names and evidence, and what is refused."""

import concurrent.futures
import pickle

import numpy as np
import plated
import pytest
import sprinkler


def sprinkler_graph(distributions=False):
    graph = plated.FactorGraph()
    for variable, names in sprinkler.STATES.items():
        graph.variable(variable, len(names))
    for name, (dims, _) in sprinkler.TABLES.items():
        graph.factor(name, dims, distribution_of=name if distributions else None)
    return graph


def sprinkler_model(space="real", **options):
    numbers = {name: table for name, (_, table) in sprinkler.TABLES.items()}
    if space == "log":
        with np.errstate(divide="ignore"):
            numbers = {name: np.log(table) for name, table in numbers.items()}
    return plated.Model(sprinkler_graph(True), numbers, space=space, states=sprinkler.STATES, **options)


@pytest.fixture(params=["real", "log"])
def model(request):
    return sprinkler_model(request.param)


EVIDENCE = [{}, {"wet": 0}, {"wet": 0, "sprinkler": 1}, {"cloudy": 1, "rain": 1, "wet": 1, "sprinkler": 0}]


@pytest.mark.parametrize("evidence", EVIDENCE, ids=lambda evidence: " ".join(evidence) or "none")
def test_answers_are_those_of_enumeration(model, evidence):
    table = sprinkler.joint(evidence)
    np.testing.assert_allclose(model.log_partition(evidence=evidence), np.log(table.sum()), atol=1e-12)
    posteriors = model.marginals(evidence=evidence)
    assert list(posteriors) == list(sprinkler.STATES)
    for variable, probabilities in posteriors.items():
        np.testing.assert_allclose(probabilities, sprinkler.posterior((variable,), evidence), atol=1e-12)
    best = model.map(evidence=evidence)
    np.testing.assert_allclose(best.score, np.log(table.max()))
    assert table[tuple(int(best.assignment[v]) for v in sprinkler.STATES)] == table.max()
    p = table[table > 0] / table.sum()
    np.testing.assert_allclose(model.entropy(evidence=evidence), -(p * np.log(p)).sum(), atol=1e-12)
    draws = model.sample(n=4000, seed=1, evidence=evidence)
    for variable, states in draws.items():
        assert states.shape == (4000,)
        seen = np.bincount(states, minlength=2) / 4000
        np.testing.assert_allclose(seen, sprinkler.posterior((variable,), evidence), atol=0.04)


def test_queries_are_single_or_joint_and_in_their_own_order(model):
    evidence = {"wet": "yes"}
    query = ["rain", ("wet", "rain", "cloudy"), ("cloudy", "rain")]
    answer = model.marginals(query=query, evidence=evidence)
    assert list(answer) == query
    for key, probabilities in answer.items():
        names = (key,) if isinstance(key, str) else key
        np.testing.assert_allclose(probabilities, sprinkler.posterior(names, {"wet": 0}), atol=1e-12)
    assert list(model.marginals(query="rain")) == ["rain"]
    assert model.marginals(query=("rain", "wet"))["rain", "wet"].shape == (2, 2)
    assert model.marginals(query=[]) == {}


@pytest.mark.parametrize(
    ("query", "error", "words"),
    [
        (["snow"], plated.UnknownNameError, "no variable 'snow' to ask for"),
        ([("rain", "rain")], plated.DuplicateNameError, "'rain' twice"),
        ([()], plated.OptionError, "a query has no variables"),
        ([["rain", "wet"]], TypeError, "names and tuples of names"),
        (3, TypeError, "query must be a list"),
        ([("rain", 3)], TypeError, "a name in query must be a str"),
    ],
)
def test_queries_that_make_no_sense(model, query, error, words):
    with pytest.raises(error, match=words):
        model.marginals(query=query)


def test_properties(model):
    assert model.variables == list(sprinkler.STATES)
    assert model.states == sprinkler.STATES
    assert list(model.factors) == list(sprinkler.TABLES)
    assert model.directed and model.graph.factors[0].distribution_of == "cloudy"
    other = model.in_space("log" if model.space == "real" else "real")
    assert other.space != model.space
    np.testing.assert_allclose(other.log_partition(), model.log_partition(), atol=1e-12)
    assert repr(model) == "<plated.Model '', 4 variables, 4 factors>"
    assert "svg" in model.draw(directed=True) and "svg" in model._repr_svg_()


def test_numbers_are_copied_and_cannot_be_written_to():
    graph = plated.FactorGraph.from_equation("x->", (2,))
    numbers = np.zeros(2)
    model = plated.Model(graph, {"f0": numbers})
    numbers[:] = 7
    np.testing.assert_array_equal(model.factors["f0"], [0, 0])
    with pytest.raises(ValueError, match="read-only"):
        model.factors["f0"][0] = 1
    factors = model.factors
    del model
    np.testing.assert_array_equal(factors["f0"], [0, 0])  # the array keeps the memory


def test_lists_and_integers_are_numbers_and_float32_stays():
    graph = plated.FactorGraph.from_equation("x,x,x,->", (2,), (2,), (2,), ())
    model = plated.Model(graph, {"f0": [1, 2], "f1": np.array([1, 0]), "f2": np.float32([0.5, 2]), "f3": 3}, space="real")
    assert [str(numbers.dtype) for numbers in model.factors.values()] == ["float64", "float64", "float32", "float64"]
    np.testing.assert_allclose(np.exp(model.log_partition()), 1.5)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"wet": None}, plated.DtypeError, "factor 'wet'"),
        ({"wet": [["a", "b"]]}, plated.DtypeError, "factor 'wet' cannot be read as an array of numbers"),
        ({"wet": np.ones((2, 2))}, plated.ShapeError, r"factor 'wet' has the shape \(2, 2\)"),
        ({"rain": np.array([[0.8, 0.3], [0.2, 0.8]])}, plated.ValueError, "'rain' does not sum to one over 'rain'"),
        ({"rain": np.array([[0.8, 0.2], [np.nan, 0.8]])}, plated.ValueError, "factor 'rain' is not a number"),
        ({"rain": np.array([[1.2, -0.2], [0.2, 0.8]])}, plated.ValueError, "factor 'rain' is below zero"),
        ({"snow": np.ones(2)}, plated.UnknownNameError, "no factor 'snow'"),
        ({"rain": np.ma.masked_array(np.ones((2, 2)))}, plated.DtypeError, "factor 'rain' is a masked array"),
    ],
)
def test_numbers_that_do_not_fit(change, error, words):
    numbers = {name: table for name, (_, table) in sprinkler.TABLES.items()}
    with pytest.raises(error, match=words):
        plated.Model(sprinkler_graph(True), {**numbers, **change}, space="real")


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"space": "linear"}, plated.OptionError, "space is 'linear', and it can be log, real"),
        ({"states": {"rain": ["yes"]}}, plated.SizeError, "'rain' has 2 states, and 1 names"),
        ({"states": {"rain": "yn"}}, TypeError, "the states of 'rain' must be a list of names"),
        ({"states": {"snow": ["yes", "no"]}}, plated.UnknownNameError, "no variable 'snow'"),
        ({"evidence": {"rain": 2}}, plated.ValueError, "'rain' has the value 2"),
        ({"evidence": {"rain": [0, 1]}}, plated.ShapeError, "evidence of 'rain' has the shape"),
        ({"lengths": {"t": 3}}, plated.UnknownNameError, "no plate or chain 't'"),
        ({"colour": "red"}, TypeError, "unexpected keyword argument 'colour'"),
    ],
)
def test_options_that_make_no_sense(options, error, words):
    numbers = {name: table for name, (_, table) in sprinkler.TABLES.items()}
    with pytest.raises(error, match=words):
        plated.Model(sprinkler_graph(), numbers, **{"space": "real", **options})


def test_a_factor_without_numbers():
    with pytest.raises(plated.OperandCountError, match="factor 'rain' has no numbers"):
        plated.Model(sprinkler_graph(), {name: table for name, (_, table) in sprinkler.TABLES.items() if name != "rain"})


def test_evidence_of_a_model_and_of_a_call():
    model = sprinkler_model(evidence={"wet": "yes", "rain": -1}, name="grass", observed=["sprinkler"])
    assert model.observed == {"wet", "rain", "sprinkler"}
    assert {name: int(states) for name, states in model.evidence.items()} == {"wet": 0, "rain": -1}
    np.testing.assert_allclose(model.marginals()["rain"], sprinkler.posterior(("rain",), {"wet": 0}), atol=1e-12)
    # What a call says of a variable replaces what the model says; None is not observed.
    np.testing.assert_allclose(model.log_partition(evidence={"wet": None}), 0, atol=1e-12)
    np.testing.assert_allclose(
        model.log_partition(evidence={"wet": 1}), np.log(sprinkler.joint({"wet": 1}).sum()), atol=1e-12
    )


def test_impossible_evidence():
    model = sprinkler_model()
    evidence = {"sprinkler": "off", "rain": "no", "wet": "yes"}
    assert model.log_partition(evidence=evidence) == -np.inf
    for verb in [model.marginals, model.map, model.sample, model.entropy, model.explain]:
        with pytest.raises(plated.ImpossibleError, match="contradict"):
            verb(evidence=evidence)


def test_explain():
    told = sprinkler_model().explain("marginals", evidence={"wet": "yes"})
    assert (told.question, told.absorbed, told.determined, told.sweeps) == ("marginals", 1, 0, 1)
    assert told.cost.flops > 0 and len(told.plans) == 1
    assert "SumProduct" in str(told)
    assert sprinkler_model().explain().dropped == ["cloudy", "sprinkler", "rain", "wet"]
    with pytest.raises(plated.OptionError, match="question is 'gradient', and it can be log_partition, marginals"):
        sprinkler_model().explain("gradient")


def test_plates_chains_and_batch_dims_have_the_axes_of_plans():
    random = np.random.default_rng(0)
    graph = plated.FactorGraph()
    graph.plate("i", 4)
    graph.chain("t", 5)
    graph.batch("n", 3)
    graph.variable("a", 2)
    graph.variable("b", 2)
    graph.link("t", "a", "b")
    graph.factor("turn", ["a", "b"], tied=["i", "t"])
    graph.factor("seen", ["n", "i", "t", "b"])
    numbers = {"turn": random.normal(size=(2, 2)), "seen": random.normal(size=(3, 4, 5, 2))}
    model = plated.Model(graph, numbers)
    plan = plated.compile(graph, observable=["b"])
    evidence = np.full((4, 5), -1)
    evidence[1, 2], evidence[3, 4] = 0, 1
    operands = numbers["turn"], numbers["seen"]
    expected = plan.marginals(*operands, evidence={"b": evidence})
    answer = model.marginals(evidence={"b": evidence})
    for variable in ["a", "b"]:
        np.testing.assert_allclose(answer[variable], expected[variable], atol=1e-12)
    np.testing.assert_allclose(model.log_partition(evidence={"b": evidence}), expected.log_partition)
    ragged = model.marginals(query=["b"], lengths={"t": [5, 2, 0, 3]})
    np.testing.assert_allclose(ragged["b"], plan.marginals(*operands, lengths={"t": [5, 2, 0, 3]})["b"], atol=1e-12)
    lengths = plated.Model(graph, numbers, lengths={"t": [5, 2, 0, 3]})
    np.testing.assert_array_equal(lengths.lengths["t"], [5, 2, 0, 3])
    np.testing.assert_allclose(lengths.marginals()["b"], ragged["b"])


def test_threads_limits_and_progress():
    model = sprinkler_model()
    shares = []
    model.marginals(threads=1, memory_limit=10**9, progress=shares.append)
    assert shares[-1] == pytest.approx(1)
    model.marginals(query=["rain", ("rain", "wet")], progress=shares.append)
    assert shares[-1] == pytest.approx(1)
    with pytest.raises(TypeError, match="progress must be a function"):
        model.marginals(progress=3)
    with pytest.raises(TypeError, match="threads must be an int"):
        model.marginals(threads=1.5)
    with pytest.raises(TypeError, match=r"sample\(\) got an unexpected keyword argument 'count'"):
        model.sample(count=3)


def test_leave_one_out_and_max_marginals():
    graph = plated.FactorGraph()
    graph.plate("i", 3)
    graph.variable("bias", 2)
    graph.variable("side", 2, ["i"])
    graph.factor("prior", ["bias"])
    graph.factor("toss", ["bias", "side"], tied=["i"])
    numbers = {"prior": [0.5, 0.5], "toss": [[0.5, 0.5], [0.9, 0.1]]}
    model = plated.Model(graph, numbers, space="real", states={"side": ["head", "tail"]})
    seen = {"side": ["head", "head", "tail"]}
    without = [model.log_partition(evidence={"side": ["head", "head", "tail"][:k] + [-1] + ["head", "head", "tail"][k + 1 :]})
               for k in range(3)]  # fmt: skip
    np.testing.assert_allclose(model.leave_one_out("i", evidence=seen), model.log_partition(evidence=seen) - without)
    with pytest.raises(plated.UnknownNameError, match="no plate or chain 'j'.*'i'"):
        model.leave_one_out("j")
    scores = model.max_marginals(evidence=seen)
    assert list(scores) == ["bias", "side"]
    np.testing.assert_allclose(np.exp(scores["bias"]), [0.5**4, 0.5 * 0.9**2 * 0.1])
    assert scores["side"].tolist()[2][0] == -np.inf and scores["side"][0][0] == scores["bias"].max()


def test_verbs_of_a_model_keep_their_plans_across_threads_and_pickles():
    graph = plated.FactorGraph.from_equation("x,xy,yz->", (2,), (2, 2), (2, 2))
    table = [[0.9, 0.1], [0.3, 0.7]]
    model = plated.Model(graph, {"f0": [0.5, 0.5], "f1": table, "f2": table}, space="real")
    expected = {state: model.log_partition(evidence={"z": state}) for state in (0, 1)}
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda k: model.log_partition(evidence={"z": k % 2}), range(200)))
    assert all(value == expected[k % 2] for k, value in enumerate(found))
    assert pickle.loads(pickle.dumps(model)).log_partition(evidence={"z": 1}) == expected[1]
