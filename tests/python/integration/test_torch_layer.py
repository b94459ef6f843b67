"""plated.torch.Layer: CRFs and HMMs as modules, their answers, copies and training."""

import copy
import doctest
import itertools
import pathlib
import pickle
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
plated = pytest.importorskip("plated")
import plated.torch  # noqa: E402

MODELS = pathlib.Path(__file__).resolve().parents[3] / "examples" / "models"
TAGS = 3


def crf():
    plan = plated.compile("a,(t)ab,ntb->", (TAGS,), (TAGS, TAGS), (1, 1, TAGS), batch="n", chains={"t": "a->b"},
                          observable=["b"])  # fmt: skip
    return plated.torch.Layer(plan, {"f0": torch.randn(TAGS), "f1": torch.randn(TAGS, TAGS)})


def hmm(words=5):
    graph = plated.FactorGraph()
    graph.batch("n", 1)
    graph.chain("t", 1)
    graph.variable("before", TAGS)
    graph.variable("state", TAGS)
    graph.link("t", "before", "state")
    graph.variable("word", words, ["t"])
    first = plated.first("before")
    graph.factor("start", [first], tied=["n"], distribution_of=first)
    graph.factor("move", ["before", "state"], tied=["n", "t"], distribution_of="state")
    graph.factor("emit", ["state", "word"], tied=["n", "t"], distribution_of="word")
    shapes = {"start": (TAGS,), "move": (TAGS, TAGS), "emit": (TAGS, words)}
    return plated.torch.Layer(graph, {f: torch.randn(s) for f, s in shapes.items()}, observable=["word"])


def score(layer, scores, tags):
    """Of a sentence's tags, by hand; what precedes the first is summed over."""
    start, move = layer.factors["f0"], layer.factors["f1"]
    total = (start + move[:, tags[0]]).logsumexp(0) + scores[0, tags[0]]
    for t in range(1, len(tags)):
        total = total + move[tags[t - 1], tags[t]] + scores[t, tags[t]]
    return total


def test_documentation():
    torch.set_default_dtype(torch.float32)
    found = doctest.testmod(plated.torch.layer)
    assert found.failed == 0 and found.attempted > 4


def test_user_program_passes_mypy(tmp_path):
    pytest.importorskip("mypy")
    sample = pathlib.Path(__file__).with_name("typed_torch.py")
    arguments = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(sample)]
    found = subprocess.run(arguments, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
    subprocess.run([sys.executable, str(sample)], check=True)


def test_crf_sums_over_sequences_of_tags():
    layer, scores = crf(), torch.randn(2, 4, TAGS)
    sequences = list(itertools.product(range(TAGS), repeat=4))
    by_hand = torch.stack([torch.stack([score(layer, x, tags) for tags in sequences]) for x in scores])
    torch.testing.assert_close(layer(scores), by_hand.logsumexp(1))
    tags = torch.tensor([sequences[5], sequences[50]])
    torch.testing.assert_close(layer(scores, evidence={"b": tags}), torch.stack([by_hand[0, 5], by_hand[1, 50]]))
    posterior = by_hand.softmax(1)
    for t, tag in itertools.product(range(4), range(TAGS)):
        holds = torch.tensor([sequence[t] == tag for sequence in sequences])
        torch.testing.assert_close(layer.marginals(scores)["b"][:, t, tag], posterior[:, holds].sum(1).detach())
    assert layer.map(f2=scores).assignment["b"].shape == (2, 4)
    shorter = layer(scores, lengths={"t": [4, 2]})
    torch.testing.assert_close(shorter[1], layer(scores[1:, :2])[0])


def test_crf_learns():
    layer, scores = crf(), torch.nn.Parameter(torch.zeros(4, 6, TAGS))
    tags = torch.randint(TAGS, (4, 6))
    optimizer = torch.optim.Adam([*layer.parameters(), scores], lr=0.2)
    for _ in range(60):
        optimizer.zero_grad()
        loss = (layer(scores) - layer(scores, evidence={"b": tags})).mean()
        loss.backward()
        optimizer.step()
    assert loss < 0.1
    assert torch.equal(layer.map(scores).assignment["b"], tags)


def test_hmm_is_normalised_and_learns():
    layer, words = hmm(), torch.arange(12).reshape(2, 6) % 5
    every = torch.cartesian_prod(torch.arange(5), torch.arange(5))
    likelihood = layer(evidence={"word": every}, sizes={"n": 25, "t": 2})
    torch.testing.assert_close(likelihood.exp().sum(), torch.tensor(1.0))
    options = {"evidence": {"word": words}, "sizes": {"n": 2, "t": 6}}
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.2)
    losses = []
    for _ in range(40):
        optimizer.zero_grad()
        loss = -layer(**options).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] - 5
    assert layer.marginals(**options)["state"].shape == (2, 6, TAGS)


