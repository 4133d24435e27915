"""What a writer used to Python, C or other languages probably meant."""

from __future__ import annotations

import difflib
import keyword
from collections.abc import Iterable, Mapping

from tsc.expr.tree import FUNCTIONS

OPERATORS: Mapping[str, str] = {
    "/": "write `//`, which divides towards minus infinity",
    "**": "write the product",
    "&&": "write `and`",
    "||": "write `or`",
    "!": "write `not`",
    "=": "write `==` to compare",
    "===": "write `==`",
    "!==": "write `!=`",
    "<>": "write `!=`",
    "=<": "write `<=`",
    "=>": "write `>=`",
    ":=": "write `==` to compare",
    "&": "write `and` for conditions, `%` for the low bits of a number",
    "|": "write `or` for conditions, `+` for bits that do not overlap",
    "^": "write `!=` for conditions, a product for a power",
    "~": "write `not` for conditions, `-x - 1` for a number",
    "<<": "write a product with the power of two",
    ">>": "write `//` with the power of two",
    "?": "write `x if condition else y`",
    ":": "write `x if condition else y` for a choice",
    "::": "write `.` between the parts of a name",
    "->": "write `.` between the parts of a name",
    ";": "write one expression",
    "#": "move the comment out of the expression",
    "{": "write parentheses",
    "}": "write parentheses",
    "\\": "remove it; an expression may run over several lines",
}

WORDS: Mapping[str, str] = {
    "True": "write `true`",
    "False": "write `false`",
    "None": "leave the key out",
    "is": "write `==`",
    "in": "write comparisons joined by `or`",
    "lambda": "write the formula itself",
    "for": "write the formula of one element",
}

_SYNONYMS: Mapping[str, str] = {
    **dict.fromkeys(("ceil", "ceildiv", "ceil_div", "cdivide", "div_up", "divup", "ceiling"), "cdiv"),
    **dict.fromkeys(("align_up", "aligned", "round_up", "roundup", "pad"), "align"),
    **dict.fromkeys(("minimum", "fmin", "imin"), "min"),
    **dict.fromkeys(("maximum", "fmax", "imax"), "max"),
    **dict.fromkeys(("fabs", "absolute", "iabs"), "abs"),
    **dict.fromkeys(("bisect", "search", "lower_bound", "upper_bound", "searchsorted"), "find"),
}

RESERVED_WORDS = frozenset(keyword.kwlist) - {"and", "or", "not", "if", "else"}


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that `name` was probably meant to be."""
    candidates = sorted(set(known))
    folded = {candidate.lower(): candidate for candidate in reversed(candidates)}
    if name.lower() in folded:
        return folded[name.lower()]
    matches = difflib.get_close_matches(name, candidates, n=1, cutoff=0.6)
    return matches[0] if matches else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the help for an unknown name, or nothing if no known one is near."""
    guess = closest(name, known)
    return f"did you mean `{guess}`?" if guess else ""


def function_help(name: str) -> str:
    """Return the help for a call of an unknown function."""
    if name in ("floor_div", "floordiv", "div", "idiv", "divmod"):
        return "write `a // b`"
    if name in ("mod", "fmod", "rem", "floor_mod"):
        return "write `a % b`"
    if name in ("pow", "exp2"):
        return "write the product"
    if name in ("int", "round", "floor", "trunc", "i64", "bool"):
        return "leave it out; every value is an integer or a bool"
    if name in ("select", "where", "iff"):
        return "write `x if condition else y`"
    guess = _SYNONYMS.get(name.lower()) or closest(name, FUNCTIONS)
    return f"did you mean `{guess}`?" if guess else "the functions are " + listing(FUNCTIONS)


def listing(names: Iterable[str]) -> str:
    """Write names in backticks: `a`, `b` and `c`."""
    quoted = [f"`{name}`" for name in names]
    return " and ".join(filter(None, (", ".join(quoted[:-1]), *quoted[-1:])))
