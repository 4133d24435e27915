"""What the proof runs: agents, the barriers between them, the bytes they touch and the questions they ask.

A system knows nothing of specs. Every instruction carries the route of the step that it came from, so that a
verdict can be told in the author's words. `docs/proof.md` has the argument.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tsc.source.route import Route

Segment = int
"""An elementary piece of memory: the address space is cut at every buffer and stage boundary."""

Cells = tuple[tuple[Segment, ...], ...]
"""The segments of each stage; one entry where there are no stages."""


@dataclass(frozen=True, slots=True)
class Ring:
    """Stages that turn together: barriers and segments of stage s of all its members belong to its stage s.

    `turns` is false where bytes overlap something that does not turn with it.
    """

    name: str
    stages: int
    turns: bool = True


@dataclass(frozen=True, slots=True)
class Barrier:
    """An array of mbarriers, one a stage of its ring, each with `count` arrivals a phase.

    A named barrier and a turn are arrays of one stage.
    """

    name: str
    ring: int
    count: int


@dataclass(frozen=True, slots=True)
class Cursor:
    """A counter of an agent on one barrier array: stage `c mod S`, phase `c div S`."""

    ring: int
    start: int = 0
    stride: int = 1


@dataclass(frozen=True, slots=True)
class Engine:
    """An in-order engine of an agent: `proxy` says whether it reads and writes by the asynchronous proxy."""

    name: str
    proxy: bool = True


@dataclass(frozen=True, slots=True)
class Number:
    """A run-time number that bounds loops: unknown, at least `lo` and at most `hi`.

    `depth`: how many of the loops around (the tile first) it depends on; 0: the same in the whole run.
    """

    name: str
    depth: int
    lo: int | None = None
    hi: int | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """A condition with a value for each round of the `depth` loops around; opposite ones are one."""

    name: str
    depth: int


@dataclass(frozen=True, slots=True)
class Bound:
    """The value `scale * number + offset`, or `offset` alone; `scale` is positive."""

    number: int | None
    scale: int = 1
    offset: int = 0


# ---- tests -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ask:
    """Whether a fact has the value `value`."""

    fact: int
    value: bool = True


@dataclass(frozen=True, slots=True)
class Exceeds:
    """Whether `bound > v + beyond`, v the value of the loop `up` levels up; without it `bound > beyond`."""

    bound: Bound
    beyond: int = 0
    up: int | None = 0
    value: bool = True


@dataclass(frozen=True, slots=True)
class InRounds:
    """Whether the round of the loop `up` levels up is one of these: `head`, then `cycle` for ever."""

    head: tuple[bool, ...]
    cycle: tuple[bool, ...]
    up: int = 0


@dataclass(frozen=True, slots=True)
class All:
    """Whether all of them hold; `value` false: whether one does not."""

    tests: tuple[Test, ...]
    value: bool = True


Test = Ask | Exceeds | InRounds | All


# ---- instructions ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Wait:
    """Waits until phase `c div S - lag` of stage `c mod S` is over; then the cursor moves if `moves`.

    `clears`: what a new fill of each stage has to bring anew, where that is asked for (`Item.filled`).
    """

    route: Route
    barrier: int
    cursor: int
    lag: int = 0
    moves: bool = True
    clears: Cells = ()


@dataclass(frozen=True, slots=True)
class Arrive:
    """Arrives for phase `c div S` at stage `c mod S` of each barrier, then moves the cursor.

    Once without `upto`; with it as long as the cursor `upto` is more than `keep` strides ahead. With an
    `engine` the arrival is an item of the engine, behind everything issued before it.
    """

    route: Route
    barriers: tuple[int, ...]
    cursor: int
    weight: int = 1
    upto: int | None = None
    keep: int = 0
    engine: int | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """Moves cursors on by one stride each without looking at a barrier."""

    route: Route
    cursors: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """Bytes that an instruction touches: of stage `(c - back * stride) mod S`; without cursor the first."""

    cells: Cells
    write: bool
    cursor: int | None = None
    back: int = 0
    fresh: bool = False  # reads, and must find something written before it, even if it writes as well
    filled: bool = False  # likewise something written since the stage was cleared


@dataclass(frozen=True, slots=True)
class Touch:
    """An access: by the agent itself, or as one group of an engine, open until the engine is drained."""

    route: Route
    items: tuple[Item, ...]
    engine: int | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """One destination of a load: the barrier that counts its bytes, and the bytes it writes.

    With a `weight` its landing is one of the `count` arrivals, announced by somebody else than who issues it.
    """

    barrier: int
    item: Item
    weight: int = 0


@dataclass(frozen=True, slots=True)
class Load:
    """A TMA or bulk load. Each target is an event of its own: an arrival without weight for phase `c div S`
    of the target item's stage, which that phase waits for.
    """

    route: Route
    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Drain:
    """Proves the accesses of an engine but those of its `keep` youngest groups."""

    route: Route
    engine: int
    keep: int = 0


@dataclass(frozen=True, slots=True)
class Fence:
    """Makes ordinary writes that the agent knows of visible to the asynchronous proxy: those of the CTA's own
    memory, or `tensors`, those of global memory.
    """

    route: Route
    tensors: bool = False


# ---- control -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Loop:
    """Runs v = start, start + step, ... while `bound > v`; `tiles` marks the loop over the tiles."""

    route: Route
    bound: Bound
    body: Block
    start: int = 0
    step: int = 1
    tiles: bool = False


@dataclass(frozen=True, slots=True)
class If:
    """One of two blocks."""

    route: Route
    test: Test
    then: Block
    otherwise: Block = ()


Instruction = Wait | Arrive | Move | Touch | Load | Drain | Fence
Node = Instruction | Loop | If
Block = tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Agent:
    """A task instance in one CTA: all its threads go as one. `label` is how a message calls it."""

    label: str
    cursors: tuple[Cursor, ...]
    engines: tuple[Engine, ...]
    body: Block
    cta: int = 0


@dataclass(frozen=True, slots=True)
class Taker:
    """An agent that has to take every fill of a full barrier: at the end its cursor has passed them all."""

    agent: int
    cursor: int
    barrier: int


@dataclass(frozen=True, slots=True)
class System:
    """All that a verdict is about. `segments` names each segment for messages; `written` are those that hold
    something from the start, `tensors` those in global memory.
    """

    rings: tuple[Ring, ...]
    barriers: tuple[Barrier, ...]
    numbers: tuple[Number, ...]
    facts: tuple[Fact, ...]
    agents: tuple[Agent, ...]
    segments: tuple[str, ...]
    takers: tuple[Taker, ...] = ()
    written: frozenset[Segment] = field(default_factory=frozenset)
    tensors: frozenset[Segment] = field(default_factory=frozenset)


def blocks(node: Node) -> tuple[Block, ...]:
    """Return the blocks inside a node."""
    match node:
        case Loop():
            return (node.body,)
        case If():
            return (node.then, node.otherwise)
    return ()


def instructions(block: Block) -> Iterator[Instruction]:
    """Yield every instruction in textual order."""
    for node in block:
        if isinstance(node, Loop | If):
            for inner in blocks(node):
                yield from instructions(inner)
        else:
            yield node
