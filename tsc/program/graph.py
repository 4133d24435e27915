"""The dependency graph: what each resource is made from (LANGUAGE section 2, `graph`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tsc.program.accesses import Meanings, touches
from tsc.program.expand import operand_of
from tsc.program.model import Memory, Task, Work


def dependency_graph(
    tasks: Iterable[Task], memories: Mapping[str, Memory], meanings: Meanings, works: Mapping[str, Work]
) -> dict[str, tuple[str, ...]]:
    """Return for every smem, tmem and signal the resources whose content flows into it.

    Registers are looked through: what a task loads into them flows on to what it stores from them. A signal
    is made from what its committing task waits for.
    """
    edges: dict[str, set[str]] = {name: set() for name in memories}
    for task in tasks:
        _flow(task, memories, meanings, works, edges)
        commits = {r.name for s in task.steps() if s.verb == "commit" and (r := operand_of(s)) is not None}
        waits = {r.name for s in task.steps() if s.verb == "wait" and (r := operand_of(s)) is not None}
        for name in commits & memories.keys():
            if memories[name].kind == "signal":
                edges[name] |= waits & memories.keys() - {name}
    order = list(memories)
    return {name: tuple(sorted(found, key=order.index)) for name, found in edges.items()}


def _flow(
    task: Task,
    memories: Mapping[str, Memory],
    meanings: Meanings,
    works: Mapping[str, Work],
    edges: dict[str, set[str]],
) -> None:
    held: dict[str, set[str]] = {}  # register set -> memories that its values came from
    changed = True
    while changed:
        changed = False
        for step in task.steps():
            reads: set[str] = set()
            found = list(touches(step, meanings, works, task.name, task.replica))
            for touch in found:
                if touch.operand is None or not touch.reads:
                    continue
                if touch.operand.kind == "registers":
                    reads |= held.get(touch.operand.name, set())
                elif touch.operand.name in memories and touch.mode == "read":
                    reads.add(touch.operand.name)
            for touch in found:
                if touch.operand is None or not touch.writes:
                    continue
                name = touch.operand.name
                target = (
                    held.setdefault(name, set()) if touch.operand.kind == "registers" else edges.get(name)
                )
                new = reads - {name} if touch.operand.kind == "registers" else reads
                if target is not None and not new <= target:
                    target |= new
                    changed = True
