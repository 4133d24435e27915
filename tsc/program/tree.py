"""The schedule tree of a task instance, with build nodes expanded.

The nodes are those of LANGUAGE section 3 that remain at run time: steps, loops and guards. Every node knows
the route of what the author wrote, and the build-time values (`replica`, `part`, repeat variables) under
which it was copied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from tsc.expr import Expr
from tsc.ops.base import StepModel
from tsc.source.route import Route

Section = Literal["BEFORE", "HEAD", "LOOP", "TAIL", "AFTER"]
"""BEFORE and AFTER stand outside the work_tile_loop and run once a CTA."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step; `model` is its Pydantic model, or the bare word."""

    route: Route
    verb: str
    model: StepModel | str
    env: Mapping[str, int | bool]
    section: Section
    index: int  # call index: number of this step among its task's, in textual order
    derived: bool = False


@dataclass(frozen=True, slots=True)
class TileLoop:
    """The loop over the tiles of a queue."""

    route: Route
    queue: str
    skip_if: Expr | None
    env: Mapping[str, int | bool]
    body: Block


@dataclass(frozen=True, slots=True)
class Piece:
    """One part of a loop: it runs from the cut before it to `until` (`None`: the end of the loop)."""

    part: int
    until: Expr | None
    body: Block


@dataclass(frozen=True, slots=True)
class Loop:
    """A `domain_loop` or a `for`, of one piece if not split; `variable` is the name of its value."""

    route: Route
    kind: Literal["domain_loop", "for"]
    variable: str
    start: Expr
    end: Expr
    step: Expr
    unroll: int | None
    key: str | None
    env: Mapping[str, int | bool]
    pieces: tuple[Piece, ...]
    split: bool


@dataclass(frozen=True, slots=True)
class Guard:
    """A conditional block.

    `kind` is the verb; `when_true` and `when_false` are `when` with an empty other side. `condition` for
    `when`, `period` and `start` for `every`.
    """

    route: Route
    kind: Literal["first_iter", "last_iter", "every", "when", "skippable"]
    verb: str  # as written
    condition: Expr | None
    key: str | None
    period: int | None
    start: int | None
    env: Mapping[str, int | bool]
    then: Block
    otherwise: Block


Node = Step | TileLoop | Loop | Guard
Block = tuple[Node, ...]


def blocks(node: Node) -> tuple[Block, ...]:
    """Return the blocks inside a node, in textual order."""
    match node:
        case TileLoop():
            return (node.body,)
        case Loop():
            return tuple(piece.body for piece in node.pieces)
        case Guard():
            return (node.then, node.otherwise)
    return ()


def walk(block: Block, above: tuple[Node, ...] = ()) -> Iterator[tuple[Node, tuple[Node, ...]]]:
    """Yield every node with the nodes around it, outermost first, in textual order."""
    for node in block:
        yield node, above
        for inner in blocks(node):
            yield from walk(inner, (*above, node))


def steps(block: Block) -> Iterator[Step]:
    """Yield every step in textual order."""
    for node, _ in walk(block):
        if isinstance(node, Step):
            yield node
