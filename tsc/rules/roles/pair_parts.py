"""What the CTAs of a pair load for their products: facts of the rules about pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from tsc.expr import EvalError, Expr, evaluate
from tsc.ops.base import Engine
from tsc.ops.tcgen05_cp import Tcgen05Cp
from tsc.ops.tcgen05_mma import Tcgen05Mma
from tsc.program.accesses import Touch
from tsc.program.model import Program, Task
from tsc.program.tree import Step
from tsc.rules.memo import per_program

SIDES = ("a", "b", "scale_a", "scale_b")

MOST = 16  # CTAs of a cluster
# Numbers of the cluster, and values of all other names, with which coordinates are compared.
UNITS, ELSE = (0, 1, 3), (1 << 20, 3 << 18)

Key = tuple[str, int, str]


@dataclass(frozen=True, slots=True)
class Part:
    """A load of what a pair multiplies: of which side, and where it is in the tensor."""

    step: Step
    side: str
    at: tuple[Expr, ...]

    @property
    def names(self) -> frozenset[str]:
        """What its coordinates depend on."""
        return frozenset[str]().union(*(expr.free for expr in self.at))


def places(axis: str) -> frozenset[str]:
    """Return the names that may differ between the CTAs of a pair."""
    return frozenset((f"tile.{axis}", f"cluster.{axis}", f"block.{axis}"))


@per_program
def parts(program: Program) -> tuple[Part, ...]:
    """Return the loads of a pair's operands and scale factors; none without pairs.

    Those whose coordinates the task makes, or reads from memory, are left out: they may be anything.
    """
    if program.spec.launch.cta_group != 2 or not program.cluster:
        return ()
    sides, found = _sides(program), []
    for task in program.tasks:
        made = {name for step in task.steps() for name in getattr(step.model, "out", None) or ()}
        for step in task.steps():
            side = next((sides[key] for key in _filled(program, step, task) if key in sides), None)
            at = tuple(program.flat(expr, step.env) for expr in getattr(step.model, "at", None) or ())
            if side is None or any(expr.indexed for expr in at):
                continue
            part = Part(step, side, at)
            if not part.names & (made | program.registers.keys()):
                found.append(part)
    return tuple(found)


def moved_in_pair(program: Program, part: Part) -> tuple[int, ...] | None:
    """Return by how much each coordinate grows from a pair's first CTA to the second, if that is known."""
    axis, size = program.cluster[0]
    found = set[tuple[int, ...]]()
    # A cluster has no more CTAs; one that says so is an error of its own.
    for first, unit, other in product(range(0, min(size, MOST) - 1, 2), UNITS, ELSE):
        try:
            one, two = (
                [evaluate(expr, _values(part, axis, place, unit * size + place, other)) for expr in part.at]
                for place in (first, first + 1)
            )
        except EvalError:
            return None
        found.add(tuple(int(b) - int(a) for a, b in zip(one, two, strict=True)))
    return found.pop() if len(found) == 1 else None


def _values(part: Part, axis: str, place: int, number: int, other: int) -> dict[str, int]:
    own = {f"cluster.{axis}": place, f"tile.{axis}": number, f"block.{axis}": number}
    return {name: own.get(name, other) for name in part.names}


def _sides(program: Program) -> dict[Key, str]:
    """Return what each buffer is to a product, those included from which scale factors are copied."""
    found: dict[Key, str] = {}
    for verb in (Tcgen05Mma, Tcgen05Cp):  # what a copy fills has its side from the product
        for task in program.tasks:
            for step in task.steps():
                touched = program.touches(step, task) if isinstance(step.model, verb) else ()
                keys = {touch.reference: key for touch in touched if (key := _key(touch)) is not None}
                if isinstance(step.model, Tcgen05Mma):
                    named = {getattr(step.model, side): side for side in SIDES}
                    found |= {keys[one]: side for one, side in named.items() if one in keys}
                elif isinstance(step.model, Tcgen05Cp):
                    to, source = keys.get(step.model.tcgen05_cp), keys.get(step.model.from_)
                    if to in found and source is not None:
                        found[source] = found[to]
    return found


def _filled(program: Program, step: Step, task: Task) -> Iterator[Key]:
    for touch in program.touches(step, task):
        key = _key(touch)
        if touch.engine is Engine.TMA and touch.writes and key is not None:
            yield key


def _key(touch: Touch) -> Key | None:
    if touch.operand is None:
        return None
    return touch.operand.name, touch.operand.copy, touch.reference.buffer or ""
