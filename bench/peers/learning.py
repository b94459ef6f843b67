"""Learns the same models by EM with Plated and with other libraries, from the same start, one thread each.

    learning.py REPORT.json MACHINE.json [--quick] [--fresh]

Each library does the same number of iterations. Its ln L is compared with Plated's after as many M-steps before its time
counts; then all of them take turns. A row is kept as soon as it is done. A run that goes on measures the rows that are
missing, that something failed in, or that are of another commit. Fails if a ln L disagrees, unless the library maximises
something else and says so.
"""

import importlib.metadata
import json
import os
import sys

import learning_models
import learning_peers
import study

ITERATIONS = 10
SECONDS = 600  # for one fit, imports included
ENOUGH = 30  # seconds of a library's fits, after which it has no further turn
TOLERANCE = 1e-4  # relative, of ln L: several libraries count in float32
PACKAGES = ("hmmlearn", "dynamax", "pomegranate", "scikit-learn", "crowd-kit", "stepmix", "pgmpy", "pyagrum")


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def checked(fit, history):
    """A fit that has Plated's ln L after as many M-steps; else what is wrong with it."""
    want = history[min(fit["steps"], len(history) - 1)]
    error = abs(fit["log_likelihood"] / want - 1)
    disagrees = None if error <= TOLERANCE else f"ln L {fit['log_likelihood']:.6g}, not {want:.6g}"
    if disagrees and not fit["other_objective"]:
        return {"failed": disagrees, "disagrees": True}
    return {**fit, "error": error, "disagrees": disagrees}


def in_turn(workload, libraries, quick):
    """The best fit of each library, Plated first."""
    workers = {library: study.Worker("learning_worker.py", [library, workload, ITERATIONS, *["quick"] * quick])
               for library in libraries}  # fmt: skip
    found, seconds = {}, dict.fromkeys(libraries, 0.0)
    for turn in range(2 if quick else 5):
        for library, worker in workers.items():
            best = found.get(library, {})
            if "failed" in best or (turn > 0 and seconds[library] + best["seconds"] > ENOUGH):
                continue
            fit = worker.ask(SECONDS)
            if "failed" not in fit and library != "plated" and turn == 0:
                fit = checked(fit, found["plated"]["history"]) if "failed" not in found["plated"] else fit
            seconds[library] += fit.get("seconds", 0)
            # The first turn is the one that was checked; all others start from the same numbers.
            if turn == 0 or "failed" in fit:
                found[library] = fit
            elif fit["seconds"] < best["seconds"]:
                found[library] = {**best, "seconds": fit["seconds"]}
    for worker in workers.values():
        worker.end()
    return {library: fit if "failed" in fit else {"fit": {**fit, "milliseconds": 1e3 * fit["seconds"] / ITERATIONS}}
            for library, fit in found.items()}  # fmt: skip


def measure(workload, quick):
    figures = in_turn(workload, ["plated", *learning_peers.peers_of(workload)], quick)
    print("    " + study.shown(figures, "milliseconds", lambda ms: f"{ms:.2f} ms"), flush=True)
    title = learning_models.TITLES[workload].format(**learning_models.size(workload, quick))
    return {"name": workload, "title": title, "iterations": ITERATIONS, "plated": figures.pop("plated"), "peers": figures}


def is_done(row, commit):
    return row["commit"] == commit and not any("failed" in figures for figures in (row["plated"], *row["peers"].values()))


def main():
    options = study.options(__doc__, "report", "machine")
    new = {"benchmark": "learning_peers", "quick": options.quick, "workloads": []}
    document = study.begun(options.report, new, options.fresh)
    machine = json.loads(options.machine.read_text(encoding="utf-8"))["machine"]
    document["machine"] = {**machine, "load": os.getloadavg()[0]}
    document["versions"] = {package: version(package) for package in PACKAGES}
    for package, found in document["versions"].items():
        if not found:
            print(f"NOT INSTALLED: {package}", flush=True)
    rows = {row["name"]: row for row in document["workloads"] if is_done(row, machine["commit"])}
    for number, workload in enumerate(learning_models.SIZES, 1):
        kept = ", kept" if workload in rows else ""
        print(f"{number}/{len(learning_models.SIZES)}: {workload}{kept}", flush=True)
        if not kept:
            rows[workload] = {"commit": machine["commit"], **measure(workload, options.quick)}
        document["workloads"] = [rows[name] for name in learning_models.SIZES if name in rows]
        study.keep(options.report, document)
    wrong = [f"{row['name']}: {name}: {figures['failed']}" for row in rows.values()
             for name, figures in row["peers"].items() if figures.get("disagrees")]  # fmt: skip
    if wrong:
        sys.exit("ln L disagrees:\n" + "\n".join(wrong))


if __name__ == "__main__":
    main()
