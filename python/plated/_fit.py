"""Fitted models, scores, and an estimator with the methods of scikit-learn's."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple, Optional

import numpy

from ._core import Model
from ._core import fit as learn


class Restart(NamedTuple):
    """How one start of a fit went."""

    objective: float
    iterations: int
    converged: bool


class Fold(NamedTuple):
    """How a fit of all other slices of a plate predicts those that were held out: ln p of their observed cells."""

    slices: list[int]
    log_likelihood: float
    cells: float
    iterations: int
    converged: bool


class Varied(NamedTuple):
    """How good a model with so many states of a latent variable is."""

    states: int
    log_likelihood: float
    parameters: int
    aic: float
    bic: float
    held_out: Optional[float]
    cross_validated: Optional[float]
    converged: bool


class Score(NamedTuple):
    """ln L of data, the cells that are observed, and ln p of each slice of the plate that was asked for."""

    log_likelihood: float
    cells: float
    slices: Any


@dataclasses.dataclass(frozen=True)
class Fit:
    """A fitted model and how good it is; plated.fit makes one."""

    model: Model
    log_likelihood: float
    objective: float
    history: list[float]
    restarts: list[Restart]
    best: int
    converged: bool
    parameters: int
    observations: float
    aic: float
    bic: float
    standard_errors: dict[str, Any]
    likelihood_errors: dict[str, dict[str, Any]]
    held_out: Optional[float]
    folds: list[Fold]
    cross_validated: Optional[float]
    varied: list[Varied]
    notes: list[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "restarts", [Restart(*restart) for restart in self.restarts])
        object.__setattr__(self, "folds", [Fold(*fold) for fold in self.folds])
        object.__setattr__(self, "varied", [Varied(*row) for row in self.varied])

    def __repr__(self) -> str:
        return f"<plated.Fit: ln L {self.log_likelihood:.6g}, {self.parameters} parameters, AIC {self.aic:.6g}, BIC {self.bic:.6g}>"

    def to_pandas(self) -> Any:
        """The restarts as a DataFrame."""
        import pandas

        return pandas.DataFrame(self.restarts, index=pandas.RangeIndex(len(self.restarts), name="restart"))


class Estimator:
    """A model as scikit-learn has them: ``target`` is the variable that is predicted, the data say the rest.

    >>> import plated
    >>> graph = plated.FactorGraph()
    >>> graph.plate("row", 1)
    >>> graph.variable("kind", 2, plates=["row"])
    >>> graph.variable("size", 2, plates=["row"])
    >>> _ = graph.factor("kinds", ["kind"], tied=["row"], distribution_of="kind")
    >>> _ = graph.factor("sizes", ["kind", "size"], tied=["row"], distribution_of="size")
    >>> model = plated.Model(graph, {"kinds": [0.5, 0.5], "sizes": [[0.6, 0.4], [0.3, 0.7]]}, space="real")
    >>> estimator = plated.Estimator(model, "kind").fit({"kind": [0, 0, 1], "size": [0, 0, 1]})
    >>> estimator.predict({"size": [1, 0]})
    array([1, 0])

    Data are a mapping from variables to states and from likelihoods' numbers to these, or a DataFrame whose columns are
    in one plate; what it says nothing of is latent. Further arguments are those of plated.fit.
    """

    def __init__(self, model: Model, target: Optional[str] = None, **options: Any) -> None:
        self.model = model
        self.target = target
        self.options = options

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments that it was made with."""
        return {"model": self.model, "target": self.target, **self.options}

    def set_params(self, **parameters: Any) -> Estimator:
        """Changes some of them."""
        for name, value in parameters.items():
            if name in ("model", "target"):
                setattr(self, name, value)
            else:
                self.options[name] = value
        return self

    def fit(self, data: Any, y: Any = None) -> Estimator:
        """Learns from data; ``y`` are the states of the target, if they are known."""
        states = _states(data)
        if y is not None:
            states[self._target()] = y
        self.fit_ = learn(self.model, states, **self.options)
        self.model_ = self.fit_.model
        return self

    def score(self, data: Any, y: Any = None) -> float:
        """ln L of data for each observed cell; with ``y``, how often the target is predicted rightly."""
        if y is None:
            score = self._fitted().evaluate(_states(data))
            return float(score.log_likelihood / score.cells)
        return float(numpy.mean(self.predict(data) == numpy.asarray(y)))

    def predict_proba(self, data: Any) -> Any:
        """The posterior of the target: its plates, then its states."""
        target = self._target()
        model = self._on(_states(data))
        return model.marginals(query=[target])[target]

    def predict(self, data: Any) -> Any:
        """The most probable state of the target in each slice, by itself: a number, or its name where states have names."""
        best = self.predict_proba(data).argmax(axis=-1)
        states = self.model.states[self._target()]
        return best if isinstance(states, range) else numpy.asarray(states, dtype=object)[best]

    def sample(self, n: int = 1, seed: int = 0) -> Any:
        """Samples of all variables from the fitted model, with none of them observed."""
        fitted = self._fitted()
        free = Model(
            fitted.graph,
            fitted.factors,
            space=fitted.space,
            states=_named(fitted),
            lengths=fitted.lengths,
            likelihoods=fitted.likelihoods,
        )
        return free.sample(n=n, seed=seed)

    def _target(self) -> str:
        if self.target is None:
            raise TypeError("the estimator has no target: name the variable to predict, as in plated.Estimator(model, 'truth')")
        return self.target

    def _fitted(self) -> Model:
        if not hasattr(self, "model_"):
            raise AttributeError("the estimator is not fitted yet: call fit first")
        return self.model_

    def _on(self, states: dict[str, Any]) -> Model:
        """The fitted model with as many slices as data have, and the data as its evidence."""
        # No steps: the numbers stay, and the sizes become those of the data.
        resized = learn(self._fitted(), states, iterations=0).model
        measured = {likelihood["of"] for likelihood in resized.likelihoods.values()}
        return Model(
            resized.graph,
            resized.factors,
            space=resized.space,
            states=_named(resized),
            evidence={name: values for name, values in states.items() if name not in measured},
            likelihoods=resized.likelihoods,
            measurements={name: values for name, values in states.items() if name in measured},
        )


def _named(model: Model) -> dict[str, Any]:
    return {variable: list(states) for variable, states in model.states.items() if not isinstance(states, range)}


def _states(data: Any) -> dict[str, Any]:
    """A mapping from variables to states."""
    if hasattr(data, "columns") and hasattr(data, "isna"):
        return {str(name): data[name] for name in data.columns}
    if not isinstance(data, Mapping):
        raise TypeError(f"data must be a mapping from variables to states, or a DataFrame, not {type(data).__name__}")
    return dict(data)
