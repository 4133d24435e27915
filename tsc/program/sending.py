"""Copies from one CTA of a cluster to another: to whom each of them sends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tsc.model import Reference
from tsc.ops.cluster_copy import ClusterCopy
from tsc.program.accesses import Meanings
from tsc.program.expand import operand_of
from tsc.program.model import Task
from tsc.program.multicast import MOST, Shared
from tsc.program.tree import Block, Step, blocks
from tsc.program.values import Values


def sent(step: Step, values: Values, cluster: Mapping[str, int]) -> tuple[int, ...] | None:
    """Return the place along its axis to which the CTA at each place sends; nothing for another step, and
    where a place is not known when built.
    """
    model = step.model
    if not isinstance(model, ClusterCopy):
        return None
    found = []
    for own in range(min(cluster.get(model.along, 1), MOST)):
        value = values.flat(model.cta, {**step.env, f"cluster.{model.along}": own}).value
        if value is None:
            return None
        found.append(int(value))
    return tuple(found)


def sending(step: Step, values: Values, cluster: Mapping[str, int]) -> Shared | None:
    """Return how a step sends, as far as it is a copy of which each CTA of an axis receives one."""
    model, places = step.model, sent(step, values, cluster)
    if not isinstance(model, ClusterCopy) or places is None or not one_each(places):
        return None
    return Shared(model.along, False, places)


def one_each(places: Iterable[int]) -> bool:
    """Whether each CTA of an axis receives from exactly one."""
    found = list(places)
    return sorted(found) == list(range(len(found)))


def copies(task: Task, ring: str, copy: int, meanings: Meanings) -> set[int | None]:
    """Return how many copies fill a stage of a ring between an `acquire` and its `commit`, over all of them.

    `None` stands for a copy that is not of the same block as both.
    """
    found = _Brackets(task, ring, copy, meanings)
    found.block(task.tree)
    return found.counts if found.any else {0}


class _Brackets:
    """Counts the copies of each bracket of a ring."""

    def __init__(self, task: Task, ring: str, copy: int, meanings: Meanings) -> None:
        self.task, self.ring, self.copy, self.meanings = task, ring, copy, meanings
        self.counts: set[int | None] = set()
        self.any = False

    def means(self, reference: Reference | None, step: Step) -> bool:
        if reference is None:
            return False
        task = self.task
        operand = self.meanings.meaning(reference, task.name, task.replica, step.env, step.route)
        names = self.meanings.group_members(reference.name)
        return self.ring in names and operand is not None and operand.copy == self.copy

    def block(self, block: Block) -> None:
        count: int | None = None  # of the bracket that is open
        for node in block:
            if not isinstance(node, Step):
                for inner in blocks(node):
                    self.block(inner)
            elif isinstance(node.model, ClusterCopy) and self.means(node.model.to, node):
                self.any = True
                if count is None:
                    self.counts.add(None)
                else:
                    count += 1
            elif node.verb == "acquire" and self.means(operand_of(node), node):
                self.counts |= set() if count is None else {None}
                count = 0
            elif node.verb == "commit" and self.means(operand_of(node), node) and count is not None:
                self.counts.add(count)
                count = None
        self.counts |= set() if count is None else {None}
