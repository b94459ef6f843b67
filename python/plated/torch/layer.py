"""A plan as a module of PyTorch: a CRF or an HMM is a plan and its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

import plated

from .._states import read_states
from .._subjects import total_of
from . import plans
from .subject import own_factors


class Layer(torch.nn.Module):
    """A plan some of whose factors are parameters; the others come with each call, in order or by name.

    A linear-chain CRF with three tags: `f0` scores what precedes the first tag and `f1` the moves; the scores of tags in
    a batch of sentences, `f2`, come from a network. Where tags are observed, the result is their score.

    >>> plan = plated.compile("a,(t)ab,ntb->", (3,), (3, 3), (1, 1, 3), batch="n", chains={"t": "a->b"}, observable=["b"])
    >>> crf = Layer(plan, {"f0": torch.zeros(3), "f1": torch.zeros(3, 3)})
    >>> scores, tags = torch.zeros(2, 5, 3), torch.tensor([[0, 1, 2, 1, 0], [2, 2, 1, 0, 0]])
    >>> loss = crf(scores) - crf(scores, evidence={"b": tags})
    >>> loss.detach()
    tensor([5.4931, 5.4931])
    >>> crf.map(scores).assignment["b"].shape
    torch.Size([2, 5])

    `plan` may be a FactorGraph, which is planned with `options`, or a Model, whose numbers, as log factors, stand for
    the factors that are no parameters. A parameter that is the distribution of a variable, because the graph's factor
    says so or `distributions` does (`{"f1": "b"}`), is normalised over it in every call (`log_softmax`).

    Evidence may name states: those of a Model, or those that `states` gives, `{"b": ["noun", "verb", "other"]}`.

    >>> tagger = Layer(plan, {"f0": torch.zeros(3), "f1": torch.zeros(3, 3)}, states={"b": ["noun", "verb", "other"]})
    >>> tagger(scores[:1, :2], evidence={"b": [["noun", "verb"]]}).detach()
    tensor([1.0986])

    A layer pickles and copies, and its `state_dict` has the parameters, `factors.f0`, and no plan.
    """

    def __init__(
        self,
        plan: plated.Plan | plated.FactorGraph | plated.Model,
        parameters: Mapping[str, Tensor],
        *,
        distributions: Mapping[str, str] | None = None,
        states: Mapping[str, Sequence[str]] | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        constants: dict[str, Tensor] = {}
        self.states = {variable: tuple(names) for variable, names in (states or {}).items()}
        self.labels: dict[str, str] = {}  # of a model's file → of its graph
        if isinstance(plan, plated.Model):
            self.evidence, self.lengths = plan.evidence, plan.lengths
            self.states = {v: names for v, names in plan.states.items() if isinstance(names, tuple)} | self.states
            self.labels = {label: variable for variable, label in plan.labels.items()}
            constants = own_factors(plan, "log")
            options.setdefault("observable", list(self.evidence))
            plan = total_of(plan.graph)
        else:
            self.evidence, self.lengths = {}, {}
        if isinstance(plan, plated.FactorGraph):
            plan = plated.compile(plan, **options)
        elif options:
            raise TypeError(f"{next(iter(options))} is for graphs: a plan has its own options")
        self.plan = plan
        known = plans.known(plan)
        for name in (*parameters, *(distributions or {})):
            if name not in known.names:
                raise plated.UnknownNameError(f"there is no factor '{name}'; the factors are {', '.join(known.names)}")
        self.factors = torch.nn.ParameterDict(parameters)
        self.constants = torch.nn.Module()
        for name, tensor in constants.items():
            if name not in parameters:
                self.constants.register_buffer(name, tensor, persistent=False)
        self.names = known.names
        self.axes = _axes(plan, {**_declared(plan), **(distributions or {})})

    def forward(self, *tensors: Tensor, **options: Any) -> Tensor | tuple[Tensor, ...]:
        """The outputs of the plan, which autograd differentiates; `options` are those of `plated.torch.einsum`."""
        from . import einsum

        operands, options = self._arguments(tensors, options)
        return einsum(self.plan, *operands, **options)

    def marginals(self, *tensors: Tensor, **options: Any) -> plated.Marginals:
        """Posteriors, as `plan.marginals` gives them; without a gradient."""
        return self._ask("marginals", tensors, options)

    def map(self, *tensors: Tensor, **options: Any) -> plated.MapResult:
        """The most probable assignment, as `plan.map` gives it."""
        return self._ask("map", tensors, {"semiring": "max_plus", **options})

    def sample(self, *tensors: Tensor, **options: Any) -> dict[str, Tensor]:
        """Samples from the posterior, as `plan.sample` gives them. Without `seed`, PyTorch's generator gives one."""
        if "seed" not in options:
            options = {**options, "seed": int(torch.randint(2**62, ()))}
        return self._ask("sample", tensors, options)

    def extra_repr(self) -> str:
        return repr(self.plan)

    def _ask(self, verb: str, tensors: tuple[Tensor, ...], options: dict[str, Any]) -> Any:
        with torch.no_grad():
            operands, options = self._arguments(tensors, options)
            return getattr(self.plan, verb)(*operands, **options)

    def _arguments(self, tensors: tuple[Tensor, ...], options: dict[str, Any]) -> tuple[list[Tensor], dict[str, Any]]:
        """All operands in the order of the plan's factors, and what is left of the options."""
        options = dict(options)
        missing = [name for name in self.names if name not in self.factors and not hasattr(self.constants, name)]
        if len(tensors) == 1 and isinstance(tensors[0], Mapping):
            options, tensors = {**options, **tensors[0]}, ()
        if tensors:
            if len(tensors) != len(missing):
                raise plated.OperandCountError(
                    f"{len(tensors)} tensors are given, and {len(missing)} factors are no parameters: {', '.join(missing)}"
                )
            given = dict(zip(missing, tensors))
        else:
            given = {name: options.pop(name) for name in self.names if name in options}
        if options.get("evidence"):
            options["evidence"] = dict(self._observed(*entry) for entry in options["evidence"].items())
        for kind, own in (("evidence", self.evidence), ("lengths", self.lengths)):
            if own:
                options[kind] = {**own, **(options.get(kind) or {})}
        return [given[name] if name in given else self._own(name) for name in self.names], options

    def _observed(self, name: str, values: Any) -> tuple[str, Any]:
        """The graph's name of a variable, and its states as numbers."""
        variable = self.labels.get(name, name)
        if isinstance(values, Tensor):
            return variable, values
        names = self.states.get(variable)

        def number(state: str) -> int:
            if names is None:
                raise plated.UnknownNameError(f"the states of '{name}' have no names, and {state!r} is given: Layer takes `states`")
            if state not in names:
                raise plated.UnknownNameError(f"'{name}' has no state '{state}': its states are {', '.join(names)}")
            return names.index(state)

        return variable, read_states(values, f"evidence of '{name}'", names, number)

    def _own(self, name: str) -> Tensor:
        if name not in self.factors:
            if not hasattr(self.constants, name):
                raise plated.OperandCountError(f"factor '{name}' has no operand")
            return getattr(self.constants, name)
        parameter: Tensor = self.factors[name]
        return parameter.log_softmax(self.axes[name]) if name in self.axes else parameter


def _declared(plan: plated.Plan) -> dict[str, str]:
    """The factors that the graph declares to be distributions, and of which variable."""
    return {factor.name: factor.distribution_of for factor in plan.graph.factors if factor.distribution_of}


def _axes(plan: plated.Plan, distributions: Mapping[str, str]) -> dict[str, int]:
    """The axis of each factor that its entries are normalised over."""
    known = plans.known(plan)
    axes = {}
    for name, variable in distributions.items():
        dims = known.equation.operands[known.names.index(name)].dims
        if variable not in dims:
            raise plated.UnknownNameError(f"factor '{name}' has no '{variable}' to be the distribution of")
        axes[name] = dims.index(variable)
    return axes
