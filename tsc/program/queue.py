"""The answers of a dynamic queue: where they lie in shared memory, who asks for them and who takes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tsc.program.expand import operand_of
from tsc.program.model import Answers, Queue, Task
from tsc.program.storage import ANSWER_BYTES, BARRIER_BYTES

NUMBER_BYTES = 4
"""Of an answer that a counter gave."""


def answer_bytes(queue: Queue | None) -> int:
    """Return how many bytes the answers take; none where tiles follow by number."""
    return ANSWER_BYTES * _stages(queue) if queue is not None and queue.dynamic else 0


def place_answers(
    queue: Queue | None, tasks: Iterable[Task], cluster: int, offset: int, smem_bytes: int
) -> tuple[Queue | None, int]:
    """Put the answers at `offset` and their barriers behind `smem_bytes`, and return where these end.

    `cluster` counts its CTAs. Nothing changes for a queue whose tiles follow by number.
    """
    if queue is None or not queue.dynamic:
        return queue, smem_bytes
    tasks = tuple(tasks)
    stages = _stages(queue)
    full = smem_bytes
    empty = full + stages * BARRIER_BYTES
    asking = (task.label for task in tasks if _does(task, queue, "fetch_work_tile"))
    takers = tuple(task for task in tasks if _does(task, queue, "release"))
    answers = Answers(
        kind="ClcFetchAsync" if queue.policy == "clc" else "AsyncAsync",
        stages=stages,
        scheduler=next(asking, ""),
        takers=tuple(task.label for task in takers),
        empty_arrivals=sum(answers_taken(task) * running(task, cluster) for task in takers),
        offset=offset,
        full_offset=full,
        empty_offset=empty,
        tx_bytes=ANSWER_BYTES if queue.policy == "clc" else NUMBER_BYTES if cluster > 1 else 0,
    )
    return replace(queue, answers=answers), empty + stages * BARRIER_BYTES


def _stages(queue: Queue) -> int:
    return max(1, queue.stages or 1)


def answers_taken(task: Task) -> int:
    """Return how many arrivals a task gives an answer back with: one a warp."""
    return 1 if task.single else task.warps or 1


def running(task: Task, cluster: int) -> int:
    """Return in how many CTAs of a cluster a task runs."""
    return max(1, cluster // 2) if task.ctas == "leader" else cluster


def _does(task: Task, queue: Queue, verb: str) -> bool:
    found = (operand_of(step) for step in task.steps() if step.verb == verb)
    return any(reference is not None and reference.name == queue.name for reference in found)
