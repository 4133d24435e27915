"""Loads rows into the CTAs of a pair that do not lie one behind the other.

What it does
    Compares the coordinates of loads of a pair's `b` in its two CTAs, where what lies between them is known
    when built: the second CTA begins behind the rows that the first one loads, and at the same k.

Why is this bad
    The tensor cores of a pair take the rows in both CTAs for one matrix, those of the first CTA first.
    Columns of the product then stand in the wrong place, twice, or not at all.

Example
    launch: {cluster: {m: 2}, cta_group: 2}
    - {tma_load: b, at: [tile.n * BN + cluster.m % 2 * BN, loop * BK], to: ab.b}       # of BN // 2 rows

Use instead
    - {tma_load: b, at: [tile.n * BN + cluster.m % 2 * (BN // 2), loop * BK], to: ab.b}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.ops.tcgen05_mma import Tcgen05Mma
from tsc.ops.tma_load import TmaLoad
from tsc.program.model import Buffer, Program
from tsc.rules.roles.pair_parts import moved_in_pair, parts, places

RULE = Rule("TSC185", "halves-do-not-join", Severity.ERROR, "the rows of `b` in a pair are not one matrix")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each load of `b` whose place in the second CTA is known to be another one."""
    for part in parts(program):
        axis = program.cluster[0][0]
        model = part.step.model
        if part.side != "b" or not isinstance(model, TmaLoad) or not part.names & places(axis):
            continue
        memory = program.memories.get(model.to.name)
        buffer = memory.buffer(model.to.buffer) if memory is not None else None
        moved = moved_in_pair(program, part)
        if buffer is None or not moved or not any(moved) or len(buffer.shape) != 2 or len(moved) < 2:
            continue
        row = -1 if _transposed(program, buffer) else -2
        rows, by = buffer.shape[row], moved[row]
        beside = any(one for i, one in enumerate(moved) if i != len(moved) + row)
        if by != rows or beside:
            off = f"`[{', '.join(map(str, moved))}]`" if beside else f"{by:,} row{'s' * (by != 1)}"
            yield Finding(
                RULE.name,
                f"in `b` the second CTA of a pair begins {off} behind the first one, which has {rows:,}",
                Place((*part.step.route, "at")),
                help=f"add `cluster.{axis} % 2 * {rows}` to the row, and let all else be the same in both",
            )


def _transposed(program: Program, buffer: Buffer) -> bool:
    """Whether a product takes a buffer as `[k, n]`."""
    models = (step.model for task in program.tasks for step in task.steps())
    taken = (one.b for one in models if isinstance(one, Tcgen05Mma) and one.b.transposed)
    return any(
        buffer is program.memories[one.name].buffer(one.buffer)
        for one in taken
        if one.name in program.memories
    )
