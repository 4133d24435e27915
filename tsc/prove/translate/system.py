"""Puts the system together: all agents, the kernel before this one, and what each of them has to take."""

from __future__ import annotations

from tsc.emit.kernel import Kernel
from tsc.ops.lowering import Refused
from tsc.program.accesses import touches
from tsc.program.model import Program, Task
from tsc.prove.asked import Questions
from tsc.prove.machine import Agent, Arrive, Cursor, Item, System, Taker, Touch
from tsc.prove.translate.agent import AgentMaker, takers_of
from tsc.prove.translate.cluster import Cluster
from tsc.prove.translate.control import Walker
from tsc.prove.translate.frame import DYNAMIC, Frame, View
from tsc.prove.translate.lines import LineKey, Lines, loaded_bytes
from tsc.prove.translate.memory import Bank
from tsc.prove.translate.parts import parts_of
from tsc.prove.translate.tensors import Tensors
from tsc.prove.translate.translation import AgentSource, SegmentSource, Translation
from tsc.source.route import Route


def translate(program: Program) -> Translation:
    """Translate a program that breaks no rule; what the system lacks is listed in `unmodelled`."""
    kernel = Kernel(program)
    queue = program.queue
    cluster = Cluster(program, whole=queue is not None and queue.policy in DYNAMIC)
    bank = Bank(program, cluster.ranks(), _shares(program, cluster))
    lines = Lines(kernel, cluster, bank)
    frame = Frame(program, kernel, cluster, bank, lines, Tensors(kernel, bank), Questions(program))
    agents: list[Agent] = []
    sources: list[AgentSource] = []
    takers: list[Taker] = []
    before = _kernel_before(frame)
    if before is not None:
        agents.append(before)
        sources.append(AgentSource(None, 0))
    for task in program.tasks:
        try:
            view = View(frame, task)
        except Refused as refused:
            frame.leave_out(task.route, refused.sentence)
            continue
        for cta in cluster.ranks():
            for part in parts_of(view) if task.ctas == "all" or cluster.leads(cta) else ():
                maker = AgentMaker(frame, view, cta, part)
                body = Walker(maker).block(task.tree)
                takers += takers_of(len(agents), maker)
                label = task.label + (f" in CTA {cta}" if cluster.size > 1 else "")
                label += f", {part}" if part != "all" else ""
                agents.append(Agent(label, tuple(maker.cursors), tuple(maker.engines), body, cta))
                sources.append(AgentSource(task.label, cta, part))
    system = System(
        rings=tuple(lines.rings),
        barriers=tuple(lines.barriers),
        numbers=tuple(frame.questions.numbers),
        facts=tuple(frame.questions.facts),
        agents=tuple(agents),
        segments=tuple(bank.names),
        takers=tuple(takers),
        written=frozenset(i for i, source in enumerate(bank.sources) if source.kind != "memory"),
    )
    return Translation(
        program,
        system,
        frame.questions,
        tuple(sources),
        tuple(lines.sources),
        tuple(bank.sources),
        tuple(frame.unmodelled),
    )


def _shares(program: Program, cluster: Cluster) -> dict[tuple[str, str], int]:
    """Return into how many parts the CTAs of a cluster cut each buffer that they load together."""
    found: dict[tuple[str, str], int] = {}
    for task in program.tasks:
        for step in task.steps():
            axis = getattr(step.model, "multicast", None)
            if axis is None:
                continue
            for touch in touches(step, program.meanings, program.works, task.name, task.replica):
                memory = program.memories.get(touch.operand.name) if touch.operand is not None else None
                if memory is None or not touch.writes:
                    continue
                parts = cluster.parts(step.model, loaded_bytes(program, step, touch), axis)
                buffer = memory.buffer(touch.reference.buffer)
                for one in memory.buffers if buffer is None else (buffer,):
                    found[memory.name, one.name] = max(parts, found.get((memory.name, one.name), 1))
    return found


def _first(tasks: tuple[Task, ...], verb: str) -> Route | None:
    return next((step.route for task in tasks for step in task.steps() if step.verb == verb), None)


def _kernel_before(frame: Frame) -> Agent | None:
    """Return the agent of the kernel before this one, where something waits for it."""
    route = _first(frame.program.tasks, "pdl_wait")
    if route is None:
        return None
    outside = frame.bank.add(SegmentSource("outside", 0), "what the kernel before writes")
    ring = frame.lines.plain_ring("the kernel before", 0, None, 1)
    barrier = frame.lines.add(LineKey("the kernel before", 0, "kernel", 0), ring, 1)
    frame.outside, frame.before = outside, barrier
    body = (Touch(route, (Item(((outside,),), True),)), Arrive(route, (barrier,), 0))
    return Agent("the kernel before", (Cursor(ring),), (), body)
