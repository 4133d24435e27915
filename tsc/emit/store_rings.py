"""Store rings: `acquire` waits for stores that may still read the stage, `commit` makes it ready for them.

Where loads fill it, the commit waits for their bytes at a full barrier of the stage.
"""

from __future__ import annotations

from typing_extensions import override

from tsc.emit.forward import Forward
from tsc.emit.plan import Compound, Item, Statement
from tsc.emit.rings import RingEnd, Rings
from tsc.ops.base import Engine
from tsc.ops.lowering import Refused
from tsc.program.tree import Step

# Stores since the last commit, between that and the one before, and so on as far as there have been any.
Counts = tuple[int, ...]
State = dict[int, Counts]  # by the stages that the task holds


def take(rings: Rings, step: Step, end: RingEnd) -> list[Item]:
    """Take the next stage of a store ring once the engine has read it."""
    function = rings.function
    wait: Item = Statement("store_read", {"pending": pending(rings, end).get(step.index, 0)})
    leader = function.leader()
    items: list[Item] = [wait]
    if leader:
        items = [
            Compound("if", {"condition": leader}, (wait,)),
            Statement("sync", {"task": function.task_name()}),
        ]
    if end.pipeline.stages > 1:
        items += [
            Statement("assign", {"name": end.stage, "value": f"{end.take}.stage"}),
            rings.advance(end, end.take),
        ]
    return [*items, *([Statement("count", {"name": end.held})] if end.held else [])]


def commit(rings: Rings, step: Step, end: RingEnd, arrive: list[Item]) -> list[Item]:
    """Make stages ready for the engine, the youngest of which it then reads; `arrive` speaks of loads."""
    _, writes = rings.kernel.engines(end.ring.name, end.copy)
    items: list[Item] = [Statement("fence_async")]
    if Engine.CP_ASYNC.value in writes:
        if end.pipeline.loaded:
            raise Refused(f"loads and cp.async into the store ring `{end.ring.name}` are not generated yet")
        items.insert(0, Statement("cp_async_wait"))
    sync: list[Item] = [] if rings.task.single else [Statement("sync", {"task": rings.function.task_name()})]
    if end.single:
        return [*items, *sync]
    ready: list[Item] = []
    if end.pipeline.loaded:
        if not rings.held.certain((end.ring.name, end.copy, "write")):
            raise Refused(
                f"loads into the store ring `{end.ring.name}`, of which a `commit` hands over a number of "
                "stages that is not known when built, are not generated yet"
            )
        fields = {
            "barrier": rings.at(rings.signals(end), rings.cursor_stage(end, end.give)),
            "parity": f"{end.give}.phase",
            "ready": "",
        }
        ready = [*arrive, rings.guarded(Statement("wait", fields), everybody=False)]
    stage = rings.committed(end)
    ready += [] if stage == "0" else [Statement("assign", {"name": stage, "value": f"{end.give}.stage"})]
    written = writes - {Engine.TMA.value} or not end.pipeline.loaded
    return [*(items if written else []), *rings.give(step, [end], ready), *sync]


def pending(rings: Rings, end: RingEnd) -> dict[int, int]:
    """Return how many stores may still read shared memory behind each `acquire`, by the step's index.

    A stage is read by the stores between its commit and the next. Stores of younger stages may be under way:
    as many as there are of them on every path.
    """
    walk = _Walk(rings, end)
    walk.block(rings.task.tree, {0: ()})
    return walk.found


class _Walk(Forward[State]):
    """Counts stores from a ring between its commits, the fewest of any path; loops may have no round."""

    def __init__(self, rings: Rings, end: RingEnd) -> None:
        self.rings, self.end = rings, end
        self.place = (end.ring.name, end.copy)
        self.stages = end.pipeline.stages
        self.found: dict[int, int] = {}

    @override
    def step(self, step: Step, state: State) -> State:
        mine = any((memory.name, copy) == self.place for memory, copy in self.rings.members(step))
        after: State = {}
        for held, counts in state.items():
            own: State = {held: counts}
            if mine and step.verb == "acquire":
                younger = self.stages - 1 - held
                if len(counts) > younger:  # else the stage has never been stored
                    allowed = sum(counts[: max(0, younger)])
                    self.found[step.index] = min(allowed, self.found.get(step.index, allowed))
                own = {min(held + 1, self.stages): counts}
            elif mine and step.verb == "commit":
                left = min(held, self.rings.held.keeps.get(step.index, 0))
                own = {left: ((0,) * (held - left) + counts)[: self.stages]}
            elif counts and self.stored(step):
                own = {held: (counts[0] + 1, *counts[1:])}
            after = self.joined(after, own)
        return after

    def stored(self, step: Step) -> bool:
        touches = self.rings.program.touches(step, self.rings.task)
        return any(
            touch.engine is Engine.STORE
            and touch.operand is not None
            and (touch.operand.name, touch.operand.copy) == self.place
            for touch in touches
        )

    @override
    def joined(self, a: State, b: State) -> State:
        """Return the fewest stores of both: what a path has not committed has not been stored there."""
        after = dict(a)
        for held, counts in b.items():
            short, long = sorted((after.get(held, ()), counts), key=len)
            after[held] = (*map(min, short, long), *long[len(short) :])
        return after
