"""Every path through a task's schedule, as far as a rule needs to tell paths apart.

A rule gives a transfer function over some small state; the walker runs it along all paths: guards taken and
not taken (two guards on one condition move together), loops of no round, of one, and of many, first and last
rounds apart, `every` by its phase. A guard without a step that matters is not a branch.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from math import lcm
from typing import Generic, TypeVar

from tsc.expr import evaluate, interval, show
from tsc.expr.tree import Unary
from tsc.program.accesses import touches
from tsc.program.model import Program, Task
from tsc.program.tree import Block, Guard, Loop, Step, TileLoop, blocks, walk
from tsc.spec.schedule import Do

S = TypeVar("S", bound=Hashable)

# Beyond this many states conditions are no longer told apart, and rules stay silent.
MOST_STATES = 4096
# Loops with a trip count known when built are run round by round up to this many rounds.
MOST_ROUNDS = 64
# Phases of `every` blocks are told apart up to this common period.
MOST_PERIOD = 64


@dataclass(frozen=True, slots=True)
class Assumption:
    """A condition that has been decided on this path, and the names on which it depends."""

    key: str
    value: bool
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Path(Generic[S]):
    """A state and the conditions under which it was reached."""

    state: S
    assumed: frozenset[Assumption] = frozenset()


@dataclass(frozen=True, slots=True)
class _Round:
    """The round of the innermost loop: its number (of a class of them), and if it is the first or last."""

    number: int
    first: bool
    last: bool


class Walker(Generic[S]):
    """Runs `transfer` along all paths of one task; `matters` says which steps change or look at the state."""

    def __init__(
        self, program: Program, task: Task, transfer: Callable[[Step, S], S], matters: Callable[[Step], bool]
    ) -> None:
        self.program, self.task, self.transfer = program, task, transfer
        self.complete = True
        self._relevant: set[int] = set()
        for node, above in walk(task.tree):
            if isinstance(node, Step) and matters(node):
                self._relevant.update(id(outer) for outer in above)
                self._relevant.add(id(node))

    def run(self, initial: S) -> frozenset[S]:
        """Return the states at the end of the schedule; `complete` is false after too many paths."""
        ends = self._block(self.task.tree, {Path(initial)}, None)
        return frozenset(path.state for path in ends)

    def _block(self, block: Block, paths: set[Path[S]], now: _Round | None) -> set[Path[S]]:
        for node in block:
            if id(node) not in self._relevant and not isinstance(node, Step):
                continue
            match node:
                case Step():
                    paths = {self._step(node, path) for path in paths}
                case TileLoop():
                    paths = self._tiles(node, paths)
                case Loop():
                    paths = self._loop(node, paths)
                case Guard():
                    paths = self._guard(node, paths, now)
            if len(paths) > MOST_STATES:
                self.complete = False
                paths = {Path(path.state) for path in paths}
                paths = set(list(paths)[:MOST_STATES])
        return paths

    def _step(self, step: Step, path: Path[S]) -> Path[S]:
        state = self.transfer(step, path.state) if id(step) in self._relevant else path.state
        changed = self._changed(step) if path.assumed else frozenset()
        if changed:
            return Path(state, frozenset(a for a in path.assumed if not a.names & changed))
        return Path(state, path.assumed)

    def _changed(self, step: Step) -> frozenset[str]:
        """Return the tokens and registers that a step gives new values."""
        names = set(step.model.out) if isinstance(step.model, Do) else set()
        for touch in touches(
            step, self.program.meanings, self.program.works, self.task.name, self.task.replica
        ):
            if touch.writes and touch.operand is not None and touch.operand.kind == "registers":
                names.add(touch.operand.name)
        return frozenset(names)

    def _tiles(self, node: TileLoop, paths: set[Path[S]]) -> set[Path[S]]:
        done, frontier, seen = set(paths), paths, set(paths)
        if self.program.queue is not None and self.program.queue.policy == "grid":
            return self._block(node.body, paths, None)
        while frontier:
            after = {_forget(path, _is_tile_name) for path in self._block(node.body, frontier, None)}
            frontier = after - seen
            seen |= after
            done |= after
        return done

    def _loop(self, node: Loop, paths: set[Path[S]]) -> set[Path[S]]:
        trips = static_trips(self.program, node)
        if trips is not None and trips <= MOST_ROUNDS and not node.split:
            for number in range(trips):
                paths = self._block(
                    node.pieces[0].body, paths, _Round(number, number == 0, number == trips - 1)
                )
                paths = {self._next(path, node) for path in paths}
            return paths
        key = "trips " + " ".join(
            show(self.program.flat(e, node.env)) for e in (node.start, node.end, node.step)
        )
        names = frozenset(
            n.text for e in (node.start, node.end) for n in self.program.flat(e, node.env).names
        )
        some, none = self._split(paths, node.key or key, names)
        if trips is not None or self._never_empty(node):
            some, none = some | none, set()
        period, offset = self._periods(node)
        ended = {path for path in none}
        entering: set[tuple[int, Path[S]]] = {(0, path) for path in some}
        for i, piece in enumerate(node.pieces):
            frontier, seen, leaving = entering, set(entering), set(entering) if node.split else set()
            while frontier:
                following: set[tuple[int, Path[S]]] = set()
                for number in {n for n, _ in frontier}:
                    here = {path for n, path in frontier if n == number}
                    ended |= {
                        self._next(path, node)
                        for path in self._block(piece.body, here, _Round(number, number == 0, True))
                    }
                    after = self._block(piece.body, here, _Round(number, number == 0, False))
                    step = number + 1 if number + 1 < offset + period else offset
                    following |= {(step, self._next(path, node)) for path in after}
                frontier = following - seen
                seen |= following
                leaving |= following
                if len(seen) > MOST_STATES:
                    self.complete = False
                    break
            entering = leaving if i + 1 < len(node.pieces) else set()
        return ended

    def _next(self, path: Path[S], node: Loop) -> Path[S]:
        gone = {node.variable, "loop", "iter"} if node.kind == "domain_loop" else {node.variable, "iter"}
        return _forget(path, lambda name: name in gone)

    def _periods(self, node: Loop) -> tuple[int, int]:
        """Return the common period of the `every` blocks inside and the round from which they repeat."""
        period, offset = 1, 1
        for piece in node.pieces:
            for guard in _own_guards(piece.body):
                if guard.kind == "every" and guard.period and guard.period > 0:
                    period = lcm(period, guard.period)
                    offset = max(offset, (guard.start or 0) + 1)
        if period > MOST_PERIOD or offset > MOST_ROUNDS:
            self.complete = False
            return 1, 1
        return period, offset

    def _never_empty(self, node: Loop) -> bool:
        start, end, step = (self.program.flat(e, node.env) for e in (node.start, node.end, node.step))
        ranges = self.program.ranges
        if any(name.text not in ranges for e in (start, end, step) for name in e.names):
            return False
        first, last, stride = interval(start, ranges), interval(end, ranges), interval(step, ranges)
        return (stride.lo > 0 and first.hi < last.lo) or (stride.hi < 0 and first.lo > last.hi)

    def _guard(self, node: Guard, paths: set[Path[S]], now: _Round | None) -> set[Path[S]]:
        match node.kind:
            case "first_iter" | "last_iter" if now is not None:
                taken = now.first if node.kind == "first_iter" else now.last
                return self._block(node.then, paths, now) if taken else paths
            case "every" if now is not None and node.period:
                runs = now.number >= (node.start or 0) and (now.number - (node.start or 0)) % node.period == 0
                return self._block(node.then, paths, now) if runs else paths
            case "when" if node.condition is not None:
                key, names, flipped = self._condition(node)
                true, false = self._split(paths, key, names)
                if flipped:
                    true, false = false, true
                return self._block(node.then, true, now) | self._block(node.otherwise, false, now)
            case "skippable":
                kept, left = self._split(paths, "skippable", frozenset(("tile.seq",)))
                return self._block(node.then, kept, now) | left
        return self._block(node.then, paths, now) | paths

    def _condition(self, node: Guard) -> tuple[str, frozenset[str], bool]:
        if node.condition is None:
            return "", frozenset(), False
        flat = self.program.flat(node.condition, node.env)
        names = frozenset(name.text for name in flat.names)
        if node.key is not None:
            # What a key names is the same everywhere in one round; beyond that nothing is promised.
            return f"key {node.key}", names | {"loop", "iter"}, False
        if isinstance(flat.tree, Unary) and flat.tree.op == "not":
            return show(flat).removeprefix("not").strip(), names, True
        return show(flat), names, False

    def _split(
        self, paths: set[Path[S]], key: str, names: frozenset[str]
    ) -> tuple[set[Path[S]], set[Path[S]]]:
        true: set[Path[S]] = set()
        false: set[Path[S]] = set()
        for path in paths:
            known = next((a.value for a in path.assumed if a.key == key), None)
            if known is not False:
                true.add(Path(path.state, path.assumed | {Assumption(key, True, names)}))
            if known is not True:
                false.add(Path(path.state, path.assumed | {Assumption(key, False, names)}))
        return true, false


def _forget(path: Path[S], gone: Callable[[str], bool]) -> Path[S]:
    return Path(path.state, frozenset(a for a in path.assumed if not any(gone(name) for name in a.names)))


def _is_tile_name(name: str) -> bool:
    return name.startswith("tile.") or name in ("loop", "iter")


def _own_guards(block: Block) -> Iterator[Guard]:
    """Yield the guards that speak of the loop whose body this is, not of a loop inside it."""
    for node in block:
        if isinstance(node, Guard):
            yield node
        if not isinstance(node, Loop):
            for inner in blocks(node):
                yield from _own_guards(inner)


def static_trips(program: Program, node: Loop) -> int | None:
    """Return how many rounds a loop makes, where that is known when built."""
    flat = [program.flat(e, node.env) for e in (node.start, node.end, node.step)]
    if any(e.names for e in flat):
        return None
    try:
        start, end, step = (int(evaluate(e, {})) for e in flat)
    except ValueError:
        return None
    return len(range(start, end, step)) if step else None
