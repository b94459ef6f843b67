"""Runs Plated and every peer on the paper's model at each size, in turn, and keeps what is finished.

    paper_model.py REPORT.json MACHINE.json [--quick] [--fresh]
"""

import argparse
import importlib.metadata
import json
import pathlib
import subprocess
import sys

from tree import DOMAIN

HERE = pathlib.Path(__file__).resolve().parent
PEERS = ("plated", "pyro", "funsor", "torch", "jax", "opt_einsum")
PEER_SECONDS = 900  # all operations of one at one size, with its imports and compilations: a guard against one that hangs
LIBRARIES = ("pyro-ppl", "funsor", "torch", "jax", "opt_einsum", "numpy")


def measure(peer, size, quick):
    command = [sys.executable, "-B", HERE / "tree_worker.py", peer, str(size), "0.2" if quick else "2"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=PEER_SECONDS)
    except subprocess.TimeoutExpired:
        return {peer: {"failed": f"took more than {PEER_SECONDS} s"}}
    if run.returncode != 0:
        return {peer: {"failed": (run.stderr.strip().splitlines() or [f"exit code {run.returncode}"])[-1]}}
    return json.loads(run.stdout.splitlines()[-1])


def shown(figures):
    """A line of progress for what a library has measured at a size."""
    parts = []
    for name, operations in figures.items():
        if "failed" in operations:
            parts.append(f"{name} failed: {operations['failed']}")
            continue
        for operation, figure in operations.items():
            parts.append(f"{name} {operation} {figure['seconds'] * 1e3:.3f} ms" if "seconds" in figure
                         else f"{name} {operation} failed, {figure['failed']}")  # fmt: skip
    return "; ".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("machine", type=pathlib.Path, help="a report of any benchmark, which says where it was made")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    options = parser.parse_args()
    document = {"benchmark": "paper_model_peers", "quick": options.quick, "domain": DOMAIN, "dtype": "float32", "points": []}
    if options.report.exists() and not options.fresh:
        document = json.loads(options.report.read_text(encoding="utf-8"))
    document["machine"] = json.loads(options.machine.read_text(encoding="utf-8"))["machine"]
    document["versions"] = {name: importlib.metadata.version(name) for name in LIBRARIES}
    finished = {row["size"] for row in document["points"]}
    sizes = (1, 8) if options.quick else (1, 2, 4, 8, 16, 32, 64, 128)
    for number, size in enumerate(sizes, 1):
        kept = ", kept" if size in finished else ""
        print(f"{number}/{len(sizes)}: I = J = {size}{kept}", flush=True)
        if kept:
            continue
        row = {"size": size, "figures": {}}
        for peer in PEERS:
            figures = measure(peer, size, options.quick)
            row["figures"].update(figures)
            print(f"    {shown(figures)}", flush=True)
        document["points"].append(row)
        part = options.report.with_suffix(".part")
        part.write_text(json.dumps(document, indent=1), encoding="utf-8")
        part.replace(options.report)


if __name__ == "__main__":
    main()
