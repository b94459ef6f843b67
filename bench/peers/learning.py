"""Learns the same models by EM with Plated and with other libraries, from the same start, one thread each.

    learning.py REPORT.json MACHINE.json [--quick] [--fresh]

Each library does the same number of iterations. Its ln L is compared with Plated's after as many M-steps before its time
counts; what disagrees, cannot be imported or takes longer than ten minutes is said.
"""

import importlib.metadata
import json
import os

import learning_models
import learning_peers
import study

ITERATIONS = 10
SECONDS = 600
TOLERANCE = 1e-4  # relative, of ln L: several libraries count in float32
PACKAGES = ("hmmlearn", "dynamax", "pomegranate", "scikit-learn", "crowd-kit", "stepmix", "pgmpy", "pyagrum")


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def compared(figures, history):
    """The figures with whether ln L agrees with that of as many M-steps."""
    for figure in figures.values():
        if "fit" not in figure:
            continue
        fit = figure["fit"]
        want = history[min(fit["steps"], len(history) - 1)]
        fit["error"] = abs(fit["log_likelihood"] / want - 1)
        if not fit["error"] <= TOLERANCE:
            fit["disagrees"] = f"ln L {fit['log_likelihood']:.6g}, not {want:.6g}"
    return figures


def measure(workload, quick):
    turns = 1 if quick else 3
    arguments = [workload, ITERATIONS, turns, *["quick"] * quick]
    ours = study.ask("learning_worker.py", "plated", arguments, SECONDS)["plated"]
    title = learning_models.TITLES[workload].format(**learning_models.size(workload, quick))
    row = {"name": workload, "title": title, "iterations": ITERATIONS, "plated": ours, "peers": {}}
    if "failed" in ours:
        print(f"    PLATED FAILED: {ours['failed']}", flush=True)
        return row
    print(f"    Plated {ours['fit']['milliseconds']:.2f} ms an iteration, ln L {ours['fit']['history'][-1]:.6f}", flush=True)
    for library in learning_peers.peers_of(workload):
        figures = compared(study.ask("learning_worker.py", library, arguments, SECONDS), ours["fit"]["history"])
        row["peers"].update(figures)
        disagrees = figures[library].get("fit", {}).get("disagrees")
        print("    " + study.shown(figures, "milliseconds", lambda ms: f"{ms:.2f} ms") + (f", DISAGREES: {disagrees}" if disagrees else ""),
              flush=True)  # fmt: skip
    return row


def main():
    options = study.options(__doc__, "report", "machine")
    new = {"benchmark": "learning_peers", "quick": options.quick, "workloads": []}
    document = study.begun(options.report, new, options.fresh)
    document["machine"] = {**json.loads(options.machine.read_text(encoding="utf-8"))["machine"], "load": os.getloadavg()[0]}
    document["versions"] = {package: version(package) for package in PACKAGES}
    for package, found in document["versions"].items():
        if not found:
            print(f"NOT INSTALLED: {package}", flush=True)
    finished = {row["name"] for row in document["workloads"] if "fit" in row["plated"]}
    for number, workload in enumerate(learning_models.SIZES, 1):
        kept = ", kept" if workload in finished else ""
        print(f"{number}/{len(learning_models.SIZES)}: {workload}{kept}", flush=True)
        if kept:
            continue
        document["workloads"] = [row for row in document["workloads"] if row["name"] != workload] + [measure(workload, options.quick)]
        study.keep(options.report, document)


if __name__ == "__main__":
    main()
