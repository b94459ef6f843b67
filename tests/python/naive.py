"""Plated einsum by unrolling, in plain NumPy: every assignment of every copy of every variable, one after the other."""

import itertools

import numpy as np

SUM = {
    "log": lambda weights: np.logaddexp.reduce(weights, initial=-np.inf),
    "real": np.sum,
    "max_plus": lambda weights: np.max(weights, initial=-np.inf),
    "min_plus": lambda weights: np.min(weights, initial=np.inf),
    "max_product": lambda weights: np.max(weights, initial=0.0),
    "boolean": lambda weights: float(np.any(weights)),
}
PRODUCT = {"log": np.add, "max_plus": np.add, "min_plus": np.add, "real": np.multiply, "max_product": np.multiply,
           "boolean": np.logical_and}  # fmt: skip
ONE = {"log": 0.0, "max_plus": 0.0, "min_plus": 0.0, "real": 1.0, "max_product": 1.0, "boolean": True}


class Unrolled:
    """All worlds of an equation with one letter per dim, on operands in float64."""

    def __init__(self, equation, operands, plates="", semiring="log"):
        terms, _, output = equation.partition("->")
        self.terms, self.output, self.operands = terms.split(","), output, operands
        self.plates, self.semiring = plates, semiring
        self.sizes = {}
        for term, operand in zip(self.terms, operands):
            self.sizes.update(zip(term, operand.shape))
        self.variables = sorted({d for term in self.terms for d in term if d not in plates})
        self.variable_plates = {v: self._plates_of(v) for v in self.variables}
        copies = [(v, index) for v in self.variables for index in self._slices(self.variable_plates[v])]
        self.column = {copy: k for k, copy in enumerate(copies)}
        domains = [range(self.sizes[v]) for v, _ in copies]
        worlds = list(itertools.product(*domains))
        self.worlds = np.array(worlds, dtype=int).reshape(len(worlds), len(copies))
        self.weights = self._weigh()

    def _plates_of(self, variable):
        """The plates of every factor and output that holds the variable, in the order in which the equation has them."""
        holders = [term for term in [*self.terms, self.output] if variable in term]
        plates = [d for d in self.sizes if d in self.plates]
        return "".join(p for p in plates if all(p in holder for holder in holders))

    def _slices(self, plates):
        return itertools.product(*(range(self.sizes[p]) for p in plates))

    def states(self, variable, at):
        """The variable's state in each world, in the slice that `at` (plate to index) lies in."""
        index = tuple(at[p] for p in self.variable_plates[variable])
        return self.worlds[:, self.column[variable, index]]

    def entries(self, factor):
        """For each slice of a factor, the index of the entry that each world reads."""
        term = self.terms[factor]
        plates = [d for d in term if d in self.plates]
        for index in self._slices(plates):
            at = dict(zip(plates, index))
            yield tuple(np.full(len(self.worlds), at[d]) if d in self.plates else self.states(d, at) for d in term)

    def _weigh(self):
        weights = np.full(len(self.worlds), ONE[self.semiring])
        for factor, operand in enumerate(self.operands):
            for entry in self.entries(factor):
                weights = PRODUCT[self.semiring](weights, operand[entry])
        return weights

    def value(self):
        """The output: for each slice and states, the total of the worlds that have those states there."""
        plates = [d for d in self.output if d in self.plates]
        variables = [d for d in self.output if d not in self.plates]
        value = np.empty([self.sizes[d] for d in self.output])
        for index in self._slices(plates):
            at = dict(zip(plates, index))
            for kept in itertools.product(*(range(self.sizes[v]) for v in variables)):
                chosen = np.ones(len(self.worlds), dtype=bool)
                for v, state in zip(variables, kept):
                    chosen &= self.states(v, at) == state
                place = {**at, **dict(zip(variables, kept))}
                value[tuple(place[d] for d in self.output)] = SUM[self.semiring](self.weights[chosen])
        return value

    def probabilities(self):
        """The posterior probability of each world."""
        if self.semiring == "real":
            return self.weights / self.weights.sum()
        return np.exp(self.weights - np.logaddexp.reduce(self.weights))

    def gradient(self):
        """Of log Z: how often, on average, each entry is read."""
        probabilities = self.probabilities()
        gradients = [np.zeros(operand.shape) for operand in self.operands]
        for factor, gradient in enumerate(gradients):
            for entry in self.entries(factor):
                np.add.at(gradient[None], (np.zeros(len(self.worlds), dtype=int), *entry), probabilities)
        return gradients

    def marginals(self):
        """By variable, the probability of each state in each slice of its plates."""
        probabilities = self.probabilities()
        answer = {}
        for v in self.variables:
            plates = self.variable_plates[v]
            table = np.zeros([*(self.sizes[p] for p in plates), self.sizes[v]])
            for index in self._slices(plates):
                np.add.at(table[index], self.states(v, dict(zip(plates, index))), probabilities)
            answer[v] = table
        return answer

    def score(self, assignment):
        """The weight of one assignment, by variable in the shape of its plates."""
        world = np.empty(len(self.column), dtype=int)
        for (v, index), column in self.column.items():
            world[column] = assignment[v][index]
        (found,) = np.nonzero((self.worlds == world).all(axis=1))
        return self.weights[found[0]]
