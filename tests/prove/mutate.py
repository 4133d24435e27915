"""Breaks systems by chance, and mends what would make no sense at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from tests.prove.draft import nodes
from tsc.prove import machine as m

Path = tuple[int, ...]
"""A place in a body: index in a block, which block of that node, index in it, and so on."""


def mutate(system: m.System, rng: Random) -> m.System:
    """Return the system with one thing changed; sometimes what comes out is as good as before."""
    if rng.random() < 0.12:
        return _declarations(system, rng)
    which = rng.randrange(len(system.agents))
    agent = system.agents[which]
    places = list(_places(agent.body))
    if not places:
        return system
    path = rng.choice(places)
    way = rng.choice((_drop, _drop, _twice, _swap, _guard, _change, _change, _change, _out, _far))
    body = way(system, agent, path, rng)
    changed = replace(agent, body=body)
    if rng.random() < 0.06 and agent.cursors:
        cursors = list(agent.cursors)
        at = rng.randrange(len(cursors))
        start, stride = rng.choice(((1, 0), (0, 1), (2, 0)))
        old = cursors[at]
        cursors[at] = replace(old, start=old.start + start, stride=old.stride + stride)
        changed = replace(agent, cursors=tuple(cursors))
    return replace(system, agents=(*system.agents[:which], changed, *system.agents[which + 1 :]))


def _declarations(system: m.System, rng: Random) -> m.System:
    if rng.random() < 0.5:
        at = rng.randrange(len(system.barriers))
        old = system.barriers[at]
        new = replace(old, count=max(1, old.count + rng.choice((-1, 1))))
        return replace(system, barriers=(*system.barriers[:at], new, *system.barriers[at + 1 :]))
    at = rng.randrange(len(system.rings))
    ring = system.rings[at]
    if ring.stages == 1:
        return system
    smaller = replace(ring, stages=ring.stages - 1)
    return replace(system, rings=(*system.rings[:at], smaller, *system.rings[at + 1 :]))


def _places(block: m.Block, prefix: Path = ()) -> list[Path]:
    found: list[Path] = []
    for index, node in enumerate(block):
        found.append((*prefix, index))
        for which, inner in enumerate(m.blocks(node)):
            found.extend(_places(inner, (*prefix, index, which)))
    return found


def _edit(block: m.Block, path: Path, change: Callable[[m.Block, int], m.Block]) -> m.Block:
    """Return the body with the block that holds `path` changed."""
    if len(path) == 1:
        return change(block, path[0])
    index, which, *rest = path
    node = block[index]
    inner = _edit(m.blocks(node)[which], tuple(rest), change)
    if isinstance(node, m.Loop):
        return (*block[:index], replace(node, body=inner), *block[index + 1 :])
    assert isinstance(node, m.If)
    new = replace(node, then=inner) if which == 0 else replace(node, otherwise=inner)
    return (*block[:index], new, *block[index + 1 :])


def _at(block: m.Block, path: Path) -> m.Node:
    return block[path[0]] if len(path) == 1 else _at(m.blocks(block[path[0]])[path[1]], path[2:])


def _drop(system: m.System, agent: m.Agent, path: Path, rng: Random) -> m.Block:
    if isinstance(_at(agent.body, path), m.Loop):
        return _change(system, agent, path, rng)
    return _edit(agent.body, path, lambda block, i: (*block[:i], *block[i + 1 :]))


def _twice(system: m.System, agent: m.Agent, path: Path, rng: Random) -> m.Block:
    if isinstance(_at(agent.body, path), m.Loop) and rng.random() < 0.7:
        return _change(system, agent, path, rng)
    return _edit(agent.body, path, lambda block, i: (*block[: i + 1], *block[i:]))


def _swap(system: m.System, agent: m.Agent, path: Path, rng: Random) -> m.Block:
    def change(block: m.Block, i: int) -> m.Block:
        if len(block) < 2:
            return block
        j = i + 1 if i + 1 < len(block) else i - 1
        moved = list(block)
        moved[i], moved[j] = moved[j], moved[i]
        return tuple(moved)

    return _edit(agent.body, path, change)


def _guard(system: m.System, agent: m.Agent, path: Path, rng: Random) -> m.Block:
    test = chance_test(system, rng)
    return _edit(agent.body, path, lambda b, i: (*b[:i], m.If(b[i].route, test, (b[i],)), *b[i + 1 :]))


def _out(system: m.System, agent: m.Agent, path: Path, rng: Random) -> m.Block:
    """Move a node out of the loop or guard around it, to before or behind it."""
    if len(path) < 3:
        return _swap(system, agent, path, rng)
    node = _at(agent.body, path)
    left = _edit(agent.body, path, lambda block, i: (*block[:i], *block[i + 1 :]))
    back = rng.randrange(2)
    return _edit(left, path[:-2], lambda block, i: (*block[: i + back], node, *block[i + back :]))


def _far(system: m.System, agent: m.Agent, path: Path, rng: Random) -> m.Block:
    """Move a node elsewhere in its block."""

    def change(block: m.Block, i: int) -> m.Block:
        rest = [*block[:i], *block[i + 1 :]]
        rest.insert(rng.randrange(len(block)), block[i])
        return tuple(rest)

    return _edit(agent.body, path, change)


def _change(system: m.System, agent: m.Agent, path: Path, rng: Random) -> m.Block:
    new = _changed(system, agent, _at(agent.body, path), rng)
    return _edit(agent.body, path, lambda block, i: (*block[:i], new, *block[i + 1 :]))


def _changed(system: m.System, agent: m.Agent, node: m.Node, rng: Random) -> m.Node:
    match node:
        case m.Loop():
            if rng.random() < 0.3:
                return replace(node, start=node.start + 1)
            if rng.random() < 0.2:
                return replace(node, step=3 - node.step if node.step < 3 else 1)
            if system.numbers and rng.random() < 0.3:
                return replace(node, bound=m.Bound(rng.randrange(len(system.numbers))))
            bound = node.bound
            return replace(node, bound=replace(bound, offset=bound.offset + rng.choice((-1, 1))))
        case m.If():
            if rng.random() < 0.5:
                return replace(node, then=node.otherwise, otherwise=node.then)
            return replace(node, test=chance_test(system, rng))
        case m.Wait():
            if rng.random() < 0.4:
                return replace(node, moves=not node.moves)
            return replace(node, lag=1 - node.lag)
        case m.Arrive():
            if node.upto is not None and rng.random() < 0.5:
                return replace(node, keep=max(0, node.keep + rng.choice((-1, 1))))
            if node.engine is not None and rng.random() < 0.5:
                return replace(node, engine=None)
            if agent.engines and node.engine is None and rng.random() < 0.3:
                return replace(node, engine=rng.randrange(len(agent.engines)))
            if len(node.barriers) > 1 and rng.random() < 0.6:
                return replace(node, barriers=node.barriers[:1])
            return replace(node, weight=3 - node.weight if node.weight < 3 else 1)
        case m.Touch():
            items = tuple(replace(i, back=1 - i.back) if rng.random() < 0.5 else i for i in node.items)
            if agent.engines and rng.random() < 0.3:
                return replace(node, engine=None if node.engine is not None else 0)
            if rng.random() < 0.3:
                items = tuple(replace(i, write=not i.write, fresh=False) for i in items)
            return replace(node, items=items)
        case m.Load():
            if len(node.targets) > 1 and rng.random() < 0.5:
                return replace(node, targets=node.targets[:1])
            target = node.targets[0]
            item = replace(target.item, back=1 - target.item.back)
            return replace(node, targets=(replace(target, item=item), *node.targets[1:]))
        case m.Fence():
            return replace(node, tensors=not node.tensors)
        case m.Drain():
            return replace(node, keep=max(0, node.keep + rng.choice((-1, 1))))
        case m.Move():
            return replace(node, cursors=node.cursors[1:])
    return node


def pause(system: m.System, rng: Random) -> m.System:
    """Return the system with a question at some place whose answer changes nothing, and a guarded step.

    A proof looks at its states where something is asked, and what an agent knows by then is all that differs.
    """
    facts = len(system.facts)
    depth = rng.choice((0, 0, 1, 2))
    new = (m.Fact(f"f{facts}", depth), m.Fact(f"f{facts + 1}", depth))
    system = replace(system, facts=(*system.facts, *new))
    which = rng.randrange(len(system.agents))
    agent = system.agents[which]
    places = [path for path in _places(agent.body) if not isinstance(_at(agent.body, path), m.Loop | m.If)]
    if not places:
        return system
    path = rng.choice(places)
    asked, guard = m.Ask(facts), m.Ask(facts + 1, False)

    def change(block: m.Block, i: int) -> m.Block:
        node = block[i]
        rest = list(block[i + 1 :])
        rest.insert(rng.randrange(len(rest) + 1) if rng.random() < 0.5 else 0, m.If(node.route, asked, ()))
        step = m.If(node.route, guard, (node,)) if rng.random() < 0.6 else node
        if rest and rng.random() < 0.2:
            # One order or the other.
            pair = (node, rest.pop(0))
            step = m.If(node.route, guard, pair, pair[::-1])
        return (*block[:i], step, *rest)

    body = _edit(agent.body, path, change)
    agents = (*system.agents[:which], replace(agent, body=body), *system.agents[which + 1 :])
    return replace(system, agents=agents)


def chance_test(system: m.System, rng: Random) -> m.Test:
    """Return some test; `mend` makes it fit the place where it stands."""
    kind = rng.random()
    if system.facts and kind < 0.5:
        return m.Ask(rng.randrange(len(system.facts)), rng.random() < 0.5)
    if system.numbers and kind < 0.75:
        bound = m.Bound(rng.randrange(len(system.numbers)))
        return m.Exceeds(bound, rng.randrange(0, 3), rng.choice((0, 0, 0, 1, None)), rng.random() < 0.5)
    head = tuple(rng.random() < 0.5 for _ in range(rng.randrange(3)))
    cycle = tuple(rng.random() < 0.5 for _ in range(rng.randrange(1, 3)))
    return m.InRounds(head, cycle, rng.choice((0, 0, 1)))


def mend(system: m.System, fences: bool = True) -> m.System:
    """Return the system with tests, bounds and bytes that fit.

    With `fences` there is one behind each ordinary write, and nowhere else, so that none is missing.
    """
    loads = any(isinstance(i, m.Load) for agent in system.agents for i in nodes(agent.body))
    proxy = loads or any(engine.proxy for agent in system.agents for engine in agent.engines)
    agents = []
    for agent in system.agents:
        stages = [system.rings[cursor.ring].stages for cursor in agent.cursors]
        body = _mend_block(system, agent.body, False, 0, proxy if fences else None, stages)
        # No fence stands between an ordinary engine and loads.
        engines = tuple(replace(engine, proxy=engine.proxy or (loads and fences)) for engine in agent.engines)
        agents.append(replace(agent, body=body, engines=engines))
    return replace(system, agents=tuple(agents))


def _mend_item(item: m.Item, stages: list[int]) -> m.Item:
    return item if item.cursor is None else replace(item, cells=item.cells[: stages[item.cursor]])


def _mend_block(
    system: m.System, block: m.Block, tiles: bool, values: int, proxy: bool | None, stages: list[int]
) -> m.Block:
    mended: list[m.Node] = []
    for node in block:
        match node:
            case m.Loop():
                is_tiles = node.tiles and not tiles and not values
                inside = tiles or is_tiles
                bound = _mend_bound(system, node.bound, 0 if is_tiles else 1 + values)
                body = _mend_block(system, node.body, inside, values + (not is_tiles), proxy, stages)
                mended.append(replace(node, bound=bound, body=body, tiles=is_tiles))
            case m.If():
                then = _mend_block(system, node.then, tiles, values, proxy, stages)
                otherwise = _mend_block(system, node.otherwise, tiles, values, proxy, stages)
                test = _mend_test(system, node.test, tiles, values)
                if test is None:
                    mended.extend(then)
                else:
                    mended.append(replace(node, test=test, then=then, otherwise=otherwise))
            case m.Touch():
                mended.append(replace(node, items=tuple(_mend_item(item, stages) for item in node.items)))
                if proxy and node.engine is None and any(item.write for item in node.items):
                    mended.append(m.Fence(node.route))
            case m.Wait() if node.clears:
                ring = system.barriers[node.barrier].ring
                mended.append(replace(node, clears=node.clears[: system.rings[ring].stages]))
            case m.Load():
                targets = (replace(t, item=_mend_item(t.item, stages)) for t in node.targets)
                mended.append(replace(node, targets=tuple(targets)))
            case m.Fence() if proxy is not None:
                pass
            case _:
                mended.append(node)
    return tuple(mended)


def _mend_bound(system: m.System, bound: m.Bound, depth: int) -> m.Bound:
    if bound.number is not None and system.numbers[bound.number].depth > depth:
        return m.Bound(None, 1, 2)
    return bound


def _mend_test(system: m.System, test: m.Test, tiles: bool, values: int) -> m.Test | None:
    match test:
        case m.Ask():
            return test if system.facts[test.fact].depth <= 1 + values else None
        case m.Exceeds():
            # What is compared with a loop's value has to be known outside of that loop.
            if test.up is not None and test.up >= tiles + values:
                test = replace(test, up=None)
            depth = 1 + values if test.up is None else values - test.up
            number = test.bound.number
            return None if number is not None and system.numbers[number].depth > depth else test
        case m.InRounds():
            return test if test.up < tiles + values else None
        case m.All():
            inner = [_mend_test(system, part, tiles, values) for part in test.tests]
            kept = tuple(part for part in inner if part is not None)
            return replace(test, tests=kept) if kept else None
