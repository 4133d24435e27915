"""From tree to canonical text: one blank around operators, no parentheses that are not needed."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from tsc.expr.tree import (
    MAX_DEPTH,
    MAX_LENGTH,
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
    depth,
    names_of,
)

_CHOICE, _OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _SIGN, _ATOM = range(9)
_BINARY_LEVEL = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "//": _PRODUCT, "%": _PRODUCT}


def show(expr: Expr) -> str:
    """Return the canonical text of an expression; parsed, it gives an equal one."""
    return text_of(expr.tree)


@lru_cache(maxsize=8192)
def text_of(tree: Node) -> str:
    """Return the canonical text of a tree."""
    writer = _Writer()
    writer.write(tree, _CHOICE)
    return "".join(writer.pieces)


def build(tree: Node) -> Expr:
    """Make an expression of a tree: canonical text, and the tree with its places in that text.

    ExprError if it is larger than a text may be.
    """
    if depth(tree) > MAX_DEPTH:
        message = f"the expression is more than {MAX_DEPTH} levels deep"
        raise ExprError(message, 0, 0, "name parts of it in `let`")
    expr = place(tree)
    if len(expr.text) > MAX_LENGTH:
        message = f"the expression has {len(expr.text):,} characters, at most {MAX_LENGTH:,} are allowed"
        raise ExprError(message, 0, 0, "name parts of it in `let`")
    return expr


def place(tree: Node) -> Expr:
    """Make an expression of a tree of any size."""
    writer = _Writer()
    placed = writer.write(tree, _CHOICE)
    return Expr("".join(writer.pieces), placed, names_of(placed))


def level_of(node: Node) -> int:
    """Return how tightly a node's text binds."""
    match node:
        case Choice():
            return _CHOICE
        case Logic(op=op):
            return _OR if op == "or" else _AND
        case Compare():
            return _COMPARE
        case Binary(op=op):
            return _BINARY_LEVEL[op]
        case Unary(op=op):
            return _NOT if op == "not" else _SIGN
        case Int(value=value) if value < 0:
            return _SIGN
        case _:
            return _ATOM


class _Writer:
    """Writes a tree and returns a copy that knows its places."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.at = 0

    def put(self, piece: str) -> None:
        self.pieces.append(piece)
        self.at += len(piece)

    def write(self, node: Node, least: int) -> Node:
        """Write a node where only what binds as tightly as `least` may stand bare."""
        own = level_of(node)
        if own < least:
            self.put("(")
        start = self.at
        placed = self.bare(node, own)
        end = self.at
        if own < least:
            self.put(")")
        return replace(placed, start=start, end=end)

    def bare(self, node: Node, own: int) -> Node:
        match node:
            case Int(value=value):
                self.put(str(value))
                return node
            case Bool(value=value):
                self.put("true" if value else "false")
                return node
            case Ref(name=name):
                self.put(name)
                return node
            case Index(name=name, args=args):
                self.put(f"{name}[")
                placed = self.listed(args, ", ", _CHOICE)
                self.put("]")
                return replace(node, args=placed)
            case Call(function=function, args=args):
                self.put(f"{function}(")
                placed = self.listed(args, ", ", _CHOICE)
                self.put(")")
                return replace(node, args=placed)
            case Unary(op=op, operand=operand):
                self.put("not " if op == "not" else op)
                least = _ATOM if isinstance(operand, Int) else own
                return replace(node, operand=self.write(operand, least))
            case Binary(op=op, left=left, right=right):
                left = self.write(left, own)
                self.put(f" {op} ")
                return replace(node, left=left, right=self.write(right, own + 1))
            case Compare(ops=ops, operands=operands):
                first, *rest = operands
                chain = [self.write(first, own + 1)]
                for op, operand in zip(ops, rest, strict=True):
                    self.put(f" {op} ")
                    chain.append(self.write(operand, own + 1))
                return replace(node, operands=tuple(chain))
            case Logic(op=op, operands=operands):
                return replace(node, operands=self.listed(operands, f" {op} ", own + 1))
            case Choice(test=test, then=then, other=other):
                then = self.write(then, _OR)
                self.put(" if ")
                test = self.write(test, _OR)
                self.put(" else ")
                return replace(node, test=test, then=then, other=self.write(other, _CHOICE))

    def listed(self, nodes: tuple[Node, ...], separator: str, least: int) -> tuple[Node, ...]:
        placed = []
        for at, node in enumerate(nodes):
            if at:
                self.put(separator)
            placed.append(self.write(node, least))
        return tuple(placed)
