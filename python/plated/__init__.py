"""Plated: exact inference on plated factor graphs by tensor variable elimination.

You write a model once, with its repeated structure as plates; Plated plans one schedule and answers every question from
it. Arrays come from NumPy, PyTorch or JAX, without copies, and answers are arrays of the same library.

>>> import numpy as np, plated
>>> rain, wet = np.log([0.8, 0.2]), np.log([[0.9, 0.1], [0.2, 0.8]])
>>> plated.marginals("r,ir->", rain, wet, plates="i")["r"].round(3)
array([0.9, 0.1])
"""

from . import _pickle as _pickle
from ._answers import Analysis as Analysis
from ._answers import Cost as Cost
from ._answers import Dim as Dim
from ._answers import Explanation as Explanation
from ._answers import Factor as Factor
from ._answers import MapResult as MapResult
from ._answers import Marginals as Marginals
from ._answers import UnrolledGraph as UnrolledGraph
from ._core import Evaluation as Evaluation
from ._core import FactorGraph as FactorGraph
from ._core import Model as Model
from ._core import Plan as Plan
from ._core import analyze as analyze
from ._core import compile as compile
from ._core import einsum as einsum
from ._core import entropy as entropy
from ._core import evaluate as evaluate
from ._core import expected_counts as expected_counts
from ._core import expectation as expectation
from ._core import first as first
from ._core import fit as fit
from ._core import hessian_vector_product as hessian_vector_product
from ._core import last as last
from ._core import leave_one_out as leave_one_out
from ._core import map as map
from ._core import marginals as marginals
from ._core import max_marginals as max_marginals
from ._core import read_evidence as read_evidence
from ._core import read_model as read_model
from ._core import sample as sample
from ._core import value_and_gradient as value_and_gradient
from ._core import write_model as write_model
from ._errors import CancelledError as CancelledError
from ._errors import Certificate as Certificate
from ._errors import DtypeError as DtypeError
from ._errors import DuplicateNameError as DuplicateNameError
from ._errors import Error as Error
from ._errors import FileError as FileError
from ._errors import FormatError as FormatError
from ._errors import ImpossibleError as ImpossibleError
from ._errors import IntractableError as IntractableError
from ._errors import MemoryLimitError as MemoryLimitError
from ._errors import NullDataError as NullDataError
from ._errors import OperandCountError as OperandCountError
from ._errors import OptionError as OptionError
from ._errors import OverlapError as OverlapError
from ._errors import ParseError as ParseError
from ._errors import PlateError as PlateError
from ._errors import RankError as RankError
from ._errors import Repair as Repair
from ._errors import ShapeError as ShapeError
from ._errors import SizeError as SizeError
from ._errors import SizeOverflowError as SizeOverflowError
from ._errors import UnknownNameError as UnknownNameError
from ._errors import ValueError as ValueError
from ._fit import Estimator as Estimator
from ._fit import Fit as Fit
from ._fit import Fold as Fold
from ._fit import Restart as Restart
from ._fit import Score as Score
from ._fit import Varied as Varied
from ._hints import SemiringWarning as SemiringWarning
from ._long import Long as Long
from ._models import ModelAssignment as ModelAssignment
from ._models import ModelMarginals as ModelMarginals
from ._models import ModelSamples as ModelSamples

__version__ = "0.1.0"
SEMIRINGS = ("real", "log", "max_plus", "min_plus", "max_product", "boolean")

# Without what would replace a built-in of Python: plated.map, plated.compile and plated.ValueError.
__all__ = [
    "Analysis",
    "CancelledError",
    "Certificate",
    "Cost",
    "Dim",
    "DtypeError",
    "DuplicateNameError",
    "Error",
    "Estimator",
    "Evaluation",
    "Explanation",
    "Factor",
    "FactorGraph",
    "FileError",
    "Fit",
    "Fold",
    "FormatError",
    "ImpossibleError",
    "IntractableError",
    "Long",
    "MapResult",
    "Marginals",
    "MemoryLimitError",
    "Model",
    "ModelAssignment",
    "ModelMarginals",
    "ModelSamples",
    "NullDataError",
    "OperandCountError",
    "OptionError",
    "OverlapError",
    "ParseError",
    "Plan",
    "PlateError",
    "RankError",
    "Repair",
    "Restart",
    "SEMIRINGS",
    "Score",
    "SemiringWarning",
    "ShapeError",
    "SizeError",
    "SizeOverflowError",
    "UnknownNameError",
    "UnrolledGraph",
    "Varied",
    "analyze",
    "einsum",
    "entropy",
    "evaluate",
    "expected_counts",
    "expectation",
    "first",
    "fit",
    "hessian_vector_product",
    "last",
    "leave_one_out",
    "marginals",
    "max_marginals",
    "read_evidence",
    "read_model",
    "sample",
    "value_and_gradient",
    "write_model",
]
