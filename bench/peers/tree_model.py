"""The paper's runtime model, "a,abi,bcij,adj,deij->" with plates i and j, and the right answers in float64."""

import numpy

EQUATION, PLATES = "a,abi,bcij,adj,deij->", "ij"
DOMAIN = 32
TOLERANCE = {"value": 1e-5, "real": 1e-4, "gradient": 2e-3, "marginals": 2e-3, "map": 1e-5}


class Tree:
    """Factors in float32: log space uniform in ±3, real space near 1 / domain."""

    def __init__(self, size, space="log", domain=DOMAIN):
        self.size, self.space = size, space
        random = numpy.random.default_rng(7)
        self.shapes = [tuple(size if dim in PLATES else domain for dim in dims) for dims in EQUATION[:-2].split(",")]
        low, high = (-3, 3) if space == "log" else (0.8 / domain, 1.2 / domain)
        self.factors = [random.uniform(low, high, shape).astype(numpy.float32) for shape in self.shapes]

    @property
    def logs(self):
        return [numpy.asarray(factor, numpy.float64) if self.space == "log" else numpy.log(factor, dtype=numpy.float64)
                for factor in self.factors]  # fmt: skip

    def scores_of_a(self, total):
        """ln of what a's states weigh; `total(x, axis)` is a log-sum-exp or a maximum."""
        a, abi, bcij, adj, deij = self.logs
        left = total(abi + total(bcij, 1).sum(axis=2)[None], 1).sum(axis=1)
        right = total(adj + total(deij, 1).sum(axis=1)[None], 1).sum(axis=1)
        return a + left + right

    def reference(self):
        """ln Z, the posterior of a, and the highest score."""
        weights = self.scores_of_a(numpy.logaddexp.reduce)
        log_z = numpy.logaddexp.reduce(weights)
        return log_z, numpy.exp(weights - log_z), self.scores_of_a(numpy.max).max()

    def score(self, states):
        """ln of what an assignment weighs: a dict of integers shaped by plates."""
        i, j = numpy.arange(self.size)[:, None], numpy.arange(self.size)[None, :]
        a, b, c, d, e = (numpy.asarray(states[name]) for name in "abcde")
        fa, fabi, fbcij, fadj, fdeij = self.logs
        return (fa[a] + fabi[a, b, i[:, 0]].sum() + fbcij[b[:, None], c, i, j].sum() + fadj[a, d, j[0]].sum()
                + fdeij[d[None, :], e, i, j].sum())  # fmt: skip

    def check(self, operation, found, reference):
        """Raises ValueError unless an answer is right; returns its error."""
        log_z, posterior, best = reference
        if operation in ("value", "real"):
            right = log_z
            found = float(found)
            error = abs(found - right) / max(1.0, abs(right))
        elif operation in ("gradient", "marginals"):
            error = float(numpy.abs(numpy.asarray(found, numpy.float64) - posterior).max())
        elif operation == "map":
            error = abs(self.score(found) - best) / max(1.0, abs(best))
        else:
            error = 0.0 if numpy.isfinite(self.score(found)) else numpy.inf
        if not error <= TOLERANCE.get(operation, 0):
            raise ValueError(f"{operation} is off by {error:.2g}")
        return error
