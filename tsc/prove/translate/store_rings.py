"""The instructions of a ring that a store engine reads: it has no barriers, but full ones where loads fill
it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsc.emit.rings import RingEnd
from tsc.emit.store_rings import pending
from tsc.ops.base import Engine as By
from tsc.ops.lowering import Refused
from tsc.program.model import Memory
from tsc.program.tree import Step
from tsc.prove.machine import Arrive, Drain, Fence, Move, Node, Wait

if TYPE_CHECKING:
    from tsc.prove.translate.agent import AgentMaker


def committed(maker: AgentMaker, memory: Memory, copy: int) -> str:
    """Return the step whose counter has moved to the stage that stores read."""
    end = _end(maker, memory, copy)
    return "acquire" if end is None or end.single else "commit"


def store_ring_step(maker: AgentMaker, step: Step, memory: Memory, copy: int) -> list[Node]:
    """Return the instructions of an `acquire` or a `commit`."""
    end = _end(maker, memory, copy)
    if end is None:
        maker.frame.leave_out(step.route, f"`{step.verb}` of the store ring `{memory.name}`")
        return []
    if step.verb == "acquire":
        return _acquire(maker, step, end)
    return _commit(maker, step, end) if step.verb == "commit" else []


def _end(maker: AgentMaker, memory: Memory, copy: int) -> RingEnd | None:
    try:
        return maker.view.rings.end(memory, copy, "write")
    except Refused:
        return None


def _acquire(maker: AgentMaker, step: Step, end: RingEnd) -> list[Node]:
    key = (end.ring.name, end.copy)
    if key not in maker.pending:
        maker.pending[key] = pending(maker.view.rings, end)
    found: list[Node] = []
    if maker.leads:
        found.append(Drain(step.route, maker.engine("store"), maker.pending[key].get(step.index, 0)))
    return [*found, *maker.sync(step.route), Move(step.route, (maker.place(*_ring(end), "acquire"),))]


def _ring(end: RingEnd) -> tuple[Memory, int]:
    return end.ring, end.copy


def _commit(maker: AgentMaker, step: Step, end: RingEnd) -> list[Node]:
    memory, copy = _ring(end)
    uses = maker.lines.uses(maker.task, (memory.name,), copy)
    writes = frozenset[str]().union(*(use.engine_writes for use in uses))
    found: list[Node] = []
    if By.CP_ASYNC.value in writes and maker.works:
        found.append(Drain(step.route, maker.engine("cp_async")))
    if not end.pipeline.loaded or writes - {By.TMA.value}:
        found.append(Fence(step.route))
    keep = maker.view.keep(step)
    acquired, handed = maker.place(memory, copy, "acquire"), maker.place(memory, copy, "commit")
    if end.pipeline.loaded:
        early = any(one.index == step.index for one in maker.view.early.values())
        found += [] if early else maker.commit(step, ((memory, copy),))
        if maker.leads:
            # How many stages are handed over is known where this is generated.
            counts = maker.view.held.counts(step, (memory.name, copy, "write"))
            times = max(0, max(counts, default=0) - keep)
            full = maker.lines.barrier(memory, copy, "write", maker.cta)
            ring = maker.lines.ring(memory, copy, maker.cta)
            landed = maker.cursor(("landed", memory.name, str(copy)), ring)
            found += [Wait(step.route, full, landed)] * times
    elif not end.single:
        found.append(Arrive(step.route, (), handed, 1, acquired, keep))
    return [*found, *maker.sync(step.route)]
