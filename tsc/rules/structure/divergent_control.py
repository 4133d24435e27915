"""Lets what differs between threads decide over a step of the whole task.

What it does
    Looks for loop bounds and conditions that mention `thread`, `warp` or `lane`, lets looked through, and
    checks that they enclose `load`, `store` and `do` only, no work with `task.sync()`; and for other steps
    whose own options mention them.

Why is this bad
    Ring steps, copies by an engine, matrix products and barriers are done once for all threads of the
    task. If some of its threads do not come, the others wait for ever.

Example
    - when: warp == 0
      then: [{release: ring}]

Use instead
    - release: ring
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.program.tree import Node, Step, walk
from tsc.rules.memo import per_program
from tsc.rules.structure.expressions import expressions_of
from tsc.source.route import Route

RULE = Rule("TSC134", "divergent-control", Severity.ERROR, "some threads of a task would miss a common step")

_THREAD = frozenset(("thread", "warp", "lane"))
_SYNC = re.compile(r"\btask\s*\.\s*sync\b")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each common step under or with something that differs between threads."""
    for task in program.tasks:
        for node, above in walk(task.tree):
            if not isinstance(node, Step) or node.derived:
                continue
            why = next((hit for outer in above for hit in _divergent(program, outer)), None)
            bare = isinstance(node.model, str)
            if why is not None and not _own(program, node):
                yield Finding(
                    RULE.name,
                    f"all threads of `{task.name}` do `{_shown(node)}`, and `{why[1]}` keeps some away",
                    Place(node.route) if bare else Place((*node.route, node.verb), "key"),
                    (Place(why[0], label="differs between threads"),),
                    help="move the step out of it, or let the condition be the same in all threads",
                )
            if node.verb not in ("load", "store", "do") or _together(program, node):
                for where, name in _divergent(program, node):
                    yield Finding(
                        RULE.name,
                        f"`{node.verb}` is done once for `{task.name}`, and `{name}` differs between threads",
                        Place(where),
                        help="write what is the same in all threads",
                    )


def _shown(step: Step) -> str:
    return f"do: {getattr(step.model, 'do', '')}" if step.verb == "do" else step.verb


def _own(program: Program, step: Step) -> bool:
    """Whether each thread does the step for itself."""
    work = program.works.get(getattr(step.model, "do", ""))
    if step.verb == "do":
        return work is None or _SYNC.search(work.text or "") is None
    return step.verb in ("load", "store")


def _together(program: Program, step: Step) -> bool:
    """Whether the threads move a fragment, each the values that it has of it."""
    named = (getattr(step.model, field, None) for field in ("load", "from_"))
    found = (program.registers.get(getattr(one, "name", "")) for one in named)
    return step.verb != "do" and any(one is not None and one.shape is not None for one in found)


@per_program
def _names(program: Program) -> frozenset[str]:
    """Return the names that differ between threads, lets included."""
    lets = {let for let, flat in program.lets.items() if any(name.text in _THREAD for name in flat.names)}
    return _THREAD | lets


def _divergent(program: Program, node: Node) -> Iterator[tuple[Route, str]]:
    """Yield the expressions of a node that differ between threads."""
    names = _names(program)
    for route, expr in expressions_of(node):
        if any(name.text in names for name in expr.names):
            yield route, expr.text
