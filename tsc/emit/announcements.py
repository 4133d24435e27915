"""What announces the bytes of loads at their barrier, before they can come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tsc.emit.brackets import Brackets, loads_of
from tsc.emit.pairs import announced_to_leader
from tsc.emit.plan import Item, Statement
from tsc.emit.rings import Rings
from tsc.program.tree import Step


def announcement(rings: Rings, brackets: Brackets, step: Step, fields: Mapping[str, Any]) -> list[Item]:
    """Return the statement by which a load announces its bytes, or those of its whole bracket."""
    filled = loads_of(step, rings.kernel, rings.task)
    if not filled or step.index in brackets.quiet:
        return []
    total = brackets.totals.get(step.index)
    size = total if total is not None else fields["bytes"]
    arrives = step.index in brackets.totals and all(fills_alone(rings, *ring) for ring in filled)
    if any(rings.kernel.paired((ring,), copy) for ring, copy in filled):
        known = size if step.index in brackets.totals and isinstance(size, int) else None
        return announced_to_leader(rings.function, fields["barrier"], known, arrives)
    fields = {"barrier": fields["barrier"], "bytes": size}
    return [Statement("arrive_expect" if arrives else "expect", fields)]


def fills_alone(rings: Rings, ring: str, copy: int) -> bool:
    """Whether the task's arrivals at a ring's full barriers are made by the one thread that issues loads."""
    members = rings.together(rings.program.memories[ring], copy, "write")
    return rings.arrives(members, "write") in ("one", "leader")
