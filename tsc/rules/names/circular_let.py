"""Defines a let by itself.

What it does
    Looks for lets that mention each other in a circle.

Why is this bad
    None of them has a value.

Example
    let: {a: b + 1, b: a - 1}

Use instead
    let: {a: n + 1, b: a - 1}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program

RULE = Rule("TSC105", "circular-let", Severity.ERROR, "lets mention each other in a circle")


def check(program: Program) -> Iterator[Finding]:
    """Yield one finding a circle, at its first let."""
    lets, reported = program.spec.let, set[str]()
    for name in lets:
        circle = _circle(program, name)
        if not circle or reported & set(circle):
            continue
        reported |= set(circle)
        chain = " -> ".join(f"`{link}`" for link in [*circle, circle[0]])
        yield Finding(
            RULE.name,
            f"`{name}` has no value, because it is defined by itself: {chain}",
            Place(("let", name)),
            tuple(Place(("let", link), label="part of the circle") for link in circle[1:]),
            help="define one of them by constants, dims or other lets",
        )


def _circle(program: Program, begin: str) -> list[str]:
    lets = program.spec.let
    trail: list[str] = []

    def search(name: str, seen: set[str]) -> bool:
        trail.append(name)
        for used in lets[name].names:
            if used.text == begin:
                return True
            if used.text in lets and used.text not in seen:
                seen.add(used.text)
                if search(used.text, seen):
                    return True
        trail.pop()
        return False

    return trail if search(begin, {begin}) else []
