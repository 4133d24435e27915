"""The same patterns in the interface of the package `nvidia-cutlass-dsl`, and its own check of them.

A trip count is a number there. Nothing here needs a GPU; import it only where the package is installed.
"""

from __future__ import annotations

import contextlib
import io
import re
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import cutlass
from cutlass.experimental import task_scheduling as peer
from cutlass.experimental.task_scheduling.enums import TileSchedulerType
from cutlass.experimental.task_scheduling.resources import (
    MemoryResource,
    PipelineConfig,
    TaskLocalVariable,
    TileSchedulerConfig,
    WorkQueue,
)
from cutlass.experimental.task_scheduling.task import Task
from cutlass.experimental.task_scheduling.task_manager import TaskManager
from cutlass.pipeline import Agent, CooperativeGroup

ONE_CTA = (1, 1, 1, 1)
STATES = re.compile(r"([\d,]+) states")


class Memory(MemoryResource):
    """Memory that is read and written, by works that do nothing."""

    @peer.consumer_work
    def read(self, stage_info: Any) -> None:
        """Read a stage."""

    @peer.producer_work
    def fill(self, stage_info: Any) -> None:
        """Fill a stage."""


@dataclass(eq=False)
class Flags(Memory):
    """Memory that says of each round whether something holds."""

    flag: TaskLocalVariable = TaskLocalVariable.uninitialized()  # noqa: RUF009 the package reads it

    def __post_init__(self) -> None:
        """Say what the condition is before anything is asked."""
        self.flag = TaskLocalVariable(dtype=cutlass.Boolean, default=False)

    @peer.consumer_work(returns=flag)
    def ask(self, stage_info: Any) -> Any:
        """Return what a condition is made of."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A schedule: its tasks made anew each time, and the edges of its graph."""

    title: str
    trips: int
    make: Callable[[int], tuple[list[Task], dict[Any, list[Any]]]]


@dataclass(frozen=True, slots=True)
class Said:
    """What the package says of a schedule, and how long it took; `states` is none where it prints none."""

    title: str
    trips: int
    verdict: str
    states: int | None
    milliseconds: float


def group(threads: int) -> CooperativeGroup:
    """Return a group of so many arrivals."""
    return CooperativeGroup(Agent.Thread, threads)


def ring(name: str, make: Callable[..., Any], stages: int, *sides: Any) -> Memory:
    """Return a ring of one kind; `sides` are what its maker asks for behind the stages."""
    return Memory(name=name, pipeline_config=make(stages, *sides, cta_layout_vmnk=ONE_CTA))


def loaded(name: str, stages: int) -> Memory:
    """Return a ring filled by TMA and read by threads."""
    return ring(name, PipelineConfig.create_tma_async_pipeline_cfg, stages, 4096, group(1), group(1))


def operands(name: str, stages: int) -> Memory:
    """Return a ring filled by TMA and read by the tensor core."""
    return ring(name, PipelineConfig.create_tma_umma_pipeline_cfg, stages, 4096, group(1), group(1))


def products(name: str, stages: int) -> Memory:
    """Return a ring filled by the tensor core and read by four warps."""
    return ring(name, PipelineConfig.create_umma_async_pipeline_cfg, stages, group(1), group(128))


def factors(name: str, stages: int) -> Memory:
    """Return a ring filled by four warps and read by the tensor core."""
    return ring(name, PipelineConfig.create_async_umma_pipeline_cfg, stages, group(128), group(1))


def threads(name: str, stages: int, fillers: int = 32, readers: int = 32) -> Memory:
    """Return a ring filled and read by threads."""
    sides = (group(fillers), group(readers))
    return ring(name, PipelineConfig.create_async_async_pipeline_cfg, stages, *sides)


