"""The same workloads by plated.fit: plain EM from the same start, one thread."""

import time

import numpy
import plated


def learnt(model, data, iterations, **more):
    """ln L of the start and after each M-step, and the processor's seconds of all of them."""
    begin = time.process_time()
    fit = plated.fit(model, data, iterations=iterations, tolerance=0, accelerate=False, threads=1, **more)
    seconds = time.process_time() - begin
    return {"history": fit.history, "seconds": seconds}


def with_tables(graph, tables):
    return plated.Model(graph, tables, space="real")


def dawid_skene(model, iterations):
    annotators, classes = model["confusion"].shape[:2]
    graph = plated.FactorGraph()
    graph.plate("item", 1)
    graph.plate("annotator", annotators)
    graph.variable("truth", classes, plates=["item"])
    graph.variable("vote", classes, plates=["item", "annotator"])
    graph.factor("prior", ["truth"], tied=["item"], distribution_of="truth")
    graph.factor("confusion", ["annotator", "truth", "vote"], tied=["item"], distribution_of="vote")
    votes = plated.Long(model["vote"], item=model["item"], annotator=model["annotator"])
    return learnt(with_tables(graph, {"prior": model["prior"], "confusion": model["confusion"]}), {"vote": votes}, iterations)


def chain(states, length):
    """States z_0 … z_length−1: the sources of a chain's slices, and the target of its last one."""
    graph = plated.FactorGraph()
    graph.plate("n", 1)
    graph.chain("t", length - 1)
    graph.variable("before", states, plates=["n", "t"])
    graph.variable("now", states, plates=["n", "t"])
    graph.link("t", "before", "now")
    graph.factor("start", ["^before"], tied=["n"], distribution_of="^before")
    graph.factor("move", ["before", "now"], tied=["n", "t"], distribution_of="now")
    return graph


def hmm_long(model, iterations):
    states, symbols = model["emit"].shape
    graph = chain(states, model["seen"].shape[1])
    graph.variable("seen", symbols, plates=["n", "t"])
    graph.variable("last", symbols, plates=["n"])
    graph.factor("emit", ["before", "seen"], tied=["n", "t"], distribution_of="seen")
    graph.factor("emit last", ["now$", "last"], tied=["n"], distribution_of="last")
    tables = {"start": model["start"], "move": model["move"], "emit": model["emit"], "emit last": model["emit"]}
    learner = plated.Model(graph, tables, space="real", same_as={"emit last": "emit"})
    data = {"seen": model["seen"][:, :-1], "last": model["seen"][:, -1]}
    return learnt(learner, data, iterations)


hmm_short = hmm_long


def latent_classes(model, iterations):
    items = model["seen"].shape[1]
    graph = plated.FactorGraph()
    graph.plate("row", 1)
    graph.plate("item", items)
    graph.variable("kind", len(model["weights"]), plates=["row"])
    graph.variable("answer", 2, plates=["row", "item"])
    graph.factor("kinds", ["kind"], tied=["row"], distribution_of="kind")
    graph.factor("answers", ["item", "kind", "answer"], tied=["row"], distribution_of="answer")
    answers = numpy.stack([1 - model["chance"].T, model["chance"].T], axis=2)
    return learnt(with_tables(graph, {"kinds": model["weights"], "answers": answers}), {"answer": model["seen"]}, iterations)


def asia(model, iterations):
    from learning_models import ASIA

    graph = plated.FactorGraph()
    graph.plate("row", 1)
    for name in ASIA:
        graph.variable(name, 2, plates=["row"])
    tables = {}
    for name, (parents, _) in ASIA.items():
        graph.factor(f"p {name}", [*parents, name], tied=["row"], distribution_of=name)
        tables[f"p {name}"] = model["start"][name].reshape([2] * (len(parents) + 1))
    return learnt(with_tables(graph, tables), model["seen"], iterations)


def chain_of_numbers(model, family, parameters, iterations):
    """States before and after each step: the state before the first is one more than others have, of 100,000."""
    length = len(model["seen"])
    graph = chain(len(model["start"]), length + 1)
    graph.factor("emit", ["now"], tied=["n", "t"])
    learner = plated.Model(graph, {"start": model["start"], "move": model["move"]}, space="real",
                           likelihoods={"emit": {"family": family, **parameters}})  # fmt: skip
    return learnt(learner, {"emit": model["seen"][None].astype(float)}, iterations)


def gaussian_hmm(model, iterations):
    return chain_of_numbers(model, "normal", {"mean": model["mean"], "deviation": model["deviation"]}, iterations)


def poisson_hmm(model, iterations):
    return chain_of_numbers(model, "poisson", {"rate": model["rate"]}, iterations)


def gaussian_mixture(model, iterations):
    graph = plated.FactorGraph()
    graph.plate("point", 1)
    graph.variable("kind", len(model["weights"]), plates=["point"])
    graph.factor("kinds", ["kind"], tied=["point"], distribution_of="kind")
    graph.factor("points", ["kind"], tied=["point"])
    learner = plated.Model(graph, {"kinds": model["weights"]}, space="real",
                           likelihoods={"points": {"family": "normal", "mean": model["mean"], "deviation": model["deviation"]}})  # fmt: skip
    return learnt(learner, {"points": model["seen"]}, iterations)
