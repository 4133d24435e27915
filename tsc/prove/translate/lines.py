"""Rings and barriers of the system: who shares them, and how many arrivals make a phase."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tsc.emit.arrivals import counted, group_of, shared
from tsc.emit.kernel import Kernel
from tsc.ops.base import Engine as By
from tsc.program.accesses import Touch, touches
from tsc.program.arrivals import Side as Direction
from tsc.program.arrivals import arrivals, one_of_all
from tsc.program.model import Memory, Order, Program, RingUse, Task
from tsc.program.multicast import fillers, reached, tellers
from tsc.program.rings import loaded_bytes
from tsc.program.sending import copies
from tsc.program.tree import Step
from tsc.prove.machine import Barrier, Ring
from tsc.prove.translate.cluster import Cluster
from tsc.prove.translate.memory import Bank
from tsc.prove.translate.translation import BarrierSource, Side

SIDES: dict[Direction, Side] = {"write": "full", "read": "empty"}


@dataclass(frozen=True, slots=True)
class LineKey:
    """A barrier array by what it belongs to."""

    owner: str
    copy: int
    side: Side
    cta: int
    participant: str = ""


class Lines:
    """Rings and barriers, made as they are asked for."""

    def __init__(self, kernel: Kernel, cluster: Cluster, bank: Bank) -> None:
        self.kernel, self.cluster, self.bank = kernel, cluster, bank
        self.program: Program = kernel.program
        self.rings: list[Ring] = []
        self.barriers: list[Barrier] = []
        self.sources: list[BarrierSource] = []
        self._rings: dict[tuple[str, int, int | None], int] = {}
        self._barriers: dict[LineKey, int] = {}

    # ---- rings ---------------------------------------------------------------------------------------------

    def family(self, memory: Memory) -> tuple[str, tuple[str, ...]]:
        """Return the name under which a ring turns with others, and all of them."""
        group = self.program.groups.get(memory.group or "")
        return (memory.name, (memory.name,)) if group is None else (group.name, group.members)

    def ring(self, memory: Memory, copy: int, cta: int) -> int:
        """Return the ring of a copy in a CTA; CTAs that share its loads have one together."""
        name, members = self.family(memory)
        for known in ((name, copy, cta), (name, copy, None)):
            if known in self._rings:
                return self._rings[known]
        pipelines = [self.program.pipelines.get((member, copy)) for member in members]
        together = self.paired(members, copy) or any(one is not None and one.multicast for one in pipelines)
        stages = max(1, memory.stages or 1)
        return self.plain_ring(name, copy, None if together else cta, stages, self.bank.alone(members, copy))

    def plain_ring(self, name: str, copy: int, cta: int | None, stages: int, turns: bool = True) -> int:
        """Return the ring with a name, made if need be; `cta` is absent where all have it together."""
        key = (name, copy, cta)
        if key not in self._rings:
            self._rings[key] = len(self.rings)
            self.rings.append(Ring(name + (f"[{copy}]" if copy else ""), stages, turns))
        return self._rings[key]

    # ---- barriers ------------------------------------------------------------------------------------------

    def owner(self, memory: Memory, side: Side) -> str:
        """Return what a ring's barrier belongs to: the group where its members share that side."""
        group = self.program.groups.get(memory.group or "")
        shared = group is not None and side == ("empty" if group.kind == "merge" else "full")
        return group.name if shared and group is not None else memory.name

    def barrier(self, memory: Memory, copy: int, direction: Direction, cta: int) -> int:
        """Return the barriers at which a side of a ring is handed on: full for `write`, empty for `read`."""
        side = SIDES[direction]
        key = LineKey(self.owner(memory, side), copy, side, cta)
        if key not in self._barriers:
            count = self._count(memory, key.owner, copy, direction, cta)
            self.add(key, self.ring(memory, copy, cta), count)
        return self._barriers[key]

    def add(self, key: LineKey, ring: int, count: int) -> int:
        """Return the barrier with a key, made if need be."""
        if key not in self._barriers:
            self._barriers[key] = len(self.barriers)
            copy = f"[{key.copy}]" if key.copy else ""
            label = key.owner + copy + (f".{key.side}" if key.side in ("full", "empty") else "")
            if key.participant:
                label += f" of {key.participant}"
            if self.cluster.size > 1:
                label += f" of CTA {key.cta}"
            self.barriers.append(Barrier(label, ring, max(1, count)))
            self.sources.append(BarrierSource(key.owner, key.copy, key.side, key.cta, key.participant))
        return self._barriers[key]

    def _count(self, memory: Memory, owner: str, copy: int, direction: Direction, cta: int) -> int:
        """Return the arrivals that the generated code sets a barrier up for.

        Bytes that other CTAs load are arrivals of theirs here: a phase waits for them too.
        """
        program = self.program
        members = program.groups[owner].members if owner in program.groups else (memory.name,)
        count = counted(self.kernel, members, copy, direction)
        if direction == "read":
            loads, group = shared(program, members, copy), group_of(program, members, copy)
            return count * tellers(reached(loads, self.cluster.order, cta), group)
        for other in self.cluster.ranks():
            found = self._heard(members, copy, cta, other) if other != cta else []
            count += max(found, default=0) if one_of_all(memory, "write") else sum(found)
        return count + sum(self.landings(task, members, copy) or 0 for task in program.tasks)

    def landings(self, task: Task, members: Iterable[str], copy: int) -> int | None:
        """Return how many copies of a task land in each CTA for a stage: each is an arrival at its full
        barrier, which the own task announces. `None` where that differs from stage to stage.
        """
        found = [copies(task, name, copy, self.program.meanings) for name in members]
        if any(len(counts) > 1 or None in counts for counts in found):
            return None
        return sum(count or 0 for counts in found for count in counts)

    def _heard(self, members: tuple[str, ...], copy: int, cta: int, other: int) -> list[int]:
        """Return how often the tasks of another CTA arrive at a full barrier of this one."""
        found = []
        for task in self.program.tasks:
            uses = [use for use in self.uses(task, members, copy) if use.produces]
            if uses and not self._by_tensor_core(uses, "write"):
                found += [arrivals(task, uses, "write")] * (cta in self.fulls(task, members, copy, other))
        return found

    # ---- who hears of what ---------------------------------------------------------------------------------

    def paired(self, names: Iterable[str], copy: int) -> bool:
        """Whether the tensor cores of a pair of CTAs read or fill some rings."""
        engines = (self.kernel.engines(name, copy) for name in names)
        return self.cluster.pair is not None and any(By.TCGEN05.value in a | b for a, b in engines)

    @staticmethod
    def _by_tensor_core(uses: Iterable[RingUse], side: Direction) -> bool:
        return any(
            By.TCGEN05.value in (use.engine_writes if side == "write" else use.engine_reads) for use in uses
        )

    def fulls(self, task: Task, names: Iterable[str], copy: int, cta: int) -> tuple[int, ...]:
        """Return the CTAs at whose full barriers a commit counts: those that its loads reach.

        Bytes for the tensor cores of a pair are counted at its leader; what they fill, both CTAs hear of.
        """
        names = tuple(names)
        found = self.reach(task, names, copy, cta)
        if not self.paired(names, copy):
            return found
        if self._by_tensor_core(self.uses(task, names, copy), "write"):
            return tuple(sorted({one for rank in found for one in self.cluster.pair_of(rank)}))
        return tuple(sorted({self.cluster.pair_of(rank)[0] for rank in found}))

    def empties(self, task: Task, names: Iterable[str], copy: int, cta: int) -> tuple[int, ...]:
        """Return the CTAs at whose empty barriers a release counts: their loads or products reach this."""
        names = tuple(names)
        loads, order = shared(self.program, names, copy), self.cluster.order
        if not self.paired(names, copy):
            return fillers(loads, order, cta)
        if self._by_tensor_core(self.uses(task, names, copy), "read"):
            both = self.cluster.pair_of(cta)
            return tuple(sorted({one for rank in both for one in fillers(loads, order, rank)}))
        return tuple(sorted({self.cluster.pair_of(one)[0] for one in fillers(loads, order, cta)}))

    def uses(self, task: Task, names: Iterable[str], copy: int) -> list[RingUse]:
        """Return what a task does with each of some rings."""
        found = (self.kernel.use(task, name, copy) for name in names)
        return [use for use in found if use is not None]

    def reach(self, task: Task, names: Iterable[str], copy: int, cta: int) -> tuple[int, ...]:
        """Return the CTAs in which loads of a task in one CTA fill a stage, its own included."""
        names, found = set(names), {cta}
        if self.cluster.size == 1:
            return (cta,)
        for step in task.steps():
            axis = getattr(step.model, "multicast", None)
            if axis is None:
                continue
            for touch in touches(step, self.program.meanings, self.program.works, task.name, task.replica):
                operand = touch.operand
                if not touch.writes or operand is None or operand.copy != copy or operand.name not in names:
                    continue
                if self.cluster.issues(cta, step.model, load_size(self.program, step, touch), axis):
                    found |= set(self.cluster.peers(cta, axis))
        return tuple(sorted(found))

    # ---- orders --------------------------------------------------------------------------------------------

    def turn(self, order: Order, label: str, cta: int) -> int:
        """Return the barrier at which a participant waits for its turn: the one before it arrives there."""
        ring = self.plain_ring(order.name, order.copy, cta, 1)
        before = self.program.task(order.participants[order.participants.index(label) - 1])
        count = 1 if before.single else before.warps or 1
        return self.add(LineKey(order.name, order.copy, "turn", cta, label), ring, count)

    def meeting(self, order: Order, cta: int) -> int:
        """Return the barrier of a named barrier; it counts threads."""
        ring = self.plain_ring(order.name, order.copy, cta, 1)
        return self.add(LineKey(order.name, order.copy, "barrier", cta), ring, order.threads)


def load_size(program: Program, step: Step, touch: Touch) -> int | None:
    """Return the bytes that a load fills, where they are known when built."""
    memory = program.memories.get(touch.operand.name) if touch.operand is not None else None
    return None if memory is None else loaded_bytes(memory, step, touch)
