"""Fits one workload by one library, on one thread, and prints what it found as JSON; learning.py starts it.

    learning_worker.py LIBRARY WORKLOAD ITERATIONS TURNS [quick]
"""

import one_thread  # noqa: F401  (before any library that asks how many threads there are)

import json
import sys
import warnings

import learning_models
import learning_peers

LONGEST = 60  # seconds, after which there is no further turn


def main():
    library, workload, iterations, turns = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    warnings.simplefilter("ignore")
    model = learning_models.made(workload, "quick" in sys.argv[5:])
    if library == "plated":
        import learning_plated

        call = getattr(learning_plated, workload)
    else:
        call = learning_peers.peers_of(workload)[library]
    best, spent = call(model, iterations), 0.0
    for _ in range(turns - 1):
        spent += best["seconds"]
        if spent + best["seconds"] > LONGEST:
            break
        found = call(model, iterations)
        best = min(best, found, key=lambda one: one["seconds"])
    print(json.dumps({library: {"fit": {**best, "milliseconds": 1e3 * best["seconds"] / iterations}}}))


if __name__ == "__main__":
    main()
