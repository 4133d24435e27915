"""What every step touches: the meaning of references, and accesses by operation, work and engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tsc.model import Reference
from tsc.ops.base import Engine, Mode
from tsc.ops.registry import BY_VERB
from tsc.program.model import Operand, Work
from tsc.program.names import key_of
from tsc.program.tree import Step
from tsc.program.values import Values
from tsc.source.route import Route
from tsc.spec import resources as kinds
from tsc.spec.document import Spec
from tsc.spec.schedule import Do


@dataclass(frozen=True, slots=True)
class Touch:
    """One access of a step: its operand as written and as meant, how, by which engine, and its place."""

    reference: Reference
    operand: Operand | None  # None: nothing has that name
    mode: Mode
    engine: Engine
    route: Route
    kinds: frozenset[str]  # what the place may hold

    @property
    def reads(self) -> bool:
        """Whether the old value matters."""
        return self.mode != "write"

    @property
    def writes(self) -> bool:
        """Whether the value changes."""
        return self.mode != "read"


class Meanings:
    """Looks references up: by name, with the copy that a task means."""

    def __init__(self, spec: Spec, values: Values, copies: Mapping[str, int]) -> None:
        """`copies` counts the replicas of each task."""
        self.spec, self.values, self.copies = spec, values, copies

    def meaning(
        self,
        reference: Reference,
        task: str | None,
        replica: int | None,
        env: Mapping[str, int | bool],
        route: Route,
    ) -> Operand | None:
        """Return what a reference means inside a task instance, or nothing."""
        name = reference.name
        if name in self.spec.params:
            kind = "scalar" if self.spec.params[name].shape is None else "tensor"
            return Operand(kind, name)  # type: ignore[arg-type]
        if name in self.spec.workspace:
            return Operand("tensor", name)
        model = self.spec.resources.get(name)
        if model is None:
            return None
        copy = 0
        per = self.per(name)
        if per is not None:
            if reference.index is not None:
                copy = self.values.integer(reference.index, route, env) or 0
            elif task == per:
                copy = replica or 0
        return Operand(model.kind, name, copy, transposed=reference.transposed)

    def per(self, name: str) -> str | None:
        """Return the task for each replica of which a resource has a copy; a group has those of its rings."""
        first = next(iter(self.group_members(name)), name)
        per: str | None = getattr(self.spec.resources.get(first), "per", None)
        return per

    def group_members(self, name: str) -> tuple[str, ...]:
        """Return the members of a merge or fork; for anything else the name alone."""
        model = self.spec.resources.get(name)
        return model.of if isinstance(model, (kinds.Merge, kinds.Fork)) else (name,)


def touches(
    step: Step, meanings: Meanings, works: Mapping[str, Work], task: str | None, replica: int | None
) -> Iterator[Touch]:
    """Yield the accesses of a step, those of its work included. Ring and order steps touch nothing."""
    model = step.model
    if isinstance(model, str):
        return
    if isinstance(model, Do):
        work = works.get(model.do)
        if work is None:
            return
        sides: tuple[tuple[Mode, tuple[Reference, ...], str], ...] = (
            ("read", work.reads, "reads"),
            ("write", work.writes, "writes"),
            ("update", work.updates, "updates"),
        )
        for mode, references, key in sides:
            for i, reference in enumerate(references):
                route = (*work.route, key, i)
                operand = meanings.meaning(reference, task, replica, step.env, route)
                yield Touch(reference, operand, mode, Engine.THREAD, route, _ANYTHING)
        return
    operation = BY_VERB.get(step.verb)
    if operation is None:
        return
    for access in operation.accesses:
        reference = getattr(model, access.field)
        if reference is None:
            continue
        route = (*step.route, key_of(model, access.field))
        operand = meanings.meaning(reference, task, replica, step.env, route)
        yield Touch(reference, operand, access.mode, access.engine, route, access.kinds)


_ANYTHING = frozenset(("tensor", "smem", "tmem", "registers", "scalar"))
