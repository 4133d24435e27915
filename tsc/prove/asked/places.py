"""Makes the scopes of places, and keeps what they share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from tsc.expr import Expr, ExprError, Interval, parse
from tsc.expr.intervals import bounds
from tsc.expr.tree import Binary, Call, Compare, Int, Node, Ref
from tsc.expr.tree import walk as tree_walk
from tsc.program.accesses import touches
from tsc.program.model import Program, Task, Work
from tsc.program.tree import Loop, Step, TileLoop, walk
from tsc.program.tree import Node as TreeNode
from tsc.prove.asked.model import LoopNode
from tsc.prove.asked.scope import Rank, Scope, Shape, Turn
from tsc.prove.asked.shapes import shape_of, units_of
from tsc.prove.asked.symbols import Symbols, loop_symbol
from tsc.prove.asked.versions import Versions
from tsc.spec.schedule import Skip

_WORD = re.compile(r"[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)?")


class Places:
    """Makes scopes; one a place."""

    def __init__(self, program: Program, symbols: Symbols) -> None:
        self.program, self.symbols = program, symbols
        self._versions: dict[str, Versions] = {}
        self._scopes: dict[object, Scope] = {}
        self._shapes: dict[object, Shape] = {}
        self._units = units_of(program)

    @cached_property
    def written(self) -> frozenset[str]:
        """The tensors that the kernel writes."""
        return frozenset(_written(self.program))

    @cached_property
    def dims(self) -> dict[str, Node]:
        """The dims that a count divides by what they are promised to be a multiple of, as products."""
        factors = {name: dim.multiple_of for name, dim in self.program.dims.items() if dim.multiple_of > 1}
        divided = {
            name
            for expr, env in (_counts(self.program) if factors else ())
            for node in tree_walk(self.program.flat(expr, env).tree)
            for name, divisor in _quotient(node)
            if factors.get(name, 1) % divisor == 0
        }
        return {name: self.symbols.multiple(name, factors[name]) for name in sorted(divided)}

    def versions(self, task: Task) -> Versions:
        """Return the versions of a task's tokens and registers."""
        if task.label not in self._versions:
            self._versions[task.label] = Versions(self.program, task)
        return self._versions[task.label]

    def scope(
        self, task: Task, node: TreeNode, above: tuple[LoopNode, ...], rank: Rank, inside: bool = False
    ) -> Scope:
        """Return the names where a node begins, or inside of a loop node at the beginning of a round."""
        key = (task.label, id(node), rank, inside)
        if key not in self._scopes:
            loops = (*above, node) if inside and isinstance(node, LoopNode) else above
            turns = self._turns(task, loops, rank)
            self._scopes[key] = Scope(self, task, node, inside, turns, rank)
        return self._scopes[key]

    def _turns(self, task: Task, loops: tuple[LoopNode, ...], rank: Rank) -> tuple[Turn, ...]:
        turns: list[Turn] = []
        first = 0 if loops and isinstance(loops[0], TileLoop) else 1
        for i, node in enumerate(loops):
            shape = None
            if isinstance(node, Loop):
                shape = self.shape(task, node, loops[:i], rank)
                self.symbols.shown.setdefault(loop_symbol(first + i), node.variable)
            turns.append(Turn(node, first + i, shape))
        return tuple(turns)

    def shape(self, task: Task, node: Loop, above: tuple[LoopNode, ...], rank: Rank) -> Shape:
        """Return the form that the machine gives a loop."""
        key = (task.label, id(node), rank)
        if key not in self._shapes:
            coordinate = len(above) + (0 if above and isinstance(above[0], TileLoop) else 1)
            scope = self.scope(task, node, above, rank)
            self._shapes[key] = shape_of(scope, node, coordinate, self._units)
        return self._shapes[key]

    def of_rank(self, rank: Rank) -> str:
        """Say which CTA of a cluster it is, where there are several."""
        if self.program.cluster_size == 1:
            return ""
        return " of the CTA with " + ", ".join(f"cluster.{axis} = {value}" for axis, value in rank)

    def pure(self, work: Work) -> bool:
        """Whether what a work returns depends on its arguments alone."""
        if work.writes or work.updates or work.text is None:
            return False
        params = self.program.scalars.keys() | (self.program.tensors.keys() - self.written)
        workspaces = {name for name, tensor in self.program.tensors.items() if tensor.workspace}
        return all(reference.name in params - workspaces for reference in work.reads)

    def implied(self, work: Work, scope: Scope, step: Step) -> list[Expr]:
        """Return the names that a work's text mentions and that differ from place to place."""
        words = {re.sub(r"\s", "", word) for word in _WORD.findall(work.text or "")}
        heads = {word.partition(".")[0] for word in words}
        names = {"iter", "trips", "loop", *step.env} | set(scope.seen) | self.program.lets.keys()
        names |= {turn.node.variable for turn in scope.turns if isinstance(turn.node, Loop)}
        found = sorted((names & heads) - {"threads"} - {name for name, _ in (*work.args, *work.returns)})
        for head, axes in (
            ("tile", ["seq", *(axis for axis, _ in self.program.queue.axes)] if self.program.queue else []),
            ("block", list("xyz")),
            ("cluster", [axis for axis, _ in self.program.cluster]),
        ):
            used = [axis for axis in axes if f"{head}.{axis}" in words]
            # A view handed on as a whole stands for all that is in it.
            found += [f"{head}.{axis}" for axis in (axes if head in words else used)]
        exprs = []
        for name in found:
            try:
                exprs.append(parse(name))
            except ExprError:
                continue
        if "task" in heads:
            # A snippet may ask how many threads run it, which tells tasks apart that are not of one size.
            exprs.append(parse(scope.task.warps or 0))
        return exprs

    def facts(self, task: Task, turns: tuple[Turn, ...]) -> tuple[Node, ...]:
        """Return what holds of the threads, of the loops around a place and of the tile."""
        sizes = (("thread", max(1, task.threads)), ("warp", max(1, task.warps or 1)), ("lane", 32))
        found: list[Node] = [Compare(("<=", "<"), (Int(0), Ref(name), Int(size))) for name, size in sizes]
        for turn in turns:
            if turn.shape is None:
                found += self.of_tile()
                continue
            value, shape = Ref(turn.symbol), turn.shape
            found.append(Compare(("<=", "<"), (Int(shape.start), value, shape.bound)))
            if shape.step != 1:
                iter_, trips = Ref(f"iter:{turn.coordinate}"), Ref(f"trips:{turn.coordinate}")
                moved = Binary("+", Int(shape.start), Binary("*", iter_, Int(shape.step)))
                found.append(Compare(("==",), (value, moved)))
                found.append(Compare(("<=", "<"), (Int(0), iter_, trips)))
                found.append(Compare(("==",), (trips, shape.trips)))
        return tuple(found)

    def of_tile(self) -> list[Node]:
        """Return that the tile lies within the extents."""
        found: list[Node] = []
        clusters = dict(self.program.cluster)
        for axis, extent in self.program.queue.axes if self.program.queue is not None else ():
            size, limit = clusters.get(axis, 1), extent.tree
            if size == 1:
                found.append(Compare(("<",), (Ref(f"tile.{axis}"), limit)))
            else:
                unit = self.symbols.unit(axis, size)
                found.append(Compare(("<",), (unit, Call("cdiv", (limit, Int(size))))))
        return found

    def ranges(self, turns: tuple[Turn, ...]) -> dict[str, Interval]:
        """Return the bounds of the loops' values at a place, where they have some."""
        found: dict[str, Interval] = {}
        for turn in turns:
            if turn.shape is not None:
                known = {**self.symbols.ranges, **found}
                most = bounds(turn.shape.bound, known).hi - 1
                found[turn.symbol] = Interval(turn.start, max(turn.start, most))
        return found


def _written(program: Program) -> set[str]:
    """Return the tensors that the kernel writes."""
    return {
        touch.operand.name
        for task in program.tasks
        for step in task.steps()
        for touch in touches(step, program.meanings, program.works, task.name, task.replica)
        if touch.writes and touch.operand is not None and touch.operand.kind == "tensor"
    }


def _counts(program: Program) -> Iterator[tuple[Expr, Mapping[str, int | bool]]]:
    """Yield what loops and steps that count are bounded by."""
    for task in program.tasks:
        for node, _ in walk(task.tree):
            if isinstance(node, Loop):
                yield from ((expr, node.env) for expr in (node.start, node.end))
            elif isinstance(node, Step) and isinstance(node.model, Skip):
                yield node.model.count, node.env


def _quotient(node: Node) -> Iterator[tuple[str, int]]:
    """Yield a dim and the number that divides it; nothing where a tree is no such quotient."""
    match node:
        case Binary(op="//", left=Ref(name=name), right=Int(value=divisor)) if divisor > 1:
            yield name, divisor
        case Call(function="cdiv", args=(Ref(name=name), Int(value=divisor))) if divisor > 1:
            yield name, divisor
