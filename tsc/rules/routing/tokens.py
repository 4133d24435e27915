"""Where tokens are made and used, on every path: the facts of the rules about routes of values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tsc.program.model import Program, Task
from tsc.program.paths import Walker
from tsc.program.tree import Step
from tsc.rules.memo import per_program
from tsc.rules.routing.mentions import Mention, with_looks
from tsc.rules.structure.judged import judged
from tsc.source.route import Route
from tsc.spec.schedule import Do


@dataclass(frozen=True, slots=True)
class Token:
    """A value that a path has made: by which work, and whether that has not run again since."""

    name: str
    work: str
    fresh: bool


@dataclass(frozen=True, slots=True)
class Use:
    """A use of a token: on which paths it has been made, is stale, or is missing."""

    task: Task
    mention: Mention
    made: tuple[Token | None, ...]  # one entry for each kind of path, `None` where nothing has made it


@per_program
def uses(program: Program) -> tuple[Use, ...]:
    """Return every use of a token in every task that can be judged."""
    return tuple(use for task in judged(program) for use in _uses(program, task))


def made_at(task: Task) -> dict[str, Route]:
    """Return the place at which each token of a task is made first."""
    found: dict[str, Route] = {}
    for step in task.steps():
        for i, name in enumerate(step.model.out if isinstance(step.model, Do) else ()):
            if name != "_":
                found.setdefault(name, (*step.route, "out", i))
    return found


def _uses(program: Program, task: Task) -> Iterator[Use]:
    tokens = made_at(task)
    if not tokens:
        return
    looked = with_looks(program, task, tokens.__contains__)
    before: dict[int, set[frozenset[Token]]] = {}

    def transfer(step: Step, state: frozenset[Token]) -> frozenset[Token]:
        before.setdefault(step.index, set()).add(state)
        if not isinstance(step.model, Do):
            return state
        work, names = step.model.do, {name for name in step.model.out if name != "_"}
        old = {
            replace(token, fresh=token.fresh and token.work != work)
            for token in state
            if token.name not in names
        }
        return frozenset(old | {Token(name, work, True) for name in names})

    walker = Walker(
        program,
        looked.task,
        transfer,
        lambda step: step.index in looked.mentioned or _produces(program, step),
    )
    walker.run(frozenset())
    for index, found in looked.mentioned.items() if walker.complete else ():
        for mention in found:
            made = {
                next((token for token in state if token.name == mention.name), None)
                for state in before.get(index, ())
            }
            yield Use(task, mention, tuple(sorted(made, key=repr)))


def _produces(program: Program, step: Step) -> bool:
    if not isinstance(step.model, Do):
        return False
    work = program.works.get(step.model.do)
    return bool(step.model.out) or (work is not None and bool(work.returns))
