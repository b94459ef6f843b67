"""Types of the extension module: each verb is a function of an equation and a method of Plan."""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Callable, Optional, Protocol, TypedDict, TypeVar, Union, overload

from typing_extensions import Unpack

from ._answers import Analysis, Cost, Dim, Explanation, Factor, MapResult, Marginals, UnrolledGraph
from ._errors import Certificate
from ._fit import Fit, Score
from ._models import ModelMarginals, ModelSamples

class _Array(Protocol):
    """An array of NumPy, PyTorch or JAX."""

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...

_A = TypeVar("_A", bound=_Array)
_Integers = Any
_Names = Union[str, Sequence[str]]
_Arrays = Union[None, _Array, Sequence[_Array]]
_Number = Union[_Array, float, Sequence[Any]]
_Operand = Union[_Number, Mapping[str, _Number]]

class _Run(TypedDict, total=False):
    """How a plan is run."""

    semiring: str
    threads: int
    memory_limit: int
    check: str
    lengths: Optional[Mapping[str, _Integers]]
    weights: Optional[Mapping[str, Any]]
    sizes: Optional[Mapping[str, int]]
    evidence: Optional[Mapping[str, _Integers]]
    progress: Optional[Callable[[float], object]]

class _Reading(TypedDict, total=False):
    """How an equation is read."""

    plates: str
    batch: str
    chains: Optional[Mapping[str, _Names]]
    spaced: Optional[bool]

class _Equation(_Run, _Reading, total=False): ...

class _Sized(_Reading, total=False):
    """The same where there are no operands to tell sizes."""

    sizes: Optional[Mapping[str, int]]

class _Compile(_Sized, total=False):
    """How a plan is searched for, and the defaults of its runs."""

    semiring: str
    threads: int
    memory_limit: int
    check: str
    search: str
    trials: int
    seed: int
    seconds: float
    sums_only: bool
    observable: _Names
    questions: _Names
    without: _Names

def first(variable: str) -> str: ...
def last(variable: str) -> str: ...

class FactorGraph:
    def __init__(self) -> None: ...
    @staticmethod
    def from_equation(
        equation: str,
        *operands: Union[_Array, Sequence[int]],
        **reading: Unpack[_Sized],
    ) -> FactorGraph: ...
    def plate(self, name: str, size: int) -> None: ...
    def batch(self, name: str, size: int) -> None: ...
    def chain(self, name: str, size: int) -> None: ...
    def variable(self, name: str, domain: int, plates: Optional[Sequence[str]] = ...) -> None: ...
    def link(self, chain: str, source: str, target: str) -> None: ...
    def factor(
        self,
        name: str,
        dims: Sequence[str],
        *,
        tied: Sequence[str] = ...,
        distribution_of: Optional[str] = ...,
        trusted: bool = ...,
    ) -> int: ...
    def output(self, dims: Sequence[str]) -> int: ...
    def asking(self, outputs: Sequence[Sequence[str]]) -> FactorGraph: ...
    def resized(self, plate: str, size: int) -> FactorGraph: ...
    def validate(self) -> None: ...
    def unroll(self, plate: Optional[str] = ...) -> UnrolledGraph: ...
    def variable_plates(self) -> dict[str, tuple[str, ...]]: ...
    def factor_plates(self, factor: int) -> tuple[str, ...]: ...
    def factor_variables(self, factor: int) -> tuple[str, ...]: ...
    def components(self) -> list[tuple[tuple[str, ...], tuple[str, ...]]]: ...
    @property
    def dims(self) -> list[Dim]: ...
    @property
    def factors(self) -> list[Factor]: ...
    @property
    def outputs(self) -> list[tuple[str, ...]]: ...
    @property
    def chains(self) -> dict[str, list[tuple[str, str]]]: ...
    def equation(self) -> str: ...
    def print(self) -> str: ...
    def draw(
        self,
        *,
        title: str = ...,
        factor_names: bool = ...,
        sizes: bool = ...,
        caption: bool = ...,
        observed: _Names = ...,
        directed: bool = ...,
        certificate: Optional[Certificate] = ...,
    ) -> str: ...
    def _repr_svg_(self) -> str: ...

class _Ask(TypedDict, total=False):
    """How a question about a model is asked."""

    evidence: Optional[Mapping[str, Any]]
    lengths: Optional[Mapping[str, _Integers]]
    threads: int
    memory_limit: int
    progress: Optional[Callable[[float], object]]

