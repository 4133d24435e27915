"""The queue's own steps: nothing where tiles follow by number, else a ring of answers.

One task asks, of each cluster that in its first CTA. The answer goes to all CTAs, and every task of every CTA
takes it and gives it back.
"""

from __future__ import annotations

from tsc.program.expand import QUEUE_VERBS, operand_of
from tsc.program.model import Queue, Task
from tsc.program.tree import Step
from tsc.prove.machine import Arrive, Item, Node, Segment, Touch, Wait
from tsc.prove.translate.agent import AgentMaker
from tsc.prove.translate.lines import LineKey
from tsc.prove.translate.translation import Bytes, SegmentSource

__all__ = ["QUEUE_VERBS", "queue_step"]


def queue_step(maker: AgentMaker, step: Step) -> list[Node] | None:
    """Return the instructions of a step of the queue; `None` for one of a ring."""
    queue, reference = maker.program.queue, operand_of(step)
    if queue is None or reference is None or reference.name != queue.name:
        return None
    if maker.frame.dynamic is None:
        return []
    return _Answers(maker, queue).step(step)


class _Answers:
    """The answers of a dynamic queue as a ring without a resource."""

    def __init__(self, maker: AgentMaker, queue: Queue) -> None:
        self.maker, self.queue, self.frame = maker, queue, maker.frame
        self.stages = max(1, queue.stages or 1)
        self.ring = self.frame.lines.plain_ring(queue.name, 0, None, self.stages)
        self.ctas = tuple(self.frame.cluster.ranks())

    def step(self, step: Step) -> list[Node]:
        """Return the instructions of one step."""
        maker, route = self.maker, step.route
        asks = maker.cta == 0 and maker.leads
        match step.verb:
            case "acquire" if asks:
                return [Wait(route, self.barrier("empty", 0), self.cursor("acquire"), lag=1)]
            case "fetch_work_tile" if asks:
                items = [Item(self.cells(cta), True, self.cursor("acquire"), 1) for cta in self.ctas]
                return [Touch(route, tuple(items))]
            case "commit" if asks:
                barriers = tuple(self.barrier("full", cta) for cta in self.ctas)
                return [Arrive(route, barriers, self.cursor("commit"))]
            case "wait":
                barrier = self.barrier("full", maker.cta)
                maker.takers.append((self.cursor("wait"), barrier))
                return [Wait(route, barrier, self.cursor("wait"))]
            case "get_and_advance_work_tile" if maker.works:
                item = Item(self.cells(maker.cta), False, self.cursor("wait"), 1, fresh=True)
                return [Touch(route, (item,))]
            case "release":
                if count := maker.own(answers_taken(maker.task), "warps"):
                    return [Arrive(route, (self.barrier("empty", 0),), self.cursor("release"), count)]
        return []

    def cursor(self, verb: str) -> int:
        return self.maker.cursor((verb, self.queue.name, "answers"), self.ring)

    def barrier(self, side: str, cta: int) -> int:
        lines, program = self.frame.lines, self.maker.program
        if side == "full":
            return lines.add(LineKey(self.queue.name, 0, "full", cta), self.ring, 1)
        count = sum(
            answers_taken(task)
            for task in program.tasks
            for one in self.ctas
            if _gives_back(task, self.queue) and (task.ctas == "all" or self.frame.cluster.leads(one))
        )
        return lines.add(LineKey(self.queue.name, 0, "empty", cta), self.ring, count)

    def cells(self, cta: int) -> tuple[tuple[Segment, ...], ...]:
        """Return the place of each answer in a CTA."""
        bank, name = self.frame.bank, self.queue.name
        found = []
        for stage in range(self.stages):
            key = (name, stage, cta)
            if key not in bank.others:
                source = SegmentSource("memory", cta, (Bytes(name, 0, stage, name, stage, stage + 1),), name)
                bank.others[key] = bank.add(source, f"`{name}` stage {stage}")
            found.append((bank.others[key],))
        return tuple(found)


def answers_taken(task: Task) -> int:
    """Return how many arrivals a task gives an answer back with: one a warp."""
    return 1 if task.single else task.warps or 1


def _gives_back(task: Task, queue: Queue) -> bool:
    found = (operand_of(step) for step in task.steps() if step.verb == "release")
    return any(reference is not None and reference.name == queue.name for reference in found)
