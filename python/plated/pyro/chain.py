"""Components with steps that repeat as chains: equations of one slice, on operands that are stacked along the steps.

A step that looks back becomes a slice of a chain, so that a series is planned in the same time at any length; steps that do
not are slices of a plate. What does not fit, such as a term that joins the middle of a series to something else, is left
to the equation of all terms.
"""

from dataclasses import dataclass

import torch

from .runs import find_runs


class NoChain(Exception):
    """The component, or what is asked of it, is not that of a chain."""


@dataclass
class Chained:
    """A component as an equation with chains."""

    equation: str
    operands: list
    keywords: dict
    reads: list  # for each output the number of the equation's output, and the step, if it is about one
    writer: "_Writer"

    def name(self, symbol):
        """The name of a variable and, where it is in a run, the run's dim and the step."""
        found = self.writer.place(symbol)
        if found is None:
            return self.writer.name(symbol), None, None
        r, position, step = found
        return self.writer.in_slice(r, position, max(0, -step)), f"t{r}", max(0, step)


class _Writer:
    def __init__(self, component, runs, variables):
        self.component, self.runs, self.variables = component, runs, variables
        self.number = {symbol: k for k, symbol in enumerate(variables)}
        self.names = {}  # symbol → name
        self.declared = []

    def name(self, symbol):
        if symbol not in self.names:
            self.names[symbol] = f"d{len(self.names)}"
            self.declared.append(symbol)
        return self.names[symbol]

    def dim(self, r):
        if f"t{r}" not in self.declared:
            self.declared.append(f"t{r}")
        return f"t{r}"

    def in_slice(self, r, position, lag):
        """A variable of a slice, and of `lag` slices before it."""
        return f"v{r}_{position}_{self.runs[r].lags[position] - lag}"

    def place(self, symbol):
        """The run, position and step of a variable; None for one of no run."""
        k = self.number.get(symbol)
        for r, run in enumerate(self.runs):
            if k is not None and (found := run.place(k)) is not None:
                return r, *found
        return None

    def outside(self, symbol):
        """How a term that is in no step calls a variable: those of first and last steps are ends."""
        found = self.place(symbol)
        if found is None:
            return self.name(symbol)
        r, position, step = found
        run = self.runs[r]
        if not any(run.lags):
            raise NoChain
        if step < 0:
            return "^" + self.in_slice(r, position, -step)
        if run.steps - 1 - step > run.lags[position]:
            raise NoChain
        return self.in_slice(r, position, run.steps - 1 - step) + "$"

    def output(self, symbols):
        """An output, and the step that it is about; a variable of a step is asked for in all steps at once."""
        places = [found for symbol in symbols if (found := self.place(symbol)) is not None]
        if not places:
            return " ".join(map(self.name, symbols)), None
        r = places[0][0]
        run = self.runs[r]
        step = max(0, *(found[2] for found in places), 0)
        words = []
        for symbol in symbols:
            found = self.place(symbol)
            if found is None:
                words.append(self.name(symbol))
                continue
            if found[0] != r or step - found[2] > run.lags[found[1]]:
                raise NoChain
            words.append(self.in_slice(r, found[1], step - found[2]))
        return " ".join([self.dim(r), *words]), step

    def operands(self, plates):
        """The terms of equation and the tensors: steps stacked, all others as they are."""
        texts, tensors = [], []
        in_runs = {index for run in self.runs for slot in run.slots for index in slot.terms}
        component = self.component

        def add(dims, ordinal, held, tensor):
            tied = [self.name(plate) for plate in sorted(ordinal & plates - set(held))]
            texts.append(" ".join([f"({' '.join(tied)})"] * bool(tied) + dims))
            tensors.append(tensor)

        for index, term in enumerate(component.terms):
            if index not in in_runs:
                dims = [self.outside(symbol) for symbol in term._pyro_dims]
                add(dims, component.ordinals[index], term._pyro_dims, term)
        for r, run in enumerate(self.runs):
            for slot in run.slots:
                dims = [self.name(d) if isinstance(d, str) else self.in_slice(r, *d) for d in slot.dims]
                held = [d for d in slot.dims if isinstance(d, str)]
                tensor = torch.stack([self._in_order(run, slot, s) for s in range(run.steps)])
                add([self.dim(r), *dims], component.ordinals[slot.terms[0]], held, tensor)
        return texts, tensors

    def _in_order(self, run, slot, step):
        """The term of a step with its axes in the order of the slot."""
        term = self.component.terms[slot.terms[step]]
        symbols = [
            d if isinstance(d, str) else self.variables[run.first + (step - d[1]) * run.period + d[0]] for d in slot.dims
        ]
        axes = [term._pyro_dims.index(symbol) for symbol in symbols]
        return term if axes == sorted(axes) else term.permute(axes)

    def chains(self):
        links = {}
        for r, run in enumerate(self.runs):
            if any(run.lags):
                links[f"t{r}"] = [
                    f"v{r}_{p}_{k}->v{r}_{p}_{k + 1}" for p, lag in enumerate(run.lags) for k in range(lag)
                ]
        return links


def spell_chains(component, outputs, batch):
    """The component and its outputs as an equation with chains, or None where its steps do not repeat."""
    runs, variables = find_runs(component)
    if not runs:
        return None
    writer = _Writer(component, runs, variables)
    plates = frozenset(component.sizes) - component.variables - batch
    try:
        texts, tensors = writer.operands(plates)
        asked = [writer.output(output) for output in outputs]
    except NoChain:
        return None
    written = list(dict.fromkeys(text for text, _ in asked))
    chains = writer.chains()
    over = [writer.names[symbol] for symbol in writer.declared if symbol in plates]
    over += [f"t{r}" for r in range(len(runs)) if f"t{r}" not in chains]
    return Chained(
        equation=", ".join(texts) + " -> " + ", ".join(written),
        operands=tensors,
        keywords={
            "plates": " ".join(over),
            "batch": " ".join(writer.names[symbol] for symbol in writer.declared if symbol in batch),
            "chains": chains,
            "spaced": True,
        },
        reads=[(written.index(text), step) for text, step in asked],
        writer=writer,
    )
