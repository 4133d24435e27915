"""What several rules ask of `verify`: its references, read; which tensors are written; extents compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tsc.expr import EvalError, Expr, ExprError, equal, evaluate, parse, provably, show
from tsc.notation import Node, NotationError
from tsc.notation import parse as parse_notation
from tsc.program.model import Program
from tsc.rules.memo import per_program

Read = Node | NotationError


@per_program
def references(program: Program) -> Mapping[str, Read]:
    """Return for each output its reference, or why it cannot be read."""
    verify = program.spec.verify
    found: dict[str, Read] = {}
    for name, text in (verify.reference if verify is not None else {}).items():
        try:
            found[name] = parse_notation(text)
        except NotationError as error:
            found[name] = error
    return found


def readable(program: Program) -> Iterator[tuple[str, Node]]:
    """Yield the references that can be read, each with its output."""
    for name, read in references(program).items():
        if not isinstance(read, NotationError):
            yield name, read


@per_program
def written(program: Program) -> frozenset[str]:
    """Return the tensors that a step writes."""
    found = set()
    for task in program.tasks:
        for step in task.steps():
            for touch in program.touches(step, task):
                if touch.writes and touch.operand is not None and touch.operand.kind == "tensor":
                    found.add(touch.operand.name)
    return frozenset(found)


def outputs(program: Program) -> list[str]:
    """Return the params that the kernel writes, in their order."""
    return [name for name in program.params if name in written(program)]


def names_known(program: Program) -> list[str]:
    """Return what a reference may name."""
    return [*program.params, *program.dims, *program.constants]


def same_extent(program: Program, first: Expr, second: Expr) -> bool | None:
    """Say whether two extents are equal for all sizes, or for none."""
    if equal(first, second):
        return True
    try:
        return provably(parse(f"({show(first)}) == ({show(second)})"), program.ranges)
    except ExprError:
        return None


def sizes_of(program: Program, case: Mapping[str, object]) -> dict[str, tuple[int, ...]] | None:
    """Return the shapes of all names in a case, nothing where it does not give them all."""
    env = {name: value for name, value in case.items() if isinstance(value, int)} | dict(program.constants)
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(names_known(program), ())
    try:
        for name in program.params:
            if name in program.tensors:
                shapes[name] = tuple(int(evaluate(extent, env)) for extent in program.tensors[name].shape)
    except EvalError:
        return None
    return shapes
