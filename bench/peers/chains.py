"""Runs bench_chain and every peer at each size, in turn, and saves each result as it finishes.

    chains.py BENCH_CHAIN REPORT.json [--quick] [--fresh]
"""

import importlib.metadata
import json
import pathlib
import subprocess
import tempfile

import study

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
        arguments = [*point, repr(row["value"]["log_total"]), "2" if quick else "5"]
        figures = study.ask("worker.py", peer, arguments, PEER_SECONDS)
        row["peers"].update(figures)
        print("    " + study.shown(figures, "ns", lambda ns: f"{ns:.0f} ns"), flush=True)
    return report, row


def main():
    options = study.options(__doc__, "program", "report")
    new = {"benchmark": "chain_peers", "quick": options.quick, "points": []}
    document = study.begun(options.report, new, options.fresh)
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
        study.keep(options.report, document)


if __name__ == "__main__":
    main()
