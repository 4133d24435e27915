"""The integer expression language: read, evaluate, print as C++, bound and compare.

Standard library only, so that a machine which only runs kernels can evaluate what a cubin says.
"""

from __future__ import annotations

from tsc.expr.cpp import Cpp, to_cpp
from tsc.expr.evaluator import Tensor, Value, evaluate
from tsc.expr.hints import closest, did_you_mean
from tsc.expr.intervals import Interval, interval
from tsc.expr.normal import Linear, equal, linear
from tsc.expr.parser import parse
from tsc.expr.printer import build, show
from tsc.expr.proof import Fact, multiple_of, provably
from tsc.expr.settled import settle
from tsc.expr.transform import fold, substitute
from tsc.expr.tree import EvalError, Expr, ExprError, Name

__all__ = [
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
    "settle",
    "show",
    "substitute",
    "to_cpp",
]
