"""Shares a load out among CTAs in parts that do not come out even.

What it does
    Checks loads with `multicast` and `share: split`: the first extent of the buffer divides among the CTAs
    along the axis, and the part of each begins where the pattern of its swizzle does, every eight rows.

Why is this bad
    Each CTA loads its part with one box, and sends it to the same place in all of them.

Example
    launch: {cluster: {m: 2}}
    b: {dtype: bf16, shape: [152, 64]}                   # 76 rows each
    - {tma_load: b, at: [tile.n * 152, loop * 64], to: ab.b, multicast: m}

Use instead
    b: {dtype: bf16, shape: [160, 64]}
    - {tma_load: b, at: [tile.n * 160, loop * 64], to: ab.b, multicast: m}
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.target.copies import Copy, copies, once

RULE = Rule("TSC536", "uneven-share", Severity.ERROR, "a load does not divide among the CTAs that share it")

ROWS = 8  # after which a swizzle pattern repeats


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each buffer whose load does not divide."""
    axes = dict(program.cluster)
    yield from once(
        (copy, finding)
        for copy in copies(program, "tma_load")
        if getattr(copy.step.model, "share", "split") == "split"
        for finding in _judge(copy, axes.get(getattr(copy.step.model, "multicast", None) or "", 1))
    )


def _judge(copy: Copy, ctas: int) -> Iterator[Finding]:
    buffer = copy.buffer
    first = next((i for i, extent in enumerate(buffer.shape) if extent > 1), 0)
    if ctas < 2 or not buffer.shape:
        return
    extent, last = buffer.shape[first], first == len(buffer.shape) - 1
    rows = extent // ctas * prod(buffer.shape[first + 1 : -1])
    place = Place((*copy.step.route, "multicast"))
    related = (Place((*buffer.route, "shape", first), label=f"{extent:,}"),)
    grain = ctas * (ROWS if buffer.swizzle and not last else 1)
    mend = f"make it {-(-extent // grain) * grain:,}, or share another operand"
    if extent % ctas:
        message = f"`{buffer.name}` has {extent:,} rows, which do not divide among {ctas} CTAs"
        yield Finding(RULE.name, message, place, related, help=mend)
    elif buffer.swizzle and not last and rows % ROWS:
        message = (
            f"each of {ctas} CTAs loads {extent // ctas:,} rows of `{buffer.name}`, and its swizzle repeats "
            f"every {ROWS}"
        )
        yield Finding(RULE.name, message, place, related, help=mend)
