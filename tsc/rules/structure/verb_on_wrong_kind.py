"""Uses a verb on something that does not have it.

What it does
    Checks the kind of what ring, queue and order steps name, and what a `work_tile_loop` loops over.
    Operands of operations and works are another rule's.

Why is this bad
    Each verb belongs to a protocol: stages of rings are acquired and released, turns are taken and
    passed, barriers are met.

Example
    scratch: {kind: smem, dtype: f32, shape: [32]}      # no `stages`, so no ring
    - acquire: scratch

Use instead
    scratch: {kind: smem, stages: 2, dtype: f32, shape: [32]}
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.structure.spots import spots

RULE = Rule("TSC131", "verb-on-wrong-kind", Severity.ERROR, "a verb names something that does not have it")

_GROUPS = ("merge", "fork")
_RING = dict.fromkeys(
    ("acquire", "commit", "wait", "release", "try_acquire", "try_wait"), "a ring or a queue"
)
_NEEDS = {
    **_RING,
    "skip": "a ring",
    "get_and_advance_work_tile": "a queue",
    "fetch_work_tile": "a queue",
    "work_tile_loop": "a queue",
    "take": "a turn",
    "pass": "a turn",
    "sync": "a barrier",
    "arrive": "a barrier",
}
_KINDS = {"smem": "a ring", "tmem": "a ring", "signal": "a ring"}
_HELP = {
    "smem": "give it `stages`, or take the step away",
    "tmem": "give it `stages`, or take the step away",
    "turn": "a turn has `take` and `pass`",
    "barrier": "a barrier has `sync` and `arrive`",
    "queue": "a queue has a `work_tile_loop`, and its protocol is derived",
    "registers": "registers are the task's own and need no protocol: take the step away",
    "merge": "name one of its rings",
    "fork": "name one of its rings",
}


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each protocol step on a resource without that protocol."""
    unstaged: dict[str, list[Finding]] = {}
    for finding, name in _judge(program):
        if name:
            unstaged.setdefault(name, []).append(finding)
        else:
            yield finding
    for first, *others in unstaged.values():
        also = tuple(replace(other.place, label="and here") for other in others)
        yield replace(first, related=also[:3])


def _judge(program: Program) -> Iterator[tuple[Finding, str]]:
    """Yield what is wrong with each step, and the memory that would be a ring if it had `stages`."""
    spec = program.spec
    for spot in spots(program):
        needed, operand = _NEEDS.get(spot.verb), spot.operand
        if needed is None or operand is None:
            continue
        name, model = operand.name, spec.resources.get(operand.name)
        if model is None:
            if name in spec.params or name in spec.workspace:
                message = f"`{spot.verb}` needs {needed}, and `{name}` is a tensor or scalar argument"
                hint = "arguments need no protocol: take the step away, or name a resource"
                yield Finding(RULE.name, message, spot.at(spot.verb), help=hint), ""
            continue
        ring = model.kind in _KINDS and getattr(model, "stages", None) is not None
        is_a = "a ring" if ring else "" if model.kind in _KINDS else f"a {model.kind}"
        if (spot.verb in _RING and model.kind in _GROUPS) or (is_a and is_a in needed):
            continue
        why = "has no `stages`" if model.kind in _KINDS and not ring else f"is of kind `{model.kind}`"
        message = f"`{spot.verb}` needs {needed}, and `{name}` {why}"
        hint = "a ring has `acquire`, `commit`, `wait` and `release`" if ring else _HELP[model.kind]
        finding = Finding(RULE.name, message, spot.at(spot.verb), help=hint)
        yield finding, name if model.kind in _KINDS and not ring and spot.verb in _RING else ""
