"""From text to tree, by way of Python's own parser; nothing of the text is ever run."""

from __future__ import annotations

import ast
import math
import re
from typing import Final

from tsc.expr.hints import closest, listing
from tsc.notation.tree import FUNCTIONS, Binary, Call, Minus, Node, NotationError, Number, Ref, Swapped

MAX_LENGTH: Final = 4_000
MAX_DEPTH: Final = 60

_OPERATORS: Final[dict[type[ast.operator], str]] = {
    ast.MatMult: "@",
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
}
_COMPARISONS: Final[dict[type[ast.cmpop], str]] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_MEANT: Final = {
    "amax": "max",
    "logistic": "sigmoid",
    "swish": "silu",
    "average": "mean",
    "tril": "causal",
}
_INSTEAD: Final = {
    "sqrt": "write `1 / rsqrt(x)`",
    "min": "write `-max(-x)`",
    "maximum": "write `where(a > b, a, b)`",
    "minimum": "write `where(a < b, a, b)`",
    "abs": "write `where(x > 0, x, -x)`",
    "clip": "write `where(x > 1, 1, x)`",
    "square": "write `x * x`",
    "pow": "write a product",
    "matmul": "write `a @ b`",
    "transpose": "write `x.mT`",
}
_UNFINISHED: Final = re.compile(r"(?P<operator>[-@+*/<>=])\s*(?=[),]|$)")
_BLANKS: Final = str.maketrans("\t\r\n", "   ")


def parse(text: str) -> Node:
    """Read a reference. Raises NotationError, whose place is in characters of the text as it was given."""
    if not text.strip():
        raise NotationError(
            "the reference is empty", 0, len(text), "write what the output is, such as `a @ b.T`"
        )
    if len(text) > MAX_LENGTH:
        message = f"the reference has {len(text):,} characters, and at most {MAX_LENGTH:,} are read"
        raise NotationError(message, 0, len(text), "write it in Python, under `verify.python`")
    for place, character in enumerate(text):
        # On a single line of ASCII a column of Python's parser is a place in the text.
        if not character.isascii():
            raise NotationError(
                f"the character `{character}` (U+{ord(character):04X}) is not part of the notation",
                place,
                place + 1,
                "names are made of letters a to z, digits and `_`",
            )
    _check_parentheses(text)
    try:
        tree = ast.parse(f"({text.translate(_BLANKS)})", mode="eval").body
    except (MemoryError, RecursionError):
        raise _too_deep(0, len(text)) from None
    except (SyntaxError, ValueError) as error:
        if alone := _UNFINISHED.search(text):
            operator, place = alone["operator"], alone.start()
            message = f"nothing stands to the right of `{operator}`"
            raise NotationError(message, place, place + 1, "write its second operand, or remove it") from None
        start = min(max((getattr(error, "offset", None) or 2) - 2, 0), len(text))
        end = min(max((getattr(error, "end_offset", None) or 0) - 2, start + 1), len(text))
        raise NotationError(
            "the reference cannot be read from here on", min(start, end), end, "put its parts in parentheses"
        ) from None
    return _convert(tree, 1)


def _check_parentheses(text: str) -> None:
    opened: list[int] = []
    for place, character in enumerate(text):
        if character == "(":
            opened.append(place)
        elif character == ")":
            if not opened:
                raise NotationError(
                    "`)` closes nothing", place, place + 1, "remove it, or open one before it"
                )
            opened.pop()
    if opened:
        raise NotationError("`(` is not closed", opened[-1], opened[-1] + 1, "write `)` behind what it holds")


def _too_deep(start: int, end: int) -> NotationError:
    return NotationError(
        f"the reference is nested more than {MAX_DEPTH} levels deep", start, end, "write it in fewer levels"
    )


def _range(node: ast.expr) -> tuple[int, int]:
    return node.col_offset - 1, (node.end_col_offset or 0) - 1


def _convert(node: ast.expr, level: int) -> Node:
    start, end = _range(node)
    if level > MAX_DEPTH:
        raise _too_deep(start, end)
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return Number(_number(value, start, end), start, end)
        case ast.Name(id=name):
            if name in FUNCTIONS:
                raise NotationError(f"`{name}` is a function", start, end, f"write `{_usage(name)}`")
            return Ref(name, start, end)
        case ast.Attribute(value=value, attr="T" | "mT" as suffix):
            return Swapped(_convert(value, level + 1), "T" if suffix == "T" else "mT", start, end)
        case ast.Attribute(attr=attr):
            message = f"`.{attr}` is not part of the notation"
            raise NotationError(
                message, end - len(attr) - 1, end, "write `.T` of a matrix or `.mT` of any array"
            )
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return Minus(_convert(operand, level + 1), start, end)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _convert(operand, level + 1)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            operands = _convert(left, level + 1), _convert(right, level + 1)
            return Binary(_OPERATORS[type(op)], *operands, start, end)
        case ast.BinOp(op=ast.Pow()):
            raise NotationError(
                "`**` is not part of the notation", start, end, "write a product, such as `x * x`"
            )
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
            operands = _convert(left, level + 1), _convert(right, level + 1)
            return Binary(_COMPARISONS[type(op)], *operands, start, end)
        case ast.Subscript():
            raise NotationError(
                "a reference has no subscripts", start, end, "write it in Python, under `verify.python`"
            )
        case ast.Call():
            return _call(node, level)
        case _:
            raise NotationError(
                "this is not part of the notation",
                start,
                end,
                "write names, numbers, `@ + - * /`, `.T`, `.mT` and functions",
            )


def _number(value: float, start: int, end: int) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isinf(number):
        raise NotationError("the number is larger than any float", start, end, "write a smaller one")
    return number


def _call(node: ast.Call, level: int) -> Node:
    start, end = _range(node)
    match node.func:
        case ast.Name(id=name) if name in FUNCTIONS:
            pass
        case ast.Name(id=name):
            known = f"the functions are {listing(FUNCTIONS)}"
            guess = _MEANT.get(name) or closest(name, FUNCTIONS)
            help = _INSTEAD.get(name) or (f"did you mean `{guess}`?" if guess else known)
            raise NotationError(f"`{name}` is not a function of the notation", *_range(node.func), help)
        case _:
            raise NotationError(
                "only a function can be called", *_range(node.func), f"the functions are {listing(FUNCTIONS)}"
            )
    given = list(node.args)
    for keyword in node.keywords:
        if keyword.arg != "axis" or len(given) != 1:
            raise NotationError(
                f"`{name}` has no such argument", *_range(keyword.value), f"write `{_usage(name)}`"
            )
        given.append(keyword.value)
    if name == "softmax" or FUNCTIONS[name] == "row":
        if len(given) == 2:
            _check_axis(name, given.pop())
        needed = 1
    else:
        needed = 3 if name == "where" else 1
    if len(given) != needed:
        count = "1 argument" if needed == 1 else f"{needed} arguments"
        raise NotationError(
            f"`{name}` takes {count}, not {len(given)}", start, end, f"write `{_usage(name)}`"
        )
    return Call(name, tuple(_convert(one, level + 1) for one in given), start, end)


def _check_axis(name: str, node: ast.expr) -> None:
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)):
            return
    help = "write `where(a > b, a, b)` for the larger of two" if name == "max" else f"write `{_usage(name)}`"
    raise NotationError(f"`{name}` goes over the last axis alone, which is `-1`", *_range(node), help)


def _usage(name: str) -> str:
    return "where(x > 0, x, 0)" if name == "where" else f"{name}(x)"
