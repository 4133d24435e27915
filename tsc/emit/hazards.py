"""Syncs and fences inside one task that nobody writes: before a step that meets what other threads left
behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from typing_extensions import override

from tsc.emit.brackets import Brackets
from tsc.emit.forward import Forward
from tsc.emit.fragments import pending_products
from tsc.emit.kernel import Kernel
from tsc.emit.meetings import unmet_releases
from tsc.emit.places import ASYNC, Place, own, places_of, stores
from tsc.ops.base import Engine
from tsc.program.accesses import Touch, touches
from tsc.program.arrivals import Side, Who, who
from tsc.program.expand import operand_of
from tsc.program.fragments import WARPGROUP
from tsc.program.model import Task
from tsc.program.tree import Block, Guard, Loop, Node, Step, TileLoop, walk
from tsc.source.route import Route

# What happened at a place: `written` or `read` by threads since the task's last sync, with how these spread
# over it; written and `unfenced`; `pending`, where a store may still read it.
Mark = tuple[str, str]
Marks = frozenset[Mark]
State = Mapping[Place, Marks]

UNFENCED: Mark = ("unfenced", "")
PENDING: Mark = ("pending", "")
OPEN: Mark = ("open", "")  # a stage of a store ring, acquired and not yet committed
KEPT = frozenset((UNFENCED, PENDING, OPEN))  # by a sync
# Products of several warpgroups may read it, each of which waits for its own alone: none knows of another's
# end before a sync behind the waits.
PRODUCTS: Mark = ("products", "")
DONE: Mark = ("done", "")  # and these, after their own wait
READS = frozenset(("read", "done"))
NONE: Marks = frozenset()
LED: Place = ("", 0, "")  # no place: marked where the leader alone has waited since the last sync

APART = frozenset(("load", "store", "do", "zero", "convert", "activate"))
PRIVATE = frozenset(("thread", "warp", "lane"))


@dataclass(slots=True)
class Hazards:
    """Steps, by index, before which all threads of the task meet, or fence their writes to memory."""

    syncs: set[int] = field(default_factory=set)
    global_syncs: set[int] = field(default_factory=set)  # those of `syncs` for global memory alone
    fences: set[int] = field(default_factory=set)
    global_fences: set[int] = field(default_factory=set)
    # Nodes, by identity, that not all threads enter, so that what is needed inside stands before them.
    before: dict[int, set[str]] = field(default_factory=dict)
    impossible: list[Route] = field(default_factory=list)
    refused: dict[Route, str] = field(default_factory=dict)  # what no sync repairs, as sentences


def find_hazards(kernel: Kernel, task: Task, brackets: Brackets) -> Hazards:
    """Walk a task's tree, loops as often as anything new comes up."""
    found = Hazards()
    if not task.single:
        _Walk(kernel, task, found, brackets).block(task.tree, {})
        found.syncs |= unmet_releases(kernel, task)
    return found


