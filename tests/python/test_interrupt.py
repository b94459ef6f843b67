"""Long runs: other Python threads go on, Ctrl-C ends them, and progress is reported."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import plated
import pytest


def large():
    """A model whose single step takes a second or more."""
    return "xyz,xyw,xzw->", [np.zeros((1, 1600, 1600)) for _ in range(3)]


def test_other_threads_run_meanwhile():
    equation, operands = large()
    ticks, running = [], threading.Event()

    def tick():
        while not running.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    ticking = threading.Thread(target=tick)
    ticking.start()
    begin = time.monotonic()
    plated.einsum(equation, *operands, threads=1)
    end = time.monotonic()
    running.set()
    ticking.join()
    during = sum(begin < t < end for t in ticks)
    assert during > 0.2 * (end - begin) / 0.005 / 4, f"{during} ticks in {end - begin:.2f} s"


PROGRAM = """
import numpy as np, plated
{preparation}
print("ready", flush=True)
try:
    {call}
    print("done", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""

# 10^15 slices in one step, and a step of a chain after the other: no such run ever ends.
ENDLESS = """
own = np.zeros((100_000, 2))
n = len(own)
operands = [np.broadcast_to(own.reshape(s), (n, n, n, 2)) for s in ((n, 1, 1, 2), (1, n, 1, 2), (1, 1, n, 2))]
"""
CHAIN = """
operands = [np.zeros(4), np.zeros((4, 4)), np.broadcast_to(np.zeros(4), (10**12, 4))]
"""
# Each sample weighs 3,000 states, given one of 3,000.
SAMPLES = """
operands = [np.zeros((3000, 3000)), np.zeros((3000, 3000))]
plan = plated.compile("ab,bc->", *operands)
plan.sample(*operands, n=1)
"""
# Two thousand variables at random, and more trials than anybody waits for.
SEARCH = """
pairs = np.random.default_rng(0).integers(2000, size=(4000, 2))
terms = ", ".join(f"v{a} v{b}" for a, b in pairs if a != b)
operands = [(2, 2)] * (terms.count(",") + 1)
"""


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("preparation", "call"),
    [
        pytest.param(ENDLESS, 'plated.einsum("ijkx,ijkx,ijkx->", *operands, plates="ijk", threads=THREADS)', id="slices"),
        pytest.param(
            CHAIN,
            'plated.einsum("a, (t) a b, t b ->", *operands, chains={"t": ["a->b"]}, threads=THREADS)',
            id="chain",
        ),
        pytest.param(SAMPLES, "plan.sample(*operands, n=3_000_000, threads=THREADS)", id="sample"),
        pytest.param(SEARCH, 'plated.compile(terms + " ->", *operands, trials=10**7, questions=["value"], threads=THREADS)', id="compile"),
    ],
)
def test_ctrl_c(preparation, call, threads):
    program = PROGRAM.format(preparation=preparation, call=call.replace("THREADS", str(threads)))
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        begin = time.monotonic()
        os.kill(process.pid, signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert time.monotonic() - begin < 5
        assert process.wait(timeout=60) == 0


def test_progress():
    shares = []
    plated.einsum("xy,yz,zw->", np.zeros((3, 4)), np.zeros((4, 5)), np.zeros((5, 6)), progress=shares.append)
    assert shares == sorted(shares) and shares[-1] == pytest.approx(1.0)


def test_progress_that_raises_ends_the_run():
    def refuse(share):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        plated.einsum("xy,yz,zw->", np.zeros((3, 4)), np.zeros((4, 5)), np.zeros((5, 6)), progress=refuse)


def test_many_threads_ask_one_plan():
    plan = plated.compile("ixy,x->", (50, 4, 3), (4,), plates="i")
    random = np.random.default_rng(0)
    cases = [(random.normal(size=(50, 4, 3)), random.normal(size=4)) for _ in range(8)]
    expected = [plan(*case) for case in cases]
    failures = []

    def work(case, value):
        for _ in range(200):
            if plan(*case) != value:
                failures.append(value)

    workers = [threading.Thread(target=work, args=pair) for pair in zip(cases, expected)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures
