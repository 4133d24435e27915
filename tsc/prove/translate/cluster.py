"""Which CTAs of a cluster are looked at, and which of them share loads.

CTAs that share nothing behave alike, so one stands for all. Along an axis that shares loads two stand for
more: each receives its own loads as well, so that every chain of orders through several CTAs is also one
through those two. Where a schedule asks for the place in the cluster, or one CTA sends to another, all along
that axis are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from tsc.expr import Expr
from tsc.ops.sharing import led
from tsc.program import multicast
from tsc.program.model import Program
from tsc.program.names import expressions
from tsc.program.tree import Guard, Loop, Node, Step, TileLoop, walk

MOST = 4  # CTAs that are all looked at


class Cluster:
    """The CTAs of a cluster that the system has; `rank` counts them from 0."""

    def __init__(self, program: Program, whole: bool) -> None:
        """`whole`: all axes matter, not only those along which loads are shared."""
        shared = {axis for pipeline in program.pipelines.values() for axis in pipeline.multicast}
        paired = program.spec.launch.cta_group == 2
        self.pair = next((axis for axis, extent in program.cluster if paired and extent > 1), None)
        named = _named(program) | {
            one.axis for pipeline in program.pipelines.values() for one in pipeline.shared if one.sent
        }
        shared |= named if self.pair is None else {*named, self.pair}
        real = {axis: extent for axis, extent in program.cluster if extent > 1 and (whole or axis in shared)}
        cut = prod(real.values()) > MOST
        self.extents = {
            axis: min(extent, 2) if cut and axis not in named else extent for axis, extent in real.items()
        }
        self.real = dict(program.cluster)
        self.size = prod(self.extents.values())
        self.order = tuple(self.extents.items())

    def ranks(self) -> range:
        """Return the ranks of all CTAs."""
        return range(self.size)

    def place(self, rank: int, axis: str) -> int:
        """Return where a CTA stands along an axis; 0 where it is alone."""
        return multicast.place(self.order, rank, axis)

    def places(self, rank: int) -> dict[str, int]:
        """Return where a CTA stands along the axes that are told apart."""
        return {axis: self.place(rank, axis) for axis in self.extents}

    def peers(self, rank: int, axis: str) -> tuple[int, ...]:
        """Return the CTAs that receive a load shared along an axis, this one included."""
        return multicast.along(self.order, rank, axis)

    def pair_of(self, rank: int) -> tuple[int, ...]:
        """Return the two CTAs whose tensor cores work together, the leader first; alone without pairs."""
        if self.pair is None:
            return (rank,)
        _, stride = multicast.stride(self.order, self.pair)
        first = rank - self.place(rank, self.pair) % 2 * stride
        return first, first + stride

    def leads(self, rank: int) -> bool:
        """Whether a CTA is the leader of its pair."""
        return self.pair_of(rank)[0] == rank

    def parts(self, model: object, size: int | None, axis: str) -> int:
        """Return how many CTAs divide a shared load among them; 1 where the first one has all of it.

        `size` is in bytes, absent where only the run knows it.
        """
        return 1 if led(model, size, self.real.get(axis, 1)) else self.extents.get(axis, 1)

    def issues(self, rank: int, model: object, size: int | None, axis: str) -> bool:
        """Whether a CTA issues a shared load: each its part of it, or the first one all."""
        return self.parts(model, size, axis) > 1 or self.place(rank, axis) == 0


def conditions(node: Node) -> Iterator[Expr]:
    """Yield what decides how often a node is done, as it is written."""
    match node:
        case Loop():
            yield from (node.start, node.end, node.step)
            yield from (piece.until for piece in node.pieces if piece.until is not None)
        case Guard():
            yield from () if node.condition is None else (node.condition,)
        case TileLoop():
            yield from () if node.skip_if is None else (node.skip_if,)
        case Step(verb="skip", model=model):
            yield from (expr for _, expr in expressions(getattr(model, "count", None), ()))


def _named(program: Program) -> set[str]:
    """Return the axes along which a schedule asks for the CTA's place."""
    found: set[str] = set()
    for task in program.tasks:
        for node, _ in walk(task.tree):
            for expr in conditions(node):
                names = program.flat(expr, node.env).free
                found |= {name.split(".")[1] for name in names if name.startswith("cluster.")}
    return found
