"""How many stages a task holds of each ring at each step, over all paths: which cursors it needs follows
from that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from typing_extensions import override

from tsc.emit.forward import Forward
from tsc.program.arrivals import Side
from tsc.program.tree import Block, Step

End = tuple[str, int, Side]  # ring, copy, side
Counts = frozenset[int]
State = dict[End, Counts]

TAKES: dict[str, Side] = {"acquire": "write", "wait": "read"}
GIVES: dict[str, Side] = {"commit": "write", "release": "read"}
LOOKS: dict[str, Side] = {"try_acquire": "write", "try_wait": "read"}
RING_VERBS = frozenset((*TAKES, *GIVES, *LOOKS, "skip"))


@dataclass(slots=True)
class Held:
    """What the analysis found, for one task."""

    before: dict[tuple[int, End], Counts] = field(default_factory=dict)  # by the step's index
    around: dict[int, set[End]] = field(default_factory=dict)  # ends held at other steps, on some path
    looks: set[End] = field(default_factory=set)
    looks_ahead: set[End] = field(default_factory=set)  # a look while a stage is held
    keeps: dict[int, int] = field(default_factory=dict)
    observes: set[End] = field(default_factory=set)
    skips: set[End] = field(default_factory=set)
    takes: set[End] = field(default_factory=set)
    deepest: dict[End, int] = field(default_factory=dict)
    _certain: dict[End, bool] | None = None

    def counts(self, step: Step, end: End) -> Counts:
        """Return how many stages may be held before a step; none where the step is never reached."""
        return self.before.get((step.index, end), frozenset((0,)))

    def only_observes(self, end: End) -> bool:
        """Whether every wait of the task at an end is an observing one, so that it holds nothing there."""
        return end in self.observes and not self.deepest.get(end)

    def certain(self, end: End) -> bool:
        """Whether every step that gives stages back knows how many they are; asked when all is found."""
        if self._certain is None:
            self._certain = {}
            for (index, other), counts in self.before.items():
                keep = self.keeps.get(index)
                if keep is not None and len({max(0, count - keep) for count in counts}) > 1:
                    self._certain[other] = False
        return self._certain.get(end, True)


Ends = Callable[[Step], Iterable[tuple[str, int, int]]]
"""Ring, copy and number of stages of what a ring step names, members of groups apart."""


def analyse(tree: Block, ends: Ends, keep: Callable[[Step], int]) -> Held:
    """Walk a task's tree until the counts no longer change."""
    held = Held()
    _Walk(held, ends, keep).block(tree, {})
    return held


class _Walk(Forward[State]):
    def __init__(self, held: Held, ends: Ends, keep: Callable[[Step], int]) -> None:
        self.held, self.ends, self.keep = held, ends, keep

    @override
    def joined(self, a: State, b: State) -> State:
        none = frozenset((0,))
        return {end: a.get(end, none) | b.get(end, none) for end in {**a, **b}}

    @override
    def step(self, step: Step, state: State) -> State:
        if step.verb not in RING_VERBS:
            ends = self.held.around.setdefault(step.index, set())
            ends |= {end for end, counts in state.items() if max(counts) > 0}
            return state
        state = dict(state)
        for ring, copy, stages in self.ends(step):
            side = TAKES.get(step.verb) or GIVES.get(step.verb) or LOOKS.get(step.verb) or "read"
            end: End = (ring, copy, side)
            counts = state.get(end, frozenset((0,)))
            key = (step.index, end)
            self.held.before[key] = self.held.before.get(key, frozenset()) | counts
            if step.verb in TAKES:
                self.held.takes.add(end)
                if getattr(step.model, "observe", None):
                    self.held.observes.add(end)
                    continue
                # More than all stages cannot be held: the task would wait for itself.
                counts = frozenset(min(count + 1, max(1, stages)) for count in counts)
                self.held.deepest[end] = max(self.held.deepest.get(end, 0), *counts)
            elif step.verb in GIVES:
                kept = self.held.keeps.setdefault(step.index, self.keep(step))
                counts = frozenset(min(count, kept) for count in counts)
            elif step.verb == "skip":
                self.held.skips.add(end)
            elif step.verb in LOOKS:
                self.held.looks.add(end)
                if max(counts) > 0:
                    self.held.looks_ahead.add(end)
            state[end] = counts
        return state
