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
    """An access to a tensor."""

    task: Task
    engine: str
    reads: bool
    writes: bool
    step: Step
    above: tuple[Node, ...]

    @property
    def writer(self) -> Writer:
        """By whom and how."""
        return self.task.label, self.engine


@dataclass(frozen=True, slots=True)
class Round:
    """A loop around an access: its variable, and the values v = start, start + step, ... of the machine's."""

    variable: str
    start: int = 0
    step: int = 1


class Tensors:
    """The tensors that are written and read, and their segments."""

    def __init__(self, kernel: Kernel, bank: Bank) -> None:
        self.program, self.bank = kernel.program, bank
        mentions: dict[str, list[Mention]] = {}
        for task in self.program.tasks:
            for node, above in walk(task.tree):
                if isinstance(node, Step):
                    for touch in self.program.touches(node, task):
                        self._note(mentions, task, node, touch, above)
        self.moving: dict[str, Moving] = {}
        self.writers: dict[str, tuple[Writer, ...]] = {}
        self._apart: set[tuple[str, str]] = set()  # tensors of which each replica of a task has its own part
        for name, found in mentions.items():
            self._decide(name, found)
        self._segments: dict[tuple[str, Writer, int, int], Segment] = {}

    def _note(
        self,
        mentions: dict[str, list[Mention]],
        task: Task,
        step: Step,
        touch: Touch,
        above: tuple[Node, ...],
    ) -> None:
        operand = touch.operand
        if operand is None or operand.kind != "tensor" or touch.engine is Engine.PREFETCH:
            return
        if step.verb == "count_in":
            return  # it orders what it counts by itself
        # A reduction adds where others add: only who reads the sum minds.
        reads = touch.mode == "read" or (touch.mode == "update" and touch.engine is Engine.THREAD)
        engine = ENGINES.get(touch.engine, "thread")
        mention = Mention(task, engine, reads, touch.writes, step, above)
        mentions.setdefault(operand.name, []).append(mention)

    def _decide(self, name: str, found: list[Mention]) -> None:
        writers = tuple(dict.fromkeys(one.writer for one in found if one.writes))
        if not any(one.reads and writer != one.writer for one in found for writer in writers):
            return
        places = [_place(self.program, one) for one in found]
        sets = [moving for moving, _ in places if moving]
        common = frozenset.intersection(*sets) if sets else frozenset[str]()
        if all(moving is not None for moving, _ in places) and (common or not sets):
            self.writers[name], self.moving[name] = writers, common
            own = {one.task.name for one in found} - {
                one.task.name for one, (_, apart) in zip(found, places, strict=True) if not apart
            }
            self._apart |= {(name, task) for task in own}

    def rounds(self, name: str) -> range:
        """Return the rounds for each of which a tensor has segments of its own."""
        return range(ROUNDS if self.moving[name] else 1)

    def segments(
        self, name: str, writer: Writer, reads: bool, writes: bool, cta: int, round_: int
    ) -> Iterator[tuple[Segment, bool]]:
        """Yield the segments that an access of a task by an engine touches, and whether it writes them."""
        task = writer[0].partition("[")[0]
        for other in self.writers.get(name, ()):
            sibling = other[0] != writer[0] and other[0].partition("[")[0] == task
            if sibling and (name, task) in self._apart:
                continue
            if (other == writer and writes) or reads:
                key = (name, other, cta, round_)
                if key not in self._segments:
                    source = SegmentSource("tensor", cta, (), name, other[0])
                    self._segments[key] = self.bank.add(source, f"`{name}`")
                yield self._segments[key], other == writer and writes

    def in_round(self, name: str, loops: tuple[Round, ...], value: int) -> Test | None:
        """Return the test for the rounds of one value; `loops` are those around, innermost first.

        Nothing where an access stands for all rounds.
        """
        tests: list[Test] = []
        for up, loop in enumerate(loops):
            if loop.variable in self.moving[name]:
                number, rest = divmod(value - loop.start, loop.step)
                head = tuple(i == number and rest == 0 for i in range(max(0, number) + 1))
                tests.append(InRounds(head, (False,), up))
        if not tests:
            return None
        return tests[0] if len(tests) == 1 else All(tuple(tests))


def only(route: Route, test: Test | None, then: Block, otherwise: Block = ()) -> Block:
    """Return a block under a test, or as it is without one."""
    return then if test is None else (If(route, test, then, otherwise),)


def _place(program: Program, one: Mention) -> tuple[Moving | None, bool]:
    """Return with which loops the place of an access moves, or nothing where only the run knows, and whether
    each replica has a place of its own.
    """
    step = one.step
    env = {name: value for name, value in step.env.items() if name != "replica"}
    names: set[str] = set()
    for field in () if isinstance(step.model, str) else type(step.model).model_fields:
        for _, expr in expressions(getattr(step.model, field), ()):
            names |= program.flat(expr, env).free
    if isinstance(step.model, Do) and (work := program.works.get(step.model.do)) is not None:
        for name in mentioned(work.text or ""):
            names |= program.lets[name].free if name in program.lets else {name}
    apart = "replica" in names
    if names & {name for other in one.task.steps() for name in _tokens(other)}:
        return None, apart
    loops = [node for node in one.above if isinstance(node, Loop | TileLoop)]
    found = set()
    for node in loops:
        if isinstance(node, TileLoop):
            found |= {TILE} if any(name.split(".")[0] == TILE for name in names) else set()
        elif node.variable in names or (node is loops[-1] and "iter" in names):
            found.add(node.variable)
    return frozenset(found), apart


def _tokens(step: Step) -> Iterator[str]:
    if isinstance(step.model, Do):
        yield from (name for name in step.model.out if name != "_")