def queue(takers: int | None) -> WorkQueue:
    """Return a static queue, or with a number of threads that take its answers the hardware's."""
    if takers is None:
        return WorkQueue(TileSchedulerConfig(TileSchedulerType.StaticPersistent, None), name="tiles")
    answers = PipelineConfig.create_clc_fetch_async_pipeline_cfg(
        2, 16, group(1), group(takers), cta_layout_vmnk=ONE_CTA
    )
    config = TileSchedulerConfig(TileSchedulerType.ClcDynamicPersistent, None)
    return WorkQueue(config, name="tiles", pipeline_config=answers)


NEXT_TILE = ("tiles.wait", "tiles.get_and_advance_work_tile", "tiles.release")
FETCH = ("tiles.acquire", "tiles.fetch_work_tile", "tiles.commit")


def task(
    name: str,
    warp: int,
    sources: list[Any],
    targets: list[Any],
    loop: tuple[str, ...],
    trips: int,
    head: tuple[str, ...] = (),
    tail: tuple[str, ...] = (),
    warps: int = 1,
) -> Task:
    """Return a task whose steps are written as `ring.verb`, before, in and behind its loop.

    With a queue among its sources all of that is done for each tile.
    """
    memories = [*sources, *(memory for memory in targets if memory not in sources)]
    tiles = next((memory for memory in sources if isinstance(memory, WorkQueue)), None)

    @peer.schedule
    def captured(*proxies: Any) -> None:
        by_name = {memory.name: proxy for memory, proxy in zip(memories, proxies, strict=True)}

        def do(steps: tuple[str, ...]) -> None:
            for step in steps:
                memory, _, verb = step.partition(".")
                getattr(by_name[memory], verb)()

        with contextlib.nullcontext() if tiles is None else peer.work_tile_loop(by_name["tiles"]):
            do(head)
            with peer.domain_loop(trips):
                do(loop)
            do(tail if tiles is None else (*tail, *NEXT_TILE))

    return Task(sources, targets, warp, warps, schedule=captured(*memories), name=name)


def taken(ring: str, *between: str) -> tuple[str, ...]:
    """Return the steps of a consumer."""
    return (f"{ring}.wait", f"{ring}.read", *between, f"{ring}.release")


def given(ring: str) -> tuple[str, ...]:
    """Return the steps of a producer."""
    return (f"{ring}.acquire", f"{ring}.fill", f"{ring}.commit")


def copy(stages: int, trips: int) -> Peer:
    """Return a loader and a store."""

    def make(trips: int) -> tuple[list[Task], dict[Any, list[Any]]]:
        x, y, ring = Memory(name="x"), Memory(name="y"), loaded("ring", stages)
        tasks = [
            task("load", 0, [x], [ring], ("x.read", *given("ring")), trips),
            task("store", 1, [ring], [y], taken("ring", "y.fill"), trips),
        ]
        return tasks, {ring: [x], y: [ring]}

    return Peer(f"TMA copy, {stages} stages", trips, make)


def gemm(trips: int, *, two: bool) -> Peer:
    """Return one or two loaders, a product and a store."""

    def make(trips: int) -> tuple[list[Task], dict[Any, list[Any]]]:
        return products_of(trips, ("a", "b") if two else ("ab",), [])

    return Peer("A/B GEMM" if two else "3-task GEMM", trips, make)


def persistent(trips: int, *, scheduler: bool) -> Peer:
    """Return two loaders, a product, a store and a task that only pads, over a queue."""

    def make(trips: int) -> tuple[list[Task], dict[Any, list[Any]]]:
        tiles = queue(32 * 9 if scheduler else None)
        tasks, graph = products_of(trips, ("a", "b"), [tiles])
        tasks.append(task("padding", 7, [tiles], [], (), 0))
        if scheduler:
            tasks.append(task("scheduler", 8, [tiles], [tiles], (), 0, tail=FETCH))
            graph[tiles] = [tiles]
        return tasks, graph

    kind = "scheduler" if scheduler else "static"
    return Peer(f"persistent A/B GEMM + padding, {kind}", trips, make)


