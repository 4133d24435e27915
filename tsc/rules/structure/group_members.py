"""Groups what cannot share a barrier.

What it does
    Checks that a `merge` or `fork` has two members or more, that they are rings of one number of stages,
    one `per` and one `interleave`, and in no other group.

Why is this bad
    The members share one barrier a stage. With different numbers of stages it would belong to different
    stages of each.

Example
    a_ring: {kind: smem, stages: 4, dtype: bf16, shape: [64]}
    b_ring: {kind: smem, stages: 3, dtype: bf16, shape: [64]}
    operands: {kind: merge, of: [a_ring, b_ring]}

Use instead
    b_ring: {kind: smem, stages: 4, dtype: bf16, shape: [64]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Group, Memory, Program

RULE = Rule("TSC143", "group-members", Severity.ERROR, "the members of a group cannot share a barrier")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each group of too few members and each member that does not fit the first."""
    owner: dict[str, Group] = {}
    for group in program.groups.values():
        if len(set(group.members)) < 2:
            yield Finding(
                RULE.name,
                f"`{group.name}` has fewer than the two members that a `{group.kind}` joins",
                Place((*group.route, "of")),
                help="name two rings, or take the group away and name its ring",
            )
            continue
        for i, member in enumerate(group.members):
            place, model = Place((*group.route, "of", i)), program.spec.resources.get(member)
            memory = program.memories.get(member)
            if model is not None and (memory is None or not memory.ring):
                why = "has no `stages`" if memory is not None else f"is of kind `{model.kind}`"
                yield Finding(
                    RULE.name, f"a group joins rings, and `{member}` {why}", place, help="name a ring"
                )
            elif member in group.members[:i] or member in owner:
                other = owner.get(member, group).name
                yield Finding(
                    RULE.name,
                    f"`{member}` is in `{other}` already",
                    place,
                    help="take it away here" if other == group.name else "keep it in one of the two groups",
                )
            else:
                yield from _compare(program, group, memory, place)
        owner |= {member: owner.get(member, group) for member in group.members}


def _compare(program: Program, group: Group, memory: Memory | None, place: Place) -> Iterator[Finding]:
    first = program.memories.get(group.members[0])
    if first is None or memory is None or first is memory or not first.ring:
        return
    shown = {
        "stages": (first.stages, memory.stages),
        "per": (first.per, memory.per),
        "interleave": (first.lanes, memory.lanes),
    }
    for key, (one, other) in shown.items():
        if one != other:
            both = (
                f"`{key}` {one} and `{memory.name}` {other}"
                if key == "stages"
                else f"another `{key}` than `{memory.name}`"
            )
            yield Finding(
                RULE.name,
                f"the rings of `{group.name}` go round together, and `{first.name}` has {both}",
                place,
                (Place((*memory.route, key), "key", label="differs"),),
                help=f"give both the same `{key}`",
            )
