"""Expressions made of expressions: names replaced, known parts computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tsc.expr.evaluator import Value, evaluate
from tsc.expr.printer import build
from tsc.expr.tree import (
    INT64_MAX,
    INT64_MIN,
    MAX_DEPTH,
    MAX_LENGTH,
    Binary,
    Bool,
    Call,
    Choice,
    Compare,
    EvalError,
    Expr,
    ExprError,
    Index,
    Int,
    Logic,
    Node,
    Ref,
    Unary,
    children,
    depth,
    is_condition,
    with_children,
)


def substitute(expr: Expr, replacements: Mapping[str, Expr]) -> Expr:
    """Replace names by expressions; a name that is read as a tensor can only become another name.

    ExprError, with the place of the name in `expr`, if that is not so or the result is larger than a text may
    be.
    """
    used = [name for name in expr.names if name.text in replacements]
    if not used:
        return expr
    deepest = max(depth(replacements[name.text].tree) for name in used)
    length = len(expr.text) + sum(len(replacements[name.text].text) for name in used)
    try:
        # Looked at before the tree is made, because names that stand for names that stand for names explode.
        if length <= 2 * MAX_LENGTH and deepest + depth(expr.tree) <= 2 * MAX_DEPTH:
            return build(_replaced(expr.tree, replacements))
    except ExprError as error:
        if error.end:
            raise
    message = f"the expression grows too large once `{used[0].text}` is replaced"
    raise ExprError(message, used[0].start, used[0].end, "write it with fewer names")


def fold(expr: Expr, env: Mapping[str, Value]) -> Expr:
    """Put in the known names and compute what can be computed.

    Where `expr` has a value the result has the same. A part that has none stays as it is.
    """
    return build(_Folder(env).fold(expr.tree))


def _replaced(node: Node, replacements: Mapping[str, Expr]) -> Node:
    match node:
        case Ref(name=name) if name in replacements:
            return replacements[name].tree
        case Index(name=name, args=args):
            placed = tuple(_replaced(arg, replacements) for arg in args)
            return Index(_renamed(node, name, replacements), placed, node.start, node.end)
        case Call(function="find", args=(Ref(name=name) as tensor, sought)):
            renamed = replace(tensor, name=_renamed(tensor, name, replacements))
            return replace(node, args=(renamed, _replaced(sought, replacements)))
        case _:
            return with_children(node, tuple(_replaced(child, replacements) for child in children(node)))


def _renamed(node: Index | Ref, name: str, replacements: Mapping[str, Expr]) -> str:
    if name not in replacements:
        return name
    match replacements[name].tree:
        case Ref(name=other) if "." not in other:
            return other
    end = node.start + len(name)
    raise ExprError(
        f"`{name}` is read as a tensor, but stands for a formula", node.start, end, "name the tensor itself"
    )


class _Folder:
    def __init__(self, env: Mapping[str, Value]) -> None:
        self.env = env

    def fold(self, node: Node) -> Node:
        match node:
            case Ref(name=name) if name in self.env:
                return self.computed(node)
            case Ref() | Int() | Bool():
                return node
            case Choice():
                return self.choice(node)
            case Call(function="find", args=(tensor, sought)):
                return self.computed(replace(node, args=(tensor, self.fold(sought))))
            case _:
                folded = with_children(node, tuple(self.fold(child) for child in children(node)))
                if isinstance(folded, Logic):
                    return _logic(folded)
                if isinstance(folded, Unary):
                    folded = _unary(folded)
                if isinstance(folded, Binary):
                    folded = _binary(folded)
                return self.computed(folded)

    def computed(self, node: Node) -> Node:
        """Return the literal that a node of known operands amounts to, the node itself if it has no value."""
        operands = (
            children(node)[1:] if isinstance(node, Call) and node.function == "find" else children(node)
        )
        if not all(isinstance(operand, Int | Bool) for operand in operands):
            return node
        try:
            value = evaluate(Expr("", node, ()), self.env)
        except EvalError:
            return node
        return Bool(value) if isinstance(value, bool) else Int(value)

    def choice(self, node: Choice) -> Node:
        test = self.fold(node.test)
        if isinstance(test, Int | Bool):
            return self.fold(node.then if test.value else node.other)
        then, other = self.fold(node.then), self.fold(node.other)
        return then if then == other else Choice(test, then, other)


def _logic(node: Logic) -> Node:
    """Drop the literals of an `and` or `or`."""
    decides = node.op == "or"
    kept: list[Node] = []
    for operand in node.operands:
        if not isinstance(operand, Int | Bool):
            kept.append(operand)
        elif bool(operand.value) == decides:
            # What follows is never evaluated; what stands before still is, but has the same value.
            return Bool(decides)
    if not kept:
        return Bool(not decides)
    if len(kept) == 1:
        return kept[0] if is_condition(kept[0]) else Compare(("!=",), (kept[0], Int(0)))
    return replace(node, operands=tuple(kept))


def _unary(node: Unary) -> Node:
    match node:
        case Unary(op="-", operand=Unary(op="-", operand=inner)) if not is_condition(inner):
            return inner
        case Unary(op="not", operand=Unary(op="not", operand=inner)) if is_condition(inner):
            return inner
        case Unary(op="+", operand=inner) if isinstance(inner, Binary | Index | Call):
            return inner
        case _:
            return node


def _binary(node: Binary) -> Node:
    """Apply the identities of arithmetic that need no more room than the original."""
    match node:
        case Binary(op="+" | "-", left=left, right=right):
            if node.op == "-" and left == right:
                return Int(0)
            base, offset = _offset(node)
            inner, more = _offset(base)
            combined = base is not node and (offset == 0 or inner is not base)
            return _plus(inner, offset + more, node) if combined else node
        case (
            Binary(op="*", left=Int(value=factor), right=inner)
            | Binary(op="*", left=inner, right=Int(value=factor))
        ):
            return _times(inner, factor, node)
        case Binary(op="//", left=left, right=Int(value=divisor)):
            return _divided(left, divisor, node)
        case Binary(op="%", left=left, right=Int(value=divisor)):
            whole = divisor == 1 or (divisor != 0 and _factor(left)[1] % divisor == 0)
            return Int(0) if whole else node
        case _:
            return node


def _offset(node: Node) -> tuple[Node, int]:
    """Split a sum into the part that is not a literal and the literal."""
    match node:
        case (
            Binary(op="+", left=Int(value=value), right=inner)
            | Binary(op="+", left=inner, right=Int(value=value))
        ):
            return inner, value
        case Binary(op="-", left=inner, right=Int(value=value)):
            return inner, -value
        case _:
            return node, 0


def _factor(node: Node) -> tuple[Node, int]:
    """Split a product into the part that is not a literal and the literal."""
    match node:
        case (
            Binary(op="*", left=Int(value=value), right=inner)
            | Binary(op="*", left=inner, right=Int(value=value))
        ):
            return inner, value
        case _:
            return node, 1


def _plus(inner: Node, offset: int, node: Node) -> Node:
    if offset == 0:
        return node if is_condition(inner) else inner
    if not INT64_MIN < offset <= INT64_MAX:
        return node
    return Binary("+" if offset > 0 else "-", inner, Int(abs(offset)))


def _times(inner: Node, factor: int, node: Node) -> Node:
    inner, more = _factor(inner)
    factor *= more
    if factor == 0:
        return Int(0)
    if factor == 1 and not is_condition(inner):
        return inner
    return Binary("*", inner, Int(factor)) if more != 1 and INT64_MIN <= factor <= INT64_MAX else node


def _divided(left: Node, divisor: int, node: Node) -> Node:
    if divisor == 1 and not is_condition(left):
        return left
    inner, factor = _factor(left)
    if divisor != 0 and inner is not left and factor % divisor == 0:
        return _times(inner, factor // divisor, Binary("*", inner, Int(factor // divisor)))
    match left:
        case Binary(op="//", left=deeper, right=Int(value=first)) if (
            first > 0 and 0 < divisor * first <= INT64_MAX
        ):
            return Binary("//", deeper, Int(first * divisor))
        case _:
            return node
