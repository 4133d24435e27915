"""Fragments in a task: in which block each is declared, and which products may be at work behind a wait."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from typing_extensions import override

from tsc.emit.forward import Forward
from tsc.expr import Expr
from tsc.expr.tree import Compare, Int, Ref
from tsc.ops.base import Engine
from tsc.ops.wgmma import Wgmma
from tsc.ops.wgmma_wait import WgmmaWait
from tsc.program.accesses import Touch, touches
from tsc.program.model import Program, Task
from tsc.program.tree import Block, Guard, Loop, Node, Step, TileLoop, blocks, walk

Groups = tuple[frozenset[str], ...]  # fragments that the youngest groups may work on, the youngest first


def registers_of(program: Program, task: Task, step: Step) -> Iterator[Touch]:
    """Yield a step's accesses to registers."""
    for touch in touches(step, program.meanings, program.works, task.name, task.replica):
        if touch.operand is not None and touch.operand.kind == "registers":
            yield touch


# ---- where declared ----------------------------------------------------------------------------------------


def declared_in(program: Program, task: Task, name: str) -> Block | None:
    """Return the innermost block that a fragment's values never outlive: of a tile, or of a branch there.

    Declared there and not before the loop over tiles, it takes no registers where it holds nothing. None
    where it may carry values from one tile to the next.
    """
    block = task.tree
    found: Block | None = None
    while True:
        inside = [node for node in block if _touched(program, task, node, name)]
        if len(inside) == 1 and isinstance(inside[0], (TileLoop, Guard)):
            sides = [b for b in blocks(inside[0]) if any(_touched(program, task, n, name) for n in b)]
            if len(sides) == 1:
                block = sides[0]
                found = block
                continue
        return found if found is not None and _starts_anew(program, task, inside, name) else None


def _touched(program: Program, task: Task, node: Node, name: str) -> bool:
    return any(
        touch.operand is not None and touch.operand.name == name
        for step, _ in walk((node,))
        if isinstance(step, Step)
        for touch in registers_of(program, task, step)
    )


def _starts_anew(program: Program, task: Task, nodes: list[Node], name: str) -> bool:
    """Whether nodes in a row write a fragment before any of them reads it."""
    for node in nodes:
        match node:
            case Step():
                return not _reads(program, task, node, name)
            case Loop():
                first = node.pieces[0].body
                return _clears(program, task, first, name) or _starts_anew(
                    program, task, [n for n in first if _touched(program, task, n, name)], name
                )
            case Guard():
                steps = [step for step, _ in walk((node,)) if isinstance(step, Step)]
                if any(_reads(program, task, step, name) for step in steps):
                    return False
            case TileLoop():
                return False
    return False


def _reads(program: Program, task: Task, step: Step, name: str) -> bool:
    for touch in registers_of(program, task, step):
        if touch.operand is None or touch.operand.name != name or not touch.reads:
            continue
        model = step.model
        own = isinstance(model, Wgmma) and touch.engine is Engine.WGMMA and touch.writes
        if own and isinstance(model, Wgmma) and program.flat(model.accumulate, step.env).value is False:
            continue
        return True
    return False


def _clears(program: Program, task: Task, body: Block, name: str) -> bool:
    """Whether the first product of a loop's body ignores the fragment in the first round."""
    for node in body:
        if not _touched(program, task, node, name):
            continue
        if not isinstance(node, Step) or not isinstance(node.model, Wgmma) or node.model.wgmma.name != name:
            return False
        return _false_at_first(program.flat(node.model.accumulate, node.env))
    return False


def _false_at_first(condition: Expr) -> bool:
    match condition.tree:
        case Compare(ops=(">",), operands=(Ref(name="iter"), Int(value=0))):
            return True
        case Compare(ops=("!=",), operands=(Ref(name="iter"), Int(value=0))):
            return True
    return False


# ---- what is complete --------------------------------------------------------------------------------------


def pending_products(program: Program, step: Step) -> int:
    """Return how many groups of products may be at work behind a `wgmma_wait`."""
    model = step.model
    value = program.flat(model.wgmma_wait, step.env).value if isinstance(model, WgmmaWait) else None
    return 0 if value is None else max(0, int(value))


def completions(program: Program, task: Task) -> Mapping[int, frozenset[str]]:
    """Return, by the index of each `wgmma_wait`, the fragments on which no group can be at work behind it.

    Groups complete in order, so those at work behind `wgmma_wait: n` are among the youngest n of any path.
    """
    walked = _Completions(program, task)
    walked.block(task.tree, ())
    return {index: walked.used - at_work for index, at_work in walked.at_work.items()}


class _Completions(Forward[Groups]):
    def __init__(self, program: Program, task: Task) -> None:
        self.program, self.task = program, task
        self.at_work: dict[int, frozenset[str]] = {}
        self.used = frozenset(
            touch.reference.name
            for step in task.steps()
            if isinstance(step.model, Wgmma)
            for touch in registers_of(program, task, step)
        )
        waits = [step for step in task.steps() if isinstance(step.model, WgmmaWait)]
        self.deepest = max((pending_products(program, step) for step in waits), default=0)

    @override
    def step(self, step: Step, state: Groups) -> Groups:
        if isinstance(step.model, Wgmma):
            own = frozenset(touch.reference.name for touch in registers_of(self.program, self.task, step))
            return (own, *state)[: self.deepest]
        if isinstance(step.model, WgmmaWait):
            left = state[: pending_products(self.program, step)]
            self.at_work[step.index] = self.at_work.get(step.index, frozenset()).union(*left)
            return left
        return state

    @override
    def joined(self, a: Groups, b: Groups) -> Groups:
        longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
        none = frozenset[str]()
        padded = (*shorter, *(none for _ in range(len(longer) - len(shorter))))
        return tuple(x | y for x, y in zip(longer, padded, strict=True))
