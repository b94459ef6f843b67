"""Measures one peer at one size, on one thread, and prints its figures as JSON; chains.py starts it.

    worker.py hmmlearn|dynamax|torch STATES LENGTH SEQUENCES LOG_TOTAL TURNS
"""

import one_thread  # noqa: F401  (before any library that asks how many threads there are)

import json
import sys
import time

from model import Model

LONGEST_CALL = 60  # seconds
PILOT_LENGTH = 100
# Long sums of float32 logarithms, as some peers form them, lose digits.
TOLERANCE = 2e-3


def measured(make, model, pilot, log_total, turns):
    """Best time of a call, after one that is checked; or why there is none."""
    if model.length > PILOT_LENGTH:
        call = make(pilot)
        call()
        begin = time.perf_counter()
        call()
        expected = (time.perf_counter() - begin) * model.length / pilot.length
        if expected > LONGEST_CALL:
            return {"skipped": f"about {expected:.0f} s per call"}
    call = make(model)
    begin = time.perf_counter()
    found = float(call())
    first = time.perf_counter() - begin
    if not abs(found / log_total - 1) <= TOLERANCE:
        raise SystemExit(f"wrong log-likelihood: {found} for {log_total}")
    best, taken, spent = float("inf"), 0, 0.0
    # A call that took half of a minute counts as it is.
    if first > LONGEST_CALL / 2:
        best, taken = first, 1
    while taken < turns and spent + min(best, first) < LONGEST_CALL - first:
        begin = time.perf_counter()
        call()
        seconds = time.perf_counter() - begin
        best, taken, spent = min(best, seconds), taken + 1, spent + seconds
    result = {"seconds": best, "ns": best * 1e9 / model.steps, "turns": taken, "error": abs(found / log_total - 1)}
    if hasattr(call, "compile_seconds"):
        result["compile_seconds"] = call.compile_seconds
    return result


def main():
    peer, log_total, turns = sys.argv[1], float(sys.argv[5]), int(sys.argv[6])
    states, length, sequences = map(int, sys.argv[2:5])
    variants = __import__(f"{peer}_peer").VARIANTS
    model, pilot = Model(states, length, sequences), Model(states, PILOT_LENGTH, sequences)
    print(json.dumps({name: {question: measured(make, model, pilot, log_total, turns)
                             for question, make in questions.items()}
                      for name, questions in variants.items()}))  # fmt: skip


if __name__ == "__main__":
    main()
