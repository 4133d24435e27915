"""Random pipelines: roles in a row, rings from earlier to later ones, all in one nest of loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

from tests.prove.draft import AgentDraft, Draft, RingDraft, read, write
from tsc.prove import machine as m

Strand = list[m.Node]
"""Steps that keep their order among themselves."""


@dataclass(frozen=True, slots=True)
class Taste:
    """How likely each kind of thing is in a pipeline."""

    tiles: float = 0.35
    guards: float = 0.1
    history: float = 0.0
    observer: float = 0.0
    alias: float = 0.0
    shared: float = 0.0
    loads: float = 0.0
    engines: float = 0.0
    counts: float = 0.1
    split: float = 0.3
    named: float = 0.0
    fresh: float = 0.2
    feedback: float = 0.05
    clears: float = 0.3
    fences: float = 0.0
    peeled: float = 0.0


@dataclass(slots=True)
class Role:
    """Agents that do the same: one, two that take turns (lanes), or two that each do everything."""

    agents: list[AgentDraft]
    lanes: bool


@dataclass(slots=True)
class Link:
    """A ring from one role to another: at the inner loop, or at the tile loop around it."""

    ring: RingDraft
    source: Role
    sink: Role
    inner: bool
    test: m.Test | None
    touch_test: m.Test | None
    batch: m.Bound | int | None = None  # fills and drains so often each time
    weight: int = 1
    clears: bool = False
    fence: str = ""  # which side has a fence, if any
    tensors: bool = False
    notes: list[m.Item] = field(default_factory=list)


class Pipeline:
    """Makes one system; `draft` holds it."""

    def __init__(self, rng: Random, taste: Taste) -> None:
        self.rng = rng
        self.taste = taste
        self.draft = Draft()
        self.tiled = self.chance(taste.tiles)
        self.inner = not self.tiled or self.chance(0.7)
        self.tiles = self.draft.number("tiles")
        self.trips = self.bound()
        self.fact_depths: dict[int, int] = {}
        self.sync_last = self.chance(0.3)
        self.proxy = self.chance(0.5)
        self.late = int(self.chance(taste.counts * 0.3))
        self.make()

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def bound(self) -> m.Bound:
        rng = self.rng
        if self.chance(0.15):
            return m.Bound(None, 1, rng.randrange(1, 4))
        lo, hi = rng.choice(((0, None), (0, None), (None, None), (1, None), (2, None), (0, 3), (1, 4)))
        number = self.draft.number("k", rng.choice((0, 0, 1, 1)), lo, hi)
        if self.chance(self.taste.counts):
            return m.Bound(number.number, rng.choice((1, 1, 2)), rng.choice((-1, 0, 1)))
        return number

    def often(self, inner: bool) -> m.Bound:
        """Return how often an innermost loop runs, another number each time perhaps."""
        depth = self.rng.choice((0, 1, 2) if inner and self.inner else (0, 1))
        return self.draft.number("j", depth, self.rng.choice((0, 0, 1)), self.rng.choice((None, 2)))

    def test(self, inner: bool) -> m.Test:
        """Return a test for a step in the loops, the same for all who take part."""
        rng = self.rng
        deep = inner and self.inner
        kind = rng.random()
        if kind < 0.5:
            depth = rng.choice((0, 1, 2, 2)) if deep else rng.choice((0, 1, 1))
            facts = [f for f, d in self.fact_depths.items() if d <= depth]
            if facts and self.chance(0.4):
                fact = rng.choice(facts)
            else:
                fact = self.draft.fact(depth)
                self.fact_depths[fact] = depth
            return m.Ask(fact, self.chance(0.6))
        bound = self.trips if deep else self.tiles
        if kind < 0.7:
            return m.Exceeds(bound, rng.choice((1, 1, 1, 2, 0)), 0, self.chance(0.6))
        if kind < 0.9:
            head, cycle = rng.choice(
                (
                    ((True,), (False,)),
                    ((False,), (True,)),
                    ((), (True, False)),
                    ((), (False, True)),
                    ((True, False), (True,)),
                    ((), (False, False, True)),
                )
            )
            return m.InRounds(head, cycle, 1 if deep and self.tiled and self.chance(0.3) else 0)
        return m.All((self.test(inner), self.test(inner)), self.chance(0.7))

    # ---- the parts ----------------------------------------------------------------------------------------

    def make(self) -> None:
        rng, draft = self.rng, self.draft
        roles: list[Role] = []
        count = 0
        room = 4 - self.chance(self.taste.observer)
        for index in range(rng.choice((2, 2, 3)) if room > 3 else 2):
            double = self.chance(self.taste.shared) and count + 2 + (2 - index > 1) <= room
            if count + 1 + double > room:
                break
            agents = [draft.agent(f"{'abcd'[index]}{n}") for n in range(1 + double)]
            roles.append(Role(agents, double and self.chance(0.6)))
            count += len(agents)
        links = self.links(roles)
        named = draft.named(count) if self.chance(self.taste.named) else None
        board = draft.segment("board", written=True)
        for index, role in enumerate(roles):
            for lane, agent in enumerate(role.agents):
                self.body(agent, role, lane, links, named, board, index)
        if room < 4:
            self.observe(rng.choice(links))

    def links(self, roles: Sequence[Role]) -> list[Link]:
        rng, draft, taste = self.rng, self.draft, self.taste
        links: list[Link] = []
        number = rng.choice((1, 1, 2, 2, 3)) if len(roles) > 2 or self.chance(0.6) else 1
        overlap = self.chance(taste.alias)
        for index in range(max(number, len(roles) - 1)):
            source = index if index < len(roles) - 1 else rng.randrange(len(roles) - 1)
            sink = source + 1 if index < len(roles) - 1 else rng.randrange(source + 1, len(roles))
            if self.chance(taste.feedback):
                source, sink = sink, source
            sides = [1 if role.lanes else len(role.agents) for role in (roles[source], roles[sink])]
            ring = draft.ring(rng.choice((1, 2, 2, 3)), *sides, turns=not overlap)
            inner = not (self.tiled and self.inner and self.chance(0.35))
            test = self.test(inner) if self.chance(taste.guards) else None
            touch = self.test(inner) if self.chance(taste.history) else test
            link = Link(ring, roles[source], roles[sink], inner, test, touch)
            if self.chance(taste.counts * 0.3):
                link.batch = rng.choice((2, 2, self.often(inner), self.often(inner)))
            if self.chance(taste.counts * 0.2):
                link.weight = 2
                barrier = self.draft.barriers[ring.full]
                self.draft.barriers[ring.full] = replace(barrier, count=2 * barrier.count)
            # Only a fill by one agent is cleared by who fills it.
            link.clears = len(roles[source].agents) == 1 and self.chance(taste.clears)
            if self.chance(taste.fences):
                link.fence = rng.choice(("fill", "fill", "fill", "take", ""))
                link.tensors = self.chance(0.3)
            if link.tensors:
                self.draft.tensors.update(segment for stage in ring.cells for segment in stage)
            links.append(link)
        if overlap:
            self.overlap(links)
        return links

    def overlap(self, links: list[Link]) -> None:
        """Let bytes of a ring be those of another, or of something without a ring."""
        rng = self.rng
        one, other = rng.choice(links), rng.choice(links)
        if one is other or self.chance(0.3):
            outside = rng.choice(rng.choice(one.ring.cells))
            item = rng.choice((read, write))(outside)
            (one if self.chance(0.5) else other).notes.append(item)
            return
        cells = list(one.ring.cells)
        at = rng.randrange(len(cells))
        cells[at] = (*cells[at], *rng.choice(other.ring.cells))
        one.ring.cells = tuple(cells)

    def observe(self, link: Link) -> None:
        """Add an agent that looks on without a release."""
        agent = self.draft.agent("o0")
        ring = link.ring
        full = self.chance(0.75)
        cursor = agent.cursor(ring.index)
        waited, lag = (ring.full, 0) if full else (ring.empty, self.rng.randrange(2))
        strand: Strand = [agent.wait(waited, cursor, lag)]
        if self.chance(0.5):
            strand.append(agent.touch(read(ring.cells, cursor, 1)))
        if self.chance(0.3):
            strand = [agent.when(self.test(link.inner), *strand, otherwise=(agent.move(cursor),))]
        if link.test is not None:
            strand = [agent.when(link.test, *strand)]
        self.nest(agent, [], strand, [], 0, 1)

    # ---- the two sides of a ring --------------------------------------------------------------------------

    def side(
        self, agent: AgentDraft, link: Link, lane: int, stride: int, filling: bool
    ) -> tuple[Strand, Strand, Strand, Strand]:
        """Return the steps of one side: before, in and after the work, and what is left for the end."""
        rng, taste, ring = self.rng, self.taste, link.ring
        look = agent.cursor(ring.index, lane, stride)
        split = self.chance(taste.split)
        done = agent.cursor(ring.index, lane, stride) if split else look
        back = int(split)
        waited, signalled = (ring.empty, ring.full) if filling else (ring.full, ring.empty)
        clears = ring.cells if filling and link.clears else ()
        weight = link.weight if filling else 1
        before: Strand = [agent.wait(waited, look, int(filling), split, clears)]
        work: Strand = []
        after: Strand = []
        end: Strand = []
        keep = rng.choice((0, 0, 1, 1, 2)) if split and ring.stages > 1 else 0
        keep = min(keep, ring.stages - 1)
        by_engine = self.chance(taste.engines) and len(agent.engines) < 2
        engine = agent.engine("e", self.proxy) if by_engine else None
        commits = engine is not None and self.chance(0.5)
        if filling and self.chance(taste.loads):
            item = write(ring.cells, look, back)
            work.append(agent.load(m.Target(ring.full, item)))
            engine = None
            commits = False
        else:
            fresh = not filling and self.chance(taste.fresh)
            item = write(ring.cells, look, back)
            if not filling:
                item = read(ring.cells, look, back, fresh, link.clears)
            work.append(agent.touch(item, engine=engine))
            if not filling and engine is None and self.chance(0.1):
                work.append(agent.touch(write(ring.cells, look, back)))
        work.extend(agent.touch(note) for note in link.notes if self.chance(0.5))
        if filling and link.fence == "fill":
            work.append(agent.fence(link.tensors))
        elif not filling and link.fence == "take":
            before.append(agent.fence(link.tensors))
        if engine is not None and not commits:
            after.append(agent.drain(engine, keep))
            if keep:
                end.append(agent.drain(engine, 0))
        by = engine if commits else None
        if split and (keep or self.chance(0.6)):
            after.append(agent.arrive(signalled, done, look, keep, weight, by))
            if keep:
                end.append(agent.arrive(signalled, done, look, 0, weight, by))
        else:
            after.append(agent.arrive(signalled, done, weight=weight, engine=by))
        if link.touch_test is not link.test and link.touch_test is not None:
            work = [agent.when(link.touch_test, *work)]
        if not filling and self.chance(0.5):
            agents = self.draft.agents
            self.draft.takers.append(m.Taker(agents.index(agent), look, ring.full))
        if link.test is not None:
            before, work, after = ([agent.when(link.test, s) for s in part] for part in (before, work, after))
        return before, work, after, end

    def body(
        self,
        agent: AgentDraft,
        role: Role,
        lane: int,
        links: Sequence[Link],
        named: int | None,
        board: int,
        index: int,
    ) -> None:
        start, stride = (lane, 2) if role.lanes else (0, 1)
        pre: Strand = []
        post: Strand = []
        strands: list[Strand] = []
        end: Strand = []
        for link in links:
            for filling, owner in ((False, link.sink), (True, link.source)):
                if owner is not role:
                    continue
                before, work, after, last = self.side(agent, link, start, stride, filling)
                end += last
                if link.inner or not (self.tiled and self.inner):
                    strand = [*before, *work, *after]
                    if link.batch is not None:
                        strand = [agent.loop(link.batch, *strand)]
                    strands.append(strand)
                    continue
                pre += before
                place = self.rng.randrange(3)
                if place == 0:
                    pre += work
                elif place == 1:
                    strands.append(work)
                else:
                    post += work
                post += after
        if named is not None:
            strands.insert(len(strands) if self.sync_last else 0, self.sync(agent, named, board, index))
        if self.chance(0.1):
            strands.append([agent.touch(self.rng.choice((read, write))(board))])
        self.nest(agent, pre, self.merge(strands), post, start, stride)
        if self.chance(0.9):
            agent.body += end

    def sync(self, agent: AgentDraft, named: int, board: int, index: int) -> Strand:
        """Return the steps at a named barrier, and accesses that it orders."""
        ring = self.draft.barriers[named].ring
        arrived, looked = agent.cursor(ring), agent.cursor(ring)
        once = [agent.arrive(named, arrived), agent.wait(named, looked)]
        again = [agent.arrive(named, arrived), agent.wait(named, looked)]
        touch = agent.touch(write(board) if index == 0 else read(board))
        if index == 0 and self.chance(0.1):
            return [touch, agent.arrive(named, arrived), agent.arrive(named, arrived)]
        return [touch, *once, *again] if index == 0 else [*once, touch, *again]

    def merge(self, strands: Sequence[Strand]) -> Strand:
        """Return all the steps, each strand's in its own order; mostly one strand after the other."""
        if self.chance(0.4 + 0.4 * self.taste.named):
            return [node for strand in strands for node in strand]
        left = [list(strand) for strand in strands if strand]
        merged: Strand = []
        while left:
            strand = self.rng.choice(left)
            merged.append(strand.pop(0))
            left = [strand for strand in left if strand]
        return merged

    def nest(
        self, agent: AgentDraft, pre: Strand, steps: Strand, post: Strand, start: int, stride: int
    ) -> None:
        """Put the steps into the loops; the outermost one is what lanes share."""
        inside: Strand = steps
        if self.inner:
            outermost = (0, 1) if self.tiled else (start, stride)
            start, step = outermost[0] + self.late, outermost[1]
            inside = [agent.loop(self.trips, *steps, start=start, step=step)]
            if step == 1 and self.chance(self.taste.peeled):
                inside = self.peel(agent, steps, start)
        inside = [*pre, *inside, *post]
        if self.tiled:
            inside = [agent.loop(self.tiles, *inside, start=start, step=stride, tiles=True)]
        agent.body += inside

    def peel(self, agent: AgentDraft, steps: Strand, start: int) -> Strand:
        """Return the rounds in another form: the first ones or the last one apart, or two at once."""
        trips = self.trips
        form = self.rng.randrange(4)
        if form == 0:
            first = agent.when(m.Exceeds(trips, start, None), *steps)
            return [first, agent.loop(trips, *steps, start=start + 1)]
        if form == 1:
            rest = m.Bound(trips.number, trips.scale, trips.offset - 1)
            return [agent.loop(rest, *steps, start=start), agent.when(m.Exceeds(trips, start, None), *steps)]
        if form == 2:
            second = agent.when(m.Exceeds(trips, 1), *steps)
            return [agent.loop(trips, *steps, second, start=start, step=2)]
        few = [agent.when(m.Exceeds(trips, start + n, None), *steps) for n in range(2)]
        return [*few, agent.loop(trips, *steps, start=start + 2)]


def pipeline(rng: Random, taste: Taste) -> m.System:
    """Return a random pipeline, right or nearly right."""
    return Pipeline(rng, taste).draft.system()
