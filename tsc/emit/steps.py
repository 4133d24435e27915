"""The steps of rings, orders and launches as statements."""

from __future__ import annotations

from tsc.emit import pairs, store_rings
from tsc.emit.arrivals import shared
from tsc.emit.brackets import Brackets
from tsc.emit.function import Function
from tsc.emit.operands import fillers_mask
from tsc.emit.plan import Compound, Item, Statement
from tsc.emit.rings import ASYNC_READERS, RingEnd, Rings
from tsc.emit.scope import Scope
from tsc.emit.tensor_memory import before_arrival, behind_wait
from tsc.ops.base import Engine
from tsc.ops.lowering import Refused
from tsc.program.accesses import touches
from tsc.program.arrivals import Side
from tsc.program.expand import operand_of
from tsc.program.model import Order, Task
from tsc.program.multicast import Shared
from tsc.program.tree import Step
from tsc.spec.schedule import Skip


class Steps:
    """Lowers everything but operations and works, for one task."""

    def __init__(self, function: Function, rings: Rings, brackets: Brackets) -> None:
        self.function, self.rings, self.brackets = function, rings, brackets
        self.kernel, self.task, self.program = function.kernel, function.task, function.program

    def lower(self, step: Step, scope: Scope) -> list[Item]:
        """Return the statements of a step; refuses verbs that are not generated yet."""
        match step.verb:
            case "pdl_wait":
                return [Statement("pdl_wait")]
            case "pdl_launch":
                return [Statement("pdl_launch")]
            case "task_sync":
                return [] if self.task.single else [self.sync()]
            case "take" | "pass":
                return [*self.turn(step), *(self.rings.forget() if step.verb == "take" else ())]
            case "sync" | "arrive":
                return [*self.barrier(step), *(self.rings.forget() if step.verb == "sync" else ())]
            case _:
                return self.ring(step, scope)

    def sync(self) -> Item:
        """Return a barrier of the task's threads."""
        return Statement("sync", {"task": self.function.task_name()})

    # ---- rings ---------------------------------------------------------------------------------------------

    def ring(self, step: Step, scope: Scope) -> list[Item]:
        """Lower a step of a ring, or of the rings of a group."""
        reference = operand_of(step)
        members = self.rings.members(step)
        if reference is None or not members:
            raise Refused(f"`{step.verb}` of `{reference}` is not generated yet")
        group = self.program.groups.get(reference.name)
        side: Side = "write" if step.verb in ("acquire", "commit", "try_acquire") else "read"
        if step.verb == "wait" and getattr(step.model, "observe", None):
            ends = [self.rings.observer(memory, copy) for memory, copy in members]
        else:
            ends = [self.rings.end(memory, copy, side) for memory, copy in members]
        shared = group is not None and step.verb == ("release" if group.kind == "merge" else "commit")
        if group is not None and not shared and step.verb in ("commit", "release"):
            raise Refused(f"`{step.verb}` of the {group.kind} `{group.name}` is not generated")
        if group is not None and any(end.pipeline.store_ring for end in ends):
            raise Refused(f"a store ring in the {group.kind} `{group.name}` is not generated yet")
        match step.verb:
            case "acquire" | "wait":
                blocks = getattr(step.model, "by", None) is None
                items = [item for end in ends for item in self.take(step, end, blocks)]
                # A store ring waits for its own stores alone.
                return items if ends[0].pipeline.store_ring else [*items, *self.rings.forget(step)]
            case "commit" if ends[0].pipeline.store_ring:
                return store_rings.commit(
                    self.rings, step, ends[0], self.arrive_full(step, ends) if ends[0].pipeline.loaded else []
                )
            case "commit":
                return self.rings.give(step, ends, self.tell(ends, self.arrive_full(step, ends)))
            case "release":
                return self.rings.give(step, ends, self.tell(ends, self.arrive_empty(ends)))
            case "try_acquire" | "try_wait":
                return [item for end in ends for item in self.rings.look(end)]
            case "skip" if isinstance(step.model, Skip):
                count = step.model.count
                value = self.function.flat(count, step.env).value
                text = self.function.text(count, step.env, scope)
                return [
                    item
                    for end in ends
                    for item in self.rings.skip(end, count, text, None if value is None else int(value))
                ]
        raise Refused(f"`{step.verb}` is not generated yet")

    def take(self, step: Step, end: RingEnd, blocks: bool) -> list[Item]:
        """Take the next stage of a ring."""
        if not end.pipeline.store_ring:
            return [*self.rings.take(step, end, blocks), *behind_wait(self.kernel, self.task, end)]
        return store_rings.take(self.rings, step, end)

    # ---- arrivals ------------------------------------------------------------------------------------------

    def tell(self, ends: list[RingEnd], arrive: list[Item]) -> list[Item]:
        """Return an arrival with what it waits for of the task's moves from and to tensor memory."""
        return [*before_arrival(self.kernel, self.task, ends), *arrive] if arrive else []

    def by_tensor_core(
        self, ends: list[RingEnd], engines: frozenset[str], barrier: str, loads: tuple[Shared, ...] = ()
    ) -> list[Item]:
        """Let the tensor core arrive when it has done what its thread has asked for, at each CTA whose loads
        fill the stage; that of a pair, at both.
        """
        others = engines - {Engine.TCGEN05.value, Engine.STORE.value}
        if others:
            what = "threads" if others & {Engine.THREAD.value, Engine.TMEM.value} else "loads"
            name = ends[0].ring.name
            raise Refused(f"a task in which the tensor core and {what} use `{name}` is not generated yet")
        function, mask = self.function, ""
        if self.kernel.group == 2:
            mask = pairs.mask(function, loads)
        elif loads:
            mask = function.builtin(f"{ends[0].label}_peers", "u32", fillers_mask(function, loads))
        fields = {"barrier": barrier, "group": self.kernel.group, "mask": mask}
        return [self.rings.guarded(Statement("tensor_commit", fields), everybody=False)]

    def arrive_full(self, step: Step, ends: list[RingEnd]) -> list[Item]:
        """Return what hands one stage over, by the engines that filled it."""
        first = ends[0]
        barrier = self.rings.at(self.rings.signals(first), self.rings.cursor_stage(first, first.give))
        uses = [self.kernel.use(self.task, end.ring.name, end.copy) for end in ends]
        writes = frozenset[str]().union(*(use.engine_writes for use in uses if use is not None))
        read_later = frozenset[str]().union(
            *(self.kernel.engines(end.ring.name, end.copy)[0] for end in ends)
        )
        arrive = Statement("arrive", {"barrier": barrier})
        if Engine.WGMMA.value in writes:
            raise Refused("a ring that `wgmma` fills is not generated yet")
        if Engine.TCGEN05.value in writes:
            return self.by_tensor_core(ends, writes, barrier)
        if self.kernel.paired((end.ring.name for end in ends), first.copy):
            return self.arrive_at_leader(step, ends, writes)
        threads, copies = Engine.THREAD.value in writes, Engine.CP_ASYNC.value in writes
        if self.rings.arrives(tuple((end.ring, end.copy) for end in ends), "write") == "leader":
            if step.index in self.brackets.silent:
                return []
            return [self.rings.guarded(arrive, everybody=False)]
        if self.task.single:
            return [] if step.index in self.brackets.silent else [arrive]
        over = any(self.loaded_over(end) or self.refilled(end) for end in ends)
        if copies and not threads and not over:
            return [Statement("arrive_cp_async", {"barrier": barrier})]
        # What threads wrote is fenced before the step; copies by cp.async are there only after the wait.
        if copies:
            fence = [Statement("fence_async")] if over or read_later & ASYNC_READERS else []
            return [Statement("cp_async_wait"), *fence, arrive]
        return self.by_warp(arrive)

    def arrive_at_leader(self, step: Step, ends: list[RingEnd], writes: frozenset[str]) -> list[Item]:
        """Hand a stage that one CTA of a pair has filled to the tensor cores of both."""
        first = ends[0]
        if any(Engine.TCGEN05.value in self.kernel.engines(end.ring.name, end.copy)[1] for end in ends):
            raise Refused(f"`{first.ring.name}`, which a pair fills beside others, is not generated yet")
        if writes == {Engine.TMA.value}:
            if step.index not in self.brackets.silent:
                raise Refused(pairs.SCATTERED)
            return []
        by = self.rings.arrives(tuple((end.ring, end.copy) for end in ends), "write")
        leaders = pairs.leader_barriers(self.function, self.rings.signals(first), first.label)
        publish = Statement(
            "publish", {"barrier": self.rings.at(leaders, self.rings.cursor_stage(first, first.give))}
        )
        copied = [Statement("cp_async_wait"), Statement("fence_async")]
        return [
            *(copied if Engine.CP_ASYNC.value in writes else ()),
            *(self.by_warp(publish) if by == "warps" else [self.rings.guarded(publish, by != "leader")]),
        ]

    def loaded_over(self, end: RingEnd) -> bool:
        """Whether TMA loads lie over a ring, so that they write after what cp.async brought it."""
        sharing = self.kernel.sharing
        return any(map(sharing.loaded_over, sharing.places((end.ring.name,), end.copy)))

    def refilled(self, end: RingEnd) -> bool:
        """Whether threads or cp.async, and TMA, fill the same buffer of a ring in different rounds."""
        program = self.program
        threads, loads = set[str | None](), set[str | None]()
        by = {Engine.THREAD: threads, Engine.CP_ASYNC: threads, Engine.TMA: loads}
        for task in program.tasks:
            for step in task.steps():
                for touch in touches(step, program.meanings, program.works, task.name, task.replica):
                    operand = touch.operand
                    if operand is None or (operand.name, operand.copy) != (end.ring.name, end.copy):
                        continue
                    if touch.writes and touch.engine in by:
                        by[touch.engine].add(touch.reference.buffer)
        return bool(threads and loads and (threads & loads or None in threads | loads))

    def by_warp(self, arrive: Item) -> list[Item]:
        """Let each warp of the task arrive once, when all its lanes have come."""
        if self.task.single or self.kernel.sanitize:
            return [arrive]
        lane = f"{self.function.task_name()}.lane == 0"
        return [Statement("warp_sync"), Compound("if", {"condition": lane}, (arrive,))]

    def by_warpgroup(self, arrive: Item, mask: str) -> list[Item]:
        """Let each warpgroup arrive once, for its products are over for all of its warps; with a mask of
        CTAs, once at each: lane i of its first warp answers for rank i.
        """
        if self.kernel.sanitize and mask == "0":
            return [arrive]
        task = self.function.task_name()
        lanes = f"{task}.lane == 0" if mask == "0" else f"(({mask} >> {task}.lane) & 1)"
        first = f"{task}.warp == 0" if self.task.warps == 4 else f"{task}.warp % 4 == 0"
        # It does not change, and loops should not ask for it anew.
        arrives = self.function.hoisted("bool", "arrives", f"{first} && {lanes}")
        return [Compound("if", {"condition": arrives}, (arrive,))]

    def arrive_empty(self, ends: list[RingEnd]) -> list[Item]:
        """Return what gives one stage back, to every CTA whose loads reach it."""
        first = ends[0]
        stage = self.rings.cursor_stage(first, first.give)
        barrier = self.rings.at(self.rings.signals(first), stage)
        loads = shared(self.program, (end.ring.name for end in ends), first.copy)
        loads = tuple(one for one in loads if self.kernel.axis(one.axis)[0] > 1)
        by = self.rings.arrives(tuple((end.ring, end.copy) for end in ends), "read")
        uses = [self.kernel.use(self.task, end.ring.name, end.copy) for end in ends]
        reads = frozenset[str]().union(*(use.engine_reads for use in uses if use is not None))
        if Engine.TCGEN05.value in reads:
            return self.by_tensor_core(ends, reads, barrier, loads)
        if self.kernel.paired((end.ring.name for end in ends), first.copy):
            if loads or by == "warpgroups":
                raise Refused(f"threads that read `{first.ring.name}` beside a pair are not generated yet")
            leaders = pairs.leader_barriers(self.function, self.rings.signals(first), first.label)
            arrive = Statement("arrive_remote", {"barrier": self.rings.at(leaders, stage)})
            return self.by_warp(arrive) if by == "warps" else [self.rings.guarded(arrive, by != "leader")]
        if not loads or self.kernel.cluster_size == 1:
            arrive = Statement("arrive", {"barrier": barrier})
            if by == "warpgroups":
                return self.by_warpgroup(arrive, "0")
            return self.by_warp(arrive) if by == "warps" else [self.rings.guarded(arrive, by == "one")]
        mask = self.function.builtin(f"{first.label}_peers", "u32", fillers_mask(self.function, loads))
        if by not in ("warps", "warpgroups") or self.kernel.sanitize:
            rank = self.function.names.free("rank")
            fields = {"rank": rank, "ranks": self.kernel.cluster_size, "mask": mask, "barrier": barrier}
            return [self.rings.guarded(Statement("arrive_peers", fields), by != "leader")]
        # Lane i answers for rank i.
        lane = f"{self.function.task_name()}.lane"
        base = self.rings.signals(first)
        address = f"cluster_address({base}, (({mask} >> {lane}) & 1) ? {lane} : 0)"
        key = f"{first.label}_peer"
        if key not in self.function.prelude.states:
            name = self.function.spelled_lets[key] = self.function.names.free(f"{base}_peer")
            self.function.prelude.states[key] = Statement(
                "constant", {"type": "u32", "name": name, "value": address}
            )
        remote = self.rings.at(self.function.spelled_lets[key], stage)
        arrive = Statement("arrive_remote", {"barrier": remote})
        if by == "warpgroups":
            return self.by_warpgroup(arrive, mask)
        return [
            Statement("warp_sync"),
            Compound("if", {"condition": f"({mask} >> {lane}) & 1"}, (arrive,)),
        ]

    # ---- orders --------------------------------------------------------------------------------------------

    def _order(self, step: Step) -> Order:
        reference = operand_of(step)
        operand = None if reference is None else self.kernel.meaning(reference, self.task, step)
        order = None if operand is None else self.program.orders.get((operand.name, operand.copy))
        if order is None:
            raise Refused(f"`{step.verb}` of `{reference}` is not generated yet")
        return order

    def turn(self, step: Step) -> list[Item]:
        """Wait at the own barrier of a turn, or arrive at that of the next participant."""
        order = self._order(step)
        places = [self._place(task, order) for task in self.kernel.siblings(self.task)]
        own = places[self.task.replica or 0]
        if own is None or order.offset is None:
            raise Refused(f"`{order.name}` has no place for `{self.task.label}`")
        known = [own if place is None else place for place in places]
        base = self.kernel.place(f"{order.name}" + (f".{order.copy}" if order.copy else ""), order.offset)
        self.function.uses_shared = True
        count = len(order.participants)
        if step.verb == "take":
            key = f"{order.name}_phase"
            if key not in self.function.spelled_lets:
                name = self.function.spelled_lets[key] = self.function.names.free(key)
                # The first participant finds the phase before the initial one complete, so that it begins.
                first = self.function.vary([int(place == 0) for place in known])
                self.function.prelude.states[key] = Statement(
                    "variable", {"type": "u32", "name": name, "value": first}
                )
            phase = self.function.spelled_lets[key]
            barrier = self._turn_barrier(base, self.function.vary(known))
            return [
                Statement("wait", {"barrier": barrier, "parity": phase, "ready": ""}),
                Statement("flip", {"name": phase}),
            ]
        following = self.function.vary([(place + 1) % count for place in known])
        arrive = Statement("arrive", {"barrier": self._turn_barrier(base, following)})
        return self.by_warp(arrive)

    @staticmethod
    def _turn_barrier(base: str, place: str) -> str:
        if place == "0":
            return f"shared + {base}"
        distance = (
            str(8 * int(place)) if place.isdigit() else f"8 * {place if place.isalnum() else f'({place})'}"
        )
        return f"shared + {base} + {distance}"

    @staticmethod
    def _place(task: Task, order: Order) -> int | None:
        return order.participants.index(task.label) if task.label in order.participants else None

    def barrier(self, step: Step) -> list[Item]:
        """Meet at a named barrier, or count there."""
        order = self._order(step)
        if order.barrier_id is None or self.task.single:
            raise Refused(f"`{step.verb}` of `{order.name}` is not generated here yet")
        macro = "named_sync" if step.verb == "sync" else "named_arrive"
        return [Statement(macro, {"id": order.barrier_id, "threads": order.threads})]
