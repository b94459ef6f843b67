"""Times peers of Plated on the model of [TVE] Sec. 6.4; prints one line of JSON.

    runtime_peers.py part=operations size=64 [seconds=1] [threads=1]    Pyro's plated einsum and its adjoints (bench/peers)
    runtime_peers.py part=unrolled size=8 [domain=8] [seconds=1]        opt_einsum on PyTorch, plates unrolled into copies
    runtime_peers.py part=chain …                                       the same of a plate of chains
"""

import json
import pathlib
import resource
import subprocess
import sys
import time

import numpy

PEERS = pathlib.Path(__file__).resolve().parents[2] / "bench" / "peers"


def operations(words):
    """One process of bench/peers, which checks answers before it times them."""
    command = [sys.executable, "-B", str(PEERS / "tree_worker.py"), "pyro", words["size"], words.get("seconds", "1")]
    said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    figures = json.loads(said.splitlines()[-1])["Pyro"]
    return {"domain": 32} | {name: figures[name].get("seconds") for name in ("value", "gradient", "marginals", "sample", "map")}


def wave(shape, seed, domain):
    """The entries of runtime_plated.cpp's function of this name."""
    return ((1 + 0.2 * numpy.sin(1.7 * numpy.arange(numpy.prod(shape)) + seed)) / domain).reshape(shape)


class Copies(dict):
    """A number for each copy of a variable."""

    def __call__(self, *copy):
        return self.setdefault(copy, len(self))


def chains(size, domain):
    """Operands and their dims, a pair for each factor of the unrolled chains."""
    dim = Copies()
    starts, steps = wave((domain, size), 0, domain), wave((domain, domain, size, size), 1, domain)
    for i in range(size):
        yield starts[:, i], (dim(i, 0),)
        for t in range(size):
            yield steps[:, :, i, t], (dim(i, t), dim(i, t + 1))


def tree(size, domain):
    """The same of the unrolled tree."""
    dim = Copies()
    of_ab, of_bc = wave((domain, domain, size), 1, domain), wave((domain, domain, size, size), 2, domain)
    of_ad, of_de = wave((domain, domain, size), 3, domain), wave((domain, domain, size, size), 4, domain)
    yield wave((domain,), 0, domain), (dim("a"),)
    for i in range(size):
        yield of_ab[:, :, i], (dim("a"), dim("b", i))
        yield of_ad[:, :, i], (dim("a"), dim("d", i))
        for j in range(size):
            yield of_bc[:, :, i, j], (dim("b", i), dim("c", i, j))
            yield of_de[:, :, i, j], (dim("d", j), dim("e", i, j))


def unrolled(words, copies=tree):
    import opt_einsum
    import torch

    torch.set_num_threads(int(words.get("threads", 1)))
    size, domain, seconds = int(words["size"]), int(words.get("domain", 8)), float(words.get("seconds", 1))
    operands = [(torch.from_numpy(numpy.ascontiguousarray(table)), dims) for table, dims in copies(size, domain)]
    equation = ",".join("".join(map(opt_einsum.get_symbol, dims)) for _, dims in operands) + "->"
    tables = [table for table, _ in operands]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    expression = opt_einsum.contract_expression(equation, *(table.shape for table in tables), optimize="greedy")
    with torch.inference_mode():
        value = float(expression(*tables, backend="torch"))
        first = time.perf_counter() - begin
        memory = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
        best, begin, turns = float("inf"), time.perf_counter(), 0
        while turns < 3 or time.perf_counter() - begin < seconds:
            start = time.perf_counter()
            expression(*tables, backend="torch")
            best, turns = min(best, time.perf_counter() - start), turns + 1
    return {"domain": domain, "factors": len(tables), "log_z": float(numpy.log(value)), "plan": first - best, "run": best,
            "memory": memory}  # fmt: skip


def main():
    words = dict(word.split("=", 1) for word in sys.argv[1:])
    begin = time.perf_counter()
    figures = {"operations": operations, "unrolled": unrolled, "chain": lambda words: unrolled(words, chains)}[words["part"]](words)
    print(json.dumps(figures | {"threads": int(words.get("threads", 1)), "seconds": time.perf_counter() - begin}))


if __name__ == "__main__":
    main()
