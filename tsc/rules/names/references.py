"""Every reference of a spec, with what it may name: the facts of two rules."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from tsc.model import Reference
from tsc.ops.base import StepModel
from tsc.program.model import Memory, Program
from tsc.program.names import key_of, written
from tsc.rules.memo import per_program
from tsc.source.route import Route
from tsc.spec import resources as kinds
from tsc.spec.schedule import Do, Wait


@dataclass(frozen=True, slots=True)
class Found:
    """A reference: its name, what is wanted there in words, and the names that would do."""

    name: str
    route: Route
    wanted: str
    choices: Collection[str]
    reference: Reference | None = None
    task: str | None = None


@per_program
def unresolved(program: Program) -> tuple[Found, ...]:
    """Return the references that name nothing: what depends on them is not judged."""
    return tuple(found for found in references(program) if found.name not in found.choices)


def references(program: Program) -> Iterator[Found]:
    """Yield the references of schedules, works, tasks and resources."""
    spec = program.spec
    anything = [*spec.resources, *spec.params, *spec.workspace]
    for name, task in spec.tasks.items():
        for side in ("reads", "writes"):
            for i, ref in enumerate(getattr(task, side) or ()):
                yield Found(ref.name, ("tasks", name, side, i), "resource", spec.resources, ref, name)
        for node, route, _ in written(task.schedule, ("tasks", name, "schedule")):
            if isinstance(node, Do):
                yield Found(node.do, (*route, "do"), "work", spec.work, task=name)
            if isinstance(node, Wait) and node.by is not None:
                yield Found(node.by, (*route, "by"), "resource", spec.resources, task=name)
            if isinstance(node, StepModel):
                for field in type(node).model_fields:
                    value = getattr(node, field)
                    if isinstance(value, Reference):
                        wanted = "resource, param or workspace"
                        yield Found(value.name, (*route, key_of(node, field)), wanted, anything, value, name)
    for name, work in spec.work.items():
        for side in ("reads", "writes", "updates"):
            for i, ref in enumerate(getattr(work, side)):
                wanted = "resource, param or workspace"
                yield Found(ref.name, ("work", name, side, i), wanted, anything, ref)
    for name, model in spec.resources.items():
        yield from _resource(program, name, model)


def _resource(program: Program, name: str, model: object) -> Iterator[Found]:
    spec, route = program.spec, ("resources", name)
    per = getattr(model, "per", None)
    if per is not None:
        yield Found(per, (*route, "per"), "task", spec.tasks)
    if isinstance(model, (kinds.Merge, kinds.Fork)):
        for i, member in enumerate(model.of):
            yield Found(member, (*route, "of", i), "resource", spec.resources)
    memory = program.memories.get(name)
    if memory is not None and memory.over is not None:
        place = overlay_place(program, memory)
        yield Found(memory.over.name, place, "resource", spec.resources, memory.over)
    if isinstance(model, kinds.Registers) and model.rows_of is not None:
        yield Found(model.rows_of, (*route, "rows_of"), "resource", spec.resources)
    if isinstance(model, kinds.Turn):
        for i, ref in enumerate(model.order or ()):
            yield Found(ref.name, (*route, "order", i), "task", spec.tasks, ref)


def overlay_place(program: Program, memory: Memory) -> Route:
    """Return where an overlay says what it lies over."""
    nested = isinstance(getattr(program.spec.resources[memory.name], "over", None), kinds.Over)
    return (*memory.route, "over", "of") if nested else (*memory.route, "over")