class Model:
    def __init__(
        self,
        graph: FactorGraph,
        factors: Mapping[str, Any],
        *,
        space: str = ...,
        states: Optional[Mapping[str, Sequence[str]]] = ...,
        name: str = ...,
        labels: Mapping[str, str] = ...,
        observed: _Names = ...,
        evidence: Optional[Mapping[str, Any]] = ...,
        lengths: Optional[Mapping[str, _Integers]] = ...,
        learn: _Names = ...,
        prior: Mapping[str, Any] = ...,
        same_as: Mapping[str, str] = ...,
        likelihoods: Mapping[str, Mapping[str, Any]] = ...,
        measurements: Optional[Mapping[str, Any]] = ...,
    ) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def graph(self) -> FactorGraph: ...
    @property
    def factors(self) -> dict[str, Any]: ...
    @property
    def space(self) -> str: ...
    @property
    def variables(self) -> list[str]: ...
    @property
    def states(self) -> dict[str, Union[tuple[str, ...], range]]: ...
    @property
    def labels(self) -> dict[str, str]: ...
    @property
    def observed(self) -> set[str]: ...
    @property
    def evidence(self) -> dict[str, Any]: ...
    def _evidence_with(self, evidence: Optional[Mapping[str, Any]]) -> dict[str, Any]: ...
    @property
    def lengths(self) -> dict[str, Any]: ...
    @property
    def learning(self) -> dict[str, dict[str, Any]]: ...
    @property
    def likelihoods(self) -> dict[str, dict[str, Any]]: ...
    @property
    def measurements(self) -> dict[str, Any]: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def directed(self) -> bool: ...
    def log_partition(self, **options: Unpack[_Ask]) -> Any: ...
    def marginals(
        self,
        *,
        query: Union[None, str, tuple[str, ...], Sequence[Union[str, tuple[str, ...]]]] = ...,
        **options: Unpack[_Ask],
    ) -> ModelMarginals: ...
    def map(self, **options: Unpack[_Ask]) -> MapResult: ...
    def sample(self, *, n: int = ..., seed: int = ..., first: int = ..., **options: Unpack[_Ask]) -> ModelSamples: ...
    def max_marginals(self, **options: Unpack[_Ask]) -> dict[str, Any]: ...
    def leave_one_out(self, plate: str, *, factors: _Names = ..., **options: Unpack[_Ask]) -> Any: ...
    def entropy(self, **options: Unpack[_Ask]) -> Any: ...
    def explain(self, question: str = ..., *, observed: _Names = ..., **options: Unpack[_Ask]) -> Explanation: ...
    def evaluate(
        self,
        data: Optional[Mapping[str, Any]] = ...,
        *,
        plate: Optional[str] = ...,
        factors: _Names = ...,
        lengths: Optional[Mapping[str, _Integers]] = ...,
        weights: Optional[Mapping[str, Any]] = ...,
        threads: int = ...,
        memory_limit: int = ...,
        progress: Optional[Callable[[float], object]] = ...,
    ) -> Score: ...
    def in_space(self, space: str) -> Model: ...
    def unroll(self) -> Model: ...
    def draw(
        self,
        *,
        title: str = ...,
        factor_names: bool = ...,
        sizes: bool = ...,
        caption: bool = ...,
        observed: _Names = ...,
        directed: bool = ...,
        certificate: Optional[Certificate] = ...,
    ) -> str: ...
    def _repr_svg_(self) -> str: ...

