"""Puts what the proof found into the author's words: tasks, steps, rounds, stages and bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tsc.diagnostics.model import Place
from tsc.program.model import Task
from tsc.program.tree import Guard, Loop, Node, Step, TileLoop, walk
from tsc.prove.judge import Judgement
from tsc.prove.machine import (
    Arrive,
    Ask,
    Block,
    If,
    Instruction,
    Item,
    Load,
    Touch,
    Wait,
    blocks,
    instructions,
)
from tsc.prove.machine import Loop as MachineLoop
from tsc.prove.machine import Node as MachineNode
from tsc.prove.translate.accesses import asked_of
from tsc.prove.translate.translation import Bytes, SegmentSource
from tsc.prove.verdict import OUTSIDE, Where
from tsc.source.route import Route

_DEEDS = {
    "full": "commit",
    "empty": "release",
    "turn": "pass",
    "barrier": "reach",
    "task": "reach",
    "kernel": "end",
}


@dataclass(frozen=True, slots=True)
class Access:
    """One side of a race: who, at which step, and the bytes as that step calls them."""

    where: Where
    write: bool
    owner: Bytes | None
    engine: str  # the verb of the asynchronous operation, empty for an access of the task's threads


class Teller:
    """Tells of one judgement."""

    def __init__(self, judgement: Judgement) -> None:
        self.judgement, self.translation = judgement, judgement.translation
        self.program, self.system = self.translation.program, self.translation.system

    # ---- tasks and steps -----------------------------------------------------------------------------------

    @cached_property
    def several(self) -> bool:
        """Whether the system has more than one CTA."""
        return len({source.cta for source in self.translation.agents if source.label is not None}) > 1

    def task(self, agent: int) -> Task | None:
        """Return the task instance of an agent; the kernel before this one has none."""
        label = self.translation.agents[agent].label
        return None if label is None else self.program.task(label)

    def name(self, agent: int) -> str:
        """Call an agent: `load`, or `load` in CTA 1, or the other threads of `load`."""
        source = self.translation.agents[agent]
        if source.label is None:
            return "the kernel before"
        text = f"`{source.label}`" + (f" in CTA {source.cta}" if self.several else "")
        return f"the other threads of {text}" if source.part == "others" else text

    def names(self, agents: tuple[int, ...]) -> str:
        """Call several agents."""
        found = list(dict.fromkeys(map(self.name, agents)))
        return " and ".join(filter(None, (", ".join(found[:-1]), *found[-1:])))

    def step(self, where: Where) -> Step | None:
        """Return the step of the program; what the end of a task does belongs to none."""
        node = self.node(where.agent, where.route)
        return node if isinstance(node, Step) else None

    def node(self, agent: int, route: Route) -> Node | None:
        """Return the node of a task's schedule at a route."""
        task = self.task(agent)
        return next((node for node, _ in walk(task.tree) if node.route == route), None) if task else None

    def quoted(self, where: Where) -> str:
        """Quote a step by its verb and operand; what the head of a block asks, by that."""
        step, node = self.step(where), self.node(where.agent, where.route)
        match node:
            case TileLoop():
                return f"`work_tile_loop: {node.queue}`"
            case Loop():
                return f"`{node.kind}: {node.end.text}`"
            case Guard():
                return f"`{node.verb}`"
        if step is None:
            return f"the end of {self.name(where.agent)}"
        if isinstance(step.model, str):
            return f"`{step.verb}`"
        fields = type(step.model).model_fields.items()
        head = next(getattr(step.model, name) for name, it in fields if (it.alias or name) == step.verb)
        return f"`{step.verb}: {getattr(head, 'text', head)}`"

    def when(self, where: Where, lead: str = " in ") -> str:
        """Say in which rounds and tile, as ` in round 3 of tile 0`; nothing where there is one time only."""
        parts = []
        for loop, count in zip(self._loops(where), self.rounds(where), strict=False):
            node = self.node(where.agent, loop.route)
            inner = isinstance(node, Loop) and node.kind == "for"
            parts.append(
                f"round {count:,}" + (f" of `{node.variable}`" if inner and isinstance(node, Loop) else "")
            )
        if where.tile != OUTSIDE:
            parts.insert(0, f"tile {where.tile:,}")
        if not parts:
            return ""
        last = parts.pop(0)
        return lead + (f"{', '.join(reversed(parts))} of {last}" if parts else last)

    def rounds(self, where: Where) -> list[int]:
        """Return the number of the round of each loop around a step, counted from 0, outermost first."""
        loops = self._loops(where)
        return [(value - loop.start) // loop.step for loop, value in zip(loops, where.rounds, strict=False)]

    def _loops(self, where: Where) -> list[MachineLoop]:
        body = self.system.agents[where.agent].body
        return [loop for loop in _around(body, where.route) or () if not loop.tiles]

    def place(self, where: Where, label: str) -> Place:
        """Return the place of a step in the document, with what is to be said there."""
        return Place(where.route, label=label)

    # ---- barriers ------------------------------------------------------------------------------------------

    def owner(self, barrier: int) -> str:
        """Call the ring, turn or barrier that an mbarrier belongs to."""
        source = self.translation.barriers[barrier]
        memory = self.program.memories.get(source.owner)
        group = self.program.groups.get(source.owner)
        if group is not None:
            memory = self.program.memories.get(group.members[0])
        copies = memory.copies if memory is not None else 1
        return f"`{source.owner}[{source.copy}]`" if copies > 1 else f"`{source.owner}`"

    def stage(self, where: Where) -> str:
        """Call the stage that a step waits for or arrives at."""
        if where.barrier is None:
            return "it"
        source = self.translation.barriers[where.barrier]
        if source.side not in ("full", "empty"):
            return {"task": f"the threads of `{source.owner}`", "kernel": "the kernel before"}.get(
                source.side, self.owner(where.barrier)
            )
        of = f" of CTA {source.cta}" if self.several and source.cta != self._cta(where.agent) else ""
        return f"stage {where.stage} of {self.owner(where.barrier)}{of}"

    def side(self, where: Where) -> str:
        """Return whether a step looks at, or arrives at, full or empty barriers, or others."""
        return self.translation.barriers[where.barrier].side if where.barrier is not None else ""

    def waits(self, where: Where) -> bool:
        """Whether a step waits for a barrier."""
        found = (
            one for one in instructions(self.system.agents[where.agent].body) if one.route == where.route
        )
        return any(isinstance(one, Wait) for one in found)

    def _cta(self, agent: int) -> int:
        return self.translation.agents[agent].cta

    def deed(self, where: Where) -> str:
        """Return the verb of the step that a waiting step needs from others."""
        return _DEEDS.get(self.side(where), "commit")

    def does(self, barrier: int) -> str:
        """Return the same as what a task does: `commits`."""
        deed = _DEEDS[self.translation.barriers[barrier].side]
        return deed + ("es" if deed.endswith(("s", "ch")) else "s")

    def arrivals(self, agent: int, barrier: int) -> list[Route]:
        """Return the steps of an agent that arrive at a barrier, loads only where nothing else does."""
        found: dict[bool, dict[Route, None]] = {True: {}, False: {}}
        for one in instructions(self.system.agents[agent].body):
            if isinstance(one, Arrive) and barrier in one.barriers:
                found[True][one.route] = None
            elif isinstance(one, Load) and any(target.barrier == barrier for target in one.targets):
                found[False][one.route] = None
        return list(found[True] or found[False])

    def waiting(self, agent: int, barrier: int) -> list[Route]:
        """Return the steps of an agent that wait for a barrier."""
        found = (
            one.route
            for one in instructions(self.system.agents[agent].body)
            if isinstance(one, Wait) and one.barrier == barrier
        )
        return list(dict.fromkeys(found))

    def only(self, agent: int, route: Route) -> str:
        """Say when a step runs, if the innermost block around it is conditional: `in the last round only`."""
        task = self.task(agent)
        for node, above in walk(task.tree) if task is not None else ():
            if node.route == route:
                guards = [outer for outer in above if isinstance(outer, Guard)]
                return _only(guards[-1], route) if guards else ""
        return ""

    def condition_of(self, fact: int) -> tuple[str, bool]:
        """Return a condition as somebody wrote it, and whether it holds where the fact does."""
        for agent, one in enumerate(self.system.agents):
            for node in _nodes(one.body):
                if isinstance(node, If) and isinstance(node.test, Ask) and node.test.fact == fact:
                    guard = self.node(agent, node.route)
                    if isinstance(guard, Guard) and guard.condition is not None:
                        return guard.condition.text, node.test.value
                    if isinstance(guard, Guard) and guard.kind == "skippable" and (skip := self._skip(agent)):
                        return skip, not node.test.value
        return self.system.facts[fact].name, True

    def _skip(self, agent: int) -> str:
        task = self.task(agent)
        loops = [node for node in task.tree if isinstance(node, TileLoop)] if task is not None else []
        return next((loop.skip_if.text for loop in loops if loop.skip_if is not None), "")

    def loop_of(self, number: int) -> tuple[int, MachineLoop] | None:
        """Return a loop that a number bounds, with its agent."""
        for agent, one in enumerate(self.system.agents):
            for node in _nodes(one.body):
                if isinstance(node, MachineLoop) and node.bound.number == number:
                    return agent, node
        return None

    # ---- bytes ---------------------------------------------------------------------------------------------

    def access(self, where: Where, segment: int) -> Access:
        """Describe how a step touches a segment."""
        found = [
            (one, item)
            for one in instructions(self.system.agents[where.agent].body)
            if one.route == where.route
            for item in _items(one)
            if any(segment in stage for stage in item.cells)
        ]
        write = any(item.write for _, item in found)
        step, task = self.step(where), self.task(where.agent)
        own = any(
            isinstance(one, Load) or (isinstance(one, Touch) and one.engine is not None) for one, _ in found
        )
        return Access(
            where, write, self._owner(step, task, segment), step.verb if own and step is not None else ""
        )

    def writers(self, segment: int) -> list[tuple[int, Route]]:
        """Return the steps that write a segment, each with its agent."""
        found = {
            (agent, one.route): None
            for agent, it in enumerate(self.system.agents)
            for one in instructions(it.body)
            if any(item.write and segment in stage for item in _items(one) for stage in item.cells)
        }
        return list(found)

    def tensors(self, where: Where) -> list[str]:
        """Return the tensors that a step touches and that a kernel before may write."""
        step, task = self.step(where), self.task(where.agent)
        if step is None or task is None:
            return []
        names = [it.operand.name for it in self.program.touches(step, task) if it.operand is not None]
        tensors = self.program.tensors
        return [it for it in dict.fromkeys(names) if it in tensors and not tensors[it].constant]

    def asked(self, where: Where) -> dict[str, str]:
        """Return the tensors that a step's or a head's expressions read, each with the place that does."""
        node, task = self.node(where.agent, where.route), self.task(where.agent)
        if node is None or task is None:
            return {}
        queue, tensors = self.program.queue, self.program.tensors
        return {
            name: f"`{key}` of `{queue.name}`" if key and queue is not None else self.quoted(where)
            for name, key in asked_of(self.program, node, task.derived).items()
            if name in tensors and not tensors[name].constant
        }

    def pdl_waits(self) -> list[Route]:
        """Return the `pdl_wait` steps."""
        found = (
            step.route for task in self.program.tasks for step in task.steps() if step.verb == "pdl_wait"
        )
        return list(dict.fromkeys(found))

    def _owner(self, step: Step | None, task: Task | None, segment: int) -> Bytes | None:
        owners = self.translation.segments[segment].owners
        if step is not None and task is not None:
            named = {
                touch.operand.name for touch in self.program.touches(step, task) if touch.operand is not None
            }
            named |= {name for it in list(named) for name in self.program.meanings.group_members(it)}
            owners = tuple(one for one in owners if one.resource in named) or owners
        return owners[0] if owners else None

    def part(self, access: Access, segment: int) -> str:
        """Call the bytes of an access by the resource that its step names."""
        source = self.translation.segments[segment]
        if access.owner is None:
            return f"`{source.name}`"
        one = access.owner
        memory = self.program.memories[one.resource]
        name = one.resource if len(memory.buffers) < 2 else f"{one.resource}.{one.buffer}"
        copy = f"[{one.copy}]" if memory.copies > 1 else ""
        return (
            f"stage {one.stage} of " if one.stage is not None and (memory.stages or 0) > 1 else ""
        ) + f"`{name}{copy}`"

    def span(self, segment: int) -> str:
        """Give the address range of a segment, from the first byte of the CTA's shared memory."""
        source: SegmentSource = self.translation.segments[segment]
        if not source.owners:
            return ""
        one = source.owners[0]
        tensor = self.program.memories[one.resource].kind == "tmem"
        unit, where = ("column", "tensor memory") if tensor else ("byte", "shared memory")
        of = f" of CTA {source.cta}" if self.several else ""
        if one.end - one.begin <= 1:
            return f"{unit} {one.begin:,} of {where}{of}"
        return f"{unit}s {one.begin:,} to {one.end - 1:,} of {where}{of}"


def _nodes(block: Block) -> Iterator[MachineNode]:
    for node in block:
        yield node
        if isinstance(node, MachineLoop | If):
            for inner in blocks(node):
                yield from _nodes(inner)


def _only(guard: Guard, route: Route) -> str:
    match guard.kind:
        case "first_iter" | "last_iter":
            return f"in the {guard.kind.removesuffix('_iter')} round only"
        case "every":
            return f"every {guard.period} rounds only"
        case "skippable":
            return "in tiles that are not skipped only"
    otherwise = guard.verb == "when_false" or "else" in route[len(guard.route) : len(guard.route) + 1]
    text = guard.condition.text if guard.condition is not None else guard.verb
    return f"only where `{text}` {'does not hold' if otherwise else 'holds'}"


def _items(one: Instruction) -> Iterator[Item]:
    if isinstance(one, Touch):
        yield from one.items
    elif isinstance(one, Load):
        yield from (target.item for target in one.targets)


def _around(block: Block, route: Route) -> list[MachineLoop] | None:
    """Return the loops around the first instruction of a route, outermost first."""
    for node in block:
        if isinstance(node, MachineLoop | If):
            for inner in blocks(node):
                found = _around(inner, route)
                if found is not None:
                    return [node, *found] if isinstance(node, MachineLoop) else found
        elif node.route == route:
            return []
    return None
