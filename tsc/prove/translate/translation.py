"""What a translation holds: the system, and where each agent, barrier and segment of it comes from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tsc.program.model import Program
from tsc.prove.asked import Questions
from tsc.prove.machine import System
from tsc.source.route import Route

Side = Literal["full", "empty", "turn", "barrier", "task", "kernel"]
"""`task`: where the threads of one task meet; `kernel`: the end of the kernel before this one."""


@dataclass(frozen=True, slots=True)
class AgentSource:
    """A task instance in one CTA of the cluster; no label: the kernel before this one.

    `part`: `leader` is the thread that issues for all, `others` the rest of a task that is two agents.
    """

    label: str | None
    cta: int
    part: Literal["all", "leader", "others"] = "all"


@dataclass(frozen=True, slots=True)
class BarrierSource:
    """The barriers of one side of a ring or group copy, of a turn's participant, or of a named barrier.

    `owner` is the ring, the group whose members share the side, the turn, the barrier or the task.
    """

    owner: str
    copy: int
    side: Side
    cta: int
    participant: str = ""  # turn: the label of who waits there


@dataclass(frozen=True, slots=True)
class Bytes:
    """A part of a buffer: bytes of shared memory or columns of tensor memory, from the CTA's first one."""

    resource: str
    copy: int
    stage: int | None  # None: it has no stages
    buffer: str
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class SegmentSource:
    """What a segment stands for.

    `memory`: `owners` lists all that lies there. `registers`: of the task `task`. `tensor`: what the task
    writes to it. `outside`: what the kernels before this one write.
    """

    kind: Literal["memory", "registers", "tensor", "outside"]
    cta: int
    owners: tuple[Bytes, ...] = ()
    name: str = ""
    task: str = ""


@dataclass(frozen=True, slots=True)
class Translation:
    """A kernel as a system. `agents`, `barriers` and `segments` are told by the index in the system.

    `unmodelled` says what the system leaves out, so that nothing is proved by it.
    """

    program: Program
    system: System
    questions: Questions
    agents: tuple[AgentSource, ...]
    barriers: tuple[BarrierSource, ...]
    segments: tuple[SegmentSource, ...]
    unmodelled: tuple[tuple[Route, str], ...]

    def agents_of(self, label: str) -> Iterator[int]:
        """Yield the agents of a task instance, one or two for each CTA."""
        yield from (i for i, source in enumerate(self.agents) if source.label == label)
