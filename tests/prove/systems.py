"""Random systems by class, each class for another part of the proof; a seed gives one system for ever."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from hypothesis import strategies as st

from tests.prove.draft import Draft, read, write
from tests.prove.mutate import mend, mutate, pause
from tests.prove.pipelines import Taste, pipeline
from tsc.prove import machine as m


def basic(rng: Random) -> m.System:
    """Chains of agents, rings between them."""
    return pipeline(rng, Taste())


def guards(rng: Random) -> m.System:
    """Rings that are used in some rounds only."""
    return pipeline(rng, Taste(guards=0.8))


def observer(rng: Random) -> m.System:
    """An agent that looks at a ring and never releases."""
    return pipeline(rng, Taste(observer=1.0))


def alias(rng: Random) -> m.System:
    """Bytes of one ring that are bytes of another, or of none."""
    return pipeline(rng, Taste(alias=1.0, guards=0.2))


def shared(rng: Random) -> m.System:
    """Fills and drains by two agents: in turns, or each of them all."""
    return pipeline(rng, Taste(shared=0.7, tiles=0.2, loads=0.2))


def asynchronous(rng: Random) -> m.System:
    """Loads, engines and arrivals by engines."""
    return pipeline(rng, Taste(loads=0.5, engines=0.6))


def counts(rng: Random) -> m.System:
    """Known bounds, offsets, loops in loops and what is released late."""
    return pipeline(rng, Taste(counts=0.8, split=0.6))


def split(rng: Random) -> m.System:
    """Cursors of their own for the wait and for the release."""
    return pipeline(rng, Taste(split=1.0))


def named(rng: Random) -> m.System:
    """Named barriers among the rings."""
    return pipeline(rng, Taste(named=0.9))


def history(rng: Random) -> m.System:
    """Accesses under other conditions than the waits around them."""
    return pipeline(rng, Taste(guards=0.7, history=0.8, tiles=0.5, alias=0.3))


def mixed(rng: Random) -> m.System:
    """A bit of everything."""

    def likely() -> float:
        return rng.choice((0.0, 0.2, 0.5))

    return pipeline(
        rng,
        Taste(
            tiles=0.4,
            guards=likely(),
            history=likely(),
            observer=likely(),
            alias=likely(),
            shared=likely(),
            loads=likely(),
            engines=likely(),
            counts=likely(),
            split=likely(),
            named=likely(),
        ),
    )


def fences(rng: Random) -> m.System:
    """Ordinary writes that go on to engines and loads by the asynchronous proxy, fenced or not."""
    taste = Taste(loads=0.3, engines=0.6, fences=1.0, guards=0.3, alias=0.2, tiles=0.2)
    return pipeline(rng, taste)


def peeled(rng: Random) -> m.System:
    """The same rounds in other forms: the first or the last one apart, two at once."""
    return pipeline(rng, Taste(peeled=0.6, guards=0.0, split=0.5, tiles=0.4, loads=0.2))


def pauses(rng: Random) -> m.System:
    """Questions between a step under a condition and what that step is good for."""
    engines = rng.choice((0.0, 0.6))
    taste = Taste(engines=engines, loads=0.2, tiles=0.2, guards=0.1, shared=0.2, alias=0.2, split=0.5)
    system = pipeline(rng, taste)
    for _ in range(rng.choice((1, 1, 2))):
        system = pause(system, rng)
    return system


def cluster(rng: Random) -> m.System:
    """Two CTAs whose consumers release to both, and whose producers load for both."""
    draft = Draft()
    stages = rng.choice((1, 2, 2))
    leader = rng.random() < 0.35
    parts = 1 if leader else 2
    rings = [draft.ring(stages, 1, 2, parts=parts) for _ in range(2)]
    trips = draft.number("k", 0, rng.choice((0, 1)))
    fulls, empties = tuple(r.full for r in rings), tuple(r.empty for r in rings)
    halves = [[tuple((stage[part],) for stage in ring.cells) for part in range(parts)] for ring in rings]
    loads = rng.random() < 0.75
    kinds = rng.choice(("weight", "weight", "issued"))
    fact = draft.fact(rng.choice((0, 1, 2)))
    clears = leader and rng.random() < 0.5
    for cta in range(1 if leader else 2):
        agent = draft.agent(f"p{cta}", cta)
        own = rings[cta]
        cursor = agent.cursor(own.index)
        body: list[m.Node] = [agent.wait(own.empty, cursor, 1, False, own.cells if clears else ())]
        if leader and rng.random() < 0.5:
            body.append(agent.wait(rings[1].empty, agent.cursor(rings[1].index), 1))
        reach = range(2) if leader or rng.random() < 0.85 else range(cta, cta + 1)
        if loads:
            targets = []
            for other in reach:
                item = write(halves[other][0 if leader else cta], cursor)
                weight = int(kinds == "weight" and other != cta)
                targets.append(m.Target(fulls[other], item, weight))
                if weight:
                    raise_count(draft, fulls[other])
            body.append(agent.load(*targets))
        else:
            body.extend(agent.touch(write(halves[other][0 if leader else cta], cursor)) for other in reach)
            if not leader:
                for other in reach:
                    if other != cta:
                        raise_count(draft, fulls[other])
        body.append(agent.arrive(fulls if leader or not loads else (own.full,), cursor))
        if rng.random() < 0.2:
            body = [agent.when(m.Ask(fact), *body)]
        agent.body.append(agent.loop(trips, *body))
    for cta in range(2):
        agent = draft.agent(f"c{cta}", cta)
        own = rings[cta]
        look = agent.cursor(own.index)
        done = agent.cursor(own.index)
        keep = rng.choice((0, 0, stages - 1))
        engine = agent.engine("mma") if rng.random() < 0.4 else None
        commits = engine is not None and rng.random() < 0.5
        released = empties if rng.random() < 0.9 else (own.empty,)
        taken = read(own.cells, look, 1, filled=clears)
        body = [agent.wait(own.full, look), agent.touch(taken, engine=engine)]
        if engine is not None and not commits:
            body.append(agent.drain(engine, keep))
        body.append(agent.arrive(released, done, look, keep, engine=engine if commits else None))
        if rng.random() < 0.2:
            body = [agent.when(m.Ask(fact), *body)]
        agent.body.append(agent.loop(trips, *body))
        if leader:
            draft.barriers[rings[cta].empty] = replace(draft.barriers[rings[cta].empty], count=2)
        draft.takers.append(m.Taker(len(draft.agents) - 1, look, own.full))
    return draft.system()


def raise_count(draft: Draft, barrier: int) -> None:
    """Let a barrier wait for one arrival more."""
    old = draft.barriers[barrier]
    draft.barriers[barrier] = replace(old, count=old.count + 1)


def gemm(rng: Random) -> m.System:
    """Loads, products of an engine into accumulators, and an epilogue; persistent mostly."""
    draft = Draft()
    persistent = rng.random() < 0.8
    tiles = draft.number("tiles")
    trips = draft.number("k", rng.choice((0, 1)), rng.choice((0, 0, 1)))
    operands = draft.ring(rng.choice((1, 2, 2, 3)))
    accumulators = draft.ring(rng.choice((1, 1, 2)))
    loader, product, epilogue = draft.agent("load"), draft.agent("mma"), draft.agent("epilogue")

    cursor = loader.cursor(operands.index)
    fill: m.Node = loader.load(m.Target(operands.full, write(operands.cells, cursor)))
    if rng.random() < 0.2:
        fill = loader.touch(write(operands.cells, cursor))
    steps = [loader.wait(operands.empty, cursor, 1, moves=False), fill, loader.arrive(operands.full, cursor)]
    inner: list[m.Node] = [loader.loop(trips, *steps)]
    loader.body += [loader.loop(tiles, *inner, tiles=True)] if persistent else inner

    mma = product.engine("mma")
    taken, freed = product.cursor(operands.index), product.cursor(operands.index)
    got, given = product.cursor(accumulators.index), product.cursor(accumulators.index)
    style = rng.choice(("commit", "drain", "late"))
    late = min(1, operands.stages - 1) if style == "late" else 0
    by = mma if style == "commit" else None
    steps = [
        product.wait(operands.full, taken),
        product.touch(
            read(operands.cells, taken, 1, fresh=rng.random() < 0.5),
            write(accumulators.cells, got, 1),
            engine=mma,
        ),
    ]
    if style != "commit":
        steps.append(product.drain(mma, late))
    steps.append(product.arrive(operands.empty, freed, taken, late, engine=by))
    inner = [product.wait(accumulators.empty, got, 1), product.loop(trips, *steps)]
    if late:
        inner += [product.drain(mma), product.arrive(operands.empty, freed, taken)]
    inner.append(product.arrive(accumulators.full, given, engine=by))
    product.body += [product.loop(tiles, *inner, tiles=True)] if persistent else inner

    cursor = epilogue.cursor(accumulators.index)
    staging = draft.segment("staging")
    store = epilogue.engine("store")
    inner = [
        epilogue.wait(accumulators.full, cursor, moves=False),
        epilogue.touch(read(accumulators.cells, cursor)),
    ]
    release = epilogue.arrive(accumulators.empty, cursor)
    if rng.random() < 0.6:
        stored: list[m.Node] = [epilogue.drain(store), epilogue.touch(write(staging))]
        stored.append(epilogue.touch(read(staging), engine=store))
        at = rng.randrange(2)
        inner += [release, *stored] if at else [*stored, release]
    else:
        inner.append(release)
    epilogue.body += [epilogue.loop(tiles, *inner, tiles=True)] if persistent else inner
    draft.takers.append(m.Taker(1, taken, operands.full))
    if rng.random() < 0.3:
        padding = draft.agent("padding")
        body: list[m.Node] = [padding.loop(trips, padding.touch(read(draft.segment())))]
        padding.body += [padding.loop(tiles, *body, tiles=True)] if persistent else body
    return draft.system()


CLASSES: dict[str, Callable[[Random], m.System]] = {
    "basic": basic,
    "guards": guards,
    "observer": observer,
    "alias": alias,
    "shared": shared,
    "async": asynchronous,
    "counts": counts,
    "split": split,
    "named": named,
    "cluster": cluster,
    "gemm": gemm,
    "mixed": mixed,
    "history": history,
    "fences": fences,
    "peeled": peeled,
    "pauses": pauses,
}
"""Every class by its name."""


def random_system(name: str, seed: int) -> m.System:
    """Return the system of a class and seed; about half of them are broken on purpose."""
    rng = Random(f"{name}/{seed}")
    system = CLASSES[name](rng)
    for _ in range(rng.choice((0, 0, 0, 1, 1, 2))):
        system = mutate(system, rng)
    return mend(system, fences=name != "fences")


def systems(name: str) -> st.SearchStrategy[m.System]:
    """Return a strategy for a class; it shrinks to the systems that its random numbers shrink to."""

    def make(rng: Random) -> m.System:
        return mend(mutate(CLASSES[name](rng), rng), fences=name != "fences")

    return st.randoms(use_true_random=False).map(make)
