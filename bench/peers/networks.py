"""Runs bench_networks and every peer on each network of the data folder, in turn, and saves each result.

    networks.py BENCH_NETWORKS DATA REPORT.json [--quick] [--fresh]

DATA holds `uai` and `bif`. All marginals, one thread each; a peer that takes more than 20 s with its imports is stopped.
"""

import importlib.metadata
import json
import pathlib
import subprocess
import tempfile

import study

PEERS = ("pyagrum", "pgmpy")
PEER_SECONDS = 20
QUICK = ("asia/1", "alarm/1", "grid4x4", "Promedus_24")


def measure_plated(program, folder, only=()):
    """All networks of a folder."""
    with tempfile.TemporaryDirectory() as temporary:
        report = pathlib.Path(temporary, "networks.json")
        names = ["--only", ",".join(only)] if only else []
        subprocess.run([program, folder, "--tasks", "mar", "--json", report, *names], check=True, stdout=subprocess.DEVNULL)
        return json.loads(report.read_text(encoding="utf-8"))


def instances(data):
    """Each network's name, file, and the number of its query."""
    found = []
    for path in sorted((data / "bif").glob("*.bif")):
        found += [(f"{path.stem}/{query}", path, [str(query)]) for query in range(3)]
    for path in sorted((data / "uai").glob("*.uai")):
        found.append((path.stem, path, []))
    return found


def main():
    options = study.options(__doc__, "program", "data", "report")
    new = {"benchmark": "network_peers", "quick": options.quick, "networks": []}
    document = study.begun(options.report, new, options.fresh)
    document["versions"] = {name: importlib.metadata.version(name) for name in PEERS}
    finished = {row["name"] for row in document["networks"]}
    wanted = [instance for instance in instances(options.data) if not options.quick or instance[0] in QUICK]
    for number, (name, path, query) in enumerate(wanted, 1):
        kept = ", kept" if name in finished else ""
        print(f"{number}/{len(wanted)}: {name}{kept}", flush=True)
        if kept:
            continue
        report = measure_plated(options.program, path.parent, [name])
        row = report["networks"][0]
        document.setdefault("machine", report["machine"])
        print(f"    Plated {row['mar'].get('milliseconds', float('nan')):.2f} ms", flush=True)
        row["peers"] = {}
        for peer in PEERS:
            figures = study.ask("network_worker.py", peer, [path, *query], PEER_SECONDS)
            row["peers"].update(figures)
            print("    " + study.shown(figures, "milliseconds", lambda ms: f"{ms:.2f} ms"), flush=True)
        document["networks"].append(row)
        study.keep(options.report, document)


if __name__ == "__main__":
    main()
