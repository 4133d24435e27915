"""Expressions printed as C++, with the value that `evaluate` gives.

Arithmetic is done in `int` where the ranges prove that it fits, else in `i64`: a value is widened where the
first operation needs it, and stays wide from there. The functions are those of the device headers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from tsc.expr.intervals import Interval, Ranges, assume, bounds, of_binary, of_call
from tsc.expr.tree import (
    INT32_MAX,
    INT32_MIN,
    INT64_MIN,
    Binary,
    Bool,
    Call,
    Choice,
    Compare,
    Expr,
    Index,
    Int,
    Logic,
    Node,
    Ref,
    Unary,
)

_CHOICE, _OR, _AND, _EQUALITY, _RELATION, _SUM, _PRODUCT, _SIGN, _PRIMARY = range(9)
_LEVELS = {
    "+": _SUM,
    "-": _SUM,
    "*": _PRODUCT,
    "//": _PRODUCT,
    "%": _PRODUCT,
    "==": _EQUALITY,
    "!=": _EQUALITY,
}
_HELPERS = {"//": "floor_div", "%": "floor_mod", "cdiv": "cdiv", "align": "align_up", "abs": "abs"}
_PLAIN = {"//": "/"}

Bits = Literal[32, 64]


@dataclass(frozen=True, slots=True)
class Cpp:
    """A C++ expression: its text, the width of its type (`int` or `i64`), and whether it is a `bool`."""

    text: str
    bits: Bits
    is_bool: bool
    level: int = _PRIMARY

    @property
    def operand(self) -> str:
        """Its text as operand of any operator: in parentheses unless it is a name, a literal or a call."""
        return self.at_least(_PRIMARY)

    def at_least(self, level: int) -> str:
        """Return the text, in parentheses if it binds less tightly than `level`."""
        return self.text if self.level >= level else f"({self.text})"

    def widened(self) -> Cpp:
        """Return the same value as an `i64`."""
        if self.bits == 64:
            return self
        if self.text.removeprefix("-").isdecimal():
            return replace(self, text=f"{self.text}LL", bits=64)
        return Cpp(f"i64({self.text})", 64, False)


def to_cpp(
    expr: Expr,
    spell: Callable[[str], str],
    ranges: Ranges,
    spell_index: Callable[[str, Sequence[str]], str] | None = None,
    bools: Collection[str] = (),
) -> Cpp:
    """Print an expression as C++; equal to `evaluate` for all values in `ranges` for which that succeeds.

    `spell` gives the C++ of a name, which needs no parentheses: a `bool` if it is one of `bools`, else an
    `int` if its range fits 32 bits, else an `i64`. Elements of tensors are `int` or `i64` likewise;
    `spell_index` gives their C++ from the tensor's name and the printed subscripts, by default `x[i]` for one
    and `x(i, j)` for more.
    """

    def element(name: str, args: Sequence[str]) -> str:
        return f"{spell(name)}[{args[0]}]" if len(args) == 1 else f"{spell(name)}({', '.join(args)})"

    known = {**dict.fromkeys(bools, Interval(0, 1)), **ranges}
    return _Printer(spell, spell_index or element, bools, known).emit(expr.tree, known)


class _Printer:
    def __init__(
        self,
        spell: Callable[[str], str],
        spell_index: Callable[[str, Sequence[str]], str],
        bools: Collection[str],
        types: Ranges,
    ) -> None:
        self.spell = spell
        self.spell_index = spell_index
        self.bools = bools
        # A condition narrows what a name can be, not the type that it has.
        self.types = types

    def emit(self, node: Node, ranges: Ranges) -> Cpp:
        match node:
            case Int(value=value):
                return _literal(value)
            case Bool(value=value):
                return Cpp("true" if value else "false", 32, True)
            case Ref(name=name):
                return Cpp(self.spell(name), _bits(bounds(node, self.types)), name in self.bools)
            case Index(name=name, args=args):
                text = self.spell_index(name, [self.emit(arg, ranges).text for arg in args])
                return Cpp(text, _bits(bounds(node, self.types)), False)
            case Unary():
                return self.unary(node, ranges)
            case Binary():
                return self.binary(node, ranges)
            case Compare():
                return self.compare(node, ranges)
            case Logic():
                return self.logic(node, ranges)
            case Choice(test=test, then=then, other=other):
                condition = self.emit(test, ranges)
                first = self.emit(then, assume(ranges, test, True))
                second = self.emit(other, assume(ranges, test, False))
                text = f"{condition.at_least(_OR)} ? {first.at_least(_OR)} : {second.text}"
                bits: Bits = 64 if 64 in (first.bits, second.bits) else 32
                return Cpp(text, bits, first.is_bool and second.is_bool, _CHOICE)
            case Call():
                return self.call(node, ranges)

    def unary(self, node: Unary, ranges: Ranges) -> Cpp:
        inner = self.emit(node.operand, ranges)
        if node.op == "not":
            return Cpp(f"!{inner.at_least(_SIGN)}", 32, True, _SIGN)
        if node.op == "+":
            return Cpp(_number(inner), 32, False) if inner.is_bool else inner
        if not bounds(node, ranges, clamp=False).fits_32:
            inner = inner.widened()
        text = inner.at_least(_PRIMARY if inner.text.startswith("-") else _SIGN)
        return Cpp(f"-{text}", inner.bits, False, _SIGN)

    def binary(self, node: Binary, ranges: Ranges) -> Cpp:
        a, b = bounds(node.left, ranges), bounds(node.right, ranges)
        left, right = self.emit(node.left, ranges), self.emit(node.right, ranges)
        # The remainder is computed by way of the quotient, so that has to fit as well.
        steps = [of_binary("//", a, b)] if node.op in ("//", "%") else []
        left, right = _wide_enough(left, right, steps=[*steps, of_binary(node.op, a, b)])
        bits: Bits = 64 if 64 in (left.bits, right.bits) else 32
        if node.op in ("//", "%") and (a.lo < 0 or b.lo < 0):
            return Cpp(f"{_HELPERS[node.op]}({_number(left)}, {_number(right)})", bits, False)
        level = _LEVELS[node.op]
        operator = _PLAIN.get(node.op, node.op)
        return Cpp(f"{left.at_least(level)} {operator} {right.at_least(level + 1)}", bits, False, level)

    def compare(self, node: Compare, ranges: Ranges) -> Cpp:
        operands = [self.emit(operand, ranges) for operand in node.operands]
        texts = [operand.at_least(_PRIMARY if operand.text.startswith("!") else _SUM) for operand in operands]
        links = [f"{left} {op} {right}" for op, (left, right) in zip(node.ops, pairwise(texts), strict=True)]
        level = _LEVELS.get(node.ops[0], _RELATION) if len(links) == 1 else _AND
        return Cpp(" && ".join(links), 32, True, level)

    def logic(self, node: Logic, ranges: Ranges) -> Cpp:
        own, operator = (_AND, " && ") if node.op == "and" else (_OR, " || ")
        texts = []
        for operand in node.operands:
            printed = self.emit(operand, ranges)
            # Compilers warn of a bare `&&` inside `||`, so that gets its parentheses.
            texts.append(printed.text if printed.level == own else printed.at_least(_EQUALITY))
            ranges = assume(ranges, operand, node.op == "and")
        return Cpp(operator.join(texts), 32, True, own)

    def call(self, node: Call, ranges: Ranges) -> Cpp:
        if node.function == "find" and isinstance(node.args[0], Ref):
            return Cpp(
                f"find({self.spell(node.args[0].name)}, {self.emit(node.args[1], ranges).text})", 32, False
            )
        args = [self.emit(arg, ranges) for arg in node.args]
        ranged = [bounds(arg, ranges) for arg in node.args]
        if node.function in ("min", "max"):
            text = _number(args[0])
            for arg in args[1:]:
                text = f"{node.function}({text}, {_number(arg)})"
            return Cpp(text, max(arg.bits for arg in args), False)
        steps = [of_call("cdiv", ranged)] if node.function == "align" else []
        args = _wide_enough(*args, steps=[*steps, of_call(node.function, ranged)])
        text = ", ".join(map(_number, args))
        return Cpp(f"{_HELPERS[node.function]}({text})", max(arg.bits for arg in args), False)


def _literal(value: int) -> Cpp:
    bits: Bits = 32 if INT32_MIN <= value <= INT32_MAX else 64
    suffix = "" if bits == 32 else "LL"
    if value in (INT32_MIN, INT64_MIN):
        # C++ has no negative literals, and the positive one is too large for the type.
        return Cpp(f"({value + 1}{suffix} - 1)", bits, False)
    return Cpp(f"{value}{suffix}", bits, False, _PRIMARY if value >= 0 else _SIGN)


def _bits(interval: Interval) -> Bits:
    return 32 if interval.fits_32 else 64


def _number(value: Cpp) -> str:
    """Return the text as argument of a template, which would take a bool for a type of its own."""
    return f"int({value.text})" if value.is_bool else value.text


def _wide_enough(*operands: Cpp, steps: Sequence[Interval]) -> list[Cpp]:
    """Widen one operand if all have 32 bits and a step of the operation needs more."""
    if all(step.fits_32 for step in steps) or any(operand.bits == 64 for operand in operands):
        return list(operands)
    simple = [
        at
        for at, operand in enumerate(operands)
        if operand.level == _PRIMARY and not operand.text.isdecimal()
    ]
    chosen = simple[0] if simple else 0
    return [operand.widened() if at == chosen else operand for at, operand in enumerate(operands)]