def products_of(
    trips: int, names: tuple[str, ...], tiles: list[WorkQueue]
) -> tuple[list[Task], dict[Any, list[Any]]]:
    """Return the tasks of a matrix product with a ring for each name, over a queue if there is one."""
    x, y, acc = Memory(name="x"), Memory(name="y"), products("acc", 2 if tiles else 1)
    rings = [operands(name, 4) for name in names]
    tasks = [
        task(f"load_{ring.name}", 5 + i, [*tiles, x], [ring], ("x.read", *given(ring.name)), trips)
        for i, ring in enumerate(rings)
    ]
    waits = tuple(f"{ring.name}.{verb}" for verb in ("wait", "read") for ring in rings)
    gives = tuple(f"{ring.name}.release" for ring in rings)
    steps = (*waits, "acc.fill", *gives)
    tasks.append(task("mma", 4, [*tiles, *rings], [acc], steps, trips, ("acc.acquire",), ("acc.commit",)))
    tasks.append(task("store", 0, [*tiles, acc], [y], taken("acc", "y.fill"), 1, warps=4))
    return tasks, {**{ring: [x, *tiles] for ring in rings}, acc: [*rings, *tiles], y: [acc, *tiles]}


def attention(trips: int) -> Peer:
    """Return two softmax tasks, a correction, products, a loader and an epilogue."""

    def make(trips: int) -> tuple[list[Task], dict[Any, list[Any]]]:
        x, y = Memory(name="x"), Memory(name="y")
        q = [operands(f"q{i}", 1) for i in (0, 1)]
        keys, values = operands("k", 2), operands("v", 2)
        scores, outs = ([products(f"{name}{i}", 1) for i in (0, 1)] for name in ("s", "o"))
        probs = [factors(f"p{i}", 1) for i in (0, 1)]
        scales = [threads(f"c{i}", 1, 128, 128) for i in (0, 1)]
        staging = threads("out", 2, 128, 32)
        tasks = [
            task(
                f"softmax{i}",
                4 * i,
                [scores[i]],
                [scales[i], probs[i]],
                (*taken(f"s{i}"), *given(f"c{i}"), *given(f"p{i}")),
                trips,
                warps=4,
            )
            for i in (0, 1)
        ]
        each = tuple(step for i in (0, 1) for step in (*taken(f"c{i}"), *taken(f"o{i}")))
        tasks.append(
            task("correct", 8, [*scales, *outs], [staging], each, trips, tail=given("out") * 2, warps=4)
        )
        first = tuple(f"s{i}.{verb}" for i in (0, 1) for verb in ("acquire", "fill", "commit"))
        second = tuple(
            step
            for i in (0, 1)
            for step in (
                f"p{i}.wait",
                f"p{i}.read",
                f"o{i}.acquire",
                f"o{i}.fill",
                f"p{i}.release",
                f"o{i}.commit",
            )
        )
        steps = ("k.wait", "k.read", *first, "k.release", "v.wait", "v.read", *second, "v.release")
        head = tuple(f"q{i}.{verb}" for i in (0, 1) for verb in ("wait", "read"))
        tasks.append(
            task(
                "mma",
                12,
                [*q, keys, values, *probs],
                [*scores, *outs],
                steps,
                trips,
                head,
                ("q0.release", "q1.release"),
            )
        )
        fills = ("x.read", *given("k"), "x.read", *given("v"))
        begin = ("x.read", *given("q0"), "x.read", *given("q1"))
        tasks.append(task("load", 13, [x], [*q, keys, values], fills, trips, begin))
        tasks.append(task("finish", 14, [staging], [y], taken("out", "y.fill"), 2))
        graph: dict[Any, list[Any]] = {ring: [x] for ring in (*q, keys, values)}
        for i in (0, 1):
            graph |= {scores[i]: [q[i], keys], scales[i]: [scores[i]], probs[i]: [scores[i]]}
            graph[outs[i]] = [probs[i], values]
        return tasks, {**graph, staging: [*scales, *outs], y: [staging]}

    return Peer("attention, 6 tasks", trips, make)


