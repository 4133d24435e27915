"""Waits for stages of a ring, gives them back, and reads nothing of them.

What it does
    Looks for rings of memory that are waited for and released, where none of the tasks that wait touches what
    is in them, a ring of the same group, or what lies in the same bytes. Who fills a ring reads it, too.

Why is this bad
    The stage is filled for nobody: as a rule the step that reads it is missing, and the steps behind work on
    what an earlier one has left in registers.

Example
    - wait: acc
    - release: acc
    - {store: d, from: sums}

Use instead
    - wait: acc
    - {tcgen05_ld: sums, from: acc}
    - release: acc
    - {store: d, from: sums}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.program.tree import Step
from tsc.rules.brackets.holds import ring_of
from tsc.rules.names.lost import lost
from tsc.rules.roles.sides import unclear

RULE = Rule(
    "TSC186", "stage-never-read", Severity.WARNING, "a task waits for a stage and reads nothing of it"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each ring that is emptied for nothing, at the first task that does so."""
    if lost(program):
        return
    takers: dict[str, dict[str, bool]] = {}
    for use in program.uses:
        memory = program.memories.get(use.ring)
        if use.waits and memory is not None and memory.kind != "signal" and use.ring not in unclear(program):
            found = takers.setdefault(use.ring, {})
            name = program.task(use.task).name
            found[name] = found.get(name, False) or use.produces
    for ring, found in takers.items():
        alike = _alike(program, ring)
        # Of several, one may wait only to know, as long as another one reads.
        if any(_touched(program, task, fills) & alike for task, fills in found.items()):
            continue
        task = next(iter(found))
        waits, gives = (_steps(program, task, ring, verb) for verb in ("wait", "release"))
        if waits and gives and not any(getattr(step.model, "by", None) for step in waits):
            yield Finding(
                RULE.name,
                f"`{task}` waits for `{ring}` and reads nothing of it",
                Place(waits[0].route),
                tuple(Place(step.route, label="given back here") for step in gives[:1]),
                help=f"read `{ring}` before it goes back; who only has to know of it needs a `signal`",
            )


def _steps(program: Program, name: str, ring: str, verb: str) -> list[Step]:
    """Return the steps of a task by which it takes a ring, or gives it back."""
    return [
        step
        for task in program.tasks
        if task.name == name
        for step in task.steps()
        if step.verb == verb and ring in dict(ring_of(program, task, step))
    ]


def _touched(program: Program, name: str, fills: bool) -> frozenset[str]:
    """Return the memories that a task reads, or writes unless it fills the ring itself."""
    return frozenset(
        touch.operand.name
        for task in program.tasks
        if task.name == name
        for step in task.steps()
        for touch in program.touches(step, task)
        if touch.operand is not None and (touch.reads or not fills)
    )


def _alike(program: Program, ring: str) -> set[str]:
    """Return a ring, those of its group, and all memory that lies in the same bytes."""
    memory = program.memories.get(ring)
    group = program.groups.get((memory.group if memory is not None else None) or "")
    names = {ring, *(group.members if group is not None else ())}
    under = {name: one.over.name if one.over else name for name, one in program.memories.items()}
    return names | {name for name in under if {name, under[name]} & {under.get(one, one) for one in names}}
