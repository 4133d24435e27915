"""Accesses: whatever met the same bytes before must be known to be done.

`docs/proof.md`, "Who knows what".
"""

from __future__ import annotations

from tsc.prove.barriers import Barriers
from tsc.prove.layout import Spread
from tsc.prove.ops import DrainOp, LoadOp, Part, TouchOp
from tsc.prove.state import Group, State


class Accesses(Barriers):
    """Checks accesses by agents, engines and loads, and keeps the last of each."""

    def touch(self, state: State, agent: int, op: TouchOp) -> None:
        """Access bytes: whoever was there before in conflict must be known to be done."""
        self.note(state, "touch")
        plain = proxy = 0
        for part in op.parts:
            spread = self.spread(state, agent, part)
            plain, proxy = plain | spread.plain, proxy | spread.proxy
            state.written |= spread.writes
        state.forget(plain | proxy)
        self.made(plain | proxy)
        if op.engine is None:
            state.known[agent] |= plain
            return
        queue = state.queues[agent][op.engine]
        queue.groups.append(Group(plain, queue.proof))
        queue.proof = 0
        if len(queue.groups) > self.code.agents[agent].kept[op.engine] + 1:
            # Every drain proves both of the two oldest, so they are one.
            oldest = queue.groups.pop(0)
            queue.groups[0].facts |= oldest.facts
            queue.groups[0].proof |= oldest.proof

    def spread(self, state: State, agent: int, part: Part) -> Spread:
        """Return what an item does at its stage, after checking it."""
        stage = 0
        if part.cursor is not None and len(part.spreads) > 1:
            stage = (state.cursors[agent][part.cursor] - part.back) % len(part.spreads)
        spread = part.spreads[stage]
        unknown = spread.need & ~state.known[agent]
        if unknown:
            self.trouble("race", bits=unknown)
        if spread.fresh & ~state.written:
            self.trouble("unwritten", bits=spread.fresh & ~state.written)
        return spread

    def load(self, state: State, agent: int, op: LoadOp) -> None:
        """Issue a load: it lands at any later time, and each phase it arrives for waits for it."""
        past = state.known[agent]
        for index, column, part, weight in op.targets:
            barrier = self.barriers[index]
            cursor = state.cursors[agent][part.cursor] - part.back if part.cursor is not None else 0
            stage, phase = cursor % barrier.stages, cursor // barrier.stages
            flat = barrier.flat + stage
            self.note(state, "load", index, stage, phase)
            spread = self.spread(state, agent, part)
            fits = state.got[flat] + weight <= barrier.count
            if not fits or not self.in_window(state, past, barrier, stage, phase):
                self.trouble("arrive", index, stage, phase, stop=True)
                return
            state.written |= spread.writes
            bit = 1 << barrier.first + stage * barrier.stride + column
            state.forget(spread.plain | bit)
            self.made(spread.plain | bit)
            state.came[flat] |= 1 << column
            if weight:
                state.current[flat] |= past | spread.plain | bit
                self.count(state, index, stage, weight)
            else:
                state.landing[flat] |= past | spread.plain | bit
                issue = barrier.issuers[agent]
                issued = 1 << barrier.first + stage * barrier.stride + 3 * barrier.ages
                issued <<= len(barrier.waiters) + issue
                state.forget(issued)
                self.made(issued)
                state.known[agent] |= issued
                past |= issued
            if self.stopped:
                return

    def drained(self, state: State, agent: int, op: DrainOp) -> None:
        """Learn that all groups of an engine but the youngest are done."""
        queue = state.queues[agent][op.engine]
        proved = len(queue.groups) - op.keep
        for group in queue.groups[: max(0, proved)]:
            state.known[agent] |= group.facts | group.proof
        if proved > 0:
            del queue.groups[:proved]
