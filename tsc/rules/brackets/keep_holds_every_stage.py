"""Keeps as many stages as the ring has.

What it does
    Compares the `keep` of each `release` and `commit` with the number of stages of its ring.

Why is this bad
    The step gives stages away only when more are held than it keeps, and more than all are never held: the
    other side of the ring waits for ever.

Example
    ring: {kind: smem, stages: 4, ...}
    - {release: ring, keep: 4}

Use instead
    ring: {kind: smem, stages: 4, ...}
    - {release: ring, keep: 3}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.brackets.holds import kept, ring_of, text

RULE = Rule("TSC310", "keep-holds-every-stage", Severity.ERROR, "a step keeps as many stages as its ring has")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each `keep` that is not below the number of stages."""
    seen = set()
    for task, step in ((owner, step) for owner in program.tasks for step in owner.steps()):
        if step.verb not in ("commit", "release"):
            continue
        for ring, _ in ring_of(program, task, step):
            memory, keep = program.memories[ring], kept(program, step)
            stages = memory.stages or 0
            place = Place((*step.route, "keep"), label=f"keeps {keep}")
            if not stages or keep < stages or place.route in seen:
                continue
            seen.add(place.route)
            given = "committed" if step.verb == "commit" else "given back"
            has = "more than" if keep > stages else "as many as"
            of = f"{stages} stage{'s' * (stages > 1)} of `{ring}`"
            fewer = f"fewer than {stages}" if stages > 1 else "none"
            yield Finding(
                RULE.name,
                f"`{text(step)}` keeps {keep}, {has} the {of}, so none is ever {given}",
                place,
                (Place(memory.route, "key", label=f"has {stages} stage{'s' * (stages > 1)}"),),
                help=f"keep {fewer}, or give `{ring}` {keep + 1} stages or more",
            )
