"""Uses a name where it does not exist.

What it does
    Checks that `tile` is used inside a `work_tile_loop`, `loop` inside a `domain_loop`, `part` inside a
    split loop, `replica` in a task with replicas, and the variables of `for` and `repeat` and tokens
    inside their own scope. A let is looked through: it is evaluated where it is used.

Why is this bad
    There is no such value at that place.

Example
    - {tma_load: x, at: [tile.m * BM], to: ring}     # outside any work_tile_loop

Use instead
    - work_tile_loop: tiles
      body:
        - {tma_load: x, at: [tile.m * BM], to: ring}
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.program.names import everywhere

RULE = Rule("TSC103", "name-out-of-scope", Severity.ERROR, "a name is used where it does not exist")

_WHERE = {
    "loop": "inside a `domain_loop`",
    "iter": "inside a loop",
    "trips": "inside a loop",
    "part": "inside a `domain_loop` with `split_at`",
    "replica": "in a task with `replicas`",
    "thread": "in a task's schedule",
    "threads": "in a task's schedule",
    "warp": "in a task's schedule",
    "lane": "in a task's schedule",
}


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each name, lets looked through, that its places do not see."""
    alike: dict[tuple[str, str], list[Place]] = {}
    for said, place in _misplaced(program):
        alike.setdefault(said, []).append(place)
    for (message, help), (first, *others) in alike.items():
        also = tuple(replace(place, label="and here") for place in others if place.route != first.route)
        yield Finding(RULE.name, message, first, also[:3], help)


def _misplaced(program: Program) -> Iterator[tuple[tuple[str, str], Place]]:
    known = everywhere(program.spec)
    for site in program.sites:
        if site.route[:1] == ("let",):
            continue
        for name in site.expr.names:
            through = name.text in program.spec.let
            for used in sorted(_mentioned(program, name.text)) if through else [name.text]:
                if used in site.scope or not (used in known or _elsewhere(program, used)):
                    continue
                via = f"`{name.text}` mentions `{used}`, which" if through else f"`{used}`"
                where = _where(program, used)
                said = (
                    f"{via} does not exist here: it is known {where}",
                    f"use it {where} only, or move this there",
                )
                yield said, Place(site.route, within=(name.start, name.end))


def _mentioned(program: Program, let: str) -> set[str]:
    flat = program.lets.get(let)
    return {name.text for name in flat.names} if flat is not None else set()


def _elsewhere(program: Program, name: str) -> bool:
    return any(name in site.scope for site in program.sites)


def _where(program: Program, name: str) -> str:
    if name.startswith("tile."):
        return "inside a `work_tile_loop`"
    if name in _WHERE:
        return _WHERE[name]
    site = next(site for site in program.sites if name in site.scope)
    kind = site.scope[name].kind
    return f"inside the `{kind}` that names it" if kind in ("for", "repeat") else f"in the task `{site.task}`"
