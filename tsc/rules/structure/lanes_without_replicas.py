"""Interleaves a ring whose users are not its lanes.

What it does
    Checks that on a side with `interleave: n` the users are the n replicas of one task, and that their
    `domain_loop` begins at `replica` and steps by n.

Why is this bad
    Lane i takes stages i, i + n, and so on. A task that walks otherwise meets stages of another lane.

Example
    ring: {kind: smem, stages: 4, interleave: {consumer: 2}, dtype: bf16, shape: [64]}
    - domain_loop: k_tiles
      body: [wait: ring, {do: step}, release: ring]

Use instead
    - domain_loop: k_tiles
      start: replica
      step: 2
      body: [wait: ring, {do: step}, release: ring]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import parse, provably, show
from tsc.program.model import Memory, Program, Task
from tsc.program.tree import Loop, walk

RULE = Rule(
    "TSC146", "lanes-without-replicas", Severity.ERROR, "the users of an interleaved ring are no lanes"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each side of a ring whose users are not as many lanes."""
    for (name, _), ring in program.pipelines.items():
        memory = program.memories[name]
        for side, labels, lanes in (
            ("fill", ring.producers, memory.lanes[0]),
            ("read", ring.consumers, memory.lanes[1]),
        ):
            if lanes > 1 and labels:
                yield from _side(program, memory, side, [program.task(label) for label in labels], lanes)


def _side(program: Program, memory: Memory, side: str, users: list[Task], lanes: int) -> Iterator[Finding]:
    names = {task.name for task in users}
    if len(names) > 1 or len(users) != lanes:
        shown = ", ".join(f"`{task.label}`" for task in users)
        yield Finding(
            RULE.name,
            f"{lanes} lanes {side} `{memory.name}`, and its users are {shown}",
            Place((*memory.route, "interleave"), "key"),
            help=f"let one task with `replicas: {lanes}` {side} it, or take `interleave` away",
        )
        return
    loops = [
        [n for n, _ in walk(task.tree) if isinstance(n, Loop) and n.kind == "domain_loop"] for task in users
    ]
    for task, found in zip(users, loops, strict=True):
        if not found or not loops[0]:
            place, why = Place((*task.route, "schedule"), "key"), "has no `domain_loop`"
        elif _walks(program, loops[0][0], found[0], task.replica or 0, lanes):
            continue
        else:
            place, why = (
                Place((*found[0].route, "domain_loop"), "key"),
                "takes other rounds than those of its lane",
            )
        yield Finding(
            RULE.name,
            f"`{task.name}` is {lanes} lanes of `{memory.name}`, and {why}",
            place,
            help=f"write `start: replica` and `step: {lanes}`",
        )


def _walks(program: Program, first: Loop, own: Loop, lane: int, lanes: int) -> bool:
    begin, base, step = (
        show(program.flat(e, n.env)) for e, n in ((own.start, own), (first.start, first), (own.step, own))
    )
    return all(
        provably(parse(text), program.ranges) is True
        for text in (f"({begin}) == ({base}) + {lane}", f"({step}) == {lanes}")
    )