def _implied_sizes(equation: str, *shapes: Sequence[int], **options: Any) -> dict[str, int]: ...
def _restored_model(graph: FactorGraph, factors: list[Any], rest: dict[str, Any]) -> Model: ...
def read_model(
    path: Union[str, PathLike[str]],
    *,
    format: Optional[str] = ...,
    outside_folder: bool = ...,
    check_arrays: bool = ...,
    memory_limit: int = ...,
) -> Model: ...
def write_model(
    model: Model, path: Union[str, PathLike[str]], format: Optional[str] = ..., most_inline: int = ...
) -> list[str]: ...
def fit(
    model: Model,
    data: Optional[Mapping[str, Any]] = ...,
    *,
    learn: Optional[_Names] = ...,
    restarts: int = ...,
    iterations: int = ...,
    tolerance: float = ...,
    accelerate: bool = ...,
    pseudo_count: float = ...,
    seed: int = ...,
    batch: Optional[Mapping[str, int]] = ...,
    held_out: Optional[Mapping[str, Any]] = ...,
    cross_validate: Optional[Mapping[str, int]] = ...,
    vary: Optional[Mapping[str, Union[int, Iterable[int]]]] = ...,
    standard_errors: bool = ...,
    lengths: Optional[Mapping[str, _Integers]] = ...,
    weights: Optional[Mapping[str, Any]] = ...,
    threads: int = ...,
    memory_limit: int = ...,
    progress: Optional[Callable[[int, int, float], object]] = ...,
) -> Fit: ...
def expected_counts(
    model: Model,
    data: Optional[Mapping[str, Any]] = ...,
    *,
    lengths: Optional[Mapping[str, _Integers]] = ...,
    weights: Optional[Mapping[str, Any]] = ...,
    threads: int = ...,
    memory_limit: int = ...,
    progress: Optional[Callable[[float], object]] = ...,
) -> dict[str, Any]: ...
def read_evidence(model: Model, path: Union[str, PathLike[str]]) -> dict[str, Any]: ...
def einsum(equation: str, *operands: _Number, out: _Arrays = ..., **options: Unpack[_Equation]) -> Any: ...
def value_and_gradient(
    equation: str,
    *operands: _Number,
    cotangents: _Arrays = ...,
    wrt: Optional[Sequence[int]] = ...,
    out: Optional[Sequence[Optional[_Array]]] = ...,
    **options: Unpack[_Equation],
) -> tuple[Any, list[Any]]: ...
@overload
def hessian_vector_product(
    equation: str,
    *operands: _A,
    direction: Sequence[_Number],
    cotangents: _Arrays = ...,
    **options: Unpack[_Equation],
) -> tuple[Any, list[_A]]: ...
@overload
def hessian_vector_product(
    equation: str,
    *operands: _Number,
    direction: Sequence[_Number],
    cotangents: _Arrays = ...,
    **options: Unpack[_Equation],
) -> tuple[Any, list[Any]]: ...
def marginals(
    equation: str,
    *operands: _Number,
    variables: bool = ...,
    factors: bool = ...,
    sets: Sequence[Sequence[str]] = ...,
    ends: bool = ...,
    filtered: bool = ...,
    log: bool = ...,
    **options: Unpack[_Equation],
) -> Marginals: ...
@overload
def max_marginals(equation: str, *operands: _A, **options: Unpack[_Equation]) -> dict[str, _A]: ...
@overload
def max_marginals(equation: str, *operands: _Number, **options: Unpack[_Equation]) -> dict[str, Any]: ...
@overload
def entropy(equation: str, *operands: _A, **options: Unpack[_Equation]) -> _A: ...
@overload
def entropy(equation: str, *operands: _Number, **options: Unpack[_Equation]) -> Any: ...
@overload
def expectation(
    equation: str,
    *operands: _A,
    statistics: Sequence[Optional[_Number]],
    **options: Unpack[_Equation],
) -> _A: ...
@overload
def expectation(
    equation: str,
    *operands: _Number,
    statistics: Sequence[Optional[_Number]],
    **options: Unpack[_Equation],
) -> Any: ...
@overload
def leave_one_out(
    equation: str,
    *operands: _A,
    plate: str,
    factors: _Names = ...,
    **options: Unpack[_Equation],
) -> _A: ...
@overload
def leave_one_out(
    equation: str,
    *operands: _Number,
    plate: str,
    factors: _Names = ...,
    **options: Unpack[_Equation],
) -> Any: ...
def map(equation: str, *operands: _Number, **options: Unpack[_Equation]) -> MapResult: ...
def sample(
    equation: str,
    *operands: _Number,
    n: int = ...,
    seed: int = ...,
    first: int = ...,
    **options: Unpack[_Equation],
) -> dict[str, Any]: ...

def evaluate(equation: str, *operands: _Number, **options: Unpack[_Equation]) -> Evaluation: ...

class Evaluation:
    @property
    def semiring(self) -> str: ...
    def value(self) -> Any: ...
    def gradient(self, cotangents: _Arrays = ..., wrt: Optional[Sequence[int]] = ...) -> list[Any]: ...
    def marginals(
        self,
        *,
        variables: bool = ...,
        factors: bool = ...,
        sets: Sequence[Sequence[str]] = ...,
        ends: bool = ...,
        filtered: bool = ...,
        log: bool = ...,
    ) -> Marginals: ...
    def sample(self, n: int = ..., seed: int = ..., first: int = ...) -> dict[str, Any]: ...
    def entropy(self) -> Any: ...
    def expectation(self, statistics: Sequence[Optional[_Number]]) -> Any: ...
    def map(self) -> MapResult: ...
    def max_marginals(self) -> dict[str, Any]: ...
    def update(self, operand: Union[int, str], index: Union[int, Sequence[int]]) -> None: ...

