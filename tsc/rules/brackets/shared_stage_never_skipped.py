"""Takes stages that are released by one consumer, and never passes over those of the others.

What it does
    Looks at the consumers of a ring that is `released_by: one`. Where there are several, each of them takes
    some stages and passes over the rest with `skip`.

Why is this bad
    All of them take every stage, so the first release gives it back while the others still read it.

Example
    ring: {kind: smem, stages: 4, released_by: one, ...}
    - wait: ring
    - release: ring

Use instead
    - {skip: ring, count: 1}
    - wait: ring
    - release: ring
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.brackets.holds import ring_of

RULE = Rule(
    "TSC312",
    "shared-stage-never-skipped",
    Severity.ERROR,
    "a consumer of a `released_by: one` ring skips no stage",
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each task that consumes such a ring beside others and has no `skip` of it."""
    by_label, seen = {task.label: task for task in program.tasks}, set()
    for (ring, copy), pipeline in program.pipelines.items():
        memory = program.memories[ring]
        uses = [use for use in program.uses if (use.ring, use.copy) == (ring, copy) and use.consumes]
        if memory.released_by != "one" or len(uses) < 2 or memory.lanes[1] > 1:
            continue
        for use in uses:
            task = by_label[use.task]
            waits = [
                s for s in task.steps() if s.verb == "wait" and (ring, copy) in ring_of(program, task, s)
            ]
            if use.skips or not waits or (task.name, ring) in seen:
                continue
            seen.add((task.name, ring))
            others = ", ".join(f"`{label}`" for label in pipeline.consumers if label != use.task)
            yield Finding(
                RULE.name,
                f"one task releases each stage of `{ring}`, and `{use.task}` takes each one beside {others}",
                Place(waits[0].route, label="takes the next stage, and never skips one"),
                (Place(memory.route, "key", label="`released_by: one`"),),
                help=f"write `{{skip: {ring}, count: 1}}` for each stage of another, or `released_by: all`",
            )
