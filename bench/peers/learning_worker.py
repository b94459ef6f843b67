"""Fits one workload by one library, on one thread, once for each line that it reads, and prints what it found as JSON.

    learning_worker.py LIBRARY WORKLOAD ITERATIONS [quick]

learning.py starts one for each library, and lets them take turns.
"""

import one_thread  # noqa: F401  (before any library that asks how many threads there are)

import json
import os
import sys
import warnings

import learning_models
import learning_peers


def main():
    library, workload, iterations = sys.argv[1], sys.argv[2], int(sys.argv[3])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    warnings.simplefilter("ignore")
    model = learning_models.made(workload, "quick" in sys.argv[4:])
    if library == "plated":
        import learning_plated

        call = getattr(learning_plated, workload)
    else:
        call = learning_peers.peers_of(workload)[library]
    for _ in sys.stdin:
        print(json.dumps(call(model, iterations)), file=answers, flush=True)


if __name__ == "__main__":
    main()
