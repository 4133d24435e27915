"""What of a state matters for what may still happen, in a form that is the same wherever the run stands.

Two states with one `control` differ only in who knows what; of these the more ignorant one stands for both,
because whatever goes wrong after the other goes wrong after it (`docs/proof.md`, "Covering").
"""

from __future__ import annotations

from collections.abc import Hashable

from tsc.prove.code import Code
from tsc.prove.decisions import Decisions, points_of, scaled
from tsc.prove.layout import Turning
from tsc.prove.ops import EnterOp
from tsc.prove.questions import Points, may_ask
from tsc.prove.state import Frame, State

# A cursor so many rounds behind its barriers has been lapped if it is ever used, whatever the distance.
_LAPPED = 3

Ignorance = tuple[int, ...]
"""For each carrier the relevant facts that it does not know, as bits."""


def covers(one: Ignorance, other: Ignorance) -> bool:
    """Return whether `one` is at least as ignorant as `other` in everything."""
    return all(a | b == a for a, b in zip(one, other, strict=True))


def relative(code: Code, decisions: Decisions, state: State) -> tuple[Hashable, Ignorance]:
    """Return a state's control part and its ignorance; answers that nobody asks for are dropped from it."""
    decisions.forget(state)
    _forget_streams(decisions, state)
    return _Relative(code, decisions, state).both()


def _forget_streams(decisions: Decisions, state: State) -> None:
    for agent, streams in enumerate(state.streams):
        for number, points in list(streams):
            if not decisions.asks(state, agent, number, True, points):
                del streams[number, points]


