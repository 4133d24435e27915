"""Waits for what a task's warps move between tensor memory and registers: where they stand, by a walk.

A wait is for all that its warp has begun, so it stands as late as it may: before the first use of a fragment,
and before others hear of anything. What they hear need not be of the same stage: whoever gives it back, or
fills it next, may know by a barrier, another ring or the next tile that it has been read. Warps have lanes of
their own, but warpgroups share columns: before one moves what another one did, all meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tsc.emit.rings import Rings
from tsc.emit.tensor_memory import engines
from tsc.emit.tensor_shares import Move, Ring, move_of
from tsc.ops.base import Engine
from tsc.program.accesses import Touch
from tsc.program.arrivals import Side
from tsc.program.expand import operand_of
from tsc.program.fragments import WARPGROUP
from tsc.program.model import Pipeline
from tsc.program.tree import Block, Guard, Loop, Step, TileLoop, steps

_ENGINES = frozenset((Engine.TCGEN05, Engine.TMEM))
_PRIVATE = frozenset(("thread", "warp", "lane"))
_TELL = frozenset(("commit", "release", "pass", "arrive", "sync", "task_sync"))
# One thread starts them for all, and what they bring completes a barrier by itself.
_BRING = frozenset(("tma_load", "bulk_load", "cluster_copy", "count_in"))
_HEAR = frozenset(("acquire", "wait", "take", "sync", "task_sync"))
_NONE = frozenset[Ring]()


@dataclass(frozen=True, slots=True)
class Waits:
    """What stands ahead of a step or a block: a wait for loads, with the fragments that they wrote, one for
    stores, the fences of tensor memory that no ring guards, and between them a meeting of the task.
    """

    loads: bool = False
    stores: bool = False
    fragments: frozenset[str] = frozenset()
    fence_before: bool = False
    fence_after: bool = False
    meets: bool = False

    def __or__(self, other: Waits) -> Waits:
        return Waits(
            self.loads or other.loads,
            self.stores or other.stores,
            self.fragments | other.fragments,
            self.fence_before or other.fence_before,
            self.fence_after or other.fence_after,
            self.meets or other.meets,
        )


@dataclass(frozen=True, slots=True)
class TensorWaits:
    """The waits of a task by the index of the step behind them, or by the identity of a block that not all
    threads enter, those at its end, and what is refused.
    """

    ahead: Mapping[int, Waits]
    before: Mapping[int, Waits]
    at_end: Waits
    refused: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class _State:
    """What may be under way: loads into fragments, and from and to which tensor memory; and which of it was
    touched since others last heard of it, or not yet since they were heard. `apart` is what no ring guards
    and threads moved since they last met, `moved` what warpgroups moved since they did.
    """

    fragments: frozenset[str] = frozenset()
    read: frozenset[Ring] = _NONE
    written: frozenset[Ring] = _NONE
    untold: frozenset[Ring] = _NONE
    unheard: frozenset[Ring] = _NONE
    apart: frozenset[Ring] = _NONE
    moved: frozenset[Move] = frozenset()

    def __or__(self, other: _State) -> _State:
        return _State(
            self.fragments | other.fragments,
            self.read | other.read,
            self.written | other.written,
            self.untold | other.untold,
            self.unheard | other.unheard,
            self.apart | other.apart,
            self.moved | other.moved,
        )


def tensor_waits(rings: Rings) -> TensorWaits:
    """Find the waits of a task."""
    return _Walk(rings).run()


class _Walk:
    def __init__(self, rings: Rings) -> None:
        self.ends, self.kernel, self.task = rings, rings.kernel, rings.task
        task, self.program = self.task, self.kernel.program
        self.touched = {step.index: tuple(self.program.touches(step, task)) for step in task.steps()}
        self.used = frozenset(
            place
            for found in self.touched.values()
            for touch in found
            if touch.engine in (Engine.TMEM, Engine.TCGEN05)
            for place in self.places(touch)
        )
        # What others hear of by barriers that are not its own: it has no stages, or shares its columns.
        memories = self.program.memories
        under = {self.root(memory.name) for memory in memories.values() if memory.over is not None}
        self.plain = frozenset(it for it in self.used if not memories[it[0]].ring or it[0] in under)
        # Where one thread tells others for all, the others' moves come into what it tells by any sync.
        self.alone = any(self.tells_alone(step) for step in task.steps())
        self.ahead: dict[int, Waits] = {}
        self.before: dict[int, Waits] = {}
        self.refused: dict[int, str] = {}

    def run(self) -> TensorWaits:
        moves = any(touch.engine is Engine.TMEM for found in self.touched.values() for touch in found)
        if not moves and not self.used:
            return TensorWaits({}, {}, Waits(), {})
        left = self.block(self.task.tree, _State(), ())
        at_end = Waits(bool(left.read), bool(left.written))
        return TensorWaits(self.ahead, self.before, at_end, self.refused)

    def places(self, touch: Touch) -> Iterator[Ring]:
        """Yield the tensor memory of an access, under the name of what it lies on."""
        operand = touch.operand
        if operand is not None and operand.kind == "tmem":
            yield self.root(operand.name), operand.copy

    def root(self, name: str) -> str:
        """Return the resource on whose columns another one lies."""
        seen = set[str]()
        while name not in seen and (over := self.program.memories[name].over) is not None:
            seen.add(name)
            name = over.name if over.name in self.program.memories else name
        return name

    # ---- the walk ------------------------------------------------------------------------------------------

    def block(self, block: Block, state: _State, behind: tuple[Block, ...]) -> _State:
        """Walk a block; `behind` are the blocks that follow it, the nearest first."""
        for number, node in enumerate(block):
            rest = (block[number + 1 :], *behind)
            if isinstance(node, (Guard, Loop)) and state.fragments and self.apart(node, state):
                waits = Waits(loads=True, fragments=state.fragments)
                self.before[id(node)] = self.before.get(id(node), Waits()) | waits
                state = replace(state, fragments=frozenset(), read=_NONE)
            if self.alone and not isinstance(node, Step) and (state.read or state.written or state.untold):
                # All may have to meet before the block.
                waits = Waits(bool(state.read), bool(state.written), state.fragments, bool(state.untold))
                self.before[id(node)] = self.before.get(id(node), Waits()) | waits
                state = replace(state, fragments=frozenset(), read=_NONE, written=_NONE, untold=_NONE)
            match node:
                case Step():
                    state = self.step(node, state, rest)
                case Guard():
                    state = self.block(node.then, state, rest) | self.block(node.otherwise, state, rest)
                case Loop():
                    for piece in node.pieces:
                        state = self.repeated(piece.body, state, rest)
                case TileLoop():
                    state = self.repeated(node.body, state, rest)
        return state

    def apart(self, node: Guard | Loop, state: _State) -> bool:
        """Whether threads may part at a block that uses a fragment: they cannot wait together in there."""
        found = [node.condition] if isinstance(node, Guard) else [node.start, node.end, node.step]
        private = _PRIVATE | self.program.registers.keys()
        if not any(self.program.values.flat(it, node.env).free & private for it in found if it is not None):
            return False
        inside = (touch for step in steps((node,)) for touch in self.touched[step.index])
        return any(self.uses(touch, state) for touch in inside)

    def repeated(self, body: Block, state: _State, behind: tuple[Block, ...]) -> _State:
        while True:
            after = state | self.block(body, state, (body, *behind))
            if after == state:
                return state
            state = after

    def step(self, step: Step, state: _State, behind: tuple[Block, ...]) -> _State:
        waits = self.asked(step, state, behind)
        self.ahead[step.index] = self.ahead.get(step.index, Waits()) | waits
        if waits.loads:
            state = replace(state, fragments=frozenset(), read=_NONE)
        if waits.stores:
            state = replace(state, written=_NONE)
        if waits.fence_before or (self.tells(step) and self.fenced(step)):
            state = replace(state, untold=_NONE)
        if waits.fence_after:
            state = replace(state, unheard=_NONE)
        if waits.meets:
            state = replace(state, moved=frozenset())
        if waits.meets or (step.verb in _TELL and not self.own(step)):
            state = replace(state, apart=_NONE)
        if step.verb in _HEAR and not self.own(step):
            state = replace(state, unheard=_NONE if self.fenced(step) else self.used)
            taken = {(self.root(ring.ring), ring.copy) for ring in self.rings(step)}
            state = replace(state, moved=frozenset(it for it in state.moved if it.root not in taken))
        if (move := self.move(step)) is not None:
            state = replace(state, moved=state.moved | {move})
        for touch in self.touched[step.index]:
            if touch.engine is not Engine.TMEM:
                continue
            places = frozenset(self.places(touch))
            state = replace(state, untold=state.untold | places, apart=state.apart | places & self.plain)
            if touch.operand is not None and touch.operand.kind == "registers":
                if touch.writes:
                    state = replace(state, fragments=state.fragments | {touch.operand.name})
            elif touch.writes:
                state = replace(state, written=state.written | places)
            else:
                state = replace(state, read=state.read | places)
        return state

    def asked(self, step: Step, state: _State, behind: tuple[Block, ...]) -> Waits:
        """Return what a step needs ahead of it."""
        loads = stores = after = False
        for touch in self.touched[step.index]:
            own = frozenset(self.places(touch))
            after = after or bool(own & state.unheard)
            if touch.engine is Engine.TMEM:
                loads = loads or (touch.writes and bool(own & state.read)) or self.early(touch, state, behind)
                stores = stores or (touch.reads and bool(own & state.written))
                loads = loads or (touch.reads and self.uses(touch, state))
            elif touch.engine is Engine.TCGEN05 and own & (state.read | state.written | state.apart):
                what = f"move parts of `{touch.reference}`, and one of them has the tensor core"
                # What it writes is there when a commit says so, which a sync does not wait for.
                mend = "write it; give it `stages`, and put both into brackets"
                mend = mend if touch.writes else "use it; `task_sync` belongs between"
                self.refused[step.index] = f"all threads of `{self.task.label}` {what} {mend}"
            else:
                loads = loads or self.uses(touch, state)
        move, told = self.move(step), self.told(step)
        meets = move is not None and any(move.meets(other) for other in state.moved)
        told |= {move.root} if move is not None and meets else _NONE
        loads = loads or bool(told & state.read)
        stores = stores or bool(told & state.written)
        held = state.fragments if loads else frozenset[str]()
        before = meets or (bool(told & state.untold) and not self.fenced(step))
        return Waits(loads, stores, held, before, after or meets, meets)

    def move(self, step: Step) -> Move | None:
        """Return what a step of several warpgroups moves."""
        if (self.task.warps or 0) <= WARPGROUP // 32:
            return None
        places = (place for touch in self.touched[step.index] for place in self.places(touch))
        return next((move_of(self.program, self.task, step, place) for place in places), None)

    @staticmethod
    def uses(touch: Touch, state: _State) -> bool:
        """Whether an access is to a fragment that loads may still write."""
        operand = touch.operand
        return operand is not None and operand.kind == "registers" and operand.name in state.fragments

    def fenced(self, step: Step) -> bool:
        """Whether a ring step has its own fence: behind a wait for what the task has the tensor core or
        tensor memory touch, before an arrival that tells of moves.
        """
        if step.verb not in _HEAR | _TELL:
            return False
        wanted = _ENGINES if step.verb in _HEAR else frozenset((Engine.TMEM,))
        found = (engines(self.kernel, self.task, self.of(ring)) for ring in self.rings(step))
        return any(one & wanted for one in found)

    def own(self, step: Step) -> bool:
        """Whether a step is of a store ring or of a queue without answers, of which no other task hears."""
        reference, queue = operand_of(step), self.program.queue
        if queue is not None and reference is not None and reference.name == queue.name:
            return queue.answers is None
        return any(ring.store_ring for ring in self.rings(step))

    def rings(self, step: Step) -> list[Pipeline]:
        """Return the rings of a ring step."""
        reference = operand_of(step)
        operand = None if reference is None else self.kernel.meaning(reference, self.task, step)
        names = () if reference is None else self.program.meanings.group_members(reference.name)
        copy = 0 if operand is None else operand.copy
        return [ring for name in names if (ring := self.program.pipelines.get((name, copy))) is not None]

    def of(self, ring: Pipeline) -> Ring | None:
        """Return what a ring stands for: a signal for all that the task does."""
        return None if self.program.memories[ring.ring].kind == "signal" else (ring.ring, ring.copy)

    def told(self, step: Step) -> frozenset[Ring]:
        """Return the tensor memory of which a step tells others: all, whatever it is a step of."""
        moves = any(touch.engine is Engine.TMEM for touch in self.touched[step.index])
        return self.used if self.tells(step) or (self.alone and not moves) else _NONE

    def tells(self, step: Step) -> bool:
        """Whether others may hear of a step."""
        return step.verb in _TELL | _BRING and not self.own(step)

    def tells_alone(self, step: Step) -> bool:
        """Whether one thread of several lets others hear of a step."""
        if not self.tells(step):
            return False
        sides: dict[str, Side] = {"commit": "write", "release": "read"}
        members = self.ends.members(step) if step.verb in sides else ()
        if members:
            return self.ends.arrives(members, sides[step.verb]) not in ("warps", "threads")
        return step.verb in _BRING or step.verb == "commit"

    def early(self, touch: Touch, state: _State, behind: tuple[Block, ...]) -> bool:
        """Whether a load waits for those before it, because what they wrote is used before what it writes: it
        then runs under that use.
        """
        operand = touch.operand
        if operand is None or operand.kind != "registers" or not touch.writes:
            return False
        others = state.fragments - {operand.name}
        for node in (node for block in behind for node in block) if others else ():
            for step in steps((node,)):
                used = {
                    other.operand.name
                    for other in self.touched[step.index]
                    if other.operand is not None and (other.engine is not Engine.TMEM or other.reads)
                }
                if operand.name in used or self.told(step) & state.read:
                    return False
                if used & others:
                    return True
        return False