def test_samples_follow_the_generator_of_torch():
    layer, scores = crf(), torch.randn(1, 2, TAGS)
    torch.manual_seed(5)
    first = layer.sample(scores, n=4000)["b"]
    torch.manual_seed(5)
    assert torch.equal(first, layer.sample(scores, n=4000)["b"])
    assert not torch.equal(first, layer.sample(scores, n=4000)["b"])
    shares = torch.nn.functional.one_hot(first, TAGS).double().mean(0)
    torch.testing.assert_close(shares, layer.marginals(scores)["b"], atol=0.05, rtol=0)


def test_distributions_that_are_named():
    plan = plated.compile("a,ab->", (2,), (2, 3))
    layer = plated.torch.Layer(plan, {"f0": torch.randn(2), "f1": torch.randn(2, 3)}, distributions={"f1": "b", "f0": "a"})
    torch.testing.assert_close(layer(), torch.tensor(0.0), atol=1e-12, rtol=0)
    with pytest.raises(plated.UnknownNameError, match="'f0' has no 'b'"):
        plated.torch.Layer(plan, {}, distributions={"f0": "b"})
    with pytest.raises(plated.UnknownNameError, match="no factor 'f9'"):
        plated.torch.Layer(plan, {"f9": torch.randn(2)})


def test_a_model_gives_the_factors_that_are_no_parameters():
    model = plated.read_model(MODELS / "sprinkler.bif")
    name = list(model.factors)[-1]
    table = torch.tensor(model.in_space("log").factors[name]).clamp(min=-30)
    layer = plated.torch.Layer(model, {name: table}, observable=["rain"])
    assert [key for key, _ in layer.named_parameters()] == [f"factors.{name}"]
    expected = float(model.log_partition(evidence={"rain": 1}))
    torch.testing.assert_close(layer(evidence={"rain": 1}).item(), expected, atol=1e-9, rtol=0)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda layer: pickle.loads(pickle.dumps(layer))])
def test_copies_answer_alike(copied):
    scores = torch.randn(2, 4, TAGS)
    for layer, options in [(crf(), {"f2": scores}), (hmm(), {"sizes": {"n": 2, "t": 4}})]:
        other = copied(layer)
        assert torch.equal(other(**options), layer(**options))
        assert layer.state_dict().keys() == other.state_dict().keys()


def test_state_dict_and_compile():
    layer, other, scores = crf(), crf(), torch.randn(2, 4, TAGS)
    other.load_state_dict(layer.state_dict())
    assert torch.equal(other(scores), layer(scores))
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(scores), layer(scores))
    compiled(scores).sum().backward()
    assert all(parameter.grad is not None for parameter in layer.parameters())


def test_operands_that_are_missing():
    layer = crf()
    with pytest.raises(plated.OperandCountError, match="2 tensors are given, and 1 factors are no parameters: f2"):
        layer(torch.zeros(1, 1, TAGS), torch.zeros(1, 1, TAGS))
    with pytest.raises(plated.OperandCountError, match="'f2' has no operand"):
        layer()


def test_evidence_by_names_of_states():
    layer = hmm()
    named = plated.torch.Layer(layer.plan, dict(layer.factors.items()), states={"word": ["a", "b", "c", "d", "e"]})
    numbers = torch.tensor([[0, 3, 1], [4, 4, 2]])
    words = [["a", "d", "b"], ["e", "e", "c"]]
    torch.testing.assert_close(named(evidence={"word": words}), layer(evidence={"word": numbers}))  # sizes from evidence
    torch.testing.assert_close(named(evidence={"word": [[0, "d", None], ["e", 4, 2]]}),
                               layer(evidence={"word": torch.tensor([[0, 3, -1], [4, 4, 2]])}))  # fmt: skip
    with pytest.raises(plated.UnknownNameError, match="'word' has no state 'f': its states are a, b, c, d, e"):
        named(evidence={"word": [["f"]]})
    with pytest.raises(plated.UnknownNameError, match="states of 'word' have no names, and 'a' is given"):
        layer(evidence={"word": [["a"]]})


def test_models_name_the_states_of_a_layers_evidence():
    model = plated.read_model(MODELS / "sprinkler.bif")
    (wet,) = model.labels  # the graph's name of "wet grass"
    layer = plated.torch.Layer(model, {}, observable=[wet])
    expected = model.log_partition(evidence={"wet grass": "yes"})
    torch.testing.assert_close(layer(evidence={"wet grass": "yes"}), torch.tensor(expected))
