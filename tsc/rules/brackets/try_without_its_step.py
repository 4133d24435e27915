"""Looks at the next stage with a try whose blocking step never comes.

What it does
    Checks that each `try_acquire` can be followed by an `acquire` of its ring in the same task, each
    `try_wait` by a `wait`, in the text after it or in the next round of a loop around it.

Why is this bad
    The answer of a try is used by the next blocking step. Without one the try does nothing, and what was
    meant to be guarded by it is not.

Example
    - acquire: ring
    - try_acquire: ring
    - commit: ring

Use instead
    - try_acquire: ring
    - do: prepare
    - acquire: ring
    - commit: ring
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program, Task
from tsc.program.tree import Loop, Step, TileLoop, steps, walk
from tsc.rules.brackets.holds import holds, ring_of, text
from tsc.spec.wording import series

RULE = Rule("TSC307", "try-without-its-step", Severity.ERROR, "a try is never followed by its blocking step")

_BLOCKING = {"try_acquire": "acquire", "try_wait": "wait"}


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each try that no blocking step can follow."""
    stray = {
        (e.task.label, e.memory.name, e.copy) for e in holds(program) if e.stray_writes() or e.stray_reads()
    }
    for task in program.tasks:
        for node, above in walk(task.tree):
            if not isinstance(node, Step) or node.verb not in _BLOCKING:
                continue
            loops = (outer for outer in above if isinstance(outer, (Loop, TileLoop)))
            again = [step for outer in loops for step in steps((outer,))]
            following = [step for step in task.steps() if step.index > node.index] + again
            verb = _BLOCKING[node.verb]
            missing = [
                f"{verb}: {ring[0]}"
                for ring in ring_of(program, task, node)
                # Where the stage is touched, the missing step has been reported there.
                if (task.label, *ring) not in stray
                and not any(_is(program, task, step, verb, ring) for step in following)
            ]
            if missing:
                yield Finding(
                    RULE.name,
                    f"`{text(node)}` is not followed by {series(missing)} on any path",
                    Place(node.route, label="its answer is never used"),
                    help=f"put {series(missing)} after it, or take the try away",
                )


def _is(program: Program, task: Task, step: Step, verb: str, ring: tuple[str, int]) -> bool:
    return step.verb == verb and ring in ring_of(program, task, step)
