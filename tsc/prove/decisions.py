"""Answers: what is known of each number and fact, which question is the slowest, and when to let go.

A number's answers are kept as a range, because lanes ask every second value. Streams: whoever is far behind
what is known of a number goes on with a number of his own that is at least so large. That only adds runs.
"""

from __future__ import annotations

from dataclasses import dataclass

from tsc.prove.code import Code
from tsc.prove.machine import All, Ask, Bound, Exceeds, InRounds, Test
from tsc.prove.ops import EnterOp, TestOp
from tsc.prove.questions import Points, depth_of, may_ask
from tsc.prove.state import Frame, NumberKey, Range, State
from tsc.prove.verdict import Answer, Oracle

# So often an agent may be let go of at one place; then the proof gives up.
MOST_STREAMS = 4
# Streams are numbered by how often was let go, and by which of an agent's loops over the number it was.
_OCCURRENCES = 1 << 16


@dataclass(frozen=True, slots=True)
class Question:
    """Whether a number exceeds `threshold`, by a stream of answers; without one, whether a fact holds."""

    index: int
    points: Points
    stream: int
    threshold: int | None
    pace: tuple[int, tuple[int, ...], int, int]  # the slowest question has the least

    def answer(self, value: bool) -> Answer:
        """Return the decision."""
        return Answer(self.index, tuple(place for _, _, place in self.points), self.threshold, value)


class Undecided(Exception):
    """A question without an answer."""

    def __init__(self, question: Question) -> None:
        self.question = question


class Unbounded(Exception):
    """Agents run ahead of each other, again and again."""


