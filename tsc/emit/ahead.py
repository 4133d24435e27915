"""What a loop reads once, before its first round: lets and elements of tensors that no round changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsc.emit.kernel import integer_type
from tsc.emit.plan import Statement
from tsc.emit.scope import Ahead, Scope
from tsc.expr import Expr, build, interval
from tsc.expr.tree import Call, Choice, Compare, Index, Logic, Node, Ref, children, walk, with_children

if TYPE_CHECKING:
    from tsc.emit.function import Function


def certain(node: Node) -> tuple[Node, ...]:
    """Return the operands that a node evaluates whenever it is evaluated."""
    match node:
        case Logic():
            return node.operands[:1]
        case Compare():
            return node.operands[:2]
        case Choice():
            return (node.test,)
        case _:
            return children(node)


def _walk_certain(node: Node) -> Iterator[Node]:
    yield node
    for operand in certain(node):
        yield from _walk_certain(operand)


def lets_for_certain(function: Function, expr: Expr) -> set[str]:
    """Return the lets that an expression needs whatever comes out of its conditions."""
    lets, found, todo = function.program.lets, set[str](), [expr]
    while todo:
        names = {node.name for node in _walk_certain(todo.pop().tree) if isinstance(node, Ref)}
        new = {name for name in names if name in lets} - found
        found |= new
        todo += [function.program.spec.let[name] for name in new]
    return found


def declare_let(function: Function, name: str, scope: Scope, ahead: Ahead) -> None:
    """Make a let a constant before the loop, read where there is a round to use it."""
    value = function.cpp(function.program.spec.let[name], {}, scope, reads_ahead=False)
    type_ = "bool" if value.is_bool else integer_type(function.let_range(name))
    spelled = function.spelled_lets[name] = function.let_name(name)
    ahead.lets[name] = _constant(type_, spelled, value.text, ahead, value.is_bool)


def with_reads_ahead(function: Function, expr: Expr, scope: Scope) -> Expr:
    """Put constants made before the loop in the place of what an expression reads in each round alike."""
    ahead = scope.ahead
    if ahead is None or scope.certain != "round" or not expr.indexed:
        return expr
    tree = _replaced(function, expr.tree, scope, ahead)
    return expr if tree == expr.tree else build(tree)


def _replaced(function: Function, node: Node, scope: Scope, ahead: Ahead) -> Node:
    if _reads(node) and _stays(function, node):
        return Ref(_declare_read(function, node, scope, ahead))
    sure = {id(operand) for operand in certain(node)}
    operands = [
        _replaced(function, operand, scope, ahead) if id(operand) in sure else operand
        for operand in children(node)
    ]
    return with_children(node, tuple(operands)) if operands else node


def _reads(node: Node) -> bool:
    return isinstance(node, Index) or (isinstance(node, Call) and node.function == "find")


def _stays(function: Function, node: Node) -> bool:
    """Whether an element is the same in every round: nobody here writes it, and its place is known before."""
    program = function.program
    for one in walk(node):
        if not isinstance(one, Ref | Index):
            continue
        name = one.name
        fixed = name.startswith(("tile.", "cluster.", "block.", "grid.")) or name in ("sms", "replica")
        fixed |= name in program.constants or name in program.dims or name in program.scalars
        fixed |= name in program.lets and name in function.spelled_lets
        if not fixed and (name not in program.tensors or name in function.written_tensors):
            return False
    return True


def _declare_read(function: Function, node: Node, scope: Scope, ahead: Ahead) -> str:
    expr = build(node)
    if expr.text not in ahead.reads:
        tensor = next(
            one.name for one in walk(node) if isinstance(one, Ref | Index) and _is_tensor(function, one)
        )
        value = function.cpp(expr, {}, scope, reads_ahead=False)
        spelled = ahead.reads[expr.text] = function.names.free(f"{tensor}_here")
        function.spelled_lets[spelled] = spelled
        own = ahead.ranges[spelled] = interval(expr, function.ranges({}, scope))
        ahead.lets[spelled] = _constant(integer_type(own), spelled, value.text, ahead, False)
    return ahead.reads[expr.text]


def _is_tensor(function: Function, node: Ref | Index) -> bool:
    return node.name in function.program.tensors


def _constant(type_: str, name: str, text: str, ahead: Ahead, is_bool: bool) -> Statement:
    otherwise = "false" if is_bool else "0"
    value = f"{ahead.runs} ? {text} : {otherwise}" if ahead.runs else text
    return Statement("constant", {"type": type_, "name": name, "value": value})
