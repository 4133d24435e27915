"""The expressions that a node of an expanded schedule evaluates itself, with their places."""

from __future__ import annotations

from collections.abc import Iterator

from tsc.expr import Expr
from tsc.program.names import expressions, key_of
from tsc.program.tree import Guard, Loop, Node, Step, TileLoop
from tsc.source.route import Route


def expressions_of(node: Node) -> Iterator[tuple[Route, Expr]]:
    """Yield options of a step, bounds of a loop, the condition of a guard; nothing from blocks inside."""
    match node:
        case Step():
            if not isinstance(node.model, str):
                for field in type(node.model).model_fields:
                    yield from expressions(
                        getattr(node.model, field), (*node.route, key_of(node.model, field))
                    )
        case Loop():
            yield (*node.route, node.kind), node.end
            yield (*node.route, "start"), node.start
            yield (*node.route, "step"), node.step
            cuts = (piece.until for piece in node.pieces if piece.until is not None)
            yield from (((*node.route, "split_at", i), cut) for i, cut in enumerate(cuts))
        case Guard():
            if node.condition is not None:
                yield (*node.route, node.verb), node.condition
        case TileLoop():
            if node.skip_if is not None:
                yield (*node.route, "skip_if"), node.skip_if
