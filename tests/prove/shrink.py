"""Makes a system smaller as long as something stays true of it, and shows it in a few lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tsc.prove import machine as m


def shrink(system: m.System, holds: Callable[[m.System], bool]) -> m.System:
    """Return a system for which `holds` is still true and no smaller one next to it is."""
    changed = True
    while changed:
        changed = False
        for smaller in _smaller(system):
            if holds(smaller):
                system = smaller
                changed = True
                break
    return system


def _smaller(system: m.System) -> Iterator[m.System]:
    for index, agent in enumerate(system.agents):
        if agent.body:
            yield _with(system, index, ())
        for body in _smaller_blocks(agent.body):
            yield _with(system, index, body)
    for index in range(len(system.takers)):
        yield replace(system, takers=(*system.takers[:index], *system.takers[index + 1 :]))
    for index, barrier in enumerate(system.barriers):
        if barrier.count > 1:
            less = replace(barrier, count=barrier.count - 1)
            yield replace(system, barriers=(*system.barriers[:index], less, *system.barriers[index + 1 :]))
    for index, number in enumerate(system.numbers):
        if number.depth:
            less_deep = replace(number, depth=number.depth - 1)
            yield replace(system, numbers=(*system.numbers[:index], less_deep, *system.numbers[index + 1 :]))


def _with(system: m.System, index: int, body: m.Block) -> m.System:
    agent = replace(system.agents[index], body=body)
    return replace(system, agents=(*system.agents[:index], agent, *system.agents[index + 1 :]))


def _smaller_blocks(block: m.Block) -> Iterator[m.Block]:
    for index, node in enumerate(block):
        before, after = block[:index], block[index + 1 :]
        yield (*before, *after)
        match node:
            case m.Loop():
                yield (*before, *node.body, *after)
                for body in _smaller_blocks(node.body):
                    yield (*before, replace(node, body=body), *after)
                if node.bound.number is not None:
                    for bound in (1, 2):
                        yield (*before, replace(node, bound=m.Bound(None, 1, bound)), *after)
                if node.step > 1:
                    yield (*before, replace(node, step=1), *after)
            case m.If():
                yield (*before, *node.then, *after)
                yield (*before, *node.otherwise, *after)
                for then in _smaller_blocks(node.then):
                    yield (*before, replace(node, then=then), *after)
                for otherwise in _smaller_blocks(node.otherwise):
                    yield (*before, replace(node, otherwise=otherwise), *after)
                if isinstance(node.test, m.All):
                    for test in node.test.tests:
                        yield (*before, replace(node, test=test), *after)
            case m.Arrive() if node.upto is not None:
                yield (*before, replace(node, upto=None, keep=0), *after)
            case m.Arrive() if len(node.barriers) > 1:
                yield (*before, replace(node, barriers=node.barriers[:1]), *after)
            case m.Touch() if len(node.items) > 1:
                yield from ((*before, replace(node, items=(item,)), *after) for item in node.items)
            case m.Load() if len(node.targets) > 1:
                yield from ((*before, replace(node, targets=(t,)), *after) for t in node.targets)


def show(system: m.System) -> str:
    """Return a system as indented text."""
    lines = [f"ring {i}: {r.stages} stages{'' if r.turns else ', fixed'}" for i, r in enumerate(system.rings)]
    lines += [f"barrier {i} {b.name}: ring {b.ring}, count {b.count}" for i, b in enumerate(system.barriers)]
    lines += [f"number {i}: {n}" for i, n in enumerate(system.numbers)]
    lines += [f"fact {i}: {f}" for i, f in enumerate(system.facts)]
    lines += [f"written: {sorted(system.written)}", f"takers: {system.takers}"]
    for index, agent in enumerate(system.agents):
        if not agent.body:
            continue
        cursors = ", ".join(f"{i}: ring {c.ring} {c.start}+{c.stride}" for i, c in enumerate(agent.cursors))
        lines.append(f"agent {index} {agent.label} ({cursors}; {len(agent.engines)} engines)")
        lines += _lines(agent.body, "  ")
    return "\n".join(lines)


def _lines(block: m.Block, indent: str) -> Iterator[str]:
    for node in block:
        match node:
            case m.Loop():
                bound = node.bound
                number = "" if bound.number is None else f"{bound.scale}*n{bound.number}+"
                kind = "tiles" if node.tiles else "loop"
                yield f"{indent}{kind} {node.start},+{node.step} while < {number}{bound.offset}"
                yield from _lines(node.body, indent + "  ")
            case m.If():
                yield f"{indent}if {node.test}"
                yield from _lines(node.then, indent + "  ")
                if node.otherwise:
                    yield f"{indent}else"
                    yield from _lines(node.otherwise, indent + "  ")
            case _:
                fields = {k: getattr(node, k) for k in node.__dataclass_fields__ if k != "route"}
                told = " ".join(f"{k}={_told(v)}" for k, v in fields.items())
                yield f"{indent}{type(node).__name__.lower()} {told}"


def _told(value: object) -> str:
    match value:
        case m.Item():
            kind = "write" if value.write else "fresh" if value.fresh else "read"
            return f"{kind}{list(value.cells)}@{value.cursor}-{value.back}"
        case m.Target():
            return f"to {value.barrier} weight {value.weight} {_told(value.item)}"
        case tuple():
            return "(" + ", ".join(_told(part) for part in value) + ")"
    return str(value)
