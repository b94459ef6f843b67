"""Runs opt_einsum and cotengra on UAI networks, and writes the table that compares their orders with ours.

    python peers.py run UAI_DIR results/peers.json          # 20 to 30 s per instance, on one core
    python peers.py table UAI_DIR results/peers.json ours.json   # Markdown; ours.json is what bench_orders prints

Every order is priced by the same rule: the sum over merges of the product of the sizes of both operands' dims.
"""

import json
import math
import sys
import time
from pathlib import Path

PEER_SECONDS = 10


def read_network(path):
    """Scopes and sizes of a UAI model after its evidence: observed and size-1 variables are gone, and so are the
    factors that they leave without any."""
    words = iter(path.read_text().split())
    next(words)
    size = [int(next(words)) for _ in range(int(next(words)))]
    scopes = [[int(next(words)) for _ in range(int(next(words)))] for _ in range(int(next(words)))]
    evidence = [int(w) for w in Path(f"{path}.evid").read_text().split()]
    gone = set(evidence[1::2]) | {v for v, s in enumerate(size) if s == 1}
    tensors = [sorted(set(scope) - gone) for scope in scopes]
    return [t for t in tensors if t], size


def log2_flops(tensors, size, path):
    """Price of a path in linear form: every step pops its operands and appends the result."""
    holders = {}
    for tensor in tensors:
        for dim in tensor:
            holders[dim] = holders.get(dim, 0) + 1
    live = [frozenset(t) for t in tensors]
    total = 0
    for step in path:
        operands = [live.pop(i) for i in sorted(step, reverse=True)]
        union = frozenset().union(*operands)
        if len(operands) > 1:
            total += math.prod(size[d] for d in union)
        for dim in union:
            holders[dim] += 1 - sum(dim in o for o in operands)
        live.append(frozenset(d for d in union if holders[d] > 1))
    # A path may end with tensors that share nothing: what is left is a product of scalars.
    assert all(not t for t in live), "the path leaves dims behind"
    return math.log2(total + max(0, len(live) - 1)) if total else 0.0


def run_opt_einsum(tensors, size):
    from opt_einsum.path_random import RandomGreedy

    optimizer = RandomGreedy(max_repeats=128, max_time=PEER_SECONDS, parallel=False)
    return optimizer([frozenset(t) for t in tensors], frozenset(), dict(enumerate(size)))


def run_cotengra(tensors, size, **options):
    import cotengra

    optimizer = cotengra.HyperOptimizer(
        methods=["greedy"], minimize="flops", max_time=PEER_SECONDS, max_repeats=10**6, parallel=False, **options
    )
    used = {d: size[d] for t in tensors for d in t}
    return optimizer.search([tuple(t) for t in tensors], (), used).get_path()


PEERS = {
    "opt_einsum": run_opt_einsum,
    "cotengra": run_cotengra,
    # Its greedy orders alone, without the subtree reconfiguration that its defaults add to each.
    "cotengra_plain": lambda tensors, size: run_cotengra(tensors, size, reconf_opts=None),
}


def run(directory, output):
    results = json.loads(output.read_text()) if output.exists() else {}
    for path in sorted(directory.glob("*.uai")):
        tensors, size = read_network(path)
        entry = results.setdefault(path.stem, {"tensors": len(tensors), "dims": len({d for t in tensors for d in t})})
        for name, peer in PEERS.items():
            if name in entry:
                continue
            start = time.perf_counter()
            order = peer(tensors, size)
            seconds = time.perf_counter() - start
            entry[name] = {"log2_flops": round(log2_flops(tensors, size, order), 4), "seconds": round(seconds, 2)}
            print(path.stem, name, entry[name], flush=True)
        output.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")


def min_fill_totals(directory):
    lines = [line.split("\t") for line in (directory / "reference.tsv").read_text().splitlines()]
    name, total = lines[0].index("name"), lines[0].index("log2_total")
    return {line[name]: float(line[total]) for line in lines[1:]}


def table(directory, peers_file, ours_file):
    peers = json.loads(peers_file.read_text())
    ours = {entry["name"]: entry for entry in json.loads(ours_file.read_text())["instances"]}
    totals = min_fill_totals(directory)
    print(
        "| instance | tensors | plated ms | plated | opt_einsum | cotengra | cotengra plain | min-fill | largest "
        "| plated, by cliques | min-fill, by cliques |"
    )
    print("|---" * 11 + "|")
    merges, cliques, mixed = [], [], []
    for name in sorted(ours, key=lambda n: ours[n]["log2_flops"]):
        mine, peer = ours[name], peers[name]
        flops, elimination = mine["log2_flops"], mine["log2_elimination"]
        others = [peer[p]["log2_flops"] for p in PEERS] + [mine["min_fill_log2_flops"]]
        # The totals in reference.tsv have two decimals, so a tie may differ in the third.
        total = totals[name] + 0.005
        for misses, value, best in (
            (merges, flops, min(others)),
            (cliques, elimination, total),
            (mixed, flops, min(*others[:-1], total)),
        ):
            if value > best + 1e-3:
                misses.append(f"{name} (2^{value:.3f} against 2^{best:.3f})")
        cells = [f"{x:.2f}" for x in (flops, *others, mine["log2_largest"], elimination, totals[name])]
        print(f"| {name} | {mine['tensors']} | {mine['milliseconds']:.1f} | " + " | ".join(cells) + " |")
    for title, misses in (
        ("Priced by merges, against the best of all others", merges),
        ("Priced by cliques of the elimination order, against reference.tsv", cliques),
        ("Ours by merges, against the best of the peers by merges and of reference.tsv by cliques", mixed),
    ):
        print(f"\n{title}: at most the best on {len(ours) - len(misses)} of {len(ours)} instances.")
        for miss in misses:
            print(f"- miss: {miss}")


def main():
    command, directory, files = sys.argv[1], Path(sys.argv[2]), [Path(a) for a in sys.argv[3:]]
    {"run": run, "table": table}[command](directory, *files)


if __name__ == "__main__":
    main()
