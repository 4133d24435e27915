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
from tsc.prove.translate.frame import Frame, View
from tsc.prove.translate.lines import LineKey, Lines, load_size
from tsc.prove.translate.memory import Bank
from tsc.prove.translate.parts import parts_of
from tsc.prove.translate.tensors import Tensors
from tsc.prove.translate.translation import AgentSource, SegmentSource, Translation
from tsc.source.route import Route


def translate(program: Program) -> Translation:
    """Translate a program that breaks no rule; what the system lacks is listed in `unmodelled`.

    There is one agent for each task instance and CTA (two where one thread waits or arrives for the
    others of its task), with the four counters of each ring; the full and empty barriers as the generated
    code sets them up: groups, lanes, several producers and consumers, `released_by: one` with `skip`,
    `observe`, `by`, `keep`. Loads by TMA and bulk copies, those shared by a cluster included; `cp_async`,
    stores, `wgmma` and `tcgen05` are engines. Fences and syncs are those that the generator puts in.
    Shared and tensor memory are told by their bytes, overlays included; registers where `wgmma` works on
    them. Answers of a dynamic queue are a ring; turns, named barriers and the kernel before have barriers
    of their own.

    Not in the system, and so not proved: values; order between CTAs other than those of a cluster; two
    params that lie on the same memory; parts of a buffer (each access means all of it, but for the shares
    of a shared load); order among the threads of one task, for which the generator derives syncs; a fence
    for shared memory told from one for tensors. Of global memory only tensors are followed that a task or
    engine writes and another reads.
    """
    kernel = Kernel(program)
    queue = program.queue
    cluster = Cluster(program, whole=queue is not None and queue.dynamic)
    bank = Bank(program, cluster.ranks(), _shares(program, cluster))
    lines = Lines(kernel, cluster, bank)
    frame = Frame(program, kernel, cluster, bank, lines, Tensors(kernel, bank), Questions(program))
    agents: list[Agent] = []
    sources: list[AgentSource] = []
    takers: list[Taker] = []
    makers: list[AgentMaker] = []
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
        here = (cta for cta in cluster.ranks() if task.ctas == "all" or cluster.leads(cta))
        makers += [AgentMaker(frame, view, cta, part) for cta in here for part in parts_of(view)]
    frame.fillers += [maker.fills for maker in makers]
    for maker in makers:
        body = (*Walker(maker).block(maker.task.tree), *maker.drains())
        takers += takers_of(len(agents), maker)
        label = maker.task.label + (f" in CTA {maker.cta}" if cluster.size > 1 else "")
        label += f", {maker.part}" if maker.part != "all" else ""
        agents.append(Agent(label, tuple(maker.cursors), tuple(maker.engines), body, maker.cta))
        sources.append(AgentSource(maker.task.label, maker.cta, maker.part))
    system = System(
        rings=tuple(lines.rings),
        barriers=tuple(lines.barriers),
        numbers=tuple(frame.questions.numbers),
        facts=tuple(frame.questions.facts),
        agents=tuple(agents),
        segments=tuple(bank.names),
        takers=tuple(takers),
        written=frozenset(i for i, source in enumerate(bank.sources) if source.kind != "memory"),
        tensors=frozenset(i for i, source in enumerate(bank.sources) if source.kind == "tensor"),
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
                parts = cluster.parts(step.model, load_size(program, step, touch), axis)
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
