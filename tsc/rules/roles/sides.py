"""Rings of which one side is used and the other is not: the facts of two rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tsc.program.model import Program, RingUse
from tsc.rules.names.lost import lost


def one_sided(
    program: Program, here: Callable[[RingUse], bool], there: Callable[[RingUse], bool]
) -> Iterator[tuple[str, list[RingUse], str]]:
    """Yield each ring with uses that are `here` and none `there`, those uses, and its copies in words.

    Store rings have one side. Nothing is yielded where an operand is not there: it may be the other side.
    """
    if lost(program):
        return
    found: dict[str, dict[int, list[RingUse]]] = {}
    for (name, copy), ring in program.pipelines.items():
        uses = [use for use in program.uses if use.ring == name and use.copy == copy]
        mine = [use for use in uses if here(use)]
        if mine and not ring.store_ring and not any(map(there, uses)):
            found.setdefault(name, {})[copy] = mine
    for name, copies in found.items():
        if len(copies) == program.memories[name].copies:
            missing = f"`{name}`"
        else:
            missing = " and ".join(f"`{name}[{copy}]`" for copy in copies)
        yield name, [use for uses in copies.values() for use in uses], missing
