"""Expressions evaluated in Python, with the value and the failures of the generated C++.

Integers have 64 bits. A bool counts as 0 or 1 where a number is needed, a number as true unless it is 0
where a condition is needed; comparisons, `and`, `or` and `not` give bools.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from tsc.expr.hints import did_you_mean
from tsc.expr.tree import (
    INT64_MAX,
    INT64_MIN,
    Binary,
    Bool,
    Call,
    Choice,
    Compare,
    EvalError,
    Expr,
    Index,
    Int,
    Logic,
    Node,
    Ref,
    Unary,
)


class Tensor(Protocol):
    """An integer tensor: an element for each tuple of subscripts; `find` also needs its `shape` or `len`."""

    def __getitem__(self, index: Any, /) -> Any:
        """Return one element."""


Value = int | bool | Tensor
"""What a name may stand for; nested lists serve as tensors too."""

_COMPARE: Mapping[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def evaluate(expr: Expr, env: Mapping[str, Value]) -> int | bool:
    """Compute an expression's value; EvalError, with its place, where it has none.

    It has none if a name is missing from `env`, a division is by zero, a subscript is out of range, or any
    step leaves 64 bits. `and`, `or` and `if` leave unevaluated what they do not need.
    """
    return _Evaluator(expr.text, env).value(expr.tree)


def floor_div(a: int, b: int) -> int:
    """Divide towards minus infinity."""
    return a // b


def cdiv(a: int, b: int) -> int:
    """Divide towards plus infinity."""
    return -(-a // b)


class _Evaluator:
    def __init__(self, text: str, env: Mapping[str, Value]) -> None:
        self.text = text
        self.env = env

    def value(self, node: Node) -> int | bool:
        match node:
            case Int(value=value) | Bool(value=value):
                return value
            case Ref(name=name):
                return self.name(node, name)
            case Index():
                return self.element(node)
            case Unary(op="not", operand=operand):
                return not self.value(operand)
            case Unary(op=op, operand=operand):
                number = int(self.value(operand))
                return self.fitting(node, -number if op == "-" else number)
            case Binary(op=op, left=left, right=right):
                return self.arithmetic(node, op, int(self.value(left)), int(self.value(right)))
            case Compare():
                return self.chain(node)
            case Logic(op="and", operands=operands):
                return all(self.value(operand) for operand in operands)
            case Logic(operands=operands):
                return any(self.value(operand) for operand in operands)
            case Choice(test=test, then=then, other=other):
                return self.value(then if self.value(test) else other)
            case Call():
                return self.call(node)

    def name(self, node: Ref, name: str) -> int | bool:
        value = self.known(name, node.start, node.end)
        if isinstance(value, bool):
            return value
        try:
            number = operator.index(value)  # type: ignore[arg-type]  # NumPy's integers have no base in common
        except TypeError:
            raise EvalError(f"`{name}` is a tensor", node.start, node.end, f"write `{name}[i]`") from None
        return self.fitting(node, number)

    def known(self, name: str, start: int, end: int) -> Value:
        if name not in self.env:
            raise EvalError(f"`{name}` is not known here", start, end, did_you_mean(name, self.env))
        return self.env[name]

    def arithmetic(self, node: Node, op: str, left: int, right: int) -> int:
        match op:
            case "+":
                return self.fitting(node, left + right)
            case "-":
                return self.fitting(node, left - right)
            case "*":
                return self.fitting(node, left * right)
        if right == 0:
            raise EvalError(f"`{self.source(node)}` divides by zero", node.start, node.end)
        quotient = self.fitting(node, left // right)
        return quotient if op == "//" else left % right

    def chain(self, node: Compare) -> bool:
        first, *rest = node.operands
        left = self.value(first)
        for op, operand in zip(node.ops, rest, strict=True):
            right = self.value(operand)
            if not _COMPARE[op](left, right):
                return False
            left = right
        return True

    def call(self, node: Call) -> int:
        if node.function == "find":
            return self.find(node)
        values = [int(self.value(arg)) for arg in node.args]
        match node.function:
            case "min":
                return min(values)
            case "max":
                return max(values)
            case "abs":
                return self.fitting(node, abs(values[0]))
        number, step = values
        if step == 0:
            raise EvalError(f"`{self.source(node)}` divides by zero", node.start, node.end)
        quotient = self.fitting(node, cdiv(number, step))
        return quotient if node.function == "cdiv" else self.fitting(node, quotient * step)

    def element(self, node: Index) -> int:
        end_of_name = node.start + len(node.name)
        tensor = self.tensor(node.name, node.start, end_of_name)
        index = tuple(int(self.value(arg)) for arg in node.args)
        return self.fitting(node, self.read(tensor, node.name, index, node))

    def find(self, node: Call) -> int:
        searched, sought = node.args
        assert isinstance(searched, Ref)
        name = searched.name
        tensor = self.tensor(name, searched.start, searched.end)
        limit = int(self.value(sought))
        first, last = 0, _extent(tensor)
        # Invariant: entries before `first` are at most `limit`, entries from `last` on are above it.
        while first < last:
            middle = (first + last) // 2
            if self.read(tensor, name, (middle,), node) <= limit:
                first = middle + 1
            else:
                last = middle
        if first == 0:
            raise EvalError(f"no entry of `{name}` is at most {limit:,}", node.start, node.end)
        return first - 1

    def tensor(self, name: str, start: int, end: int) -> Any:
        value = self.known(name, start, end)
        if isinstance(value, int) or not hasattr(value, "__getitem__"):
            raise EvalError(f"`{name}` is not a tensor", start, end, f"write `{name}` alone")
        return value

    def read(self, tensor: Any, name: str, index: tuple[int, ...], node: Node) -> int:
        shown = f"{name}[{', '.join(map(str, index))}]"
        shape = getattr(tensor, "shape", None)
        if shape is not None and len(shape) != len(index):
            message = f"`{name}` has {len(shape)} dimensions, the subscript {len(index)}"
            raise EvalError(message, node.start, node.end, "write one subscript a dimension")
        if any(entry < 0 for entry in index):
            raise EvalError(f"`{shown}` is out of range", node.start, node.end)
        try:
            if isinstance(tensor, Sequence):
                for entry in index:
                    tensor = tensor[entry]
                return operator.index(tensor)
            return operator.index(tensor[index])
        except (IndexError, KeyError):
            raise EvalError(f"`{shown}` is out of range", node.start, node.end) from None
        except TypeError:
            raise EvalError(f"`{shown}` is not an integer", node.start, node.end) from None

    def fitting(self, node: Node, value: int) -> int:
        if INT64_MIN <= value <= INT64_MAX:
            return value
        message = f"`{self.source(node)}` is {value:,}, which does not fit 64 bits"
        raise EvalError(message, node.start, node.end)

    def source(self, node: Node) -> str:
        return " ".join(self.text[node.start : node.end].split())


def _extent(tensor: Any) -> int:
    shape = getattr(tensor, "shape", None)
    return int(shape[0]) if shape else len(tensor)
