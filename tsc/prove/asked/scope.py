"""What the names of an expression mean at a place of a schedule, in symbols that tasks share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tsc.expr import Expr, Interval
from tsc.expr.tree import Binary, Call, Index, Int, Node, Ref, walk
from tsc.program.model import Task
from tsc.program.tree import Loop, TileLoop
from tsc.program.tree import Node as TreeNode
from tsc.prove.asked.model import LoopNode
from tsc.prove.asked.symbols import THREAD_NAMES, TILE, WIDTHS, free, loop_symbol, replaced
from tsc.prove.asked.versions import Seen, Version
from tsc.spec.schedule import Do

if TYPE_CHECKING:
    from tsc.prove.asked.places import Places

Rank = tuple[tuple[str, int], ...]
Env = Mapping[str, int | bool]


@dataclass(frozen=True, slots=True)
class Shape:
    """A loop as the machine runs it: from `start` by `step` below `bound`, which is an expression.

    `value` is what the author's variable is at the machine's value, `trips` the number of rounds where there
    is one at least.
    """

    start: int
    step: int
    bound: Node
    value: Node
    trips: Node


@dataclass(frozen=True, slots=True)
class Turn:
    """A loop around a place, with its coordinate; the loop over the tiles has no shape."""

    node: LoopNode
    coordinate: int
    shape: Shape | None

    @property
    def symbol(self) -> str:
        """The symbol of its value."""
        return loop_symbol(self.coordinate)

    @property
    def start(self) -> int:
        """Its first value."""
        return self.shape.start if self.shape is not None else 0

    @property
    def step(self) -> int:
        """The distance of its values."""
        return self.shape.step if self.shape is not None else 1


class Scope:
    """The names at one place of one task in one CTA of a cluster."""

    def __init__(
        self,
        places: Places,
        task: Task,
        node: TreeNode,
        inside: bool,
        turns: tuple[Turn, ...],
        rank: Rank,
    ) -> None:
        self.places, self.task, self.node, self.inside = places, task, node, inside
        self.turns, self.rank = turns, rank
        self.program, self.symbols = places.program, places.symbols
        self.facts: tuple[Node, ...] = places.facts(task, turns)
        self.ranges = places.ranges(turns)

    @cached_property
    def seen(self) -> Seen:
        """The tokens and registers that the place sees."""
        versions = self.places.versions(self.task)
        if self.inside and isinstance(self.node, LoopNode):
            return versions.inside(self.node)
        return versions.at(self.node)

    @property
    def place(self) -> int:
        """Tells this place from others."""
        return id(self.node)

    @property
    def depth(self) -> int:
        """How many coordinates the place has."""
        return 1 + sum(isinstance(turn.node, Loop) for turn in self.turns)

    def tree(self, expr: Expr, env: Env, rounds: bool = False) -> Node:
        """Return an expression in symbols; whatever is not understood is a value of this place alone.

        With `rounds`, the round of a loop with a step and the number of its rounds have symbols of their own,
        so that they can be compared; else they are written with the loop's value and bound.
        """
        flat = self.program.flat(expr, env).tree
        tensors = {node.name for node in walk(flat) if isinstance(node, Index)}
        tensors |= {
            node.args[0].name
            for node in walk(flat)
            if isinstance(node, Call) and node.function == "find" and isinstance(node.args[0], Ref)
        }
        renamed = {name: self.private(name).name for name in sorted(tensors & self.places.written)}
        values = {name: self.meaning(name) for name in sorted(free(flat) - tensors)}
        found = replaced(flat, values, renamed)
        return found if rounds else replaced(found, self.counts)

    @cached_property
    def counts(self) -> dict[str, Node]:
        """What the symbols of rounds and their numbers are."""
        values: dict[str, Node] = {}
        for turn in self.turns:
            if turn.shape is not None and turn.step != 1:
                values[f"iter:{turn.coordinate}"] = round_of(turn)
                values[f"trips:{turn.coordinate}"] = turn.shape.trips
        return values

    def private(self, name: str, depth: int | None = None, key: object = None) -> Ref:
        """Return a symbol that only this task in this CTA knows; without a key only at this place."""
        whose = (self.task.label, self.rank, self.place if key is None else key, name)
        range_ = self._range_of(name)
        text = f"{name} in `{self.task.label}`{self.places.of_rank(self.rank)}"
        return self.symbols.own(whose, text, self.depth if depth is None else depth, range_, local=True)

    def differs(self, tree: Node) -> bool:
        """Whether a value may be another one in another CTA of the cluster."""
        return self.program.cluster_size > 1 and not free(tree).isdisjoint(self.symbols.local)

    def _range_of(self, name: str) -> Interval | None:
        register = self.program.registers.get(name)
        return WIDTHS.get(register.dtype) if register is not None else self.program.ranges.get(name)

    def meaning(self, name: str) -> Node:
        """Return a name in symbols."""
        known = self._of_loop(name)
        if known is not None:
            return known
        program, head = self.program, name.partition(".")[0]
        if name in self.places.dims:
            return self.places.dims[name]
        if name in program.dims or name in program.scalars or name == "sms" or head == "grid":
            return Ref(name)
        if head == "cluster":
            axis = name.partition(".")[2]
            return Int(dict(self.rank).get(axis, 0))
        if head == "block":
            return Ref(name) if program.cluster_size == 1 else self._of_cta(name)
        if head == "tile" and any(isinstance(turn.node, TileLoop) for turn in self.turns):
            return self._of_tile(name)
        if name == "warp" and self.task.warps == 1:
            return Int(0)
        if name in THREAD_NAMES:
            return Ref(name)
        if name in self.seen:
            return self.of_version(self.seen[name])
        return self.private(name)

    def _of_loop(self, name: str) -> Node | None:
        loops = [turn for turn in self.turns if turn.shape is not None]
        for turn in reversed(loops):
            if isinstance(turn.node, Loop) and turn.node.variable == name and turn.shape is not None:
                return turn.shape.value
        if name not in ("iter", "trips") or not loops:
            return None
        turn = loops[-1]
        if turn.step != 1:
            return Ref(f"{name}:{turn.coordinate}")
        assert turn.shape is not None
        return turn.shape.trips if name == "trips" else round_of(turn)

    def _of_cta(self, name: str) -> Node:
        text = f"{name}{self.places.of_rank(self.rank)}"
        return self.symbols.own((name, self.rank), text, 0, self.program.ranges.get(name), local=True)

    def _of_tile(self, name: str) -> Node:
        axis = name.partition(".")[2]
        size = dict(self.program.cluster).get(axis, 1)
        if name == TILE or size == 1:
            return Ref(name)
        unit = self.symbols.unit(axis, size)
        return Binary("+", Binary("*", unit, Int(size)), Int(dict(self.rank).get(axis, 0)))

    def of_version(self, version: Version) -> Node:
        """Return the value of a token or register in symbols."""
        shared = self._shared(version) if version.step is not None else None
        if shared is not None:
            return shared
        depth = 1 + sum(isinstance(node, Loop) for node in version.above)
        return self.private(version.name, depth, ("version", version.number))

    def _shared(self, version: Version) -> Node | None:
        """Return the symbol of a token whose work gives everyone the same for the same arguments."""
        step = version.step
        if step is None or not isinstance(step.model, Do) or version.name not in step.model.out:
            return None
        work = self.program.works.get(step.model.do)
        number = step.model.out.index(version.name)
        if work is None or number >= len(work.returns) or not self.places.pure(work):
            return None
        there = self.places.scope(self.task, step, version.above, self.rank)
        given = step.model.with_
        args: list[Node] = [there.tree(given[name], step.env) for name, _ in work.args if name in given]
        args += [there.tree(expr, step.env) for expr in self.places.implied(work, there, step)]
        if any(free(arg) & THREAD_NAMES for arg in args):
            return None
        result, dtype = work.returns[number]
        name = f"{work.name}.{result}"
        self.symbols.ranges.setdefault(name, WIDTHS.get(dtype, Interval()))
        return Index(name, tuple(args)) if args else Ref(name)


def round_of(turn: Turn) -> Node:
    """Return the number of the round of a loop as an expression of its value."""
    value: Node = Ref(turn.symbol)
    if turn.start:
        value = Binary("-", value, Int(turn.start))
    return value if turn.step == 1 else Binary("//", value, Int(turn.step))