class _Walk(Forward[State]):
    def __init__(self, kernel: Kernel, task: Task, found: Hazards, brackets: Brackets) -> None:
        self.kernel, self.task, self.found, self.program = kernel, task, found, kernel.program
        self.sharing, self.brackets = kernel.sharing, brackets
        # All threads of a task hear the same of `count_in`.
        writers: dict[str, set[str]] = {name: set() for name in kernel.program.registers}
        for step in task.steps():
            for touch in kernel.program.touches(step, task):
                if touch.writes and touch.reference.name in writers:
                    writers[touch.reference.name].add(step.verb)
        self.private = {name for name, verbs in writers.items() if verbs != {"count_in"}}
        # What copies to other CTAs read: that they have, the leader alone learns by an `acquire`.
        copied = {
            place
            for step in task.steps()
            if step.verb == "cluster_copy"
            for touch in kernel.program.touches(step, task)
            for place in (places_of(kernel.program, touch) if touch.reads else ())
        }
        self.copied = copied.union(*map(self.sharing.others, copied))

    @override
    def block(self, block: Block, state: State) -> State:
        for node in block:
            state = self.apart(node, state) if self.diverges(node) else self.node(node, state)
        return state

    @override
    def node(self, node: Node, state: State) -> State:
        match node:
            case Guard():
                sides = self.block(node.then, state), self.block(node.otherwise, state)
                # A wait that stands under a condition is taken to come whenever something is pending.
                waited = {
                    place
                    for place, marks in state.items()
                    if any(PENDING not in side[place] for side in sides)
                }
                joined = self.joined(*sides)
                return {p: marks - {PENDING} if p in waited else marks for p, marks in joined.items()}
            case TileLoop() if self.program.queue is not None and self.program.queue.policy == "grid":
                return self.block(node.body, state)  # a CTA has one tile
            case _:
                return super().node(node, state)

    @override
    def joined(self, a: State, b: State) -> State:
        return {place: a.get(place, NONE) | b.get(place, NONE) for place in {**a, **b}}

    def diverges(self, node: Node) -> bool:
        """Whether threads of the task may part at a node."""
        match node:
            case Guard(condition=condition) if condition is not None:
                expressions = [condition]
            case Loop():
                expressions = [node.start, node.end, node.step]
            case _:
                return False
        # A register that decides over a common step is the same in all threads; that is the author's promise.
        common = any(isinstance(inner, Step) and inner.verb not in APART for inner, _ in walk((node,)))
        private = PRIVATE if common else PRIVATE | self.private
        return any(self.program.values.flat(expr, node.env).free & private for expr in expressions)

    def apart(self, node: Node, state: State) -> State:
        """Walk a node that not all threads enter: they meet before it, since they cannot inside."""
        needs = self.trial(node, state)
        if needs.syncs:
            kinds = self.found.before.setdefault(id(node), set())
            kinds |= {"sync"}
            kinds |= {"fence"} if needs.fences else set()
            kinds |= {"global"} if needs.global_fences else set()
            state = _synced(self.cleared(state, bool(needs.fences), bool(needs.global_fences)))
            again = self.trial(node, state)
            if again.syncs - again.global_syncs:
                self.found.impossible.append(node.route)
        inside = Hazards()
        after = _Walk(self.kernel, self.task, inside, self.brackets).node(node, state)
        self.found.fences |= inside.fences
        self.found.global_fences |= inside.global_fences
        self.found.refused |= inside.refused
        return after

    def trial(self, node: Node, state: State) -> Hazards:
        """Return what a node would need inside."""
        found = Hazards()
        _Walk(self.kernel, self.task, found, self.brackets).node(node, state)
        found.syncs |= {index for index in found.before}
        return found

    # ---- steps ---------------------------------------------------------------------------------------------

    @override
    def step(self, step: Step, state: State) -> State:
        match step.verb:
            case "task_sync":
                return _synced(self.fence(step, state, self.task.label))
            case "store_wait":
                return {place: marks - {PENDING} for place, marks in _synced(state).items()}
            case "sync":
                return _synced(self.fence(step, state))
            case "count_in":
                # All threads meet in it, and the one that counts has waited for its stores.
                done = {PENDING} if stores(self.program, self.task) else set()
                return {p: marks - done for p, marks in _synced(self.fence(step, state)).items()}
            case "wgmma_wait":
                left = {PRODUCTS} if pending_products(self.program, step) else set()
                over: Marks = frozenset((DONE, *left))
                return {
                    p: marks - {PRODUCTS} | over if PRODUCTS in marks else marks for p, marks in state.items()
                }
            case "arrive" | "pass":
                return self.fence(step, state)
            case "acquire" | "wait" | "commit" | "release":
                return self.ring(step, state)
            case _:
                return self.accesses(step, state)

    def accesses(self, step: Step, state: State) -> State:
        """Sync and fence before an operation or a work, as what it touches asks, and note what it does."""
        program, index = self.program, step.index
        touched = [
            (touch, place, own(program, step, touch, self.task.threads))
            for touch in touches(step, program.meanings, program.works, self.task.name, self.task.replica)
            for place in places_of(program, touch)
        ]
        if index in self.brackets.totals:
            # The load's announcement is the arrival of the bracket.
            state = self.fence(step, state)
            if any(map(self.shared, state, state.values())):
                self.found.syncs.add(index)
        for touch, place, spread in touched:
            read_until_led = touch.writes and place in self.copied
            if touch.engine is Engine.THREAD and state.get(LED) and (self.crosses(place) or read_until_led):
                self.found.syncs.add(index)
            marks, tensor = state.get(place, NONE), self.sharing.tensor(place)
            by_engine = touch.engine in ASYNC
            if by_engine and UNFENCED in marks:
                (self.found.global_fences if tensor else self.found.fences).add(index)
            if self.meets(touch.engine, touch.reads, touch.writes, tensor, marks, spread):
                if tensor and index not in self.found.syncs:
                    self.found.global_syncs.add(index)
                elif not tensor:
                    self.found.global_syncs.discard(index)
                self.found.syncs.add(index)
            if touch.engine is Engine.THREAD and touch.writes and PENDING in marks:
                self.found.refused[step.route] = (
                    f"`{place[0]}` is written while a store may still read it; "
                    "`store_wait: 0` belongs before this"
                )
            if touch.engine is Engine.STORE and OPEN in marks:
                self.found.refused[step.route] = (
                    f"the stage of `{place[0]}` acquired last is not committed; "
                    "the store belongs between its `commit` and the next `acquire`"
                )
        state = self.cleared(state, index in self.found.fences, index in self.found.global_fences)
        after = dict(_synced(state) if index in self.found.syncs else state)
        for touch, place, spread in touched:
            after[place] = after.get(place, NONE) | self.left(touch, place, spread)
            # Under another name the threads spread over the same bytes in another way.
            for other in self.sharing.others(place):
                after[other] = after.get(other, NONE) | self.left(touch, other, "")
        return after

    def left(self, touch: Touch, place: Place, spread: str) -> set[Mark]:
        """Return what an access leaves behind at a place."""
        if touch.engine is Engine.THREAD:
            return {("written", spread), UNFENCED} if touch.writes else {("read", spread)}
        if touch.engine is Engine.WGMMA:
            return {PRODUCTS} if (self.task.warps or 0) > WARPGROUP // 32 else set()
        return {PENDING} if touch.engine is Engine.STORE and self.sharing.plain(place) else set()

    @staticmethod
    def meets(engine: Engine, reads: bool, writes: bool, tensor: bool, marks: Marks, spread: str) -> bool:
        """Whether an access meets what other threads did since the last sync.

        In global memory only what threads wrote counts, since works that write to parts of their own are the
        rule there.
        """
        if engine in ASYNC:
            return UNFENCED in marks or any(
                kind == "written" or (kind in READS and writes and not tensor) for kind, _ in marks
            )
        others = {kind for kind, how in marks if how != spread or not spread}
        if tensor:
            return engine in (Engine.THREAD, Engine.CP_ASYNC) and reads and "written" in others
        by_threads = engine in (Engine.THREAD, Engine.CP_ASYNC)
        return by_threads and ("written" in others or (writes and bool(READS & others)))

    def ring(self, step: Step, state: State) -> State:
        """Fence what a stage hands over; a new stage has no past in this task but what is not yet fenced."""
        reference = operand_of(step)
        operand = None if reference is None else self.kernel.meaning(reference, self.task, step)
        if operand is None or reference is None or operand.kind == "queue":
            return state  # where tiles follow from a number, nothing is printed that could hold a fence
        names = self.program.meanings.group_members(reference.name)
        pipelines = [p for name in names if (p := self.program.pipelines.get((name, operand.copy)))]
        if any(pipeline.store_ring for pipeline in pipelines):
            # Its acquire and its commit sync, the latter after a fence.
            state = _synced(self.cleared(state, step.verb == "commit", False))
            if step.verb == "acquire" and all(pipeline.stages == 1 for pipeline in pipelines):
                # It waits until every store of the task has read its bytes.
                state = {place: marks - {PENDING} for place, marks in state.items()}
            mine = {place: marks - {OPEN} for place, marks in state.items() if place[0] in names}
            if step.verb == "acquire":
                places = self.sharing.places(names, operand.copy)
                mine = {place: NONE if place[:2] in self.brackets.deep else NONE | {OPEN} for place in places}
            return {**state, **mine}
        if getattr(step.model, "observe", None) and all(self.waits_too(name, operand.copy) for name in names):
            return state  # the stage that it means is still the one it has taken
        if step.verb in ("commit", "release"):
            return self.hand_over(step, names, operand.copy, state)
        kept = KEPT if pipelines else NONE
        taken = {
            place: marks & kept | self.overlaid(step, place, state)
            if place[0] in names and place[1] == operand.copy
            else marks
            for place, marks in state.items()
        }
        led = (self.task.warps or 1) > 1 and self.led(step, names, operand.copy)
        return {**taken, LED: frozenset((("led", ""),))} if led else taken

    def waits_too(self, name: str, copy: int) -> bool:
        """Whether the task takes stages of a ring that it also observes."""
        use = self.kernel.use(self.task, name, copy)
        return use is not None and use.waits and not use.observes

    def overlaid(self, step: Step, place: Place, state: State) -> Marks:
        """Return what the task did to the bytes of a ring under other names and a stage just taken does not
        settle: who fills a stage elsewhere comes after that, and so does who waits for the fill.
        """
        if step.verb == "wait" and self.sharing.filled_elsewhere(place, self.task.label):
            return NONE
        return NONE.union(*(state.get(other, NONE) for other in self.sharing.others(place))) - KEPT

    def hand_over(self, step: Step, names: tuple[str, ...], copy: int, state: State) -> State:
        """Fence before an arrival; where some threads arrive for all, they meet before it if it speaks of
        more than what engines did to its stage.
        """
        state = self.fence(step, state, names=names)
        by = self.arrives(step, names, copy)
        # A warpgroup's arrival speaks of its own products, and of no other threads.
        told = {DONE} if by == "warpgroups" else set()
        given = {(name, copy) for name in names} if step.verb == "release" else set()
        shared = [
            place[0]
            for place, marks in state.items()
            if self.shared(place, marks - told)
            or (place[:2] in given and any(kind == "written" for kind, _ in marks))
        ]
        if shared and by in ("leader", "warpgroups"):
            self.found.syncs.add(step.index)
            if step.index in self.brackets.silent:
                self.found.refused[step.route] = (
                    f"`{shared[0]}` is touched between the load and this `commit`, whose arrival comes with "
                    "the load; it belongs before the load"
                )
        return _synced(state) if step.index in self.found.syncs else state

    def led(self, step: Step, names: tuple[str, ...], copy: int) -> bool:
        """Whether one thread waits or arrives at a step for all."""
        return self.arrives(step, names, copy) == "leader"

    def arrives(self, step: Step, names: tuple[str, ...], copy: int) -> Who:
        """Return who arrives at the side of rings that a step speaks of."""
        side: Side = "write" if step.verb in ("acquire", "commit") else "read"
        uses = [use for name in names if (use := self.kernel.use(self.task, name, copy)) is not None]
        return who(self.task, uses, side)

    def crosses(self, place: Place) -> bool:
        """Whether other tasks touch a place outside of any ring, and somebody writes to it."""
        label = self.task.label
        if not self.sharing.loose(place):
            return False
        return self.sharing.written_elsewhere(place, label) or (
            self.sharing.read_elsewhere(place, label) and self.sharing.written_by(place, label)
        )

    def shared(self, place: Place, marks: Marks) -> bool:
        """Whether other tasks may touch what threads wrote outside of any ring, or write what they read."""
        kinds, label = {kind for kind, _ in marks}, self.task.label
        if not self.sharing.loose(place):
            return False
        return ("written" in kinds and self.sharing.read_elsewhere(place, label)) or (
            bool(kinds & {"written", *READS}) and self.sharing.written_elsewhere(place, label)
        )

    def fence(self, step: Step, state: State, label: str | None = None, names: tuple[str, ...] = ()) -> State:
        """Fence what engines may touch, of the task with a label or of any, before others hear of it."""
        for place, marks in state.items():
            if UNFENCED not in marks or not self.sharing.asynchronous(place, label):
                continue
            if place[0] in names or not self.at_commit(place):
                tensor = self.sharing.tensor(place)
                (self.found.global_fences if tensor else self.found.fences).add(step.index)
        return self.cleared(state, step.index in self.found.fences, step.index in self.found.global_fences)

    def at_commit(self, place: Place) -> bool:
        """Whether only the commit of its ring tells others of what the task wrote to a place."""
        use = self.kernel.use(self.task, place[0], place[1])
        if use is None or self.sharing.others(place):
            return False
        return use.commits and not use.waits and place[0] not in self.sharing.waited_by

    def cleared(self, state: State, shared: bool, tensors: bool) -> State:
        """Return what a fence of shared memory, or of tensors, leaves unfenced."""
        return {
            place: marks - {UNFENCED} if (tensors if self.sharing.tensor(place) else shared) else marks
            for place, marks in state.items()
        }


def _synced(state: State) -> State:
    return {place: marks & (KEPT | {PRODUCTS}) for place, marks in state.items()}
