"""Answers about models: dicts of arrays that know the names of their axes, for tables of pandas."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Union

import numpy

if TYPE_CHECKING:
    from ._core import Model


class _Answer(dict[Any, Any]):
    """A dict of arrays, and the model they are about."""

    __slots__ = ("_model",)

    def __init__(self, model: Model, arrays: dict[Any, Any]) -> None:
        super().__init__(arrays)
        self._model = model

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._model, dict(self))


class ModelMarginals(_Answer):
    """Posteriors by variable or, for a tuple of variables, jointly."""

    def to_pandas(self) -> dict[Union[str, tuple[str, ...]], Any]:
        """For each query a table with the names of states: a Series of one axis, or a DataFrame with the last as columns."""
        return {query: self._table(query, array) for query, array in self.items()}

    def _table(self, query: Union[str, tuple[str, ...]], array: Any) -> Any:
        import pandas

        variables = (query,) if isinstance(query, str) else query
        axes = _axes(self._model, variables)
        axes += [(_label(self._model, v), list(self._model.states[_name(self._model, v)])) for v in variables]
        if len(axes) == 1:
            ((name, entries),) = axes
            return pandas.Series(array, index=pandas.Index(entries, name=name), name="probability")
        rows = [pandas.Index(entries, name=name) for name, entries in axes[:-1]]
        index = rows[0] if len(rows) == 1 else pandas.MultiIndex.from_product(rows)
        columns = pandas.Index(axes[-1][1], name=axes[-1][0])
        return pandas.DataFrame(array.reshape(len(index), len(columns)), index=index, columns=columns)


class ModelAssignment(_Answer):
    """States by variable."""

    def to_pandas(self) -> Any:
        """A Series from variables to the names of their states; slices are called x[0], and None lies beyond a length."""
        import pandas

        names = [name for variable in self for name, _ in _slices(self._model, variable)]
        states = [
            _state(self._model, variable, array[index])
            for variable, array in self.items()
            for _, index in _slices(self._model, variable)
        ]
        return pandas.Series(states, index=pandas.Index(names, name="variable"), name="state", dtype=object)


class ModelSamples(_Answer):
    """Samples by variable: integers with a leading axis of samples."""

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each sample and a categorical column for each variable or slice."""
        import pandas

        columns = {}
        count = max((len(array) for array in self.values()), default=0)
        for variable, array in self.items():
            states = list(self._model.states[variable])
            for name, index in _slices(self._model, variable):
                codes = array[(slice(None), *index)]
                columns[name] = pandas.Categorical.from_codes(codes, categories=states)  # -1 is missing
        return pandas.DataFrame(columns, index=pandas.RangeIndex(count, name="sample"))


def _name(model: Model, variable: str) -> str:
    """The graph's name of a variable that the file may call otherwise."""
    if variable in model.states:
        return variable
    return next(name for name, label in model.labels.items() if label == variable)


def _label(model: Model, variable: str) -> str:
    return model.labels.get(variable, variable)


def _axes(model: Model, variables: tuple[str, ...]) -> list[tuple[str, range]]:
    """The names and indices of batch dims, plates and chains around variables, in the order of answers."""
    plates = model.graph.variable_plates()
    held = {plate for variable in variables for plate in plates[_name(model, variable)]}
    order = ("batch", "plate", "chain")
    dims = [dim for dim in model.graph.dims if dim.kind == "batch" or dim.name in held]
    return [(dim.name, range(dim.size)) for dim in sorted(dims, key=lambda dim: order.index(dim.kind))]


def _slices(model: Model, variable: str) -> list[tuple[str, tuple[int, ...]]]:
    """How the slices of a variable are called, and where they are in its array."""
    label, axes = _label(model, variable), _axes(model, (variable,))
    if not axes:
        return [(label, ())]
    indices = itertools.product(*(entries for _, entries in axes))
    return [(f"{label}[{','.join(map(str, index))}]", index) for index in indices]


def _state(model: Model, variable: str, state: Any) -> Any:
    number = int(numpy.asarray(state))
    return None if number < 0 else model.states[variable][number]
