"""Rings that only one side uses, or that nobody writes: the facts of the rules about roles."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tsc.program.model import Program, RingUse
from tsc.rules.brackets.holds import broken
from tsc.rules.memo import per_program
from tsc.rules.names.lost import lost


def waits(use: RingUse) -> bool:
    """Whether a task expects to find something."""
    return use.waits


def fills(use: RingUse) -> bool:
    """Whether a task has a part of what fills a ring; half a bracket is another rule's mistake."""
    return use.acquires or use.commits or (bool(use.engine_writes) and not use.waits)


def commits(use: RingUse) -> bool:
    """Whether a task hands stages over."""
    return use.commits


def reads(use: RingUse) -> bool:
    """Whether a task has a part of what empties a ring; half a bracket is another rule's mistake."""
    return use.waits or use.releases or use.skips or (bool(use.engine_reads) and not use.produces)


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


def unwritten(program: Program) -> Iterator[tuple[str, str, str]]:
    """Yield each ring of which a buffer is read and never written, the buffer in words, and a reader."""
    if lost(program):
        return
    read: dict[tuple[str, str], str] = {}
    written: set[tuple[str, str]] = set()
    for task in program.tasks:
        for step in task.steps():
            for touch in program.touches(step, task):
                name, buffer = touch.reference.name, touch.reference.buffer
                buffers = program.memories[name].buffers if name in program.memories else ()
                # A buffer that is not there may stand for any of them.
                whole = buffer not in {one.name for one in buffers}
                keys = {(name, one.name) for one in buffers if whole or one.name == buffer}
                written |= keys if touch.writes else set()
                read |= {key: task.name for key in keys - read.keys() if touch.mode == "read"}
    committed = {use.ring for use in program.uses if use.commits} - broken(program)
    for (name, buffer), reader in read.items():
        if name in committed and (name, buffer) not in written:
            yield name, name if buffer == name else f"{name}.{buffer}", reader


@per_program
def unclear(program: Program) -> frozenset[str]:
    """Return the rings about which another rule has found a mistake: their derived figures follow from it."""
    if lost(program):
        return frozenset(program.memories)
    sides = [*one_sided(program, waits, fills), *one_sided(program, commits, reads), *unwritten(program)]
    return broken(program) | {name for name, *_ in sides}
