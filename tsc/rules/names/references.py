"""Every reference of a spec, with what it may name: the facts of two rules."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from tsc.model import Reference
from tsc.ops.base import StepModel
from tsc.ops.registry import BY_VERB
from tsc.program.model import Memory, Program
from tsc.program.names import key_of, written
from tsc.rules.memo import per_program
from tsc.source.route import Route
from tsc.spec import resources as kinds
from tsc.spec.document import Spec
from tsc.spec.schedule import Do, Wait


@dataclass(frozen=True, slots=True)
class Found:
    """A reference: its name, what is wanted there in words, and the names that are known there.

    `fitting` are those of a kind that can stand there, where that is told by more than its being known.
    """

    name: str
    route: Route
    wanted: str
    choices: Collection[str]
    reference: Reference | None = None
    task: str | None = None
    fitting: Collection[str] | None = None


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
                        place, fit = (*route, key_of(node, field)), fitting(spec, node, field)
                        yield Found(value.name, place, wanted, anything, value, name, fit)
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


_RINGS = ("acquire", "commit", "wait", "release", "try_acquire", "try_wait", "skip")
_PROTOCOL = {
    **dict.fromkeys(_RINGS, frozenset(("ring", "signal", "merge", "fork", "queue"))),
    **dict.fromkeys(("take", "pass"), frozenset(("turn",))),
    **dict.fromkeys(("sync", "arrive"), frozenset(("barrier",))),
    **dict.fromkeys(("get_and_advance_work_tile", "fetch_work_tile"), frozenset(("queue",))),
}


def fitting(spec: Spec, node: StepModel, field: str) -> list[str]:
    """Return the declared names of a kind that a field of a step can hold."""
    key = key_of(node, field)
    operation = BY_VERB.get(node.verb)
    kinds_ = _PROTOCOL.get(key)
    if kinds_ is None and operation is not None:
        kinds_ = frozenset().union(*(it.kinds for it in operation.accesses if it.field == field))
    found = {name: "scalar" if one.shape is None else "tensor" for name, one in spec.params.items()}
    found |= dict.fromkeys(spec.workspace, "tensor")
    for name, model in spec.resources.items():
        ring = (
            key in _PROTOCOL and getattr(model, "stages", None) is not None and model.kind in ("smem", "tmem")
        )
        found[name] = "ring" if ring else model.kind
    return [name for name, kind in found.items() if not kinds_ or kind in kinds_]
