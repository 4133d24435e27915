"""Agents that share neither a barrier nor a byte are proved apart: one cannot matter to the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tsc.prove.machine import Arrive, Instruction, Load, System, Touch, Wait, instructions


def parts(system: System) -> list[System]:
    """Return one system for each set of agents that hang together; in it all others do nothing."""
    owner = list(range(len(system.agents)))

    def find(agent: int) -> int:
        while owner[agent] != agent:
            agent = owner[agent]
        return agent

    first: dict[tuple[str, int], int] = {}
    for i, agent in enumerate(system.agents):
        for node in instructions(agent.body):
            for thing in _shared(node):
                owner[find(i)] = find(first.setdefault(thing, i))
    for taker in system.takers:
        # Who has to take fills hangs together with who makes them, whether he waits for them or not.
        owner[find(taker.agent)] = find(first.setdefault(("barrier", taker.barrier), taker.agent))
    roots = sorted({find(i) for i in range(len(system.agents))})
    if len(roots) < 2:
        return [system]
    return [
        replace(
            system,
            agents=tuple(
                agent if find(i) == root else replace(agent, body=()) for i, agent in enumerate(system.agents)
            ),
            takers=tuple(taker for taker in system.takers if find(taker.agent) == root),
        )
        for root in roots
    ]


def _shared(node: Instruction) -> Iterator[tuple[str, int]]:
    match node:
        case Wait():
            yield "barrier", node.barrier
        case Arrive():
            yield from (("barrier", barrier) for barrier in node.barriers)
        case Touch():
            for item in node.items:
                yield from (("segment", segment) for cells in item.cells for segment in cells)
        case Load():
            for target in node.targets:
                yield "barrier", target.barrier
                yield from (("segment", segment) for cells in target.item.cells for segment in cells)
