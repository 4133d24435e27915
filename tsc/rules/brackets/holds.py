"""What a task holds of each ring at each step, on every path: the facts of the bracket rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from tsc.diagnostics.model import Place
from tsc.ops.base import Engine
from tsc.program.accesses import Touch
from tsc.program.conditions import Conditions
from tsc.program.expand import operand_of
from tsc.program.model import Memory, Program, Task
from tsc.program.paths import Walker
from tsc.program.tree import Loop, Step, TileLoop, walk
from tsc.program.tree import steps as all_steps
from tsc.rules.memo import per_program
from tsc.rules.names.lost import RING_VERBS, lost

# What these write is there when the stage's full barrier has counted it, or at the commit.
LOADERS = frozenset((Engine.TMA, Engine.CP_ASYNC))
# Nobody keeps so many stages; a ring of which somebody does is left to the proof.
MOST_KEPT = 64

# Of a ring of more stages, nobody is told that a task holds them all.
MOST_STAGES = 16


@dataclass(frozen=True, slots=True)
class Held:
    """Stages of one ring that a task holds: acquired and not committed, waited for and not released.

    Both are counted up to `Holds.most`. `observed` after a wait with `observe`, `committed` once anything has
    been committed. `loading`: buffers of the stage acquired last into which a load is under way.
    """

    acquired: int = 0
    waited: int = 0
    observed: bool = False
    committed: bool = False
    loading: frozenset[str | None] = frozenset()


@dataclass(slots=True)
class Holds:
    """One ring copy in one task: what was held before each step that concerns it, and at the end."""

    task: Task
    memory: Memory
    copy: int
    store_ring: bool
    complete: bool = True
    most: int = 2
    before: dict[int, set[Held]] = field(default_factory=dict)  # by the step's index
    steps: dict[int, Step] = field(default_factory=dict)
    protocol: set[int] = field(default_factory=set)  # indices of the steps that move stages
    touches: dict[int, list[Touch]] = field(default_factory=dict)
    ends: frozenset[Held] = frozenset()

    def verbs(self, *verbs: str) -> list[Step]:
        """Return the steps of these verbs that name the ring or its group."""
        return [self.steps[i] for i in sorted(self.protocol) if self.steps[i].verb in verbs]

    def places(self, verb: str, label: str) -> tuple[Place, ...]:
        """Return where the first steps of a verb stand, for a finding about another place."""
        routes = dict.fromkeys(step.route for step in self.verbs(verb))
        return tuple(Place(route, label=label) for route in routes)[:3]

    def also(self, indices: list[int], first: Step) -> tuple[Place, ...]:
        """Return where the other steps of one mistake stand."""
        routes = dict.fromkeys(self.steps[i].route for i in indices if self.steps[i].route != first.route)
        return tuple(Place(route, label="and here") for route in routes)[:3]

    def stray_writes(self) -> list[int]:
        """Return the steps that write a stage which some path to them has not acquired."""
        return [
            i for i, found in self.touches.items() if any(t.writes for t in found) and self.unheld(i, True)
        ]

    def stray_reads(self) -> list[int]:
        """Return the steps that read a stage which some path to them does not hold."""
        return [
            i for i, found in self.touches.items() if any(t.reads for t in found) and self.unheld(i, False)
        ]

    def unheld(self, index: int, writing: bool) -> list[Held]:
        """Return the states before a step in which it may not touch the ring."""
        found = self.touches[index]
        updates = any(touch.mode == "update" for touch in found)
        reads = [touch for touch in found if touch.mode == "read"]
        engine = self.store_ring and bool(reads) and all(touch.engine is Engine.STORE for touch in reads)
        names = {touch.reference.buffer for touch in found if touch.reads}

        def may(held: Held) -> bool:
            if writing:
                return bool(held.acquired or (updates and held.waited))
            if engine:
                return held.committed
            if held.waited or held.observed:
                return True
            if held.acquired:
                return not any(_meet(name, into) for name in names for into in held.loading)
            return not reads  # an update of nothing is a write outside its bracket

        return [held for held in self.before.get(index, ()) if not may(held)]

    def idle(self, program: Program, verb: str) -> list[int]:
        """Return the `commit` or `release` steps that never find more held than they keep.

        Of the copies of a repeated step, and of the pieces of a split loop, one that does is enough. Where a
        constant says how many are kept, or how often a loop runs, another value may find some.
        """
        steps = self.verbs(verb)
        keeps = (getattr(step.model, "keep", None) for step in steps)
        if any(keep is not None and keep.names for keep in keeps) or counted(program, self.task):
            return []
        busy = {
            step.route
            for step in steps
            if max((_count(held, verb) for held in self.before.get(step.index, ())), default=0)
            > kept(program, step)
        }
        # A `keep` of all stages is another rule's; what is kept may be for a further tile, of another policy.
        most = self.memory.stages or MOST_KEPT
        judged = (
            step
            for step in steps
            if (n := kept(program, step)) < most and not (n and self._one_tile(program, step))
        )
        return [step.index for step in judged if step.route not in busy]

    def _one_tile(self, program: Program, step: Step) -> bool:
        """Whether a step stands in a loop over tiles of which there is one."""
        loops = (node for node in self.task.tree if isinstance(node, TileLoop))
        grid = program.queue is not None and program.queue.policy == "grid"
        return grid and any(one.index == step.index for loop in loops for one in all_steps(loop.body))


def counted(program: Program, task: Task) -> bool:
    """Whether a constant decides how often a loop of a task runs, and nothing else does."""
    for node, _ in walk(task.tree):
        if not isinstance(node, Loop):
            continue
        bounds = (node.start, node.end, node.step)
        if any(program.flat(bound, node.env).names for bound in bounds):
            continue
        names = [name.text for bound in bounds for name in bound.names]
        for name in names:  # grows while it is walked
            let = program.spec.let.get(name)
            names += () if let is None else (it.text for it in let.names if it.text not in names)
        if program.constants.keys() & set(names):
            return True
    return False


def _meet(one: str | None, other: str | None) -> bool:
    return one is None or other is None or one == other


def _count(held: Held, verb: str) -> int:
    return held.acquired if verb == "commit" else held.waited


def kept(program: Program, step: Step) -> int:
    """Return how many stages a `commit` or `release` keeps; what is not known counts as none."""
    keep = getattr(step.model, "keep", None)
    return max(0, program.values.integer(keep, (*step.route, "keep"), step.env) or 0)


@per_program
def broken(program: Program) -> frozenset[str]:
    """Return the rings with a bracket that does not close: what is derived from their steps is not judged."""
    found = set()
    for entry in holds(program):
        idle = entry.idle(program, "commit") or entry.idle(program, "release")
        held = any(end.acquired or end.waited for end in entry.ends)
        if idle or held or entry.stray_writes() or entry.stray_reads():
            found.add(entry.memory.name)
    return frozenset(found)


def named(step: Step) -> str:
    """Return the word by which a message calls a step: its work, or its verb."""
    return str(getattr(step.model, "do", step.verb))


def text(step: Step) -> str:
    """Return a ring step as a message quotes it."""
    return f"{step.verb}: {operand_of(step)}"


def stages(count: int, entry: Holds) -> str:
    """Say how many stages are held; counts end at `entry.most`."""
    return "a stage" if count == 1 else f"{count} stages" + (" or more" if count == entry.most else "")


def closing(program: Program, entry: Holds) -> tuple[str, str]:
    """Return what a `commit` and what a `release` of the ring names: its fork, its merge, or the ring."""
    ring = entry.memory.name
    group = program.groups.get(entry.memory.group or "")
    if group is None:
        return ring, ring
    return (group.name, ring) if group.kind == "fork" else (ring, group.name)


def ring_of(program: Program, task: Task, step: Step) -> list[tuple[str, int]]:
    """Return the ring copies that a ring step names, groups looked through."""
    reference = operand_of(step)
    if reference is None or step.verb not in RING_VERBS:
        return []
    meaning = program.meaning(reference, task, step.env, step.route)
    if meaning is None:
        return []
    names = program.meanings.group_members(reference.name)
    return [(n, meaning.copy) for n in names if n in program.memories and program.memories[n].ring]


@per_program
def followed(program: Program) -> tuple[Holds, ...]:
    """Return the facts of every ring copy in every task that names it, as far as paths could be followed.

    Left out are tasks with a step whose operand is not there.
    """
    tasks = [task for task in program.tasks if task.name not in lost(program)]
    return tuple(entry for task in tasks for entry in _of_task(program, task))


def holds(program: Program) -> tuple[Holds, ...]:
    """Return the facts of those ring copies all of whose paths could be followed."""
    return tuple(entry for entry in followed(program) if entry.complete)


def _of_task(program: Program, task: Task) -> Iterator[Holds]:
    concerned: dict[tuple[str, int], Holds] = {}
    for step in task.steps():
        for key in ring_of(program, task, step):
            entry = _entry(concerned, program, task, key)
            entry.steps[step.index] = step
            entry.protocol.add(step.index)
        for touch in program.touches(step, task):
            if touch.operand is not None and touch.operand.name in program.memories:
                key = (touch.operand.name, touch.operand.copy)
                if program.memories[key[0]].ring:
                    entry = _entry(concerned, program, task, key)
                    entry.steps[step.index] = step
                    entry.touches.setdefault(step.index, []).append(touch)
    conditions = Conditions(program)
    for entry in concerned.values():
        _walk(program, entry, conditions)
        yield entry


def _entry(found: dict[tuple[str, int], Holds], program: Program, task: Task, key: tuple[str, int]) -> Holds:
    if key not in found:
        pipeline = program.pipelines.get(key)
        store = pipeline is not None and pipeline.store_ring
        found[key] = Holds(task, program.memories[key[0]], key[1], store)
    return found[key]


def _walk(program: Program, entry: Holds, conditions: Conditions) -> None:
    keeps = {step.index: kept(program, step) for step in entry.verbs("commit", "release")}
    # Whoever holds more than all that is ever kept, and all stages, may as well hold one more.
    stages = entry.memory.stages or 0
    entry.most = max(2, 1 + max(keeps.values(), default=0), stages if stages <= MOST_STAGES else 0)
    if entry.most > MOST_KEPT:
        entry.complete = False
        return

    # Who waits for a ring as well means the stage that it holds.
    waits = any(not getattr(step.model, "observe", None) for step in entry.verbs("wait"))

    def transfer(step: Step, held: Held) -> Held:
        entry.before.setdefault(step.index, set()).add(held)
        if step.index not in entry.protocol:
            into = _loaded(entry.touches[step.index]) if held.acquired else frozenset()
            return replace(held, loading=held.loading | into) if into else held
        match step.verb:
            case "acquire":
                return replace(held, acquired=min(held.acquired + 1, entry.most), loading=frozenset())
            case "commit":
                left = min(held.acquired, keeps[step.index])
                loading = held.loading if left else frozenset()
                return replace(held, acquired=left, committed=True, loading=loading)
            case "wait" if getattr(step.model, "observe", None):
                return held if waits else replace(held, observed=True)
            case "wait":
                return replace(held, waited=min(held.waited + 1, entry.most))
            case "release":
                return replace(held, waited=min(held.waited, keeps[step.index]))
        return held

    walker = Walker(program, entry.task, transfer, lambda step: step.index in entry.steps, conditions)
    entry.ends = walker.run(Held())
    entry.complete = walker.complete


def _loaded(found: list[Touch]) -> frozenset[str | None]:
    """Return the buffers into which a step starts loads: others than its threads write them."""
    return frozenset(t.reference.buffer for t in found if t.writes and t.engine in LOADERS)
