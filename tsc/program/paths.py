"""Every path through a task's schedule, as far as a rule needs to tell paths apart.

A rule gives a transfer function over some small state; the walker runs it along all paths: guards taken and
not taken (as far as conditions do not decide each other), loops of no round, of one, and of many, first and
last rounds apart, `every` by its phase. A guard without a step that matters is not a branch.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from math import lcm
from typing import Generic, TypeVar

from tsc.program.accesses import touches
from tsc.program.conditions import (
    Assumption,
    Conditions,
    Question,
    Round,
    parsed,
    rounds_key,
    static_cuts,
    static_trips,
)
from tsc.program.model import Program, Task
from tsc.program.tree import Block, Guard, Loop, Node, Step, TileLoop, blocks, walk
from tsc.spec.schedule import Do

S = TypeVar("S", bound=Hashable)

# Beyond so many steps of paths a walk is given up, and rules stay silent.
MOST_WORK = 20_000
# Loops with a trip count known when built are run round by round up to this many rounds.
MOST_ROUNDS = 64
# Phases of `every` blocks are told apart up to this common period.
MOST_PERIOD = 256


@dataclass(frozen=True, slots=True)
class Path(Generic[S]):
    """A state and the conditions under which it was reached."""

    state: S
    assumed: frozenset[Assumption] = frozenset()


class _TooMuch(Exception):
    """The walk has become too long."""


class Walker(Generic[S]):
    """Runs `transfer` along all paths of one task; `matters` says which steps change or look at the state.

    Walkers of one task share their `conditions`, so that each is judged once.
    """

    def __init__(
        self,
        program: Program,
        task: Task,
        transfer: Callable[[Step, S], S],
        matters: Callable[[Step], bool],
        conditions: Conditions | None = None,
    ) -> None:
        self.program, self.task, self.transfer = program, task, transfer
        self.conditions = conditions or Conditions(program)
        self.complete = True
        self._work = 0
        self._kept = _KEPT
        self._relevant: set[int] = set()
        for node, above in walk(task.tree):
            if isinstance(node, Step) and matters(node):
                self._relevant.update(id(outer) for outer in above)
                self._relevant.add(id(node))
        self._changes = dict(_changes(program, task))

    def run(self, initial: S) -> frozenset[S]:
        """Return the states at the end of the schedule; none, and not `complete`, after too many paths."""
        try:
            return frozenset(path.state for path in self._block(self.task.tree, {Path(initial)}, None))
        except _TooMuch:
            self.complete = False
            return frozenset()

    def _block(self, block: Block, paths: set[Path[S]], now: Round | None) -> set[Path[S]]:
        for node in block:
            if id(node) in self._relevant:
                self._work += len(paths)
                if self._work > MOST_WORK:
                    raise _TooMuch
                paths = self._node(node, paths, now)
            changed = self._changes.get(id(node))
            if changed is not None and (isinstance(node, Step) or id(node) not in self._relevant):
                paths = {_forget(path, lambda one, gone=changed: bool(one.names & gone)) for path in paths}  # type: ignore[misc]
        return paths

    def _node(self, node: Node, paths: set[Path[S]], now: Round | None) -> set[Path[S]]:
        match node:
            case Step():
                return {Path(self.transfer(node, path.state), path.assumed) for path in paths}
            case TileLoop():
                return self._tiles(node, paths)
            case Loop():
                return self._loop(node, paths, now)
            case Guard():
                return self._guard(node, paths, now)

    def _tiles(self, node: TileLoop, paths: set[Path[S]]) -> set[Path[S]]:
        if node.skip_if is not None:
            skip = self.program.flat(node.skip_if, node.env)
            names = {name.text for name in skip.names}
            self._kept = Question(
                "skippable", next(iter(parsed(f"not ({skip.text})")), None), _KEPT.names | names, 0
            )
        if self.program.queue is not None and self.program.queue.policy == "grid":
            return self._block(node.body, paths, None)
        frontier, seen = paths, set(paths)
        while frontier:
            after = {_forget(path, _of_tile) for path in self._block(node.body, frontier, None)}
            frontier = after - seen
            seen |= after
        return seen

    def _loop(self, node: Loop, paths: set[Path[S]], now: Round | None) -> set[Path[S]]:
        trips, cuts = self.conditions.trips(node), static_cuts(self.program, node)
        if trips.lo == trips.hi <= MOST_ROUNDS and cuts is not None:
            for number in range(trips.lo):
                here = self.conditions.round(node, number, number == trips.lo - 1, True, now)
                body = node.pieces[sum(number >= cut for cut in cuts)].body
                paths = {_forget_round(path, node) for path in self._block(body, paths, here)}
            return paths
        earlier = {_forget(path, lambda one: one.key == rounds_key(node)) for path in paths}
        some, none = self._split(earlier, self.conditions.of_loop(node, now), now)
        if trips.lo > 0:
            some, none = some | none, set()
        period, offset = self._periods(node)
        if cuts is not None and max(cuts, default=0) <= MOST_ROUNDS:
            # Each round of a class lies in one piece, so the pieces are told apart by the round's number.
            offset = max(offset, *cuts, 1)
            bodies = [node.pieces[sum(n >= cut for cut in cuts)].body for n in range(offset + period)]
            ended, _ = self._rounds(node, bodies, {(0, path) for path in some}, offset, now)
            return ended | none
        ended, entering = set(none), {(0, path) for path in some}
        for piece in node.pieces:
            after, passed = self._rounds(node, [piece.body] * (offset + period), entering, offset, now)
            ended |= after
            entering |= passed
        return ended

    def _rounds(
        self,
        node: Loop,
        bodies: list[Block],
        entering: set[tuple[int, Path[S]]],
        offset: int,
        now: Round | None,
    ) -> tuple[set[Path[S]], set[tuple[int, Path[S]]]]:
        """Run rounds by their number, those behind the last body again; return ends and what may go on."""
        ended: set[Path[S]] = set()
        frontier, seen = entering, set(entering)
        while frontier:
            following: set[tuple[int, Path[S]]] = set()
            for number in sorted({n for n, _ in frontier}):
                here = {path for n, path in frontier if n == number}
                for last in self._lasts(node, number, offset, len(bodies) - offset):
                    round_ = self.conditions.round(node, number, last, number < offset, now)
                    after = {_forget_round(path, node) for path in self._block(bodies[number], here, round_)}
                    if last:
                        ended |= self._counted(node, after, number + 1, len(bodies) - offset)
                    else:
                        step = number + 1 if number + 1 < len(bodies) else offset
                        following |= {(step, path) for path in after}
            frontier = following - seen
            seen |= following
        return ended, seen

    def _counted(self, node: Loop, paths: set[Path[S]], rounds: int, period: int) -> set[Path[S]]:
        """Note on paths that leave a loop how many rounds it had, as far as `every` blocks tell."""
        known = self.conditions.rounds(node, rounds % period, period) if period > 1 else None
        if known is None:
            return paths
        return {Path(path.state, path.assumed | {known}) for path in paths}

    def _lasts(self, node: Loop, number: int, offset: int, period: int) -> list[bool]:
        """Return whether a round of this number can be the last one, and whether it need not be."""
        trips = self.conditions.trips(node)
        if trips.lo == trips.hi:
            end = trips.lo - 1
            ends = number == (end if end < offset else offset + (end - offset) % period)
        else:
            ends = trips.lo <= number + 1 <= trips.hi if number < offset else number + 1 <= trips.hi
        return [True] * ends + [False] * (number + 1 < trips.hi)

    def _periods(self, node: Loop) -> tuple[int, int]:
        """Return the common period of the `every` blocks inside and the round from which they repeat."""
        period, offset = 1, 1
        for piece in node.pieces:
            for guard in _own_guards(piece.body):
                if (
                    guard.kind == "every"
                    and guard.period
                    and guard.period > 0
                    and id(guard) in self._relevant
                ):
                    period = lcm(period, guard.period)
                    offset = max(offset, (guard.start or 0) + 1)
        if period > MOST_PERIOD or offset > MOST_ROUNDS:
            raise _TooMuch
        return period, offset

    def _guard(self, node: Guard, paths: set[Path[S]], now: Round | None) -> set[Path[S]]:
        match node.kind:
            case "first_iter" | "last_iter" if now is not None:
                taken = now.first if node.kind == "first_iter" else now.last
                return self._block(node.then, paths, now) if taken else paths
            case "every" if now is not None and node.period and node.period > 0:
                since = now.number - (node.start or 0)
                return (
                    self._block(node.then, paths, now) if since >= 0 and since % node.period == 0 else paths
                )
            case "when" if node.condition is not None:
                question = self.conditions.of_guard(node, now)
                true, false = self._split(paths, question, now)
                return _merged(
                    self._block(node.then, true, now) | self._block(node.otherwise, false, now), question.key
                )
            case "skippable":
                kept, left = self._split(paths, self._kept, now)
                return self._block(node.then, kept, now) | left
        return self._block(node.then, paths, now) | paths

    def _split(
        self, paths: set[Path[S]], question: Question, now: Round | None
    ) -> tuple[set[Path[S]], set[Path[S]]]:
        sides: dict[bool, set[Path[S]]] = {True: set(), False: set()}
        for path in paths:
            known = self.conditions.answer(question, now, path.assumed)
            if known is not None:
                sides[known].add(path)
                continue
            for value, side in sides.items():
                one = Assumption(question.key, value, question.names, question.loop, question.expr)
                side.add(Path(path.state, path.assumed | {one}))
        return sides[True], sides[False]


_KEPT = Question("skippable", None, frozenset(("tile.seq",)), 0)


def _changes(program: Program, task: Task) -> Iterator[tuple[int, frozenset[str]]]:
    """Yield the tokens and registers on which conditions depend, and which a node gives new values."""
    asked = {name for node, _ in walk(task.tree) for name in _asked(program, node)}
    if not asked - program.ranges.keys():
        return
    changed: dict[int, set[str]] = {}
    for node, above in walk(task.tree):
        if not isinstance(node, Step):
            continue
        names = set(node.model.out) if isinstance(node.model, Do) else set()
        for touch in touches(node, program.meanings, program.works, task.name, task.replica):
            if touch.writes and touch.operand is not None and touch.operand.kind == "registers":
                names.add(touch.operand.name)
        if names & asked:
            for outer in (node, *above):
                changed.setdefault(id(outer), set()).update(names & asked)
    yield from ((key, frozenset(names)) for key, names in changed.items())


def _asked(program: Program, node: Node) -> set[str]:
    match node:
        case Guard(condition=condition) if condition is not None:
            found = [condition]
        case Loop():
            found = [node.start, node.end, node.step]
        case _:
            return set()
    return {name.text for expr in found for name in program.flat(expr, node.env).names}


def _merged(paths: set[Path[S]], key: str) -> set[Path[S]]:
    """Make one path of two that differ in the answer to a question alone: then it does not matter."""
    found: dict[Path[S], dict[bool, Path[S]]] = {}
    for path in paths:
        answers = [one for one in path.assumed if one.key == key]
        if len(answers) == 1:
            rest = Path(path.state, path.assumed - set(answers))
            found.setdefault(rest, {})[answers[0].value] = path
    for rest, sides in found.items():
        if len(sides) == 2 or rest in paths:
            paths = paths - set(sides.values()) | {rest}
    return paths


def _forget(path: Path[S], gone: Callable[[Assumption], bool]) -> Path[S]:
    if not any(map(gone, path.assumed)):
        return path
    return Path(path.state, frozenset(one for one in path.assumed if not gone(one)))


def _of_tile(one: Assumption) -> bool:
    return one.loop != 0 or any(name.startswith("tile.") or name == "loop" for name in one.names)


def _forget_round(path: Path[S], node: Loop) -> Path[S]:
    return _forget(path, lambda one: one.loop in (id(node), -1) or node.variable in one.names)


def _own_guards(block: Block) -> Iterator[Guard]:
    """Yield the guards that speak of the loop whose body this is, not of a loop inside it."""
    for node in block:
        if isinstance(node, Guard):
            yield node
        if not isinstance(node, Loop):
            for inner in blocks(node):
                yield from _own_guards(inner)


__all__ = ["Path", "Walker", "static_trips"]
