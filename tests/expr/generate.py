"""Random expressions over a fixed set of names, and values for the names."""

from __future__ import annotations

import operator
from random import Random
from typing import Any

from tsc.expr import EvalError, Expr, Interval, Value, build, evaluate, show
from tsc.expr.tree import Binary, Bool, Call, Choice, Compare, Index, Int, Logic, Node, Ref, Unary

INT32, INT64 = 2**31, 2**63

RANGES = {
    "a": Interval(-8, 8),
    "b": Interval(0, 64),
    "flag": Interval(0, 1),
    "i": Interval(-INT32, INT32 - 1),
    "m": Interval(0, INT32 - 1),
    "starts": Interval(0, 100),
    "table": Interval(-INT64, INT64 - 1),
    "tile.m": Interval(0, 2**20),
    "w": Interval(-INT64, INT64 - 1),
}
BOOLS = ("flag",)
SMALL = {"a": Interval(-6, 6), "b": Interval(0, 12), "flag": Interval(0, 1), "m": Interval(-3, 40)}
STARTS = [0, 3, 7, 7, 20, 100]
TABLE = [[1, -2, 3], [2**40, -(2**62), 0]]
TABLE_BY_PAIR = {(row, column): TABLE[row][column] for row in range(2) for column in range(3)}
TENSORS: dict[str, Value] = {"starts": STARTS, "table": TABLE}
SCALARS = tuple(name for name in RANGES if name not in TENSORS)

LITERALS = (
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    64,
    100,
    -1,
    -2,
    -3,
    127,
    INT32 - 1,
    -INT32,
    INT32,
    2**40,
    INT64 - 1,
    -INT64,
)
COMPARE = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def number(rng: Random, names: tuple[str, ...], depth: int) -> Node:
    """A tree that gives a number, or, now and then, a bool where a number is due."""
    if depth == 0 or rng.random() < 0.1:
        if rng.random() < 0.6:
            return Ref(rng.choice(names))
        return Int(rng.choice(LITERALS[: 14 if rng.random() < 0.9 else None]))
    less = depth - 1
    match rng.randrange(20):
        case 0 | 1 | 2 | 3 | 4:
            return Binary(rng.choice("+-"), number(rng, names, less), number(rng, names, less))
        case 5 | 6 | 7:
            return Binary("*", number(rng, names, less), number(rng, names, rng.randrange(depth)))
        case 8 | 9 | 10:
            return Binary(
                rng.choice(("//", "%")), number(rng, names, less), number(rng, names, rng.randrange(depth))
            )
        case 11:
            return Call(rng.choice(("cdiv", "align")), (number(rng, names, less), number(rng, names, 0)))
        case 12 | 13:
            args = tuple(number(rng, names, less) for _ in range(rng.choice((2, 2, 3))))
            return Call(rng.choice(("min", "max")), args)
        case 14:
            return Call("abs", (number(rng, names, less),))
        case 15:
            operand = number(rng, names, less)
            return (
                Int(-operand.value)
                if isinstance(operand, Int) and operand.value >= 0
                else Unary("-", operand)
            )
        case 16:
            return Choice(condition(rng, names, less), number(rng, names, less), number(rng, names, less))
        case 17:
            return tensor(rng, names, less) if "w" in names else number(rng, names, less)
        case 18:
            return Unary("+", number(rng, names, less))
        case _:
            return condition(rng, names, less)


def tensor(rng: Random, names: tuple[str, ...], depth: int) -> Node:
    match rng.randrange(3):
        case 0:
            return Index("starts", (Binary("%", number(rng, names, depth), Int(6)),))
        case 1:
            row = Binary("%", number(rng, names, 0), Int(2))
            return Index("table", (row, Binary("%", number(rng, names, depth), Int(3))))
        case _:
            return Call("find", (Ref("starts"), number(rng, names, depth)))


def condition(rng: Random, names: tuple[str, ...], depth: int) -> Node:
    """A tree that gives a bool."""
    less = max(depth - 1, 0)
    match rng.randrange(10):
        case 0 | 1 | 2 | 3 | 4:
            count = rng.choice((2, 2, 2, 3))
            ops = tuple(rng.choice(list(COMPARE)) for _ in range(count - 1))
            return Compare(ops, tuple(number(rng, names, less) for _ in range(count)))
        case 5 | 6 if depth:
            parts = tuple(condition(rng, names, less) for _ in range(rng.choice((2, 2, 3))))
            return Logic(rng.choice(("and", "or")), parts)
        case 7 if depth:
            return Unary("not", condition(rng, names, less))
        case 8 if depth:
            return Choice(*(condition(rng, names, less) for _ in range(3)))
        case 9 if "w" in names:
            return Bool(rng.random() < 0.5)
        case _:
            return Compare((rng.choice(list(COMPARE)),), (number(rng, names, 0), number(rng, names, 0)))


def expression(rng: Random, names: tuple[str, ...] = SCALARS, depth: int = 4) -> Expr:
    return build(condition(rng, names, depth) if rng.random() < 0.2 else number(rng, names, depth))


def value(rng: Random, interval: Interval) -> int:
    """A value of an interval: near its ends, near zero, or anywhere."""
    near = rng.choice((interval.lo, interval.hi, 0, 1, 64))
    some = near + rng.randrange(-3, 4) if rng.random() < 0.7 else rng.randint(interval.lo, interval.hi)
    return min(max(some, interval.lo), interval.hi)


def environment(rng: Random, ranges: dict[str, Interval]) -> dict[str, Any]:
    """Values for all names; those whose range is that of a bool are bools."""
    env: dict[str, Any] = {name: value(rng, interval) for name, interval in ranges.items()}
    return {**env, "flag": bool(env["flag"]), **TENSORS}


def unlimited(expr: Expr, env: dict[str, Any]) -> int | bool:
    """The value in integers without limits, as Python's own parser and arithmetic give it."""
    text = show(expr).replace("tile.m", "tile_m")
    names = {**env, "tile_m": env.get("tile.m"), "true": True, "false": False}
    functions = {
        "cdiv": lambda a, b: -(-a // b),
        "align": lambda a, b: -(-a // b) * b,
        "find": lambda starts, limit: max(at for at, start in enumerate(starts) if start <= limit),
        "table": TABLE_BY_PAIR,
    }
    return eval(text, {}, {**names, **functions})


def value_of(expr: Expr, env: dict[str, Any]) -> int | bool | None:
    """The value of an expression, None if it has none."""
    try:
        return evaluate(expr, env)
    except EvalError:
        return None
