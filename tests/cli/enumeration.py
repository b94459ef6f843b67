"""Answers by enumeration of all assignments of a small UAI model: slow and simple."""

import itertools
import math


class Enumeration:
    """Every assignment of a UAI model's text with its weight."""

    def __init__(self, text, evidence=None):
        words = iter(word for line in text.splitlines() if not line.startswith("c ") for word in line.split())
        next(words)
        self.sizes = [int(next(words)) for _ in range(int(next(words)))]
        scopes = [[int(next(words)) for _ in range(int(next(words)))] for _ in range(int(next(words)))]
        tables = [[float(next(words)) for _ in range(int(next(words)))] for _ in scopes]
        self.weights = {}
        for states in itertools.product(*map(range, self.sizes)):
            if any(states[v] != s for v, s in (evidence or {}).items()):
                continue
            weight = 1.0
            for scope, table in zip(scopes, tables):
                at = 0
                for v in scope:
                    at = at * self.sizes[v] + states[v]
                weight *= table[at]
            self.weights[states] = weight

    def ln_z(self):
        return math.log(math.fsum(self.weights.values()))

    def marginals(self):
        total = math.fsum(self.weights.values())
        return [
            [math.fsum(w for states, w in self.weights.items() if states[v] == s) / total for s in range(size)]
            for v, size in enumerate(self.sizes)
        ]

    def ln_best(self):
        return math.log(max(self.weights.values()))

    def entropy(self):
        total = math.fsum(self.weights.values())
        return -math.fsum(w / total * math.log(w / total) for w in self.weights.values() if w > 0)
