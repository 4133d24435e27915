"""Fills a ring by TMA with no byte.

What it does
    Looks for rings that TMA or bulk loads fill and whose transaction count comes out as 0 bytes.

Why is this bad
    The full barrier would not wait for any data.

Example
    ring: {kind: smem, stages: 4, dtype: e2m1, shape: [1]}     # half a byte

Use instead
    ring: {kind: smem, stages: 4, dtype: e2m1, shape: [32]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program

RULE = Rule("TSC214", "empty-transaction", Severity.ERROR, "a ring filled by TMA counts no bytes")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each TMA pipeline of 0 bytes, and for elements that fill no whole byte."""
    for (name, copy), ring in program.pipelines.items():
        if copy == 0 and ring.kind.startswith("Tma") and ring.tx_bytes == 0:
            yield Finding(
                RULE.name,
                f"the stages of `{name}` are filled by TMA, and their barrier counts 0 bytes",
                Place(("resources", name), "key"),
                help="load into every stage between its `acquire` and its `commit`",
            )
    for memory in program.memories.values():
        for buffer in memory.buffers:
            elements = 1
            for extent in buffer.shape:
                elements *= extent
            if elements * buffer.bits % 8:
                yield Finding(
                    RULE.name,
                    f"`{buffer.name}` has {elements:,} elements of {buffer.bits} bits, no whole bytes",
                    Place(buffer.route, "key"),
                    help="make the number of elements even",
                )
