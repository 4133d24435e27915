"""What known names decide, chosen among the operands that are written, whose names say more than numbers."""

from __future__ import annotations

from collections.abc import Mapping

from tsc.expr.evaluator import Value, evaluate
from tsc.expr.printer import build
from tsc.expr.transform import fold
from tsc.expr.tree import (
    Call,
    Choice,
    EvalError,
    Expr,
    Node,
    Ref,
    children,
    walk,
    with_children,
)


def settle(expr: Expr, env: Mapping[str, Value]) -> Expr:
    """Put in place of each `min`, `max` and choice that known names decide the operand that it amounts to.

    With `BN` 256 and `EN` 64, `min(2 * EN, BN - EN)` becomes `2 * EN`, and `min(0, BN - EN)` becomes 0.
    """
    if not expr.calls & {"min", "max"} and not any(isinstance(node, Choice) for node in walk(expr.tree)):
        return expr
    tree = _settled(expr.tree, env)
    return fold(build(tree), {}) if tree != expr.tree else expr


def _settled(node: Node, env: Mapping[str, Value]) -> Node:
    match node:
        case Call(function="find"):
            return node
        case Choice(test=test, then=then, other=other):
            chosen = _value(test, env)
            if chosen is not None:
                return _settled(then if chosen else other, env)
        case Call(function="min" | "max" as which, args=args):
            values = [_value(arg, env) for arg in args]
            known = [value for value in values if value is not None]
            if len(known) == len(values):
                best = min(known) if which == "min" else max(known)
                return _settled(args[values.index(best)], env)
    return with_children(node, tuple(_settled(child, env) for child in children(node)))


def _value(node: Node, env: Mapping[str, Value]) -> int | bool | None:
    if not all(inner.name in env for inner in walk(node) if isinstance(inner, Ref)):
        return None
    try:
        return evaluate(build(node), env)
    except EvalError:
        return None
