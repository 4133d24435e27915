"""What the proof makes of one program: its verdict, which alarms are faults, and on what it rests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tsc.prove.verdict import BUDGET, Alarm, Answer, Verdict

if TYPE_CHECKING:
    from tsc.program.model import Program
    from tsc.prove.asked import Promise
    from tsc.prove.translate.translation import Translation

# States in which what is in doubt is looked for again.
_DOUBTFUL = 100

Outcome = Literal["proved", "refuted", "unproven"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a program.

    `faults` are alarms that some allowed input leads to; `doubts` are those whose decisions contradict each
    other or cannot be shown not to, so that they prove nothing. `promises`: what a proof rests on.
    """

    translation: Translation
    verdict: Verdict
    faults: tuple[Alarm, ...]
    doubts: tuple[Alarm, ...]
    promises: tuple[Promise, ...]
    budget: int

    @property
    def outcome(self) -> Outcome:
        """`refuted` with faults; without them `unproven` if anything is open, else `proved`."""
        if self.faults:
            return "refuted"
        open_ = self.doubts or self.translation.unmodelled or self.verdict.outcome == "unproven"
        return "unproven" if open_ else "proved"


_last: list[Judgement] = []


def judge(program: Program, budget: int = BUDGET) -> Judgement:
    """Judge a program that the rules call sound; the judgement of the last program is kept."""
    if not _last or _last[0].translation.program is not program or _last[0].budget != budget:
        _last[:] = [_judge(program, budget)]
    return _last[0]


def judged(program: Program) -> Judgement:
    """Return the judgement of a program, whatever the budget it was made with."""
    if _last and _last[0].translation.program is program:
        return _last[0]
    return judge(program)


def _judge(program: Program, budget: int) -> Judgement:
    from tsc.prove.proof import prove
    from tsc.prove.translate import translate

    translation = translate(program)
    questions = translation.questions

    def possible(trail: tuple[Answer, ...]) -> bool:
        return questions.consistent(trail) is not False

    verdict = prove(translation.system, budget, possible)
    doubts: tuple[Alarm, ...] = ()
    if verdict.outcome == "unproven":
        # What is in doubt is found again, to be told.
        found = prove(translation.system, min(budget, _DOUBTFUL)).alarms
        doubts = tuple(alarm for alarm in found if not possible(alarm.trail))
    promises = dict.fromkeys((*translation.questions.promises, *_constants(program), *_lists(program)))
    return Judgement(translation, verdict, verdict.alarms, doubts, tuple(promises), budget)


def _lists(program: Program) -> Iterator[Promise]:
    """Yield what is promised of a list of tiles that the host makes."""
    from tsc.prove.asked import Promise

    queue = program.queue
    if queue is not None and queue.order.kind == "table":
        text = f"`{queue.order.from_}` lists each tile once"
        yield Promise(text, (*queue.route, "order", "from"))


def _constants(program: Program) -> Iterator[Promise]:
    """Yield what is promised of params that are touched without waiting for the kernel before."""
    from tsc.prove.asked import Promise

    steps = [(task, step) for task in program.tasks for step in task.steps()]
    if not any(step.verb == "pdl_wait" for _, step in steps):
        return
    for task, step in steps:
        for touch in program.touches(step, task):
            tensor = program.tensors.get(touch.reference.name)
            if tensor is not None and tensor.constant:
                yield Promise(
                    f"no kernel before this one writes `{tensor.name}`", (*tensor.route, "constant")
                )
