"""Gives a step or a resource an option that only another kind has.

What it does
    Checks that `keep`, `observe` and `by` stand on steps of rings, `share` beside `multicast`, and what
    says how a ring is synchronised on memory that has `stages`.

Why is this bad
    The option would change nothing.

Example
    - {release: tiles, keep: 1}      # a queue gives one tile back

Use instead
    - release: tiles
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.structure.spots import spots
from tsc.spec.resources import MemoryModel, Queue
from tsc.spec.schedule import Commit, Release, Wait
from tsc.spec.wording import series

RULE = Rule("TSC132", "option-of-another-kind", Severity.ERROR, "an option belongs to another kind")

_SYNCHRONISATION = ("released_by", "pipeline", "interleave")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each option that the kind at hand does not have."""
    for spot in spots(program):
        if isinstance(spot.node, str) or spot.operand is None:
            continue
        written = spot.node.model_fields_set
        if isinstance(program.spec.resources.get(spot.operand.name), Queue):
            for option in ("keep", "observe", "by"):
                if isinstance(spot.node, (Commit, Release, Wait)) and option in written:
                    yield Finding(
                        RULE.name,
                        f"`{option}` is for rings, and `{spot.operand.name}` is a queue",
                        Place((*spot.route, option), "key"),
                        help=f"take `{option}` away",
                    )
        if "share" in written and "multicast" not in written:
            yield Finding(
                RULE.name,
                f"`share` says how a `multicast` is shared out, and this `{spot.verb}` is none",
                Place((*spot.route, "share"), "key"),
                help="write `multicast:` with a cluster axis, or take `share` away",
            )
    for name, model in program.spec.resources.items():
        if not isinstance(model, MemoryModel) or model.stages is not None:
            continue
        ignored = [key for key in _SYNCHRONISATION if key in model.model_fields_set]
        if ignored:
            one = len(ignored) == 1
            yield Finding(
                RULE.name,
                f"{series(ignored)} {'is' if one else 'are'} for rings, and `{name}` has no `stages`",
                Place(("resources", name, ignored[0]), "key"),
                help=f"give `{name}` `stages`, or take {'it' if one else 'them'} away",
            )
