"""Asks one library for all marginals of one network, on one thread, and prints its figures as JSON; networks.py starts it.

    network_worker.py pyagrum|pgmpy MODEL [QUERY]

QUERY is the number of a query in the .ref beside a BIF model; a UAI model is asked with the .evid beside it. The time is
of inference alone: loading is timed apart, imports are not timed. Answers are checked against the references.
"""

import one_thread  # noqa: F401  (before any library that asks how many threads there are)

import json
import pathlib
import sys
import time

TOLERANCE = 2e-6
ENOUGH = 0.5  # seconds, after which a call is not repeated


def uai_question(model):
    """Evidence and reference of a UAI model: states by number of variable."""
    evidence = {}
    file = model.with_name(model.name + ".evid")
    if file.exists():
        words = list(map(int, file.read_text().split()))
        evidence = dict(zip(words[1::2], words[2::2]))
    words = model.with_name(model.name + ".MAR").read_text().split()[1:]
    reference, at = {}, 1
    for variable in range(int(words[0])):
        states = int(words[at])
        reference[variable] = list(map(float, words[at + 1 : at + 1 + states]))
        at += 1 + states
    return evidence, reference


def bif_question(model, query):
    """The same of a BIF model, by names."""
    evidence, reference, here = {}, {}, False
    for line in model.with_suffix(".ref").read_text().splitlines():
        words = line.split()
        if words[0] == "QUERY":
            here = int(words[1]) == query
            if here:
                evidence = dict(word.rsplit("=", 1) for word in words[3:])
        elif here and words[0] == "MAR":
            reference[words[1]] = list(map(float, words[2:]))
    return evidence, reference


def agrum_markov(path):
    """A UAI model built factor by factor: pyAgrum's own reader takes the variables of a table for sorted."""
    import numpy
    import pyagrum

    words = iter(path.read_text().split())
    next(words)
    graph = pyagrum.MarkovRandomField()
    sizes = [0] * int(next(words))
    for v in range(len(sizes)):
        sizes[v] = int(next(words))
        graph.add(pyagrum.LabelizedVariable(str(v), "", sizes[v]))
    scopes = []
    for _ in range(int(next(words))):
        arity = int(next(words))
        scopes.append([int(next(words)) for _ in range(arity)])
    known = {}
    for scope in scopes:
        count = int(next(words))
        table = numpy.array([float(next(words)) for _ in range(count)]).reshape([sizes[v] for v in scope])
        order = sorted(scope)
        table = table.transpose([scope.index(v) for v in order])
        # Factors of the same variables are one there.
        known[tuple(order)] = known[tuple(order)] * table if tuple(order) in known else table
    for order, table in known.items():
        factor = graph.addFactor([str(v) for v in order])
        # Its arrays have the last variable first.
        factor[:] = numpy.ascontiguousarray(table.transpose([order.index(int(name)) for name in reversed(factor.names)]))
    return graph


def agrum(path, evidence):
    """pyAgrum: how to load, and how to answer."""
    import pyagrum

    pyagrum.setNumberOfThreads(1)
    markov = path.suffix == ".uai" and path.read_text().lstrip().startswith("MARKOV")

    def load():
        return agrum_markov(path) if markov else pyagrum.loadBN(str(path))

    def answer(graph):
        inference = (pyagrum.ShaferShenoyMRFInference if markov else pyagrum.LazyPropagation)(graph)
        inference.setNumberOfThreads(1)
        inference.setEvidence(evidence)
        inference.makeInference()
        names = {v: v if path.suffix == ".uai" else graph.variable(v).name() for v in graph.nodes()}
        return {name: inference.posterior(v).tolist() for v, name in names.items() if name not in evidence}

    return load, answer


def pgmpy(path, evidence):
    """pgmpy: one query per variable."""
    import logging

    from pgmpy.inference import VariableElimination
    from pgmpy.readwrite import BIFReader, UAIReader

    logging.disable(logging.CRITICAL)

    def load():
        return UAIReader(str(path)).get_model() if path.suffix == ".uai" else BIFReader(str(path)).get_model()

    def answer(graph):
        inference = VariableElimination(graph)
        spelled = {f"var_{v}" if path.suffix == ".uai" else v: state for v, state in evidence.items()}
        found = {}
        for variable in graph.nodes():
            if variable in spelled or not isinstance(variable, str):
                continue
            values = inference.query([variable], evidence=spelled, show_progress=False)
            name = int(variable.removeprefix("var_")) if path.suffix == ".uai" else variable
            states = values.state_names[variable]
            named = path.suffix == ".bif"
            order = map(states.index, graph.get_cpds(variable).state_names[variable]) if named else range(len(states))
            total = float(values.values.sum())  # of a Markov network it gives weights
            found[name] = [float(values.values[k]) / total for k in order]
        return found

    return load, answer


def main():
    peer, path = sys.argv[1], pathlib.Path(sys.argv[2])
    evidence, reference = bif_question(path, int(sys.argv[3])) if path.suffix == ".bif" else uai_question(path)
    load, answer = {"pyagrum": agrum, "pgmpy": pgmpy}[peer](path, evidence)
    begin = time.perf_counter()
    graph = load()
    loading = time.perf_counter() - begin
    best, spent, found = float("inf"), 0.0, {}
    while spent < ENOUGH:
        begin = time.perf_counter()
        found = answer(graph)
        seconds = time.perf_counter() - begin
        best, spent = min(best, seconds), spent + seconds
    error = max((abs(p - q) for name, values in found.items() for p, q in zip(values, reference[name])), default=0.0)
    if not error <= TOLERANCE:
        raise SystemExit(f"wrong marginals: off by {error}")
    print(json.dumps({peer: {"marginals": {"milliseconds": 1e3 * best, "load_milliseconds": 1e3 * loading, "error": error}}}))


if __name__ == "__main__":
    main()
