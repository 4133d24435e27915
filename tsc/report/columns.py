"""The schedules of all tasks side by side: one column a task, no step above what it waits for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import get_args

from tsc.model import Reference
from tsc.program.arrivals import steps_of
from tsc.program.model import Program, Task
from tsc.program.tree import Block, Guard, Node, Section, Step, TileLoop, blocks, steps
from tsc.report.tree import named_blocks, node_text, show_value
from tsc.rules.brackets.holds import kept, ring_of

SECTIONS: tuple[Section, ...] = get_args(Section)
# Where data goes and how far the ring moves; coordinates and cache hints are in the tree.
_OPTIONS = {
    "to": "to",
    "from_": "from",
    "a": "a",
    "b": "b",
    "keep": "keep",
    "count": "count",
    "by": "by",
    "observe": "observe",
    "until": "until",
    "last": "last",
}
RingCopy = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Cell:
    """One line of a task: a step with its call index, or the head of a loop or guard without one.

    `stage` and `phase` are those of the first round for a step that looks at a barrier or arrives at one.
    """

    section: Section
    index: int | None
    text: str
    depth: int
    derived: bool
    step: Step | None
    always: bool = True  # in the first round too
    ring: str | None = None
    stage: int | None = None
    phase: int | None = None

    @property
    def tag(self) -> str:
        """The stage and the phase as a table shows them."""
        if self.stage is None:
            return ""
        return f"s{self.stage}" + ("" if self.phase is None else f" p{self.phase}")


@dataclass(frozen=True, slots=True)
class Column:
    """The tasks whose schedules read the same, and their lines."""

    tasks: tuple[Task, ...]
    cells: tuple[Cell, ...]


def short_text(program: Program, step: Step) -> str:
    """Write a step with what it moves, copies by their numbers, without coordinates and hints."""
    if isinstance(step.model, str):
        return step.model
    head, parts = "", []
    for name, info in type(step.model).model_fields.items():
        value = getattr(step.model, name)
        if (info.alias or name) == step.verb:
            head = _shown(program, step, value)
        elif name in _OPTIONS and value != info.default:
            parts.append(f"{_OPTIONS[name]}: {_shown(program, step, value)}")
    return ", ".join([f"{step.verb}: {head}", *parts])


def _shown(program: Program, step: Step, value: object) -> str:
    if isinstance(value, Reference) and value.index is not None:
        copy = program.values.integer(value.index, step.route, step.env)
        if copy is not None:
            return value.text.replace(f"[{value.index.text}]", f"[{copy}]", 1)
    return show_value(value)


def columns(program: Program) -> tuple[Column, ...]:
    """Return a column for each task; replicas that read the same share one."""
    found: dict[tuple[str, tuple[object, ...]], tuple[list[Task], tuple[Cell, ...]]] = {}
    for task in program.tasks:
        cells = tuple(_cells(program, task))
        same = tuple((it.section, it.index, it.text, it.tag) for it in cells)
        found.setdefault((task.name, same), ([], cells))[0].append(task)
    return tuple(Column(tuple(tasks), cells) for tasks, cells in found.values())


def rows(program: Program, shown: tuple[Column, ...]) -> Iterator[tuple[Section, tuple[Cell | None, ...]]]:
    """Yield the rows: section by section, every wait below the commits and arrivals that it needs there."""
    places = [_placed(program, shown, column) for column in shown]
    for section in SECTIONS:
        lines = [
            [cell for cell in column.cells if place.get(cell.section) == section]
            for column, place in zip(shown, places, strict=True)
        ]
        yield from ((section, row) for row in _aligned(program, shown, lines))


def _placed(program: Program, shown: tuple[Column, ...], column: Column) -> dict[Section, Section]:
    """Return where the sections of a task are shown: without a loop, where others give what it needs."""
    own: dict[Section, Section] = {section: section for section in SECTIONS}
    sections = {cell.section for cell in column.cells}
    if sections != {"HEAD"}:
        return own
    needs = {token for cell in column.cells for token in _needs(program, column.tasks[0], cell)}
    given = [
        cell.section
        for other in shown
        if other is not column
        for cell in other.cells
        if needs & _gives(program, other.tasks[0], cell)
    ]
    return {**own, "HEAD": max(given, key=SECTIONS.index, default="HEAD")}


def _aligned(
    program: Program, shown: tuple[Column, ...], lines: list[list[Cell]]
) -> Iterator[tuple[Cell | None, ...]]:
    done = [0] * len(lines)
    owners = [column.tasks[0] for column in shown]
    gives = [[_gives(program, owners[i], cell) for cell in line] for i, line in enumerate(lines)]
    needs = [[_needs(program, owners[i], cell) for cell in line] for i, line in enumerate(lines)]
    while any(done[i] < len(line) for i, line in enumerate(lines)):
        open_ = [i for i, line in enumerate(lines) if done[i] < len(line)]
        ready = [i for i in open_ if _ready(i, needs, gives, done)]
        # A wait that a condition keeps out of the first round is for an older one.
        ready = ready or [i for i in open_ if not lines[i][done[i]].always][:1] or open_[:1]
        yield tuple(lines[i][done[i]] if i in ready else None for i in range(len(lines)))
        for i in ready:
            done[i] += 1


def _ready(column: int, needs: list[list[set[str]]], gives: list[list[set[str]]], done: list[int]) -> bool:
    """Whether all columns have given, above this row, what the next line of a column takes."""
    for token in needs[column][done[column]]:
        taken = 1 + sum(token in earlier for earlier in needs[column][: done[column]])
        for other, given in enumerate(gives):
            whole = sum(token in one for one in given)
            if other != column and sum(token in one for one in given[: done[other]]) < min(taken, whole):
                return False
    return True


def _gives(program: Program, task: Task, cell: Cell) -> set[str]:
    if cell.step is None:
        return set()
    if cell.step.verb == "pass":
        return {f"turn {cell.text.partition(': ')[2]}"}
    if cell.step.verb == "commit":
        return {f"{ring} {copy}" for ring, copy in ring_of(program, task, cell.step)}
    return set()


def _needs(program: Program, task: Task, cell: Cell) -> set[str]:
    if cell.step is None:
        return set()
    if cell.step.verb == "wait":
        return {f"{ring} {copy}" for ring, copy in ring_of(program, task, cell.step)}
    return set()


# ---- one task ----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Counters:
    """The four counters of a task on one ring copy, in a run with one round of each loop."""

    stages: int
    start: int
    stride: int
    moved: dict[str, int] = field(default_factory=dict)

    def tag(self, verb: str, keep: int) -> tuple[int, int] | None:
        """Return the stage and the phase that a step means, and move on; nothing where it does nothing."""
        before = self.moved.get(verb, 0)
        if verb in ("commit", "release"):
            taken = self.moved.get("acquire" if verb == "commit" else "wait", 0)
            if taken - before <= keep:
                return None
            self.moved[verb] = taken - keep
        else:
            self.moved[verb] = before + 1
        place = self.start + self.stride * before
        return place % self.stages, place // self.stages - (verb == "acquire")


def _cells(program: Program, task: Task) -> Iterator[Cell]:
    counters: dict[tuple[RingCopy, bool], _Counters] = {}
    lost: set[RingCopy] = set()

    def of(block: Block, depth: int, always: bool) -> Iterator[Cell]:
        for node in block:
            if isinstance(node, Step):
                yield _line(program, task, node, depth, counters, lost, always)
                continue
            section = _section(node)
            if section is None:
                continue
            inner = depth + (not isinstance(node, TileLoop))
            if inner > depth:
                yield Cell(section, None, node_text(node), depth, False, None)
            for name, body in named_blocks(node):
                if name and name != "then":
                    yield Cell(_section(node, body) or section, None, name, depth, False, None)
                # What runs in some rounds only has no round to stand for.
                yield from of(
                    body, inner, always and not (isinstance(node, Guard) and node.kind != "first_iter")
                )

    yield from of(task.tree, 0, True)


def _line(
    program: Program,
    task: Task,
    step: Step,
    depth: int,
    counters: dict[tuple[RingCopy, bool], _Counters],
    lost: set[RingCopy],
    always: bool,
) -> Cell:
    rings = ring_of(program, task, step)
    if not always or step.verb == "skip":
        lost |= set(rings)
    ring = rings[0] if rings else None
    tag = None
    if ring is not None and step.verb in ("acquire", "commit", "wait", "release") and ring not in lost:
        tag = _tag(program, task, step, ring, counters)
    store = ring is not None and ring in program.pipelines and program.pipelines[ring].store_ring
    return Cell(
        step.section,
        step.index,
        short_text(program, step),
        depth,
        step.derived,
        step,
        always,
        ring=ring[0] if ring is not None else None,
        stage=tag[0] if tag is not None else None,
        phase=None if tag is None or store else tag[1],
    )


def _tag(
    program: Program,
    task: Task,
    step: Step,
    ring: RingCopy,
    counters: dict[tuple[RingCopy, bool], _Counters],
) -> tuple[int, int] | None:
    memory = program.memories[ring[0]]
    filling = step.verb in ("acquire", "commit")
    if not memory.stages or memory.stages < 1:
        return None
    start, stride = steps_of(memory, task, "write" if filling else "read")
    own = counters.setdefault((ring, filling), _Counters(memory.stages, start, stride))
    keep = kept(program, step) if step.verb in ("commit", "release") else 0
    return own.tag(step.verb, keep)


def _section(node: Node, block: Block | None = None) -> Section | None:
    if isinstance(node, Step):
        return node.section
    inside = blocks(node) if block is None else (block,)
    return next((step.section for one in inside for step in steps(one)), None)
