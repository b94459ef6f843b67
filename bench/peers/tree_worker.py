"""Measures one library on the paper's model at one size, on one thread, and prints its figures as JSON.

    tree_worker.py plated|pyro|funsor|torch|jax|opt_einsum SIZE SECONDS
"""

import one_thread  # noqa: F401  (before any library that asks how many threads there are)

import json
import sys
import time
import warnings

from tree_model import Tree


def measured(make, operation, tree, reference, seconds):
    """Best time of a call, after a first whose answer is checked; or why there is none."""
    try:
        begin = time.perf_counter()
        call = make(tree)
        error = tree.check(operation, call(), reference)
        first = time.perf_counter() - begin
        call()
    except Exception as problem:  # whatever a peer raises is its result
        return {"failed": f"{type(problem).__name__}: {problem}".splitlines()[0][:200]}
    best, turns, begin = float("inf"), 0, time.perf_counter()
    while turns < 3 or time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        call()
        best, turns = min(best, time.perf_counter() - start), turns + 1
    return {"seconds": best, "first_seconds": first, "turns": turns, "error": error}


def main():
    peer, size, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    warnings.filterwarnings("ignore")
    # Products of many plates leave float32 in real space: there, only what every peer can represent is asked.
    trees = {space: Tree(size, space) for space in ("log", "real")}
    references = {space: tree.reference() for space, tree in trees.items()}
    figures = {}
    for name, operations in __import__(f"tree_{peer}").VARIANTS.items():
        figures[name] = {}
        for operation, make in operations.items():
            space = "real" if operation == "real" else "log"
            figures[name][operation] = measured(make, operation, trees[space], references[space], seconds)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
