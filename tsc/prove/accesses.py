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
            state.filled |= spread.fills
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
        elif spread.filled & ~state.filled:
            self.trouble("stale", bits=spread.filled & ~state.filled)
        return spread

    def load(self, state: State, agent: int, op: LoadOp) -> None:
        """Issue a load: it lands at any later time, and each phase it arrives for waits for it."""
        landings, issues = [], 0
        weights: dict[int, int] = {}
        for index, column, part, weight in op.targets:
            barrier = self.barriers[index]
            cursor = state.cursors[agent][part.cursor] - part.back if part.cursor is not None else 0
            stage, phase = cursor % barrier.stages, cursor // barrier.stages
            self.note(state, "load", index, stage, phase)
            spread = self.spread(state, agent, part)
            flat = barrier.flat + stage
            weights[flat] = weights.get(flat, 0) + weight
            fits = state.got[flat] + weights[flat] <= barrier.count
            if not fits or not self.in_window(state, state.known[agent], barrier, stage, phase):
                self.trouble("arrive", index, stage, phase, stop=True)
                return
            first = barrier.first + stage * barrier.stride
            landed = spread.plain | 1 << first + column
            if not weight:
                issues |= 1 << first + 3 * barrier.ages + len(barrier.waiters) + barrier.issuers[agent]
            self.made(landed | issues)
            landings.append((index, stage, column, weight, landed))
            state.written |= spread.writes
            state.filled |= spread.fills
        state.forget(issues)
        state.known[agent] |= issues
        for index, stage, column, weight, landed in landings:
            flat = self.barriers[index].flat + stage
            state.forget(landed)
            state.came[flat] |= 1 << column
            # What is known moves when a phase ends, so it is looked up anew.
            if weight:
                state.current[flat] |= state.known[agent] | landed
                self.count(state, index, stage, weight)
                if self.stopped:
                    return
            else:
                state.landing[flat] |= state.known[agent] | landed

    def drained(self, state: State, agent: int, op: DrainOp) -> None:
        """Learn that all groups of an engine but the youngest are done."""
        queue = state.queues[agent][op.engine]
        proved = len(queue.groups) - op.keep
        for group in queue.groups[: max(0, proved)]:
            state.known[agent] |= group.facts | group.proof
        if proved > 0:
            del queue.groups[:proved]
