"""What the proof says of a system, as plain data: no sentence, no place in a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from tsc.source.route import Route

Kind = Literal["deadlock", "lap", "early", "arrive", "race", "leftover", "unwritten", "stale"]
"""What can go wrong.

`deadlock`: agents wait for ever. `lap`: a barrier may be two phases on before a waiter looks. `early`: a wait
may pass on the bit of an older phase. `arrive`: an arrival may fall into another phase than the one it is
meant for. `race`: two accesses of the same bytes, one of them writes, and nothing orders them. `leftover`: a
fill that nobody takes. `unwritten`: a read of bytes that nothing has written.
`stale`: a read of bytes that this fill of their stage has not written.
"""

Outcome = Literal["proved", "bounded", "refuted", "unproven"]

BUDGET = 2_000
"""States that a proof looks at unless told otherwise."""

OUTSIDE = -1
"""The tile of everything that stands outside the loop over the tiles."""

Happening = Literal["wait", "arrive", "touch", "load", "landed", "drain", "fence"]
"""What a recorded step does."""

Coordinates = tuple[int, ...]
"""The tile and then the values of the loops around, outermost first; as many as a question depends on."""


class Oracle(Protocol):
    """Fixed answers, for one concrete run."""

    def number(self, number: int, at: Coordinates) -> int:
        """Return the value of a number."""
        ...

    def fact(self, fact: int, at: Coordinates) -> bool:
        """Return the value of a fact."""
        ...


@dataclass(frozen=True, slots=True)
class Answer:
    """One decision of a run: a number exceeds `threshold` or not; or, without one, a fact holds or not."""

    index: int
    at: Coordinates
    threshold: int | None
    value: bool


@dataclass(frozen=True, slots=True)
class Where:
    """A step of a run: who, which step, in which tile and with which values of the loops around.

    `stage` and `phase` are of the barrier that the step looks at or arrives at (`barrier`), of the first one
    if there are several; `phase` -1 is the one that is over from the start.
    """

    agent: int
    route: Route
    tile: int
    rounds: tuple[int, ...]
    barrier: int | None = None
    stage: int | None = None
    phase: int | None = None


@dataclass(frozen=True, slots=True)
class Blocked:
    """An agent that cannot go on; `missing` are agents whose arrivals its phase lacks."""

    where: Where
    missing: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something that goes wrong in some run.

    `at` is the step at which it shows, `other` the access, wait or arrival that it meets (where there is
    one). `blocked`: all agents that stand still, for a deadlock. `trail`: the decisions that lead there;
    it begins with those that were taken of numbers before the run (`taken` of them).
    """

    kind: Kind
    at: Where
    other: Where | None
    segment: int | None
    blocked: tuple[Blocked, ...]
    trail: tuple[Answer, ...]
    taken: int = 0


@dataclass(frozen=True, slots=True)
class Event:
    """One step of a recorded run, in one order that is possible; `after` are events that it waited for."""

    where: Where
    what: Happening
    after: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """`proved` for all answers; `bounded`: proved where numbers that all tiles share are at most `up_to`;
    `refuted` with alarms; or `unproven`, for a `reason`: the budget was used up, or an alarm is in doubt.
    """

    outcome: Outcome
    alarms: tuple[Alarm, ...]
    states: int
    steps: int
    reason: str = ""
    up_to: int | None = None