def chain(count: int, trips: int, stages: int = 2) -> Peer:
    """Return a row of tasks with a ring between any two."""

    def make(trips: int) -> tuple[list[Task], dict[Any, list[Any]]]:
        rings = [threads(f"r{i}", stages) for i in range(1, count)]
        memories = [Memory(name="x"), *rings, Memory(name="y")]
        tasks = []
        for i in range(count):
            source, target = memories[i], memories[i + 1]
            take = ("x.read",) if i == 0 else taken(source.name)
            give = ("y.fill",) if i == count - 1 else given(target.name)
            tasks.append(task(f"t{i}", i, [source], [target], (*take, *give), trips))
        return tasks, {memories[i + 1]: [memories[i]] for i in range(count)}

    return Peer(f"chain of {count} tasks", trips, make)


def conditions(count: int, trips: int) -> Peer:
    """Return a copy under so many conditions."""

    def make(trips: int) -> tuple[list[Task], dict[Any, list[Any]]]:
        x, y, ring = Flags(name="x"), Memory(name="y"), loaded("ring", 4)

        def captured(flags: Any, source: Any, target: Any, steps: tuple[str, ...]) -> None:
            by_name = {"source": source, "target": target}
            with peer.domain_loop(trips):
                flag = flags.ask()
                for i in range(count):
                    with peer.when_true(flag, key=f"key {i}"):
                        for step in steps:
                            memory, _, verb = step.partition(".")
                            getattr(by_name[memory], verb)()

        @peer.schedule
        def load(x: Any, ring: Any) -> None:
            captured(x, x, ring, ("source.read", *given("target")))

        @peer.schedule
        def store(x: Any, ring: Any, y: Any) -> None:
            captured(x, ring, y, taken("source", "target.fill"))

        tasks = [
            Task([x], [ring], 0, 1, schedule=load(x, ring), name="load"),
            Task([x, ring], [y], 1, 1, schedule=store(x, ring, y), name="store"),
        ]
        return tasks, {ring: [x], y: [ring, x]}

    return Peer(f"copy, {count} conditions", trips, make)


def every() -> Iterable[Peer]:
    """Yield the schedules, each with growing trip counts."""
    for stages in (4, 8):
        yield from (copy(stages, trips) for trips in (8, 64))
    for two in (False, True):
        yield from (gemm(trips, two=two) for trips in (4, 64))
    for scheduler in (False, True):
        yield from (persistent(trips, scheduler=scheduler) for trips in (2, 4))
    yield from (attention(trips) for trips in (2, 8))
    yield from (chain(count, 4) for count in range(2, 10))
    yield chain(9, 16)
    yield from (conditions(count, 4) for count in (1, 2, 4, 8))


def asked(schedule: Peer, times: int = 5) -> Said:
    """Let the package check a schedule so many times; the best time counts, its printing excluded."""
    verdict, states, found = "accepted", None, []
    for i in range(times + 1):
        heard = io.StringIO()
        with contextlib.redirect_stdout(heard), warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            begin = time.process_time()
            try:
                tasks, graph = schedule.make(schedule.trips)
                TaskManager(tasks, graph, verbose=i == 0)
            except Exception as error:
                sentence = (str(error).strip().splitlines() or [""])[0]
                verdict = f"{type(error).__name__}: {sentence[:60]}"
            spent = time.process_time() - begin
        if i == 0:
            said = STATES.findall(heard.getvalue() + "".join(str(one.message) for one in warned))
            states = max((int(number.replace(",", "")) for number in said), default=None)
            if warned and verdict == "accepted":
                verdict = "accepted with a warning"
        else:
            found.append(spent)
        if spent > 2:
            found.append(spent)
            break
    return Said(schedule.title, schedule.trips, verdict, states, min(found) * 1e3)