class _Relative:
    def __init__(self, code: Code, decisions: Decisions, state: State) -> None:
        self.code, self.decisions, self.state = code, decisions, state
        agents = code.agents
        self.waits = [one.waits[at] for one, at in zip(agents, state.at, strict=True)]
        self.arrives = [one.arrives[at] for one, at in zip(agents, state.at, strict=True)]
        self.alive = 0
        for bits in (*self.waits, *self.arrives):
            self.alive |= bits
        self.cursors = [self.effective(agent) for agent in range(len(agents))]
        self.bases = [self.base(i, turning) for i, turning in enumerate(code.layout.turnings)]

    def both(self) -> tuple[Hashable, Ignorance]:
        relevant, of_barriers, of_last = self.relevance()
        control = (
            tuple(self.agent(agent, relevant[agent]) for agent in range(len(self.code.agents))),
            tuple(self.barrier(b) for b in range(len(self.code.layout.barriers)) if self.alive >> b & 1),
            tuple(sorted(self.numbers(), key=repr)),
            tuple(sorted(self.facts(), key=repr)),
            self.state.written & self.code.fresh,
            self.turned(self.code.filled & ~self.state.filled),
        )
        return control, tuple(self.ignorance(relevant, of_barriers, of_last))

    # ---- cursors and rings --------------------------------------------------------------------------------

    def effective(self, agent: int) -> list[int | None]:
        """Return the cursors that may still be used, those that have been lapped moved up."""
        code, state = self.code.agents[agent], self.state
        live = code.cursors[state.at[agent]]
        found: list[int | None] = [
            value if live >> i & 1 else None for i, value in enumerate(state.cursors[agent])
        ]
        for linked in code.linked:
            behind: list[int] = []
            for cursor in linked:
                value = found[cursor]
                if value is None:
                    continue
                for index, lag in code.used[cursor]:
                    barrier = self.code.layout.barriers[index]
                    flat = barrier.flat + value % barrier.stages
                    behind.append(state.done[flat] - (value // barrier.stages - lag))
            up = min(behind, default=0) - _LAPPED
            for cursor in linked:
                value = found[cursor]
                if value is None:
                    continue
                stages = self.code.system.rings[code.agent.cursors[cursor].ring].stages
                if not behind:
                    found[cursor] = None  # only its stage matters
                elif up > 0:
                    found[cursor] = value + up * stages
        return found

    def base(self, index: int, turning: Turning) -> int:
        """Return the least cursor of a ring; of one that does not turn, the beginning of its round."""
        layout = self.code.layout
        live = [
            value
            for agent, cursors in zip(self.code.agents, self.cursors, strict=True)
            for cursor, value in zip(agent.agent.cursors, cursors, strict=True)
            if value is not None and layout.of_ring[cursor.ring] == index
        ]
        least = min(live, default=0)
        return least if turning.turns else least - least % turning.stages

    def barrier(self, index: int) -> Hashable:
        """Return the control part of a barrier array, from the stage of the least cursor on."""
        barrier, state = self.code.layout.barriers[index], self.state
        base = self.bases[barrier.turning]
        found = []
        for s in range(barrier.stages):
            flat = barrier.flat + (base + s) % barrier.stages
            done = state.done[flat] - (base + s) // barrier.stages
            found.append((done, state.got[flat], state.came[flat]))
        return index, tuple(found)

    # ---- agents and decisions -----------------------------------------------------------------------------

    def agent(self, agent: int, relevant: int) -> Hashable:
        """Return the control part of an agent."""
        code, state = self.code.agents[agent], self.state
        at = state.at[agent]
        cursors = tuple(self.cursor(agent, i) for i in range(len(code.agent.cursors)))
        queues = tuple(
            self.groups(agent, engine, relevant)
            if code.drains[at] >> engine & 1 or code.commits[at] >> engine & 1
            else ()
            for engine in range(len(code.agent.engines))
        )
        streams = sorted((n, repr(self.points(points)), s) for (n, points), s in state.streams[agent].items())
        return at, self.frames(state.frames[agent]), cursors, queues, tuple(streams)

    def cursor(self, agent: int, index: int) -> int | None:
        """Return a cursor from the least of its ring on; of one that no barrier sees, the stage alone."""
        code, value = self.code.agents[agent], self.cursors[agent][index]
        ring = code.agent.cursors[index].ring
        base = self.bases[self.code.layout.of_ring[ring]]
        if value is not None:
            return value - base
        if code.cursors[self.state.at[agent]] >> index & 1:
            return (self.state.cursors[agent][index] - base) % self.code.system.rings[ring].stages
        return None

    def groups(self, agent: int, engine: int, relevant: int) -> tuple[int, ...]:
        """Return the facts of an engine's groups, without those before the first that may teach anything."""
        groups, known = self.state.queues[agent][engine].groups, self.state.known[agent]
        first = 0
        while first < len(groups):
            group = groups[first]
            if (group.facts | group.proof & ~known) & relevant:
                break
            first += 1
        return tuple(self.turned(group.facts & relevant) for group in groups[first:])

    def frames(self, frames: list[Frame]) -> Hashable:
        points = self.points(points_of(frames))
        return tuple((*point, count) for point, (_, _, _, count) in zip(points, frames, strict=True))

    def points(self, points: Points) -> Points:
        """Return coordinates relative to what is known of the loops' numbers."""
        return tuple(
            (
                line,
                stream,
                value if line is None else value - line[1] * self.known(line[0], points[:i], stream),
            )
            for i, (line, stream, value) in enumerate(points)
        )

    def known(self, number: int, points: Points, stream: int) -> int:
        """Return from where values of a number's loop are counted."""
        lo, hi = self.decisions.range(self.state, (number, points, stream))
        return lo if lo is not None else hi if hi is not None else 0

    def numbers(self) -> list[Hashable]:
        found: list[Hashable] = []
        for (number, points, stream), (lo, hi) in self.state.numbers.items():
            base = self.known(number, points, stream)
            most = self.code.most.get(number)
            start = min(base, most + 1) if most is not None else 0
            if self.asked_from_outside(number, points, stream):
                # Whoever enters a loop further behind than that is let go of, however far it is.
                start = min(base, self.code.latest + self.code.far + 1)
            elsewhere, absolute = self.compared(number, points, stream, base, hi)
            rest = (
                None if lo is None else lo - base,
                None if hi is None else hi - base,
                base if absolute else start,
                elsewhere,
            )
            found.append((number, self.points(points), stream, rest))
        return found

    def compared(
        self, number: int, points: Points, stream: int, base: int, hi: int | None
    ) -> tuple[tuple[int, ...], bool]:
        """Return how far values of loops that a number does not bound, but is compared with, are from it.

        And whether such a loop may still be begun, so that the number itself has to be told.
        """
        found: list[int] = []
        absolute = False
        for agent, code in enumerate(self.code.agents):
            if not any(site.other is not None and site.index == number for site in code.sites):
                continue
            if self.state.streams[agent].get((number, points), 0) != stream:
                continue
            at, frames = self.state.at[agent], self.state.frames[agent]
            for site in code.sites:
                if site.other is None or site.index != number or site.depth != len(points):
                    continue
                inside = code.loops[at][: site.depth + 1] == site.loops[: site.depth + 1]
                if inside and points_of(frames[: site.depth]) == points:
                    value = scaled(site.other.bound, frames[site.depth][2] + site.other.beyond)
                    # From there on the answer is no.
                    found.append((value if hi is None else min(value, hi)) - base)
                absolute |= (
                    may_ask(site, code.ahead[at], code.loops[at], points_of(frames), points) and not inside
                )
        return tuple(found), absolute

    def asked_from_outside(self, number: int, points: Points, stream: int) -> bool:
        """Return whether an agent that is not in a number's loop may still enter it."""
        level = len(points)
        for agent in range(len(self.code.agents)):
            if self.state.streams[agent].get((number, points), 0) != stream:
                continue
            inside = self.decisions.inside(self.state, agent, number, points)
            if not inside and self.decisions.asks(self.state, agent, number, True, points, loops=True):
                return True
            if inside and self.enters_again(agent, number, level):
                return True
        return False

    def enters_again(self, agent: int, number: int, level: int) -> bool:
        """Return whether an agent in a number's loop may come to another loop of the number around there."""
        code = self.code.agents[agent]
        ahead = code.ahead[self.state.at[agent]]
        return any(
            isinstance(op, EnterOp) and op.bound.number == number and op.level == level
            for at, op in enumerate(code.ops)
            if ahead >> at & 1
        )

    def facts(self) -> list[Hashable]:
        return [(fact, self.points(points), value) for (fact, points), value in self.state.facts.items()]

    # ---- knowledge ----------------------------------------------------------------------------------------

    def relevance(self) -> tuple[list[int], list[int], list[int]]:
        """Return which facts matter: of agents, of barriers' current phases, and of their last ones.

        A fact matters to who may ask for it, and, as long as he does not know it, to the barriers from which
        he may learn it, and so to those who may arrive there.
        """
        code, state = self.code, self.state
        barriers = code.layout.barriers
        relevant = [one.asks[at] for one, at in zip(code.agents, state.at, strict=True)]
        current, last = [0] * len(barriers), [0] * len(barriers)
        alive = [b for b in range(len(barriers)) if self.alive >> b & 1]
        for b in alive:
            if any(bits >> b & 1 for bits in self.arrives):
                current[b] = barriers[b].order_bits
        changed = True
        while changed:
            changed = False
            for b in alive:
                found = 0
                for agent, bits in enumerate(self.waits):
                    if bits >> b & 1:
                        found |= relevant[agent] & ~state.known[agent]
                last[b] = found
                current[b] |= found
                for agent, bits in enumerate(self.arrives):
                    if bits >> b & 1 and current[b] & ~relevant[agent]:
                        relevant[agent] |= current[b]
                        changed = True
        return relevant, current, last

    def ignorance(self, relevant: list[int], current: list[int], last: list[int]) -> list[int]:
        state, code = self.state, self.code
        found = [self.turned(relevant[a] & ~state.known[a]) for a in range(len(code.agents))]
        for b, barrier in enumerate(code.layout.barriers):
            if not self.alive >> b & 1:
                continue
            base = self.bases[barrier.turning]
            for s in range(barrier.stages):
                flat = barrier.flat + (base + s) % barrier.stages
                # Of a phase in which nobody has arrived yet there is no past to compare.
                loads = barrier.arrivers.get((None, None))
                landing = loads is not None and state.came[flat] >> loads & 1
                found.append(self.turned(current[b] & ~state.current[flat]) if state.got[flat] else 0)
                found.append(self.turned(current[b] & ~state.landing[flat]) if landing else 0)
                # Before the first phase is over a wait teaches nothing.
                found.append(self.turned(last[b] & ~(state.last[flat] if state.done[flat] else 0)))
        for agent, one in enumerate(code.agents):
            at = state.at[agent]
            for engine, queue in enumerate(state.queues[agent]):
                if one.commits[at] >> engine & 1:
                    found.append(self.turned(relevant[agent] & ~queue.past))
                if one.drains[at] >> engine & 1:
                    kept = len(self.groups(agent, engine, relevant[agent]))
                    groups = queue.groups[len(queue.groups) - kept :]
                    found.extend(self.turned(relevant[agent] & ~group.proof) for group in groups)
                    found.append(self.turned(relevant[agent] & ~queue.proof))
        return found

    def turned(self, mask: int) -> int:
        """Turn the bits of every ring so that the stage of the least cursor comes first."""
        if not mask:
            return 0
        for turning, base in zip(self.code.layout.turnings, self.bases, strict=True):
            stage = base % turning.stages if turning.turns else 0
            if not stage or not turning.width:
                continue
            size = turning.stages * turning.width
            part = mask >> turning.base & (1 << size) - 1
            if part:
                low = stage * turning.width
                turned = part >> low | (part & (1 << low) - 1) << size - low
                mask = mask & ~((1 << size) - 1 << turning.base) | turned << turning.base
        return mask
