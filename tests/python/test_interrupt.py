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
import numpy as np, plated, time
operands = [np.zeros((1600, 1600)) for _ in range(3)]
plan = plated.compile("yz,yw,zw->", *operands)
print("ready", flush=True)
begin = time.monotonic()
try:
    while True:
        plan(*operands, threads=THREADS)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c(threads):
    program = PROGRAM.replace("THREADS", str(threads))
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1)
        begin = time.monotonic()
        os.kill(process.pid, signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert time.monotonic() - begin < 10
        assert process.wait(timeout=60) == 0


def test_ctrl_c_stops_inside_a_step():
    """The handler raises in the middle of one call, which then does not finish."""
    equation, operands = large()
    plated.einsum("x->", np.zeros(2))
    begin = time.monotonic()
    plated.einsum(equation, *operands, threads=1)
    whole = time.monotonic() - begin
    if whole < 0.4:
        pytest.skip(f"the run takes {whole:.2f} s: too short to interrupt")
    threading.Timer(whole / 8, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        plated.einsum(equation, *operands, threads=1)
    assert time.monotonic() - begin < 0.7 * whole


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
