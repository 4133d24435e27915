"""What a reference is, evaluated: array notation by the arrays at hand, Python by NumPy."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from tsc.notation import Binary, Call, Minus, Node, Number, Ref, Shapes, Swapped, shape_of
from tsc.verify.arrays import Arrays
from tsc.verify.plan import Function, PlanError

WIDE_ELEMENTS: Final = 1 << 30
"""Elements of all steps of a reference up to which it is evaluated in float64."""

_OPERATORS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "@": operator.matmul,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def is_wide(trees: Mapping[str, Node], shapes: Mapping[str, tuple[int, ...]]) -> bool:
    """Whether references of these shapes are small enough for float64. Raises ShapeError."""
    looked = Shapes(shapes, 1, operator.eq)
    for tree in trees.values():
        shape_of(tree, looked)
    total = 0
    for shape in looked.seen:
        elements = 1
        for extent in shape:
            elements *= extent
        total += elements
    return total <= WIDE_ELEMENTS


def evaluate(node: Node, known: Mapping[str, Any], arrays: Arrays, wide: bool) -> Any:
    """The value of a reference. Raises PlanError for a name that stands for nothing."""
    match node:
        case Number(value=value):
            return arrays.number(value, wide)
        case Ref(name=name):
            if name not in known:
                raise PlanError(f"the reference names `{name}`, which the kernel does not have")
            value = known[name]
            return arrays.number(value, wide) if isinstance(value, (int, float)) else value
        case Minus(operand=operand):
            return -evaluate(operand, known, arrays, wide)
        case Swapped(operand=operand):
            return arrays.xp.swapaxes(evaluate(operand, known, arrays, wide), -1, -2)
        case Binary(op=op, left=left, right=right):
            first, second = (evaluate(one, known, arrays, wide) for one in (left, right))
            with arrays.quiet():
                return _OPERATORS[op](first, second)
        case Call(function="causal", args=(inner,)):
            value = evaluate(inner, known, arrays, wide)
            seen = arrays.triangle(value.shape[-2], value.shape[-1])
            return arrays.xp.where(seen, value, arrays.number(float("-inf"), wide))
        case Call(function="where", args=(condition, first, second)):
            return arrays.xp.where(
                evaluate(condition, known, arrays, wide) != 0,
                evaluate(first, known, arrays, wide),
                evaluate(second, known, arrays, wide),
            )
        case Call(function=function, args=(inner,)):
            return arrays.call(function, evaluate(inner, known, arrays, wide))
    raise PlanError("the reference has a step that is not known")


def shaped(value: Any, shape: tuple[int, ...], name: str, arrays: Arrays) -> Any:
    """A reference in its output's shape: spread where it is smaller, extents of 1 dropped or added."""
    given = tuple(value.shape)
    if given == shape:
        return value
    if [one for one in given if one != 1] == [one for one in shape if one != 1]:
        return value.reshape(shape)
    try:
        return arrays.xp.broadcast_to(value, shape)
    except (ValueError, RuntimeError):
        raise PlanError(
            f"the reference of `{name}` has the shape {list(given)}, and the output {list(shape)}"
        ) from None


def function_of(given: Function) -> Callable[..., Any]:
    """The function of a `verify.python`: the spec's own code is run. Raises PlanError."""
    module = ModuleType("tsc_reference")
    module.__file__ = given.file
    try:
        exec(compile(given.text, given.file, "exec"), module.__dict__)
    except Exception as error:
        raise PlanError(f"`{given.file}` does not run: {type(error).__name__}: {error}") from None
    found: Callable[..., Any] | None = getattr(module, given.function, None)
    if not callable(found):
        raise PlanError(f"`{given.file}` has no function `{given.function}`")
    return found


def arguments_of(function: Callable[..., Any]) -> frozenset[str]:
    """The names that a function takes."""
    return frozenset(inspect.signature(function).parameters)


def call_python(function: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The function's outputs by name, NumPy arrays. Raises PlanError for what is none, or an error in it."""
    numpy = import_module("numpy")
    name = getattr(function, "__name__", "the reference")
    try:
        found = function(**values)
    except Exception as error:
        raise PlanError(f"`{name}` fails on this case: {type(error).__name__}: {error}") from None
    if not isinstance(found, dict):
        raise PlanError(f"`{name}` returns a `{type(found).__name__}`, and a dict of outputs is asked for")
    return {str(key): numpy.asarray(value) for key, value in found.items()}
