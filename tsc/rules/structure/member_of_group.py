"""Takes on a ring the step that belongs to its group, or the other way round.

What it does
    Checks that rings of a `merge` are released, and rings of a `fork` committed, under the name of the
    group, and that all other steps name the ring. `observe` and the try steps work on either.

Why is this bad
    The rings of a group share one barrier. A member's own arrival would count for all of them.

Example
    operands: {kind: merge, of: [a_ring, b_ring]}
    - release: a_ring
    - release: b_ring

Use instead
    - release: operands
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.names.references import references
from tsc.rules.structure.spots import Spot, spots
from tsc.spec.wording import series

RULE = Rule(
    "TSC135", "member-of-group", Severity.ERROR, "a step names a ring for its group, or a group for its rings"
)

_SHARED = {"merge": ("release", "empty"), "fork": ("commit", "full")}
_OWN = {"merge": ("acquire", "commit", "wait"), "fork": ("acquire", "wait", "release")}


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each shared step on a member and each other step on a group."""
    for spot in spots(program):
        operand = spot.operand
        if operand is None:
            continue
        for group in program.groups.values():
            step, barrier = _SHARED[group.kind]
            if operand.name in group.members and spot.verb == step:
                yield Finding(
                    RULE.name,
                    f"`{operand.name}` shares its {barrier} barrier in `{group.name}`",
                    spot.at(step),
                    (Place(group.route, "key", label=f"the `{group.kind}`"),),
                    help=f"write `{step}: {group.name}`, once for all of {series(group.members)}",
                )
            elif operand.name == group.name and spot.verb in _OWN[group.kind] and not _observes(spot):
                named = {it.name for it in references(program) if it.task == spot.task}
                used = [name for name in group.members if name in named] or group.members
                steps = ", ".join(f"`{spot.verb}: {member}`" for member in used)
                yield Finding(
                    RULE.name,
                    f"the rings of `{group.name}` share their {barrier} barrier only, "
                    f"and `{spot.verb}` is each ring's own",
                    spot.at(spot.verb),
                    help=f"write {steps}",
                )


def _observes(spot: Spot) -> bool:
    return bool(getattr(spot.node, "observe", False))
