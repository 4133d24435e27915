"""Waits and arrivals with ideal counters, and the three windows in which a phase bit is one.

`docs/proof.md`, "Windows".
"""

from __future__ import annotations

from tsc.prove.layout import BarrierBits
from tsc.prove.notes import Notes
from tsc.prove.ops import ArriveOp, WaitOp
from tsc.prove.state import State


class Barriers(Notes):
    """Moves barriers, and checks that no run could see or reach another phase than the one that is meant."""

    def wait(self, state: State, agent: int, op: WaitOp) -> bool:
        """Pass a phase that is over; a wait out of its window stops the run."""
        barrier = self.barriers[op.barrier]
        cursor = state.cursors[agent][op.cursor]
        stage, phase = cursor % barrier.stages, cursor // barrier.stages - op.lag
        flat = barrier.flat + stage
        done = state.done[flat]
        early = phase >= 1 and not self.knows(state, state.known[agent], barrier, stage, phase - 1)
        if early:
            # It sees the bit of what it knows to be reached: only that very phase, and only of the same
            # parity, makes it sleep, and then for good.
            asleep = (
                done < phase
                and (phase - done) % 2 == 0
                and (done == 0 or self.knows(state, state.known[agent], barrier, stage, done - 1))
            )
            if asleep:
                return False
            self.trouble("early", op.barrier, stage, phase, stop=True)
            return False
        if done >= phase + 2:
            self.trouble("lap", op.barrier, stage, phase, stop=True)
            return False
        if done <= phase:
            return False
        self.note(state, "wait", op.barrier, stage, phase)
        if phase >= 0:
            state.known[agent] |= state.last[flat]
        bit = 1 << barrier.first + stage * barrier.stride + 3 * barrier.ages + barrier.waiters[agent]
        state.forget(bit)
        state.known[agent] |= bit
        self.made(bit)
        if op.clears:
            state.filled &= ~op.clears[stage]
        if op.moves:
            state.cursors[agent][op.cursor] += self.code.agents[agent].agent.cursors[op.cursor].stride
        return True

    def knows(self, state: State, mask: int, barrier: BarrierBits, stage: int, phase: int) -> bool:
        """Return whether a past holds all arrivals of a phase, so that the phase is known to be over."""
        if phase < 0:
            return True
        age = state.done[barrier.flat + stage] - phase
        if age < 1:
            return False
        if age > 2:
            return True  # whoever asks has been lapped, which shows elsewhere
        arrivals = (1 << barrier.ages) - 1
        return mask >> barrier.first + stage * barrier.stride + age * barrier.ages & arrivals == arrivals

    def arrive(self, state: State, agent: int, op: ArriveOp) -> None:
        """Arrive once, or for all that is held beyond `keep`."""
        stride = self.code.agents[agent].agent.cursors[op.cursor].stride
        cursors = state.cursors[agent]
        while op.upto is None or cursors[op.upto] - cursors[op.cursor] > op.keep * stride:
            self.arrival(state, agent, op, cursors[op.cursor])
            if self.stopped:
                return
            cursors[op.cursor] += stride
            if op.upto is None:
                return

    def arrival(self, state: State, agent: int, op: ArriveOp, cursor: int) -> None:
        """Count one arrival at each barrier: one after the other, since nothing makes them one event."""
        queue = None if op.engine is None else state.queues[agent][op.engine]
        for index, column in zip(op.barriers, op.columns, strict=True):
            barrier = self.barriers[index]
            stage, phase = cursor % barrier.stages, cursor // barrier.stages
            flat = barrier.flat + stage
            past = state.known[agent]
            if queue is not None:
                # The arrival is behind all that the engine has been given.
                past |= queue.past
                for group in queue.groups:
                    past |= group.facts | group.proof
            self.note(state, "arrive", index, stage, phase)
            fits = state.got[flat] + op.weight <= barrier.count
            if not fits or not self.in_window(state, past, barrier, stage, phase):
                self.trouble("arrive", index, stage, phase, stop=True)
                return
            bit = 1 << barrier.first + stage * barrier.stride + column
            state.forget(bit)
            self.made(bit)
            if queue is None:
                state.known[agent] |= bit
            else:
                queue.past |= past | bit
                queue.proof |= past | bit
            state.came[flat] |= 1 << column
            state.current[flat] |= past | bit
            self.count(state, index, stage, op.weight)
            if self.stopped:
                return

    def in_window(self, state: State, past: int, barrier: BarrierBits, stage: int, phase: int) -> bool:
        """Return whether an arrival surely falls into the phase that it is meant for."""
        if state.done[barrier.flat + stage] != phase:
            return False
        return self.knows(state, past, barrier, stage, phase - 1)

    def count(self, state: State, index: int, stage: int, weight: int) -> None:
        """Add to what has arrived in the current phase."""
        flat = self.barriers[index].flat + stage
        state.got[flat] += weight
        if state.got[flat] == self.barriers[index].count:
            self.complete(state, index, stage)

    def complete(self, state: State, index: int, stage: int) -> None:
        """End the current phase; whoever looked for the last one must have done so before."""
        barrier = self.barriers[index]
        flat = barrier.flat + stage
        first = barrier.first + stage * barrier.stride
        waiters, issuers = (1 << len(barrier.waiters)) - 1, (1 << len(barrier.issuers)) - 1
        orders = first + 3 * barrier.ages
        missed = waiters & ~((state.current[flat] | state.landing[flat]) >> orders)
        if missed:
            self.trouble("lap", index, stage, state.done[flat], missed << orders, stop=True)
            return
        issues = orders + len(barrier.waiters)
        missed = issuers & ~(state.current[flat] >> issues)
        if missed:
            # Without it the phase is over before a load is issued that is meant for it.
            self.trouble("arrive", index, stage, state.done[flat], missed << issues, stop=True)
            return
        state.last[flat] = state.current[flat] | state.landing[flat]
        state.current[flat] = state.landing[flat] = 0
        state.done[flat] += 1
        state.got[flat] = 0
        state.came[flat] = 0
        state.shift(first, barrier.ages, len(barrier.waiters) + len(barrier.issuers))