class Plan:
    @overload
    def __call__(self, *operands: _Operand, out: _Arrays = ..., **options: Unpack[_Run]) -> Any: ...
    @overload
    def __call__(self, **named: Any) -> Any: ...
    @overload
    def run(self, *operands: _Operand, out: _Arrays = ..., **options: Unpack[_Run]) -> Any: ...
    @overload
    def run(self, **named: Any) -> Any: ...
    def einsum(self, *operands: _Operand, out: _Arrays = ..., **options: Unpack[_Run]) -> Any: ...
    def value_and_gradient(
        self,
        *operands: _Operand,
        cotangents: _Arrays = ...,
        wrt: Optional[Sequence[int]] = ...,
        out: Optional[Sequence[Optional[_Array]]] = ...,
        **options: Unpack[_Run],
    ) -> tuple[Any, list[Any]]: ...
    @overload
    def hessian_vector_product(
        self,
        *operands: _A,
        direction: Sequence[_Number],
        cotangents: _Arrays = ...,
        **options: Unpack[_Run],
    ) -> tuple[Any, list[_A]]: ...
    @overload
    def hessian_vector_product(
        self,
        *operands: _Operand,
        direction: Sequence[_Number],
        cotangents: _Arrays = ...,
        **options: Unpack[_Run],
    ) -> tuple[Any, list[Any]]: ...
    def marginals(
        self,
        *operands: _Operand,
        variables: bool = ...,
        factors: bool = ...,
        sets: Sequence[Sequence[str]] = ...,
        ends: bool = ...,
        filtered: bool = ...,
        log: bool = ...,
        **options: Unpack[_Run],
    ) -> Marginals: ...
    @overload
    def max_marginals(self, *operands: _A, **options: Unpack[_Run]) -> dict[str, _A]: ...
    @overload
    def max_marginals(self, *operands: _Operand, **options: Unpack[_Run]) -> dict[str, Any]: ...
    @overload
    def entropy(self, *operands: _A, **options: Unpack[_Run]) -> _A: ...
    @overload
    def entropy(self, *operands: _Operand, **options: Unpack[_Run]) -> Any: ...
    @overload
    def expectation(self, *operands: _A, statistics: Sequence[Optional[_Number]], **options: Unpack[_Run]) -> _A: ...
    @overload
    def expectation(self, *operands: _Operand, statistics: Sequence[Optional[_Number]], **options: Unpack[_Run]) -> Any: ...
    @overload
    def leave_one_out(self, *operands: _A, plate: str, factors: _Names = ..., **options: Unpack[_Run]) -> _A: ...
    @overload
    def leave_one_out(self, *operands: _Operand, plate: str, factors: _Names = ..., **options: Unpack[_Run]) -> Any: ...
    def map(self, *operands: _Operand, **options: Unpack[_Run]) -> MapResult: ...
    def sample(
        self,
        *operands: _Operand,
        n: int = ...,
        seed: int = ...,
        first: int = ...,
        **options: Unpack[_Run],
    ) -> dict[str, Any]: ...
    @property
    def graph(self) -> FactorGraph: ...
    @property
    def elimination_order(self) -> list[str]: ...
    @property
    def dropped(self) -> list[str]: ...
    @property
    def steps(self) -> int: ...
    @staticmethod
    def passes() -> list[str]: ...
    def analyze(self) -> Analysis: ...
    def evaluate(self, *operands: _Operand, **options: Unpack[_Run]) -> Evaluation: ...
    def cost(
        self,
        question: Union[None, str, tuple[str, str]] = ...,
        sizes: Optional[Mapping[str, int]] = ...,
        semiring: Optional[str] = ...,
        dtype: Any = ...,
        weights: _Names = ...,
        lengths: _Names = ...,
        observed: _Names = ...,
        partly_observed: _Names = ...,
    ) -> Cost: ...
    def print(
        self,
        question: Union[None, str, tuple[str, str]] = ...,
        weights: _Names = ...,
        lengths: _Names = ...,
        observed: _Names = ...,
        partly_observed: _Names = ...,
    ) -> str: ...
    def draw(self, *, title: str = ..., caption: bool = ...) -> str: ...
    def _repr_html_(self) -> str: ...

def compile(model: Union[FactorGraph, str], *operands: Union[_Array, Sequence[int]], **options: Unpack[_Compile]) -> Plan: ...
def analyze(model: Union[FactorGraph, str], *operands: Union[_Array, Sequence[int]], **options: Unpack[_Compile]) -> Analysis: ...
