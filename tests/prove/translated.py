"""Systems of a few lines of YAML, and what tests ask of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from tests.program.build import HEAD, program
from tsc.check import Proof, check_file
from tsc.prove.machine import Agent, Barrier, Block, Instruction, Node, blocks, instructions
from tsc.prove.proof import prove
from tsc.prove.translate import Translation, translate

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]

# A ring of four stages that a loader fills by bulk copies and a task of four warps reads.
COPY = """
    params:
      x: {dtype: f32, shape: [n, 256]}
      y: {dtype: f32, shape: [n, 256]}
    launch: {grid: [1]}
    resources:
      xs: {kind: smem, stages: 4, dtype: f32, shape: [256]}
    work:
      use: {reads: [xs], writes: [y], cuda: "y(loop, task.thread) = xs(task.thread);"}
    tasks:
      use:
        warps: 4
        schedule:
          - domain_loop: n
            body: [{wait: xs}, {do: use}, {release: xs}]
      load:
        warps: 1
        schedule:
          - domain_loop: n
            body: [{acquire: xs}, {bulk_load: x, at: [loop, 0], to: xs}, {commit: xs}]
"""


def of_file(path: str) -> Translation:
    """Translate a spec by its path from the root."""
    report = check_file(str(ROOT / path), proof=Proof(wanted=False))
    assert report.program is not None
    return translate(report.program)


def translated(text: str, *, head: str = HEAD) -> Translation:
    return translate(program(text, head=head))


def alarms(text: str, *, head: str = HEAD) -> list[str]:
    """Prove a spec and return the kinds of its alarms; nothing may be left out or open."""
    found = translated(text, head=head)
    assert found.unmodelled == ()
    verdict = prove(found.system)
    assert verdict.reason == "" or verdict.alarms
    return sorted({alarm.kind for alarm in verdict.alarms})


def agent(found: Translation, label: str, cta: int = 0, part: str = "all") -> Agent:
    for index in found.agents_of(label):
        source = found.agents[index]
        if source.cta == cta and source.part == part:
            return found.system.agents[index]
    raise KeyError(label)


def barrier(found: Translation, owner: str, side: str, cta: int = 0, participant: str = "") -> Barrier:
    """Return the one barrier with an owner and a side."""
    [index] = [
        i
        for i, it in enumerate(found.barriers)
        if (it.owner, it.side, it.cta, it.participant) == (owner, side, cta, participant)
    ]
    return found.system.barriers[index]


def only(found: Agent, kind: type[T]) -> T:
    """Return the one instruction of a kind."""
    [one] = [it for it in instructions(found.body) if isinstance(it, kind)]
    return one


def every(found: Agent, kind: type[T]) -> list[T]:
    return [it for it in instructions(found.body) if isinstance(it, kind)]


def verbs(found: Agent) -> list[str]:
    return [type(it).__name__ for it in instructions(found.body)]


def nodes(block: Block) -> Iterator[Node]:
    for node in block:
        yield node
        for inner in blocks(node):
            yield from nodes(inner)


def all_instructions(found: Translation) -> Iterator[Instruction]:
    for one in found.system.agents:
        yield from instructions(one.body)
