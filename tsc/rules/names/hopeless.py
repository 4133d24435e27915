"""Parts of expressions that can have no value, whatever their names stand for."""

from __future__ import annotations

from tsc.expr import EvalError, build, evaluate
from tsc.expr.tree import Binary, Bool, Call, Choice, Index, Int, Logic, Node, Ref, children


def hopeless(node: Node) -> str:
    """Say why a folded node can have no value; nothing if it can."""
    if isinstance(node, Ref | Int | Bool | Index | Choice | Logic):
        return ""
    divides = (isinstance(node, Binary) and node.op in ("//", "%")) or (
        isinstance(node, Call) and node.function in ("cdiv", "align")
    )
    operands = children(node)
    if divides and operands[1] == Int(0):
        return f"`{build(node).text}` divides by zero"
    if not all(isinstance(operand, Int | Bool) for operand in operands):
        return ""
    try:
        evaluate(build(node), {})
    except EvalError as error:
        return error.message
    return ""
