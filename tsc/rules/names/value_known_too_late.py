"""Uses a value where it is not known yet.

What it does
    Checks that stages, shapes, warps, `keep`, `repeat`, `if` and the like are build-time values, that
    `grid`, `axes` and workspace shapes are known at launch, and a queue's `skip_if` with the tile.

Why is this bad
    Shared memory is laid out and code is generated when the kernel is built: a run-time value comes too
    late.

Example
    params:
      x: {dtype: bf16, shape: [m, n]}
    resources:
      ring: {kind: smem, stages: m, dtype: bf16, shape: [64]}

Use instead
    constants: {STAGES: 4}
    resources:
      ring: {kind: smem, stages: STAGES, dtype: bf16, shape: [64]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.program.scope import Stage
from tsc.rules.names.misused_tensor import misuses

RULE = Rule("TSC104", "value-known-too-late", Severity.ERROR, "a value is used before it is known")

_KNOWN = {
    Stage.BUILD: "when the kernel is built",
    Stage.LAUNCH: "at launch",
    Stage.CTA: "in a running CTA",
    Stage.TILE: "with each tile",
    Stage.ITERATION: "in each round of a loop",
    Stage.VALUE: "once the kernel has computed it",
    Stage.THREAD: "to each thread",
}


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each name that is known later than its place allows."""
    for site in program.sites:
        # A tensor that stands for a number is known at no time, which another rule says.
        tensors = {node.start for node, _, _ in misuses(program, site)}
        for name in site.expr.names:
            known = site.scope.get(name.text)
            if known is None or known.stage <= site.allowed or name.start in tensors:
                continue
            made = f"make it a constant with `-D {name.text}=...`, or " if known.kind == "dim" else ""
            yield Finding(
                RULE.name,
                f"{site.place} needs a value known {_KNOWN[site.allowed]}, "
                f"and `{name.text}` is known {_KNOWN[known.stage]}",
                Place(site.route, within=(name.start, name.end)),
                help=f"{made}use constants here"
                if site.allowed is Stage.BUILD
                else f"use what is known {_KNOWN[site.allowed]}",
            )
