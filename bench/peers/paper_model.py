"""Runs Plated and every peer on the paper's model at each size, in turn, and saves each result.

    paper_model.py REPORT.json MACHINE.json [--quick] [--fresh]
"""

import importlib.metadata
import json

import study
from tree_model import DOMAIN

PEERS = ("plated", "pyro", "funsor", "torch", "jax", "opt_einsum")
PEER_SECONDS = 900  # all operations at one size, with imports and compilations: a guard against one that hangs
LIBRARIES = ("pyro-ppl", "funsor", "torch", "jax", "opt_einsum", "numpy")


def main():
    # The second file is a report of any benchmark, which says where it was made.
    options = study.options(__doc__, "report", "machine")
    new = {"benchmark": "paper_model_peers", "quick": options.quick, "domain": DOMAIN, "dtype": "float32", "points": []}
    document = study.begun(options.report, new, options.fresh)
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
            figures = study.ask("tree_worker.py", peer, [size, "0.2" if options.quick else "2"], PEER_SECONDS)
            row["figures"].update(figures)
            print("    " + study.shown(figures, "seconds", lambda s: f"{s * 1e3:.3f} ms"), flush=True)
        document["points"].append(row)
        study.keep(options.report, document)


if __name__ == "__main__":
    main()
