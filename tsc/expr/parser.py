"""From text to tree, by way of Python's own parser."""

from __future__ import annotations

import ast

from tsc.expr.hints import function_help
from tsc.expr.lexer import check_form, scan, too_deep
from tsc.expr.printer import build
from tsc.expr.tree import (
    FUNCTIONS,
    INT64_MAX,
    INT64_MIN,
    MAX_DEPTH,
    Binary,
    Bool,
    Call,
    Choice,
    Compare,
    Expr,
    ExprError,
    Index,
    Int,
    Logic,
    Node,
    Ref,
    Unary,
    names_of,
)

_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.UAdd: "+", ast.Not: "not"}
_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_BLANKS = str.maketrans("\t\r\n", "   ")


def parse(source: object) -> Expr:
    """Read an expression from a text, an integer or a bool; ExprError for anything else.

    The places of the result, and of an error, are characters of the text as it was given.
    """
    if isinstance(source, bool):
        return build(Bool(source))
    if isinstance(source, int):
        if not INT64_MIN <= source <= INT64_MAX:
            raise ExprError("the integer does not fit 64 bits", 0, 0, f"the largest is {INT64_MAX:,}")
        return build(Int(source))
    if not isinstance(source, str):
        shown = "nothing" if source is None else f"a {type(source).__name__}"
        help = "write whole numbers" if isinstance(source, float) else "write an integer, a name or a formula"
        raise ExprError(f"an expression stands here, not {shown}", 0, 0, help)
    check_form(source, scan(source))
    tree = _Converter(source).convert(_python_tree(source), 1)
    return Expr(source, tree, names_of(tree))


def _python_tree(text: str) -> ast.expr:
    # Blanks are all alike to the language: on a single line a column is a place in the text.
    try:
        return ast.parse(f"({text.translate(_BLANKS)})", mode="eval").body
    except (MemoryError, RecursionError):
        raise too_deep(0, len(text)) from None
    except (SyntaxError, ValueError) as error:
        start = max((getattr(error, "offset", None) or 2) - 2, 0)
        end = max((getattr(error, "end_offset", None) or 0) - 2, start + 1)
        start, end = min(start, len(text)), min(end, len(text))
        raise ExprError(
            "the expression cannot be read from here on", start, end, "put its parts in parentheses"
        ) from None


class _Converter:
    """Turns Python's nodes into the language's; `level` counts the levels above."""

    def __init__(self, text: str) -> None:
        self.text = text

    def convert(self, node: ast.expr, level: int) -> Node:
        start, end = self.range(node)
        if level > MAX_DEPTH:
            raise too_deep(start, end)
        match node:
            case ast.Constant(value=int() as value):
                if value > INT64_MAX:
                    raise self.error(node, f"`{value}` does not fit 64 bits", f"the largest is {INT64_MAX:,}")
                return Int(value, start, end)
            case ast.Name(id=name):
                if name in ("true", "false"):
                    return Bool(name == "true", start, end)
                self.not_a_function(node, name)
                return Ref(name, start, end)
            case ast.Attribute():
                return self.dotted(node)
            case ast.Subscript():
                return self.subscript(node, level)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
                return Int(-value, start, end)
            case ast.UnaryOp():
                return Unary(_UNARY[type(node.op)], self.convert(node.operand, level + 1), start, end)
            case ast.BinOp() if type(node.op) in _BINARY:
                left, right = self.convert(node.left, level + 1), self.convert(node.right, level + 1)
                return Binary(_BINARY[type(node.op)], left, right, start, end)
            case ast.Compare() if all(type(op) in _COMPARE for op in node.ops):
                operands = (node.left, *node.comparators)
                ops = tuple(_COMPARE[type(op)] for op in node.ops)
                return Compare(ops, tuple(self.convert(item, level + 1) for item in operands), start, end)
            case ast.BoolOp():
                op = "and" if isinstance(node.op, ast.And) else "or"
                return Logic(op, tuple(self.convert(item, level + 1) for item in node.values), start, end)
            case ast.IfExp():
                then = self.convert(node.body, level + 1)
                test = self.convert(node.test, level + 1)
                return Choice(test, then, self.convert(node.orelse, level + 1), start, end)
            case ast.Call():
                return self.call(node, level)
            case _:
                raise self.error(
                    node, "this is not part of the language", "write an integer, a name or a formula"
                )

    def range(self, node: ast.expr) -> tuple[int, int]:
        return node.col_offset - 1, (node.end_col_offset or 0) - 1

    def error(self, node: ast.expr, message: str, help: str) -> ExprError:
        start, end = self.range(node)
        return ExprError(message, start, end, help)

    def not_a_function(self, node: ast.expr, name: str) -> None:
        if name in FUNCTIONS:
            raise self.error(node, f"`{name}` is a function", f"write {_usage(name)}")

    def dotted(self, node: ast.Attribute) -> Ref:
        start, end = self.range(node)
        match node.value:
            case ast.Name(id=first) if first not in FUNCTIONS and first not in ("true", "false"):
                return Ref(f"{first}.{node.attr}", start, end)
            case ast.Attribute():
                shown = self.text[start:end]
                raise self.error(
                    node, f"`{shown}` has more than two parts", "write a name of two parts, as `tile.m`"
                )
            case _:
                raise self.error(
                    node, "`.` does not join two names", "write a name of two parts, as `tile.m`"
                )

    def subscript(self, node: ast.Subscript, level: int) -> Index:
        start, end = self.range(node)
        match node.value:
            case ast.Name(id=name) if name not in ("true", "false"):
                self.not_a_function(node.value, name)
            case _:
                raise self.error(node, "only a tensor has subscripts", "write the tensor's name before `[`")
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return Index(name, tuple(self.convert(item, level + 1) for item in items), start, end)

    def call(self, node: ast.Call, level: int) -> Call:
        start, end = self.range(node)
        match node.func:
            case ast.Name(id=name) if name in FUNCTIONS:
                pass
            case ast.Name(id=name):
                raise self.error(node.func, f"`{name}` is not a function", function_help(name))
            case _:
                raise self.error(node.func, "only a function can be called", function_help(""))
        least, most = FUNCTIONS[name]
        given = len(node.args)
        if given < least or (most is not None and given > most):
            needed = f"{least} or more arguments" if most is None else f"{least} argument" + "s" * (least > 1)
            raise self.error(node, f"`{name}` takes {needed}, not {given}", f"write {_usage(name)}")
        args = tuple(self.convert(arg, level + 1) for arg in node.args)
        if name == "find" and (not isinstance(args[0], Ref) or "." in args[0].name):
            raise self.error(
                node.args[0], "`find` searches a tensor", "write the tensor's name as first argument"
            )
        return Call(name, args, start, end)


def _usage(name: str) -> str:
    arguments = {"abs": "a", "find": "offsets, i"}.get(name, "a, b")
    return f"`{name}({arguments})`"
