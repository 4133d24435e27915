"""Has two `domain_loop`s in one schedule.

What it does
    Counts the `domain_loop`s of each task, after `if` and `repeat` have been expanded.

Why is this bad
    The `domain_loop` divides a schedule into its HEAD, LOOP and TAIL, and `loop` is its value. With two of
    them none of that says which one is meant.

Example
    - domain_loop: k_tiles
      body: [{do: row_max}]
    - domain_loop: k_tiles
      body: [{do: row_sum}]

Use instead
    - domain_loop: k_tiles
      body: [{do: row_max}]
    - for: k_tiles
      as: k
      body: [{do: row_sum}]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.program.tree import Loop, walk
from tsc.source.route import Route

RULE = Rule("TSC123", "second-domain-loop", Severity.ERROR, "a schedule has two `domain_loop`s")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each `domain_loop` after the first; one inside another is another rule's."""
    for task in program.tasks:
        found: list[Route] = []
        for node, above in walk(task.tree):
            nested = any(isinstance(outer, Loop) and outer.kind == "domain_loop" for outer in above)
            if isinstance(node, Loop) and node.kind == "domain_loop" and not nested:
                found += [node.route] if node.route not in found else []
        for route in found[1:]:
            yield Finding(
                RULE.name,
                f"`{task.name}` has a second `domain_loop`, and a schedule has one",
                Place((*route, "domain_loop"), "key"),
                (Place((*found[0], "domain_loop"), "key", label="the first one"),),
                help="write `for:` with `as:` here; pieces of one loop are `split_at` with `part`",
            )
