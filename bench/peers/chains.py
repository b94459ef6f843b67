"""Runs bench_chain and every peer at each size, in turn, and keeps what is finished.

    chains.py BENCH_CHAIN REPORT.json [--quick] [--fresh]
"""

import argparse
import importlib.metadata
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PEERS = ("hmmlearn", "dynamax", "torch")
PEER_SECONDS = 1200  # all variants of one at one size, with its imports: a guard against one that hangs


def points(quick):
    states, lengths = ((2, 16), (100, 10_000)) if quick else ((2, 16, 64, 256), (100, 10_000, 1_000_000))
    return [(k, t, n) for n in (1, 64) for k in states for t in lengths]


def measure_plated(program, point, quick):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "chain.json")
        sizes = [text for name, size in zip(("--states", "--lengths", "--sequences"), point)
                 for text in (name, str(size))]  # fmt: skip
        command = [program, "--only", "points", "--threads", "1", *sizes, "--json", report, *["--quick"] * quick]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return json.loads(report.read_text(encoding="utf-8"))


def measure_peer(peer, point, log_total, quick):
    command = [sys.executable, "-B", HERE / "worker.py", peer, *map(str, point), repr(log_total), "2" if quick else "5"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=PEER_SECONDS)
    except subprocess.TimeoutExpired:
        return {peer: {"failed": f"took more than {PEER_SECONDS} s"}}
    if run.returncode != 0:
        return {peer: {"failed": (run.stderr.strip().splitlines() or [f"exit code {run.returncode}"])[-1]}}
    return json.loads(run.stdout.splitlines()[-1])


def shown(figures):
    """A line of progress for what a peer has measured at a size."""
    parts = []
    for name, questions in figures.items():
        if "failed" in questions:
            parts.append(f"{name} failed: {questions['failed']}")
            continue
        for question, figure in questions.items():
            parts.append(f"{name} {question} {figure['ns']:.0f} ns" if "ns" in figure
                         else f"{name} {question} skipped, {figure['skipped']}")  # fmt: skip
    return "; ".join(parts)


def measure_point(program, point, quick):
    """All figures of one size; raises where Plated fails, and notes where a peer does."""
    report = measure_plated(program, point, quick)
    row = report["points"][0]
    if "left_out" in row:
        print(f"    left out: {row['left_out']}", flush=True)
        return report, row
    print("    Plated " + ", ".join(f"{question} {row[question]['plated_ns']:.0f} ns"
                                    for question in ("value", "gradient") if question in row), flush=True)  # fmt: skip
    row["peers"] = {}
    for peer in PEERS:
        figures = measure_peer(peer, point, row["value"]["log_total"], quick)
        row["peers"].update(figures)
        print(f"    {shown(figures)}", flush=True)
    return report, row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    options = parser.parse_args()
    document = {"benchmark": "chain_peers", "quick": options.quick, "points": []}
    if options.report.exists() and not options.fresh:
        document = json.loads(options.report.read_text(encoding="utf-8"))
    document["versions"] = {name: importlib.metadata.version(name)
                            for name in ("hmmlearn", "dynamax", "jax", "torch", "numpy")}  # fmt: skip
    finished = {(row["states"], row["length"], row["sequences"]) for row in document["points"]}
    wanted = points(options.quick)
    for number, point in enumerate(wanted, 1):
        states, length, sequences = point
        kept = ", kept" if point in finished else ""
        print(f"{number}/{len(wanted)}: {states} states, length {length}, {sequences} sequences{kept}", flush=True)
        if kept:
            continue
        report, row = measure_point(options.program, point, options.quick)
        document.setdefault("machine", report["machine"])
        document["points"].append(row)
        part = options.report.with_suffix(".part")
        part.write_text(json.dumps(document, indent=1), encoding="utf-8")
        part.replace(options.report)


if __name__ == "__main__":
    main()
