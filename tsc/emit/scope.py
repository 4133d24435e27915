"""What is known where a step stands: ranges, facts, multiples, and the C++ of names that are local."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from tsc.emit.plan import Item
from tsc.expr import Expr, Interval

Env = Mapping[str, int | bool]


@dataclass(slots=True)
class Round:
    """The innermost run-time loop as its body sees it; `uses` collects what the head has to provide."""

    variable: str
    counter: str  # C++ of the count of rounds
    trips: str
    start: str
    last: str  # C++ of the condition of the last round
    simple: bool  # counts 0, 1, 2, ..., so that the variable is the counter
    uses: set[str] = field(default_factory=set)

    def iteration(self) -> str:
        """Return the count of rounds."""
        if self.simple:
            return self.variable
        self.uses.add("counter")
        return self.counter

    def number(self) -> str:
        """Return the number of rounds."""
        self.uses.add("trips")
        return self.trips


@dataclass(slots=True)
class Ahead:
    """What a loop reads once, before its first round: lets and what declares them, where a round comes."""

    runs: str  # C++ of whether there is a round
    lets: dict[str, Item] = field(default_factory=dict)
    reads: dict[str, str] = field(default_factory=dict)  # an element's text to the name of its constant
    ranges: dict[str, Interval] = field(default_factory=dict)  # of those names


@dataclass(frozen=True, slots=True)
class Scope:
    """A place in a schedule. `certain` is what the place is reached in whenever that runs at all."""

    ranges: Mapping[str, Interval]
    multiples: Mapping[str, int]
    facts: tuple[Expr, ...]
    spelled: Mapping[str, str]
    certain: Literal["function", "tile", "round", "nothing"] = "function"
    tile: bool = False
    round: Round | None = None
    ahead: Ahead | None = None

    def inside(self) -> Scope:
        """Return the scope of a block that does not always run."""
        return replace(self, certain="nothing")

    def knowing(self, *facts: Expr) -> Scope:
        """Return the scope where further conditions hold."""
        return replace(self, facts=(*self.facts, *facts))

    def without(self, *names: str) -> Scope:
        """Return the scope without facts on names that mean something else from here on."""
        kept = tuple(fact for fact in self.facts if not fact.free & set(names))
        return replace(self, facts=kept)

    def naming(self, ranges: Mapping[str, Interval], spelled: Mapping[str, str]) -> Scope:
        """Return the scope with further names."""
        return replace(self, ranges={**self.ranges, **ranges}, spelled={**self.spelled, **spelled})
