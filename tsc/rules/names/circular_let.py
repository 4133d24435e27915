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

from collections.abc import Iterator, Mapping

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.program.values import let_order

RULE = Rule("TSC105", "circular-let", Severity.ERROR, "lets mention each other in a circle")

SHOWN = 6  # links of a circle that are written out


def check(program: Program) -> Iterator[Finding]:
    """Yield one finding a circle, at its first let."""
    lets = program.spec.let
    mentions = {name: [used.text for used in expr.names if used.text in lets] for name, expr in lets.items()}
    settled = set(let_order(lets))
    for name in lets:
        circle = [] if name in settled else _circle(mentions, name, settled)
        settled |= set(circle)
        if circle:
            chain = [f"`{link}`" for link in [*circle, circle[0]]]
            shown = chain if len(chain) <= SHOWN else [*chain[: SHOWN - 1], "...", chain[-1]]
            yield Finding(
                RULE.name,
                f"`{name}` has no value, because it is defined by itself: {' -> '.join(shown)}",
                Place(("let", name)),
                tuple(Place(("let", link), label="part of the circle") for link in circle[1:SHOWN]),
                help="define one of them by constants, dims or other lets",
            )


def _circle(mentions: Mapping[str, list[str]], begin: str, settled: set[str]) -> list[str]:
    """Return the shortest way from a let back to itself, nothing if there is none."""
    reached: dict[str, str] = {}  # let -> the one that mentions it
    queue = [begin]
    for name in queue:  # grows while it is walked
        for used in mentions[name]:
            if used == begin:
                way = [name]
                while way[-1] != begin:
                    way.append(reached[way[-1]])
                return way[::-1]
            if used not in settled and used not in reached:
                reached[used] = name
                queue.append(used)
    return []
