"""One task instance in one CTA as an agent: its cursors and engines, and the instructions of each step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from tsc.emit.places import loads_written, stores
from tsc.emit.plan import Statement
from tsc.emit.steps import Steps
from tsc.ops.base import Engine as By
from tsc.ops.lowering import Refused
from tsc.program.arrivals import arrivals, steps_of
from tsc.program.expand import operand_of
from tsc.program.model import Memory, Order, Task
from tsc.program.tree import Step
from tsc.prove.asked import Around
from tsc.prove.machine import (
    Arrive,
    Cells,
    Cursor,
    Drain,
    Engine,
    Fence,
    Loop,
    Move,
    Node,
    Taker,
    Wait,
)
from tsc.prove.translate.fills import BY_LEADER, BY_THREADS, fills
from tsc.prove.translate.frame import Frame, View
from tsc.prove.translate.lines import LineKey
from tsc.prove.translate.store_rings import store_ring_step
from tsc.source.route import Route
from tsc.spec.schedule import Skip

Part = Literal["all", "leader", "others"]

ENGINES = {
    "store": Engine("stores, reading", proxy=True),
    "store to": Engine("stores, writing", proxy=True),
    "wgmma": Engine("wgmma", proxy=True),
    # Registers need no proxy fence, so what wgmma does to them is an engine of its own.
    "wgmma registers": Engine("wgmma, registers", proxy=False),
    "tcgen05": Engine("tcgen05", proxy=True),
    "cp_async": Engine("cp.async", proxy=False),
}


class AgentMaker:
    """The parts of an agent that grow while its steps are translated."""

    def __init__(self, frame: Frame, view: View, cta: int, part: Part = "all") -> None:
        self.frame, self.view, self.cta, self.part = frame, view, cta, part
        self.task: Task = view.task
        self.program, self.lines = frame.program, frame.lines
        self.cursors: list[Cursor] = []
        self.engines: list[Engine] = []
        self.takers: list[tuple[int, int]] = []  # cursor, barrier
        self.registers: dict[str, int] = {}  # the segments of fragments
        self.fragments: frozenset[str] | None = None  # registers on which wgmma works, once asked for
        self._cursors: dict[tuple[str, ...], int] = {}
        self._engines: dict[str, int] = {}
        self._fills: dict[tuple[str, int], Cells] = {}
        self.pending: dict[tuple[str, int], dict[int, int]] = {}  # stores behind acquires of store rings
        self.steps = Steps(view.rings.function, view.rings, view.brackets)

    @property
    def leads(self) -> bool:
        """Whether the thread that issues for all is among the agent's."""
        return self.part != "others"

    @property
    def works(self) -> bool:
        """Whether the agent does what all threads do; of two agents it is enough that the others do it."""
        return self.part != "leader"

    # ---- cursors and engines -------------------------------------------------------------------------------

    def cursor(self, key: tuple[str, ...], ring: int, start: int = 0, stride: int = 1) -> int:
        """Return the cursor with a key, made if need be."""
        if key not in self._cursors:
            self._cursors[key] = len(self.cursors)
            self.cursors.append(Cursor(ring, start, stride))
        return self._cursors[key]

    def engine(self, name: str) -> int:
        """Return one of the agent's engines."""
        if name not in self._engines:
            self._engines[name] = len(self.engines)
            self.engines.append(ENGINES[name])
        return self._engines[name]

    @property
    def stores_are_read(self) -> bool:
        """Whether somebody reads what the task's stores write."""
        writers = self.frame.tensors.writers.values()
        return any((self.task.label, "store") in some for some in writers)

    def place(self, memory: Memory, copy: int, verb: str) -> int:
        """Return the task's counter on a ring: acquired, committed, waited for or released stages.

        The counter of a step that a group shares is that of its first member.
        """
        ring = self.lines.ring(memory, copy, self.cta)
        start, stride = steps_of(memory, self.task, "write" if verb in ("acquire", "commit") else "read")
        return self.cursor((verb, memory.name, str(copy)), ring, start, stride)

    def waited(self, memory: Memory, copy: int) -> int | None:
        """Return the counter of stages waited for, if the task waits for any."""
        return self._cursors.get(("wait", memory.name, str(copy)))

    # ---- steps ---------------------------------------------------------------------------------------------

    def fences(self, step: Step) -> list[Node]:
        """Return the fence and the sync that the generator puts before a step."""
        hazards, found = self.view.hazards, list[Node]()
        if step.index in hazards.fences:
            found.append(Fence(step.route))
        if step.index in hazards.global_fences:
            found.append(Fence(step.route, tensors=True))
        if step.index in hazards.syncs:
            found += self.sync(step.route)
        return found

    def sync(self, route: Route) -> list[Node]:
        """Let the leader and the others of a task meet; one agent has nobody to meet."""
        if self.part == "all":
            return []
        label = self.task.label
        ring = self.lines.plain_ring(f"{label}, its threads", 0, self.cta, 1)
        barrier = self.lines.add(LineKey(label, 0, "task", self.cta), ring, 2)
        return self.meet(route, barrier, ("sync", label), ring, 1)

    def meet(
        self,
        route: Route,
        barrier: int,
        key: tuple[str, ...],
        ring: int,
        count: int,
        waits: bool | None = True,
    ) -> list[Node]:
        """Arrive at a barrier and wait for the generation that this was for.

        Who does not wait here passes over the generation; `None`: never waits at this barrier.
        """
        found: list[Node] = [Arrive(route, (barrier,), self.cursor((*key, "arrive"), ring), count)]
        if waits:
            found.append(Wait(route, barrier, self.cursor((*key, "wait"), ring)))
        elif waits is not None:
            found.append(Move(route, (self.cursor((*key, "wait"), ring),)))
        return found

    def ring_step(self, step: Step, around: tuple[Around, ...]) -> list[Node]:
        """Return the instructions of a step of a ring, or of the rings of a group."""
        members = self.view.members(step)
        if not members:
            self.frame.leave_out(step.route, f"`{step.verb}` of `{operand_of(step)}`")
            return []
        if self._store_ring(members[0]):
            return store_ring_step(self, step, *members[0])
        match step.verb:
            case "acquire":
                return [self.take(step, memory, copy, "write") for memory, copy in members]
            case "wait":
                return [self.take(step, memory, copy, "read") for memory, copy in members]
            case "commit":
                early = any(one.index == step.index for one in self.view.early.values())
                return [] if early else self.commit(step, members)
            case "release":
                return self.release(step, members)
            case "skip" if isinstance(step.model, Skip):
                return self.skip(step, step.model, members, around)
        return []  # a try is a look, of which nothing follows

    def _store_ring(self, end: tuple[Memory, int]) -> bool:
        pipeline = self.program.pipelines.get((end[0].name, end[1]))
        return pipeline is not None and pipeline.store_ring

    def take(self, step: Step, memory: Memory, copy: int, side: Literal["write", "read"]) -> Node:
        """Take the next stage: wait for its barrier, unless another has been waited for in its place."""
        writes = side == "write"
        observes = bool(getattr(step.model, "observe", None))
        beside = observes and not self.view.held.only_observes((memory.name, copy, side))
        cursor = self.place(memory, copy, "acquire" if writes else "observe" if beside else "wait")
        barrier = self.lines.barrier(memory, copy, "read" if writes else "write", self.cta)
        if not writes and not observes:
            # Where each stage belongs to one of several consumers, the others pass over it.
            self.takers.append((cursor, barrier))
        alone = self.part == "others" and not observes and not self.view.rings.everybody(memory, copy, side)
        if getattr(step.model, "by", None) is not None or alone:
            return Move(step.route, (cursor,))
        clears: Cells = ()
        if writes:
            shared = self.frame.shared(memory, copy)
            own = self.fills(memory, copy)
            clears = tuple(tuple(one for one in stage if one not in shared) for stage in own)
        return Wait(step.route, barrier, cursor, lag=1 if writes else 0, clears=clears)

    def drains(self) -> list[Node]:
        """Return the waits at the end of the task for every stage that has to come back before its CTA goes,
        each as if it were taken once more.
        """
        found: list[Node] = []
        for (memory, copy), step in self.view.rings.drained().items():
            end = self.view.rings.end(memory, copy, "write")
            if self.part != "others" or end.everybody:
                barrier = self.lines.barrier(memory, copy, "read", self.cta)
                wait = Wait(step.route, barrier, self.place(memory, copy, "acquire"), lag=1)
                found += [wait] * (end.pipeline.stages // end.stride)
        return found

    def fills(self, memory: Memory, copy: int) -> Cells:
        """Return what each stage gets from this agent between `acquire` and `commit`."""
        use = self.frame.kernel.use(self.task, memory.name, copy)
        if use is None or not use.produces:
            return ()
        if (memory.name, copy) not in self._fills:
            by = BY_LEADER if self.leads else frozenset[By]()
            by |= BY_THREADS if self.works else frozenset[By]()
            self._fills[memory.name, copy] = fills(self.view, memory, copy, self.cta, by)
        return self._fills[memory.name, copy]

    def commit(self, step: Step, members: tuple[tuple[Memory, int], ...]) -> list[Node]:
        """Hand stages over: copies by cp.async arrive when they have landed, where they alone fill it."""
        memory, copy = members[0]
        names = tuple(one.name for one, _ in members)
        uses = self.lines.uses(self.task, self._of_owner(memory, "full", names), copy)
        writes = frozenset[str]().union(*(use.engine_writes for use in uses))
        # CTAs that receive loads of this one count its arrival as the arrival of their bytes.
        reached = self.lines.fulls(self.task, names, copy, self.cta)
        barriers = tuple(self.lines.barrier(memory, copy, "write", cta) for cta in reached)
        engine = self.engine("tcgen05") if By.TCGEN05.value in writes else None
        found: list[Node] = []
        if By.CP_ASYNC.value in writes and self.works:
            handed = self._macros(step, members)
            engine = self.engine("cp_async") if "arrive_cp_async" in handed else engine
            found += [Drain(step.route, self.engine("cp_async"))] if "cp_async_wait" in handed else []
            found += [Fence(step.route)] if "fence_async" in handed else []
        count = self.own(arrivals(self.task, uses, "write"), self.view.rings.arrives(members, "write"))
        if count:
            upto = self.place(memory, copy, "acquire")
            cursor = self.place(memory, copy, "commit")
            keep = self.view.keep(step)
            found.append(Arrive(step.route, barriers, cursor, count, upto, keep, engine))
        return found

    def _of_owner(self, memory: Memory, side: str, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the rings that share a barrier of this one."""
        group = self.program.groups.get(memory.group or "")
        shared = group is not None and side == ("empty" if group.kind == "merge" else "full")
        return group.members if shared and group is not None else names

    def _macros(self, step: Step, members: tuple[tuple[Memory, int], ...]) -> set[str]:
        """Return the statements by which the generator hands over what cp.async brought."""
        rings = self.view.rings
        try:
            ends = [rings.end(memory, copy, "write") for memory, copy in members]
            return {item.macro for item in self.steps.arrive_full(step, ends) if isinstance(item, Statement)}
        except Refused:
            return {"cp_async_wait", "fence_async"}

    def release(self, step: Step, members: tuple[tuple[Memory, int], ...]) -> list[Node]:
        """Give stages back, to every CTA whose loads fill them."""
        memory, copy = members[0]
        if self.view.held.only_observes((memory.name, copy, "read")):
            return []  # who only observes holds nothing: the generated code gives nothing back
        names = tuple(one.name for one, _ in members)
        uses = self.lines.uses(self.task, self._of_owner(memory, "empty", names), copy)
        peers = self.lines.empties(self.task, names, copy, self.cta)
        barriers = tuple(self.lines.barrier(memory, copy, "read", cta) for cta in peers)
        reads = frozenset[str]().union(*(use.engine_reads for use in uses))
        engine = self.engine("tcgen05") if By.TCGEN05.value in reads else None
        count = self.own(arrivals(self.task, uses, "read"), self.view.rings.arrives(members, "read"))
        if not count:
            return []
        upto = self.place(memory, copy, "wait")
        cursor = self.place(memory, copy, "release")
        keep = self.view.keep(step)
        return [Arrive(step.route, barriers, cursor, count, upto, keep, engine)]

    def own(self, count: int, by: str) -> int:
        """Return this agent's part of a task's arrivals: those of one warp are the leader's."""
        if self.part == "all" or by in ("one", "leader"):
            return count if self.leads else 0
        leader = 32 if by == "threads" else 0 if by == "warpgroups" else 1
        return min(leader, count) if self.part == "leader" else max(0, count - leader)

    def skip(
        self, step: Step, model: Skip, members: tuple[tuple[Memory, int], ...], around: tuple[Around, ...]
    ) -> list[Node]:
        """Pass over stages: one move a stage, as often as the count says."""
        cursors = [self.place(memory, copy, verb) for memory, copy in members for verb in ("wait", "release")]
        move = Move(step.route, tuple(cursors))
        place = self.frame.cluster.places(self.cta)
        bound = self.frame.questions.count(self.task, model.count, step, around, place)
        if bound.number is None and bound.offset <= 1:
            return [move] if bound.offset == 1 else []
        return [Loop(step.route, bound, (move,))]

    def store_wait(self, step: Step) -> list[Node]:
        """Wait for stores; the others of the task meet the leader behind it."""
        keep = self.view.constant(step.model.store_wait, step)  # type: ignore[union-attr]
        found: list[Node] = []
        if self.leads:
            found.append(Drain(step.route, self.engine("store"), keep))
            if getattr(step.model, "until", "read") == "written" and self.stores_are_read:
                found.append(Drain(step.route, self.engine("store to"), keep))
        return [*found, *self.sync(step.route)]

    def count_in(self, step: Step) -> list[Node]:
        """Wait for all stores and meet; what the task has written is there for all engines after it."""
        found: list[Node] = []
        if self.leads and stores(self.program, self.task):
            found.append(Drain(step.route, self.engine("store")))
            found += [Drain(step.route, self.engine("store to"))] if self.stores_are_read else []
        fence: list[Node] = [Fence(step.route, tensors=True)] if loads_written(self.program) else []
        return [*found, *self.sync(step.route), *fence]

    def wgmma_wait(self, step: Step) -> list[Node]:
        """Wait for groups of `wgmma`."""
        keep = self.view.constant(step.model.wgmma_wait, step)  # type: ignore[union-attr]
        names = ("wgmma", "wgmma registers")
        return [Drain(step.route, self.engine(name), keep) for name in names] if self.works else []

    # ---- orders --------------------------------------------------------------------------------------------

    def _order(self, step: Step) -> Order | None:
        reference = operand_of(step)
        operand = None if reference is None else self.frame.kernel.meaning(reference, self.task, step)
        return None if operand is None else self.program.orders.get((operand.name, operand.copy))

    def order_step(self, step: Step) -> list[Node]:
        """Return the instructions of a turn or a named barrier."""
        order = self._order(step)
        if order is None or self.task.label not in order.participants:
            self.frame.leave_out(step.route, f"`{step.verb}` of `{operand_of(step)}`")
            return []
        ring = self.lines.plain_ring(order.name, order.copy, self.cta, 1)
        key = (step.verb, order.name, str(order.copy))
        if order.kind == "barrier":
            count = self.own(self.task.threads, "threads")
            barrier = self.lines.meeting(order, self.cta)
            syncs = any(one.verb == "sync" and self._order(one) == order for one in self.task.steps())
            waits = (step.verb == "sync") if syncs else None
            return self.meet(step.route, barrier, ("meet", *key[1:]), ring, count, waits)
        label, participants = self.task.label, order.participants
        cursor = self.cursor(key, ring)
        if step.verb == "take":
            barrier = self.lines.turn(order, label, self.cta)
            # The first one finds the phase before the first one over, so that it begins.
            return [Wait(step.route, barrier, cursor, lag=1 if participants[0] == label else 0)]
        following = participants[(participants.index(label) + 1) % len(participants)]
        barrier = self.lines.turn(order, following, self.cta)
        count = self.own(1 if self.task.single else self.task.warps or 1, "warps")
        return [Arrive(step.route, (barrier,), cursor, count)] if count else []


def takers_of(agent: int, maker: AgentMaker) -> Iterable[Taker]:
    """Yield what an agent has to take, each once."""
    yield from (Taker(agent, cursor, barrier) for cursor, barrier in dict.fromkeys(maker.takers))
