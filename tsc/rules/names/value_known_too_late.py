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
from tsc.program.scope import Site, Stage
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
            cause, related = name.text, tuple[Place, ...]()
            if known.kind == "let":
                cause, related = _cause(program, site, name.text, known.stage)
            through = f"`{name.text}`" if cause == name.text else f"`{name.text}`, through `{cause}`,"
            made = f"make it a constant with `-D {cause}=...`, or " if cause in program.dims else ""
            yield Finding(
                RULE.name,
                f"{site.place} needs a value known {_KNOWN[site.allowed]}, "
                f"and {through} is known {_KNOWN[known.stage]}",
                Place(site.route, within=(name.start, name.end)),
                related,
                help=f"{made}use constants here"
                if site.allowed is Stage.BUILD
                else f"use what is known {_KNOWN[site.allowed]}",
            )


def _cause(program: Program, site: Site, let: str, stage: Stage) -> tuple[str, tuple[Place, ...]]:
    """Return the name because of which a let is known so late, and the place of the let."""
    flat = program.lets.get(let)
    late = [n.text for n in flat.names if n.text in site.scope] if flat is not None else []
    cause = next((name for name in late if site.scope[name].stage == stage), let)
    return cause, (Place(("let", let), label=f"`{let}` is as late as this"),)
