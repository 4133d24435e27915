"""Which bytes of shared memory, or columns of tensor memory, a resource lies on: stage by stage, overlays
included.
"""

from __future__ import annotations

from collections.abc import Iterable

from tsc.program.model import Buffer, Memory

Span = tuple[int, int]
"""First byte and the one after the last, from the start of shared memory; columns for tensor memory."""


def spans(memory: Memory, copy: int = 0, buffer: Buffer | None = None) -> tuple[Span, ...]:
    """Return the bytes of a copy, or of one buffer in it, stage by stage; one entry without stages.

    Nothing for a signal, and where an overlay has no place. The padding behind a stage's last buffer belongs
    to the stage and to no buffer.
    """
    if memory.offset is None or not memory.buffers:
        return ()
    begin = memory.offset + copy * memory.copy_bytes + (0 if buffer is None else buffer.offset)
    size = memory.stage_bytes if buffer is None else buffer.bytes
    stages = range(1 if memory.stages is None else memory.stages)
    return tuple((begin + i * memory.stage_bytes, begin + i * memory.stage_bytes + size) for i in stages)


def meet(first: Iterable[Span], second: Iterable[Span]) -> bool:
    """Whether two places have a byte in common."""
    others = tuple(second)
    return any(a < d and c < b for a, b in first for c, d in others)
