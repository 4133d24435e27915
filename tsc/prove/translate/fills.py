"""Where what a task puts into a stage comes to lie: in its own CTA, or in all that share it."""

from __future__ import annotations

from tsc.ops.base import Engine
from tsc.program.accesses import Touch
from tsc.program.model import Memory
from tsc.program.sending import sending
from tsc.program.tree import Step
from tsc.prove.machine import Cells
from tsc.prove.translate.frame import Frame, View
from tsc.prove.translate.lines import load_size

BY_LEADER = frozenset((Engine.TMA, Engine.STORE, Engine.TCGEN05))
BY_THREADS = frozenset((Engine.THREAD, Engine.CP_ASYNC, Engine.TMEM, Engine.WGMMA))

Share = tuple[int, int]  # which part of how many


def destinations(frame: Frame, step: Step, touch: Touch, cta: int) -> list[tuple[int, Share | None]]:
    """Return the CTAs in which an access of a task in one CTA means memory, each with its part of a buffer.

    Nothing for a shared load that another CTA issues.
    """
    cluster = frame.cluster
    if touch.engine is Engine.TCGEN05:
        return [(one, None) for one in cluster.pair_of(cta)]
    copied = sending(step, frame.program.values, cluster.real)
    if copied is not None and touch.writes:
        peers = cluster.peers(cta, copied.axis)
        to = copied.sent[cluster.place(cta, copied.axis)]
        return [(peers[to], None)] if to < len(peers) else []
    axis = getattr(step.model, "multicast", None)
    if axis is None or cluster.size == 1 or touch.engine is not Engine.TMA:
        return [(cta, None)]
    size = load_size(frame.program, step, touch)
    if not cluster.issues(cta, step.model, size, axis):
        return []
    parts = cluster.parts(step.model, size, axis)
    share = (cluster.place(cta, axis), parts) if parts > 1 else None
    return [(one, share) for one in cluster.peers(cta, axis)]


def fills(view: View, memory: Memory, copy: int, cta: int, engines: frozenset[Engine]) -> Cells:
    """Return the segments of each stage that a task writes by some engines between `acquire` and `commit`."""
    found: list[dict[int, None]] = [{} for _ in range(max(1, memory.stages or 1))]
    for step, touch in view.writes.get((memory.name, copy), ()):
        if touch.engine not in engines:
            continue
        if view.reads_where_it_waits(step, memory, copy, touch.mode == "read") is not False:
            continue
        buffer = memory.buffer(touch.reference.buffer)
        name = touch.reference.buffer if buffer is None else buffer.name
        for one, share in destinations(view.frame, step, touch, cta):
            cells = view.frame.bank.cells(memory, copy, name, one, share)
            for stage, segments in zip(found, cells, strict=True):
                stage.update(dict.fromkeys(segments))
    return tuple(map(tuple, found))
