"""The integer expression language: read, evaluate, print as C++, bound and compare.

Standard library only, so that a machine which only runs kernels can evaluate what a cubin says.
"""

from __future__ import annotations

from .cpp import Cpp, to_cpp
from .evaluator import Tensor, Value, evaluate
from .hints import closest, did_you_mean
from .intervals import INT32, INT64, Interval, interval
from .normal import Linear, equal, linear
from .parser import parse
from .printer import build, show
from .proof import Fact, multiple_of, provably
from .transform import fold, substitute
from .tree import FUNCTIONS, EvalError, Expr, ExprError, Name

__all__ = [
    "FUNCTIONS",
    "INT32",
    "INT64",
    "Cpp",
    "EvalError",
    "Expr",
    "ExprError",
    "Fact",
    "Interval",
    "Linear",
    "Name",
    "Tensor",
    "Value",
    "build",
    "closest",
    "did_you_mean",
    "equal",
    "evaluate",
    "fold",
    "interval",
    "linear",
    "multiple_of",
    "parse",
    "provably",
    "show",
    "substitute",
    "to_cpp",
]
