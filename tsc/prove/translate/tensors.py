"""Which tensors need an order inside a kernel: those that one task or engine writes and another reads.

Global memory has no stages. Where the place of an access moves with the tile or a loop, those of the first
rounds stand for all. Two writers of one tensor are taken to write apart, and each CTA of a cluster to have a
part of its own; accesses at places that are known only at run time are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tsc.emit.kernel import Kernel
from tsc.emit.works import mentioned
from tsc.ops.base import Engine
from tsc.program.accesses import Touch
from tsc.program.model import Program, Task
from tsc.program.names import expressions
from tsc.program.tree import Loop, Node, Step, TileLoop, walk
from tsc.prove.machine import All, Block, If, InRounds, Segment, Test
from tsc.prove.translate.memory import Bank
from tsc.prove.translate.translation import SegmentSource
from tsc.source.route import Route
from tsc.spec.schedule import Do

ROUNDS = 2  # the first rounds stand for all: two, because tasks may take turns
ENGINES = {Engine.STORE: "store", Engine.TMA: "load", Engine.CP_ASYNC: "copy"}
TILE = "tile"

Writer = tuple[str, str]  # label of a task, and by which engine it writes
Moving = frozenset[str]  # `TILE` and variables of loops


@dataclass(frozen=True, slots=True)
class Mention:
    """An access to a tensor; `moving` is absent where its place is known only at run time."""

    task: str
    engine: str
    reads: bool
    writes: bool
    moving: Moving | None


class Tensors:
    """The tensors that are written and read, and their segments."""

    def __init__(self, kernel: Kernel, bank: Bank) -> None:
        self.program, self.bank = kernel.program, bank
        self.mentions: dict[str, list[Mention]] = {}
        for task in self.program.tasks:
            tokens = {name for step in task.steps() for name in _tokens(step)}
            for node, above in walk(task.tree):
                if isinstance(node, Step):
                    for touch in self.program.touches(node, task):
                        self._note(task, node, touch, _moving(self.program, node, above, tokens))
        self.moving: dict[str, Moving] = {}
        self.writers: dict[str, tuple[Writer, ...]] = {}
        for name, found in self.mentions.items():
            self._decide(name, found)
        self._segments: dict[tuple[str, Writer, int, int], Segment] = {}

    def _note(self, task: Task, step: Step, touch: Touch, moving: Moving | None) -> None:
        operand = touch.operand
        if operand is None or operand.kind != "tensor" or touch.engine is Engine.PREFETCH:
            return
        if step.verb == "count_in":
            return  # it orders what it counts by itself
        # A reduction adds where others add: only who reads the sum minds.
        reads = touch.mode == "read" or (touch.mode == "update" and touch.engine is Engine.THREAD)
        engine = ENGINES.get(touch.engine, "thread")
        mention = Mention(task.label, engine, reads, touch.writes, moving)
        self.mentions.setdefault(operand.name, []).append(mention)

    def _decide(self, name: str, found: list[Mention]) -> None:
        writers = tuple(dict.fromkeys((one.task, one.engine) for one in found if one.writes))
        met = any(one.reads and writer != (one.task, one.engine) for one in found for writer in writers)
        sets = [one.moving for one in found if one.moving]
        common = frozenset.intersection(*sets) if sets else frozenset[str]()
        if met and all(one.moving is not None for one in found) and (common or not sets):
            self.writers[name], self.moving[name] = writers, common

    def rounds(self, name: str) -> range:
        """Return the rounds for each of which a tensor has segments of its own."""
        return range(ROUNDS if self.moving[name] else 1)

    def segments(
        self, name: str, writer: Writer, reads: bool, writes: bool, cta: int, round_: int
    ) -> Iterator[tuple[Segment, bool]]:
        """Yield the segments that an access of a task by an engine touches, and whether it writes them."""
        for other in self.writers.get(name, ()):
            if (other == writer and writes) or reads:
                key = (name, other, cta, round_)
                if key not in self._segments:
                    source = SegmentSource("tensor", cta, (), name, other[0])
                    self._segments[key] = self.bank.add(source, f"`{name}`")
                yield self._segments[key], other == writer and writes

    def in_round(self, name: str, loops: tuple[str, ...], round_: int) -> Test | None:
        """Return the test for a round of a tensor; `loops` are those around, innermost first.

        Nothing where an access stands for all rounds.
        """
        tests: list[Test] = []
        for up, variable in enumerate(loops):
            if variable in self.moving[name]:
                head = tuple(i == round_ for i in range(ROUNDS))
                tests.append(InRounds(head, (False,), up))
        if not tests:
            return None
        return tests[0] if len(tests) == 1 else All(tuple(tests))


def only(route: Route, test: Test | None, then: Block, otherwise: Block = ()) -> Block:
    """Return a block under a test, or as it is without one."""
    return then if test is None else (If(route, test, then, otherwise),)


def _moving(program: Program, step: Step, above: tuple[Node, ...], tokens: set[str]) -> Moving | None:
    """Return with which loops the place of a step's access moves, or nothing where only the run knows."""
    if isinstance(step.model, str):
        return frozenset()
    names: set[str] = set()
    for field in type(step.model).model_fields:
        for _, expr in expressions(getattr(step.model, field), ()):
            names |= program.flat(expr, step.env).free
    if isinstance(step.model, Do) and (work := program.works.get(step.model.do)) is not None:
        for name in mentioned(work.text or ""):
            names |= program.lets[name].free if name in program.lets else {name}
    if names & tokens:
        return None
    loops = [node for node in above if isinstance(node, Loop | TileLoop)]
    found = set()
    for node in loops:
        if isinstance(node, TileLoop):
            found |= {TILE} if any(name.split(".")[0] == TILE for name in names) else set()
        elif node.variable in names or (node is loops[-1] and "iter" in names):
            found.add(node.variable)
    return frozenset(found)


def _tokens(step: Step) -> Iterator[str]:
    if isinstance(step.model, Do):
        yield from (name for name in step.model.out if name != "_")
