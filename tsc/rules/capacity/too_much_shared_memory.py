"""Needs more shared memory than a CTA can have.

What it does
    Adds up all stages, copies and barriers, padding included, and compares with what the target allows a
    CTA; with `ctas_per_sm` also with what so many CTAs find on a multiprocessor.

Why is this bad
    The launch fails.

Example
    ring: {kind: smem, stages: 16, dtype: bf16, shape: [128, 128]}     # 524,288 bytes

Use instead
    ring: {kind: smem, stages: 6, dtype: bf16, shape: [128, 128]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Memory, Program
from tsc.program.storage import ANSWER_BYTES, BARRIER_BYTES
from tsc.spec.wording import series

RULE = Rule(
    "TSC201", "too-much-shared-memory", Severity.ERROR, "a CTA needs more shared memory than there is"
)

# CUDA C++ Programming Guide, compute capability 9.0 and 10.0: 228 KB, 1 KB of it kept for each CTA.
SM_BYTES, CTA_RESERVE = 233_472, 1024


def check(program: Program) -> Iterator[Finding]:
    """Yield one finding, at the largest resource, with what each needs."""
    if program.smem_bytes is None or program.target is None:
        return
    ctas = program.spec.launch.ctas_per_sm
    limit = min(program.target.smem_bytes, SM_BYTES // ctas - CTA_RESERVE)
    placed = [m for m in program.memories.values() if m.kind != "tmem" and m.over is None]
    answers = program.queue.answers if program.queue is not None else None
    if program.smem_bytes <= limit or not (placed or answers):
        return
    parts = [f"{m.name} {_times(m)}" for m in placed if m.kind == "smem"]
    rest = program.smem_bytes - sum(m.copy_bytes * m.copies for m in placed)
    if program.queue is not None and answers is not None:
        parts.append(f"{program.queue.name} {answers.stages:,} x {ANSWER_BYTES}")
        rest -= answers.stages * ANSWER_BYTES
    parts += [f"barriers and padding {rest:,}"] if rest else []
    sizes = {m.route: m.copy_bytes * m.copies + (m.stages or 0) * m.copies * BARRIER_BYTES for m in placed}
    if program.queue is not None and answers is not None:
        sizes[program.queue.route] = answers.stages * (ANSWER_BYTES + 2 * BARRIER_BYTES)
    largest = max(sizes, key=lambda route: sizes[route])
    each = f" for each of {ctas} CTAs" if ctas > 1 else ""
    yield Finding(
        RULE.name,
        f"needs {program.smem_bytes:,} of {limit:,} bytes of shared memory{each}: {', '.join(parts)}",
        Place(largest, "key"),
        help=_mend(program, placed, program.smem_bytes, limit),
    )


def _times(memory: Memory) -> str:
    count = max(1, memory.stages or 1) * memory.copies
    return f"{count:,} x {memory.stage_bytes:,}" if count > 1 else f"{memory.stage_bytes:,}"


def _mend(program: Program, placed: list[Memory], total: int, limit: int) -> str:
    """Say which rings of one depth could be shorter: those that lose the fewest stages."""
    ways: list[tuple[int, int, list[Memory]]] = []
    for depth in {m.stages or 1 for m in placed}:
        rings = [m for m in placed if m.stages == depth]
        saved = sum(m.stage_bytes * m.copies for m in rings) + _barriers(program, {m.name for m in rings})
        fewer = -(-(total - limit) // saved) if saved else depth
        if fewer < depth:
            ways.append((fewer, -saved, rings))
    if not ways:
        return "make the buffers smaller"
    fewer, saved, rings = min(ways, key=lambda way: way[:2])
    stages = "one stage" if fewer == 1 else f"{fewer:,} stages"
    return f"{stages} less of {series(m.name for m in rings)} gives {total + fewer * saved:,}"


def _barriers(program: Program, rings: set[str]) -> int:
    """Return the bytes of barriers that go with one stage of these rings; those of a group are shared."""
    pipelines = [p for p in program.pipelines.values() if p.ring in rings]
    return BARRIER_BYTES * len(
        {offset for p in pipelines for offset in (p.full_offset, p.empty_offset)} - {None}
    )
