"""The overhead of a call: bounds far above the measured times, for noisy machines."""

import time

import numpy as np
import plated


def microseconds(call, calls=2000, rounds=15):
    """The processor time of one call, best of several rounds."""
    best = float("inf")
    for _ in range(rounds):
        begin = time.thread_time()
        for _ in range(calls):
            call()
        best = min(best, (time.thread_time() - begin) / calls)
    return best * 1e6


def test_calls_on_tiny_arrays():
    f, g = np.zeros(2), np.zeros((2, 2))
    plan = plated.compile("x,xy->y", f, g)
    times = {
        "einsum": microseconds(lambda: plated.einsum("x,xy->y", f, g)),
        "plan": microseconds(lambda: plan(f, g)),
        "numpy": microseconds(lambda: np.einsum("x,xy->y", f, g)),
    }
    print(", ".join(f"{name} {value:.2f} µs" for name, value in times.items()))
    assert times["einsum"] < 30, times
    assert times["plan"] < 15, times
