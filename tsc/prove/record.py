"""Notes a run: its events, who made which fact, and from that what an alarm is about."""

from __future__ import annotations

from tsc.prove.code import Code
from tsc.prove.notes import Trouble
from tsc.prove.ops import EndOp, WaitOp
from tsc.prove.state import State
from tsc.prove.verdict import OUTSIDE, Alarm, Answer, Blocked, Event, Happening, Where


class Recording:
    """The events of a run; an event `landed` follows each load at once."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.log: list[Event] = []
        self.makers: dict[int, Where] = {}  # by the fact's bit
        self.arrivals: dict[tuple[int, int, int], list[int]] = {}  # barrier, stage, phase -> events
        # Where a trouble showed first, and what it met.
        self.meetings: dict[Trouble, tuple[Where, Where | None]] = {}

    @property
    def events(self) -> tuple[Event, ...]:
        """All events so far."""
        return tuple(self.log)

    def step(
        self, state: State, agent: int, what: Happening, barrier: int | None, stage: int, phase: int
    ) -> None:
        """Note a step."""
        where = where_of(self.code, state, agent, barrier, stage, phase)
        after: tuple[int, ...] = ()
        if what == "wait" and barrier is not None:
            after = tuple(self.arrivals.get((barrier, stage, phase), ()))
        self.log.append(Event(where, what, after))
        if what == "load":
            self.log.append(Event(where, "landed", (len(self.log) - 1,)))
        if what in ("arrive", "load") and barrier is not None:
            self.arrivals.setdefault((barrier, stage, phase), []).append(len(self.log) - 1)

    def made(self, bits: int) -> None:
        """Note who made facts."""
        where = self.log[-1].where
        while bits:
            low = bits & -bits
            self.makers[low] = where
            bits ^= low

    def met(self, trouble: Trouble) -> None:
        """Note where a trouble shows and what it meets, which later steps of the run overwrite."""
        if trouble.bits and self.log and trouble not in self.meetings:
            other = next((self.makers[bit] for bit in _each(trouble.bits) if bit in self.makers), None)
            self.meetings[trouble] = self.log[-1].where, other


def where_of(
    code: Code,
    state: State,
    agent: int,
    barrier: int | None = None,
    stage: int | None = None,
    phase: int | None = None,
) -> Where:
    """Return where an agent stands."""
    frames = state.frames[agent]
    route = code.agents[agent].ops[state.at[agent]].route
    values = tuple(value for _, _, value, _ in frames)
    if barrier is None:
        stage = phase = None
    return Where(agent, route, values[0] if values else OUTSIDE, values[1:], barrier, stage, phase)


def alarm_of(
    code: Code,
    state: State,
    trouble: Trouble,
    recording: Recording,
    trail: tuple[Answer, ...],
    taken: int = 0,
) -> Alarm:
    """Tell what a trouble is about; `state` is where the run stopped or went on from there."""
    agent, at = trouble.agent, trouble.at
    here = Where(agent, code.agents[agent].ops[at].route, OUTSIDE, ())
    if state.at[agent] == at:
        here = where_of(code, state, agent, trouble.barrier, trouble.stage, trouble.phase)
    else:
        seen = [e.where for e in recording.log if e.where.agent == agent and e.where.route == here.route]
        here = seen[-1] if seen else here
    other, segment = None, None
    if trouble.kind == "unwritten":
        here = recording.meetings.get(trouble, (here, None))[0]
        segment = _lowest(trouble.bits)
    elif trouble.bits:
        if trouble in recording.meetings:
            here, other = recording.meetings[trouble]
        segment = _segment_of(code, trouble.bits)
    blocked: tuple[Blocked, ...] = ()
    if trouble.kind == "deadlock":
        blocked = tuple(
            _blocked(code, state, i)
            for i, one in enumerate(code.agents)
            if not isinstance(one.ops[state.at[i]], EndOp)
        )
        here = blocked[0].where
    return Alarm(trouble.kind, here, other, segment, blocked, trail, taken)


def _blocked(code: Code, state: State, agent: int) -> Blocked:
    op = code.agents[agent].ops[state.at[agent]]
    if not isinstance(op, WaitOp):
        return Blocked(where_of(code, state, agent), ())
    barrier = code.layout.barriers[op.barrier]
    cursor = state.cursors[agent][op.cursor]
    stage, phase = cursor % barrier.stages, cursor // barrier.stages - op.lag
    came = state.came[barrier.flat + stage]
    missing = {
        who[0] for who, column in barrier.arrivers.items() if who[0] is not None and not came >> column & 1
    }
    return Blocked(where_of(code, state, agent, op.barrier, stage, phase), tuple(sorted(missing)))


def _segment_of(code: Code, bits: int) -> int | None:
    bit = _lowest(bits)
    for column in code.layout.columns:
        for stage, segment in enumerate(column.segments):
            first = column.first + stage * column.stride
            if first <= bit < first + column.width:
                return segment
    return None


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


def _each(bits: int) -> list[int]:
    found = []
    while bits:
        found.append(bits & -bits)
        bits &= bits - 1
    return found
