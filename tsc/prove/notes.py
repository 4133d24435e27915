"""What a runner is told to note: what went wrong, and, where a run is recorded, every step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from tsc.prove.code import Code
from tsc.prove.state import State
from tsc.prove.verdict import Happening, Kind


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that went wrong at a step: `bits` are facts that were not known, where it is about such."""

    kind: Kind
    agent: int
    at: int
    barrier: int | None = None
    stage: int | None = None
    phase: int | None = None
    bits: int = 0


class Recorder(Protocol):
    """Is told every step of a run."""

    def step(
        self, state: State, agent: int, what: Happening, barrier: int | None, stage: int, phase: int
    ) -> None:
        """Note a step, before it takes effect."""
        ...

    def made(self, bits: int) -> None:
        """Note that the facts of these bits are those of the step noted last."""
        ...

    def met(self, trouble: Trouble) -> None:
        """Note that the step noted last went wrong, while it is known what it met."""
        ...


class Notes:
    """Keeps what goes wrong between two questions; `stopped` after a violated window, behind which nothing
    may be concluded from the run.
    """

    def __init__(self, code: Code, recorder: Recorder | None) -> None:
        self.code, self.recorder = code, recorder
        self.barriers = code.layout.barriers
        self.agent, self.at = 0, 0
        self.begin()

    def begin(self) -> None:
        """Forget what was noted."""
        self.troubles: list[Trouble] = []
        self.stopped = False

    def over(self) -> bool:
        """Return whether the run was stopped."""
        return self.stopped

    def trouble(
        self,
        kind: Kind,
        barrier: int | None = None,
        stage: int | None = None,
        phase: int | None = None,
        bits: int = 0,
        stop: bool = False,
    ) -> None:
        """Note what went wrong."""
        self.troubles.append(Trouble(kind, self.agent, self.at, barrier, stage, phase, bits))
        if self.recorder is not None:
            self.recorder.met(self.troubles[-1])
        self.stopped |= stop

    def note(
        self, state: State, what: Happening, barrier: int | None = None, stage: int = 0, phase: int = 0
    ) -> None:
        """Tell the recorder."""
        if self.recorder is not None:
            self.recorder.step(state, self.agent, what, barrier, stage, phase)

    def made(self, bits: int) -> None:
        """Tell the recorder which facts the step made."""
        if self.recorder is not None:
            self.recorder.made(bits)
