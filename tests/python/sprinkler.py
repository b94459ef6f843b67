"""The model of examples/models/sprinkler.bif by hand, and answers by enumeration in plain NumPy."""

import itertools

import numpy as np

STATES = {"cloudy": ("yes", "no"), "sprinkler": ("on", "off"), "rain": ("yes", "no"), "wet": ("yes", "no")}
TABLES = {
    "cloudy": (("cloudy",), np.array([0.5, 0.5])),
    "sprinkler": (("cloudy", "sprinkler"), np.array([[0.1, 0.9], [0.5, 0.5]])),
    "rain": (("cloudy", "rain"), np.array([[0.8, 0.2], [0.2, 0.8]])),
    "wet": (("sprinkler", "rain", "wet"), np.array([[[0.99, 0.01], [0.9, 0.1]], [[0.9, 0.1], [0.0, 1.0]]])),
}


def joint(evidence):
    """The weight of every assignment that agrees with the evidence, axes in the order of STATES."""
    table = np.ones([len(names) for names in STATES.values()])
    for index in itertools.product(*(range(size) for size in table.shape)):
        at = dict(zip(STATES, index))
        for dims, numbers in TABLES.values():
            table[index] *= numbers[tuple(at[d] for d in dims)]
        for variable, state in evidence.items():
            table[index] *= at[variable] == state
    return table


def posterior(query, evidence):
    """P(query | evidence), axes in the order of the query."""
    names = list(STATES)
    table = joint(evidence)
    kept = table.sum(axis=tuple(k for k, name in enumerate(names) if name not in query)) / table.sum()
    order = [name for name in names if name in query]
    return np.transpose(kept, [order.index(name) for name in query])
