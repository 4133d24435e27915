"""The queue's own steps: nothing where tiles follow by number, else a ring of answers.

One task asks, of each cluster that in its first CTA. The answer goes to all CTAs, and every task of every CTA
takes it and gives it back.
"""

from __future__ import annotations

from tsc.program.expand import QUEUE_VERBS, operand_of
from tsc.program.model import Queue
from tsc.program.queue import answers_taken, running
from tsc.program.tree import Step, TileLoop, walk
from tsc.prove.machine import Arrive, Cells, Item, Load, Node, Segment, Target, Touch, Wait
from tsc.prove.translate.agent import AgentMaker
from tsc.prove.translate.lines import LineKey
from tsc.prove.translate.translation import Bytes, SegmentSource

__all__ = ["QUEUE_VERBS", "before_tiles", "queue_step", "steps_of_queue"]


def queue_step(maker: AgentMaker, step: Step) -> list[Node] | None:
    """Return the instructions of a step of the queue; `None` for one of a ring."""
    queue = maker.program.queue
    if queue is None or not _is_own(step, queue):
        return None
    if maker.frame.dynamic is None:
        return []
    return _Answers(maker, queue).step(step)


def steps_of_queue(maker: AgentMaker, node: TileLoop) -> tuple[Step, ...]:
    """Return what is left of a tile that the queue skips: its steps, where tiles are asked for."""
    queue = maker.frame.dynamic
    steps = (one for one, _ in walk(node.body) if isinstance(one, Step))
    return () if queue is None else tuple(step for step in steps if _is_own(step, queue))


def before_tiles(maker: AgentMaker, node: TileLoop) -> list[Node]:
    """Return what stands before the loop: who counts with a counter waits for the launch before."""
    frame = maker.frame
    fetch = next((step for step in steps_of_queue(maker, node) if step.verb == "fetch_work_tile"), None)
    if fetch is None or frame.before is None or not _counts(maker):
        return []
    ring = frame.lines.barriers[frame.before].ring
    return [Wait(fetch.route, frame.before, maker.cursor(("pdl",), ring), moves=False)]


def _is_own(step: Step, queue: Queue) -> bool:
    reference = operand_of(step) if step.verb in QUEUE_VERBS else None
    return reference is not None and reference.name == queue.name


def _counts(maker: AgentMaker) -> bool:
    queue = maker.frame.dynamic
    return queue is not None and queue.policy == "atomic" and maker.cta == 0 and maker.leads


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
                every = zip(*(self.cells(cta) for cta in self.ctas), strict=True)
                clears: Cells = tuple(tuple(one for stage in stages for one in stage) for stages in every)
                return [Wait(route, self.barrier("empty", 0), self.cursor("acquire"), lag=1, clears=clears)]
            case "fetch_work_tile" if asks:
                return self.fetch(step)
            case "commit" if asks:
                barriers = tuple(self.barrier("full", cta) for cta in self.ctas)
                return [Arrive(route, barriers, self.cursor("commit"))]
            case "wait":
                barrier = self.barrier("full", maker.cta)
                maker.takers.append((self.cursor("wait"), barrier))
                return [Wait(route, barrier, self.cursor("wait"))]
            case "get_and_advance_work_tile" if maker.works:
                item = Item(self.cells(maker.cta), False, self.cursor("wait"), 1, filled=True)
                return [Touch(route, (item,))]
            case "release":
                if count := maker.own(answers_taken(maker.task), "warps"):
                    return [Arrive(route, (self.barrier("empty", 0),), self.cursor("release"), count)]
        return []

    def fetch(self, step: Step) -> list[Node]:
        """Ask: one CTA's thread writes the answer itself, else the answer comes with its bytes."""
        cursor, found = self.cursor("acquire"), list[Node]()
        if self.frame.outside is not None and _counts(self.maker):
            found.append(Touch(step.route, (Item(((self.frame.outside,),), False),)))
        items = [Item(self.cells(cta), True, cursor, 1) for cta in self.ctas]
        if self.queue.policy == "atomic" and len(self.ctas) == 1:
            return [*found, Touch(step.route, tuple(items))]
        fulls = (self.barrier("full", cta) for cta in self.ctas)
        return [*found, Load(step.route, tuple(map(Target, fulls, items)))]

    def cursor(self, verb: str) -> int:
        return self.maker.cursor((verb, self.queue.name, "answers"), self.ring)

    def barrier(self, side: str, cta: int) -> int:
        lines, answers = self.frame.lines, self.queue.answers
        if side == "full":
            count = 1 if answers is None else answers.full_arrivals
            return lines.add(LineKey(self.queue.name, 0, "full", cta), self.ring, count)
        count = 0 if answers is None else answers.empty_arrivals - sum(map(self._left_out, answers.takers))
        return lines.add(LineKey(self.queue.name, 0, "empty", cta), self.ring, count)

    def _left_out(self, label: str) -> int:
        """Return the arrivals of a task in CTAs of the cluster that are not looked at."""
        task, cluster = self.maker.program.task(label), self.frame.cluster
        here = sum(task.ctas == "all" or cluster.leads(cta) for cta in self.ctas)
        return answers_taken(task) * (running(task, self.maker.program.cluster_size) - here)

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