class Decisions:
    """Asks and answers, for states of one system; an oracle answers at once."""

    def __init__(self, code: Code, oracle: Oracle | None = None) -> None:
        self.code, self.oracle = code, oracle
        self.numbers, self.fact_list = code.system.numbers, code.system.facts

    # ---- asking -------------------------------------------------------------------------------------------

    def exceeds(self, state: State, agent: int, bound: Bound, than: int, depth: int) -> bool:
        """Return whether a bound exceeds a value, at the outermost `depth` coordinates of an agent."""
        if bound.number is None:
            return bound.offset > than
        threshold = (than - bound.offset) // bound.scale
        number = bound.number
        points = points_of(state.frames[agent][:depth])
        if self.oracle is not None:
            at = tuple(value for _, _, value in points)[: self.numbers[number].depth]
            return self.oracle.number(number, at) > threshold
        stream = state.streams[agent].get((number, points), 0)
        lo, hi = self.range(state, (number, points, stream))
        if lo is not None and lo > threshold:
            return True
        if hi is not None and hi <= threshold:
            return False
        # The slowest in the tiles first, then in the loops around and in this one.
        values = tuple(value for _, _, value, _ in state.frames[agent][:depth])
        pace = (values[0], (*values[1:], threshold), 0, number) if depth else (than, (), 0, number)
        raise Undecided(Question(number, points, stream, threshold, pace))

    def range(self, state: State, key: NumberKey) -> Range:
        """Return what is known of a number."""
        known = state.numbers.get(key)
        if known is not None:
            return known
        number = self.numbers[key[0]]
        return number.lo, number.hi

    def fact(self, state: State, agent: int, fact: int) -> bool:
        """Return the value of a fact, where an agent stands."""
        frames = state.frames[agent]
        points = points_of(frames[: self.fact_list[fact].depth])
        if self.oracle is not None:
            return self.oracle.fact(fact, tuple(value for _, _, value in points))
        value = state.facts.get((fact, points))
        if value is None:
            pace = (frames[0][2], tuple(value for _, _, value in points[1:]), 1, fact)
            raise Undecided(Question(fact, points, 0, None, pace))
        return value

    def holds(self, state: State, agent: int, test: Test, level: int) -> bool:
        """Return whether a test holds where an agent stands, `level` being that of the loop around."""
        level = max(level, 0)
        match test:
            case Ask():
                return self.fact(state, agent, test.fact) == test.value
            case InRounds():
                count = state.frames[agent][level - test.up][3]
                head = len(test.head)
                return test.head[count] if count < head else test.cycle[(count - head) % len(test.cycle)]
            case Exceeds():
                if test.up is not None:
                    loop = level - test.up
                    than, depth = state.frames[agent][loop][2] + test.beyond, loop
                else:
                    code, number = self.code.agents[agent], test.bound.number
                    loops = code.loops[state.at[agent]]
                    than = test.beyond
                    depth = 0 if number is None else depth_of(self.numbers, code.ops, loops, number)
                return self.exceeds(state, agent, test.bound, than, depth) == test.value
            case All():
                return all(self.holds(state, agent, one, level) for one in test.tests) == test.value

    # ---- answering ----------------------------------------------------------------------------------------

    def decide(self, state: State, question: Question, value: bool) -> None:
        """Keep an answer."""
        if question.threshold is None:
            state.facts[question.index, question.points] = value
            return
        key = question.index, question.points, question.stream
        lo, hi = self.range(state, key)
        state.numbers[key] = (question.threshold + 1, hi) if value else (lo, question.threshold)

    def still_asked(self, state: State, index: int, number: bool, points: Points, stream: int = 0) -> bool:
        """Return whether any agent may still ask for something at some coordinates."""
        return any(
            self.asks(state, agent, index, number, points)
            for agent in range(len(self.code.agents))
            if not number or state.streams[agent].get((index, points), 0) == stream
        )

    def asks(
        self, state: State, agent: int, index: int, number: bool, points: Points, loops: bool = False
    ) -> bool:
        """Return whether an agent may still ask for something at some coordinates, in `loops` if asked so."""
        code = self.code.agents[agent]
        at = state.at[agent]
        now = points_of(state.frames[agent])
        for i, (line, stream, _) in enumerate(points):
            entered = now[: i + 1] != points[: i + 1]
            if entered and line and state.streams[agent].get((line[0], points[:i]), 0) != stream:
                return False  # it goes by another stream there
        return any(
            may_ask(site, code.ahead[at], code.loops[at], now, points)
            for site in code.sites
            if site.index == index and site.number == number and site.depth == len(points)
            if site.constant is None or not loops
        )

    def forget(self, state: State) -> None:
        """Drop the answers that nobody may ask for."""
        for key in list(state.numbers):
            if not self.still_asked(state, key[0], True, key[1], key[2]):
                del state.numbers[key]
        for fact, points in list(state.facts):
            if not self.still_asked(state, fact, False, points):
                del state.facts[fact, points]

    # ---- letting go ---------------------------------------------------------------------------------------

    def let_go(self, state: State) -> bool:
        """Give numbers of their own to agents that are far behind; return whether there was one."""
        before = [dict(streams) for streams in state.streams]
        for number, points, stream in list(state.numbers):
            for agent in range(len(self.code.agents)):
                if state.streams[agent].get((number, points), 0) != stream:
                    continue
                value, occurrence = self._position(state, agent, number, points)
                if value is not None and self.asks(state, agent, number, True, points):
                    self.overtaken(state, agent, (number, points, stream), value, occurrence)
        if len(state.numbers) > 2:
            self._let_go_of_tiles(state)
        return state.streams != before

    def overtaken(self, state: State, agent: int, key: NumberKey, value: int, occurrence: int) -> int:
        """Return the stream by which an agent goes on at a value of a number's loop; a new one if it is far
        behind. Raises `Unbounded`.
        """
        lo, hi = self.range(state, key)
        known = lo if lo is not None else hi
        if known is None or known - value <= self.code.far:
            return key[2]
        return self._move(state, agent, key, occurrence, value + self.code.far)

    def _let_go_of_tiles(self, state: State) -> None:
        """Give tiles of their own to agents for which answers of too many tiles are kept."""
        for agent in range(len(self.code.agents)):
            kept: dict[NumberKey, int] = {}
            for (number, points, stream), (lo, hi) in state.numbers.items():
                tiles = points[0][0] if points else None
                if tiles is None or not self.asks(state, agent, number, True, points):
                    continue
                value, _ = self._position(state, agent, number, points)
                known = lo if lo is not None else hi
                if value is not None and known is not None and stream == 0:
                    line: NumberKey = tiles[0], (), points[0][1]
                    # In the tile where it stands an agent may be behind by all the rounds that others had.
                    here = points[:1] == points_of(state.frames[agent][:1])
                    kept[line] = kept.get(line, 0) + 1 + (0 if here else known - value)
            for line, much in kept.items():
                if much > self.code.deep:
                    self._leave_tiles(state, agent, line)

    def _leave_tiles(self, state: State, agent: int, line: NumberKey) -> None:
        """Let an agent go on with tiles of its own, and all who are where it is.

        Only who is behind: the new stream must not say more than the old one.
        """
        value, occurrence = self._position(state, agent, line[0], ())
        known, _ = self.range(state, line)
        if value is None or known is None or known <= value + 1:
            return  # in the tile after it, letting go of the numbers inside is enough
        for other in range(len(self.code.agents)):
            if state.streams[other].get((line[0], ()), 0) == line[2]:
                place, _ = self._position(state, other, line[0], ())
                if place == value:
                    self._move(state, other, line, occurrence, value + 1)

    def _position(self, state: State, agent: int, number: int, points: Points) -> tuple[int | None, int]:
        """Return with which value of a number's loop an agent goes on, and which of such loops it is."""
        code, frames = self.code.agents[agent], state.frames[agent]
        at, level = state.at[agent], len(points)
        inside = code.loops[at]
        if self.inside(state, agent, number, points):
            op = code.ops[inside[level]]
            if isinstance(op, TestOp):
                return scaled(op.bound, frames[level][2]), op.occurrence
        again = level > 0 and points_of(frames[:level]) != points  # in a later round of the loops around
        for place, op in enumerate(code.ops):
            if isinstance(op, EnterOp) and op.bound.number == number and op.level == level:
                test = code.ops[place + 1]
                if (code.ahead[at] >> place & 1 or again) and isinstance(test, TestOp):
                    return scaled(op.bound, op.start), test.occurrence
        return None, 0

    def _move(self, state: State, agent: int, key: NumberKey, occurrence: int, least: int) -> int:
        """Let an agent go by another stream, in which the number is at least so large, and return it.

        Agents in the same place among the loops of a number share the stream: it is one number for them.
        """
        number, points, stream = key
        generation = stream // _OCCURRENCES + 1
        if generation > MOST_STREAMS:
            raise Unbounded
        new = generation * _OCCURRENCES + occurrence
        state.streams[agent][number, points] = new
        state.numbers.setdefault((number, points, new), (least, None))
        if self.inside(state, agent, number, points):
            line, _, value, count = state.frames[agent][len(points)]
            frames = state.frames[agent]
            frames[len(points)] = (line, new, value, count)
            for level in range(len(points) + 1, len(frames)):
                inner, _, value, count = frames[level]
                outer = points_of(frames[:level])
                stream = 0 if inner is None else state.streams[agent].get((inner[0], outer), 0)
                frames[level] = (inner, stream, value, count)
        return new

    def inside(self, state: State, agent: int, number: int, points: Points) -> bool:
        """Return whether an agent is in a loop that a number bounds at some coordinates."""
        frames, level = state.frames[agent], len(points)
        if len(frames) <= level or points_of(frames[:level]) != points:
            return False
        line = frames[level][0]
        return line is not None and line[0] == number


def scaled(bound: Bound, value: int) -> int:
    """Return the threshold with which a loop's value compares its number."""
    return (value - bound.offset) // bound.scale


def points_of(frames: list[Frame]) -> Points:
    """Return the coordinates of loops."""
    return tuple(frame[:3] for frame in frames)
