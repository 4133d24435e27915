"""The tcgen05_mma steps of a program with both operands as the instruction sees them: facts of rules."""

from __future__ import annotations

from dataclasses import dataclass

from tsc.diagnostics.model import Place
from tsc.model import Reference
from tsc.ops.tcgen05_mma import Tcgen05Mma
from tsc.program.fragments import Fragment
from tsc.program.model import Buffer, Program, Task
from tsc.program.tree import Step
from tsc.rules.matrix.products import Side, size
from tsc.rules.memo import per_program


@dataclass(frozen=True, slots=True)
class TensorProduct:
    """One step; an operand that is not there, or is of another kind, has been reported. Shapes are those of
    one CTA, and `group` says how many multiply together.
    """

    task: Task
    step: Step
    to: Buffer
    a: Side | None
    b: Side | None
    group: int

    @property
    def fragment(self) -> Fragment | None:
        """No accumulator of it lies in registers."""
        return None

    @property
    def sides(self) -> tuple[Side, ...]:
        """Both operands, as far as they are there."""
        return tuple(side for side in (self.a, self.b) if side is not None)

    @property
    def scaled(self) -> bool:
        """Whether its operands have scale factors, which another rule looks at."""
        model = self.step.model
        return isinstance(model, Tcgen05Mma) and (model.scale_a is not None or model.scale_b is not None)

    @property
    def place(self) -> Place:
        """Where the step names the accumulator."""
        return Place((*self.step.route, "tcgen05_mma"))

    @property
    def declared(self) -> Place:
        """Where the accumulator is declared."""
        return Place(self.to.route, "key", label=f"{size(self.to.shape)} {self.to.dtype}")

    def misfit(self, side: Side) -> tuple[str, str] | None:
        """Return message and help where an operand has other rows than the accumulator asks for."""
        share = self.group if side.key == "b" else 1
        wanted = self.to.shape[side.key == "b"]
        if side.rows * share == wanted:
            return None
        if side.key == "a" and self.group > 1 and side.rows * self.group == wanted:
            return (
                f"`{self.to.name}` has {wanted:,} rows, and `{side.text}` {side.rows:,} a CTA of a pair",
                f"give `{self.to.name}` {side.rows:,} rows, those of a CTA",
            )
        what = "rows" if side.key == "a" else "columns"
        each = " rows, one for each" if share == 1 else " rows, half of them in each CTA of a pair"
        own = f"`{side.text}` {side.rows:,}{'' if side.key == 'a' else each}"
        bare, turned = side.text.removesuffix(".T"), "" if side.transposed else ".T"
        other = self.b if side.key == "a" else self.a
        agrees = side.depth * share == wanted and (other is None or side.rows == other.depth)
        fits = f"write `{side.key}: {bare}{turned}`" if agrees else ""
        return (
            f"`{self.to.name}` has {wanted:,} {what}, and {own}",
            fits or f"give `{bare}` {wanted // share:,} rows",
        )


@per_program
def tensor_products(program: Program) -> tuple[TensorProduct, ...]:
    """Return the matrix products of all tasks that are made in tensor memory."""
    found = []
    for task in program.tasks:
        for step in task.steps():
            if isinstance(step.model, Tcgen05Mma):
                to = _buffer(program, task, step, "tcgen05_mma")
                a, b = (_side(program, task, step, key) for key in ("a", "b"))
                if to is not None and to[1] == "tmem":
                    found.append(TensorProduct(task, step, to[0], a, b, program.spec.launch.cta_group))
    return tuple(found)


def _buffer(program: Program, task: Task, step: Step, key: str) -> tuple[Buffer, str] | None:
    reference: Reference = getattr(step.model, key)
    meaning = program.meaning(reference, task, step.env, (*step.route, key))
    return None if meaning is None or meaning.buffer is None else (meaning.buffer, meaning.kind)


def _side(program: Program, task: Task, step: Step, key: str) -> Side | None:
    found = _buffer(program, task, step, key)
    if found is None or found[1] not in ("smem", "tmem"):
        return None
    buffer, kind = found
    reference: Reference = getattr(step.model, key)
    own, held = (buffer, None) if kind == "smem" else (None, buffer)
    route, turned = (*step.route, key), reference.transposed
    return Side(key, reference.text, route, buffer.dtype, buffer.shape, turned, own, None, held)
