"""Schedules to check: of usual kinds, of growing sizes, and made to explode."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GOOD = ROOT / "tests" / "peer" / "good"


@dataclass(frozen=True, slots=True)
class Schedule:
    """A spec's text and what a call sets in it. `series` and `size` are given where it is one of several."""

    title: str
    text: str
    settings: tuple[str, ...] = ()
    series: str = ""
    size: int = 0


def known(title: str, name: str, *settings: str) -> Schedule:
    """Return one of the good patterns, with values set."""
    return Schedule(title, (GOOD / f"{name}.tsc.yaml").read_text(encoding="utf-8"), settings)


def usual() -> Iterator[Schedule]:
    """Yield schedules of usual kernels."""
    yield known("TMA copy, 4 stages", "tma_copy", "constants.STAGES=4")
    yield known("TMA copy, 8 stages", "tma_copy", "constants.STAGES=8")
    yield known("3-task GEMM", "gemm_chain")
    yield known("A/B GEMM", "gemm_ab")
    yield known("A/B GEMM, merged", "gemm_ab_merge")
    yield known("persistent GEMM, static", "persistent_static")
    yield known("persistent GEMM, scheduler", "persistent_clc")
    yield known("persistent A/B GEMM + padding, static", "persistent_ab_static")
    yield known(
        "persistent A/B GEMM + padding, scheduler", "persistent_ab_static", "resources.tiles.policy=clc"
    )
    yield known("attention, 6 tasks", "fmha6")


HEAD = """\
tsc: 1
kernel: made
target: sm_90a
params:
  x: {dtype: f32, shape: [rows, 128]}
  y: {dtype: f32, shape: [rows, 128]}
"""


RING = "resources:\n  ring: {{kind: smem, stages: {}, dtype: f32, shape: [128]}}\n"
FILL = ("acquire: ring", "{bulk_load: x, at: [loop, 0], to: ring}", "commit: ring")
DRAIN = ("wait: ring", "{bulk_store: y, at: [loop, 0], from: ring}", "store_wait: 0", "release: ring")


def lines(steps: tuple[str, ...], indent: int = 10) -> str:
    """Return steps as the lines of a block."""
    return "".join(f"{' ' * indent}- {step}\n" for step in steps)


def task(name: str, body: str) -> str:
    """Return a task of one warp with a loop over the rows."""
    return f"  {name}:\n    warps: 1\n    schedule:\n      - domain_loop: rows\n        body:\n{body}"


def two(fill: str, drain: str, head: str = HEAD, stages: int = 4) -> str:
    """Return a loader and a store with these steps in their loops."""
    tasks = task("load", fill) + task("store", drain)
    return f"{head}launch: {{grid: [1]}}\n{RING.format(stages)}tasks:\n{tasks}"


def under(condition: str, steps: tuple[str, ...]) -> str:
    """Return steps under a condition."""
    return f'          - when: "{condition}"\n            then:\n{lines(steps, 14)}'


def chain(tasks: int, stages: int = 2) -> Schedule:
    """Return a row of tasks, a ring between any two."""
    rings = "".join(
        f"  r{i}: {{kind: smem, stages: {stages}, dtype: f32, shape: [128]}}\n" for i in range(1, tasks)
    )
    text = f"{HEAD}launch: {{grid: [1]}}\nresources:\n{rings}"
    text += "  v: {kind: registers, dtype: f32, per_thread: 4}\ntasks:\n"
    for i in range(tasks):
        taken: tuple[str, ...] = (
            f"wait: r{i}",
            f"{{load: v, from: r{i}, at: [thread * 4]}}",
            f"release: r{i}",
        )
        put = f"{{store: r{i + 1}, from: v, at: [thread * 4]}}"
        given: tuple[str, ...] = (f"acquire: r{i + 1}", put, f"commit: r{i + 1}")
        if i == 0:
            taken = ("{load: v, from: x, at: [loop, thread * 4]}",)
        if i == tasks - 1:
            given = ("{store: y, from: v, at: [loop, thread * 4]}",)
        text += task(f"t{i}", lines((*taken, *given)))
    return Schedule(f"chain of {tasks} tasks", text, series="chain, tasks", size=tasks)


def stages(count: int) -> Schedule:
    """Return a copy with so many stages."""
    text = two(lines(FILL), lines(DRAIN), stages=count)
    return Schedule(f"copy, {count} stages", text, series="copy, stages", size=count)


def steps(count: int) -> Schedule:
    """Return a copy that takes so many stages a round; three and four times as many steps."""
    text = two(lines(FILL) * count, lines(DRAIN) * count)
    return Schedule(f"copy, {7 * count} steps", text, series="copy, steps", size=7 * count)


def conditions(count: int) -> Schedule:
    """Return a copy under so many conditions that nobody knows anything of."""
    head = HEAD + f"  flags: {{dtype: i32, shape: [rows, {count}]}}\n"
    fill, drain = (
        "".join(under(f"flags[loop, {i}] != 0", steps) for i in range(count)) for steps in (FILL, DRAIN)
    )
    return Schedule(
        f"copy, {count} conditions", two(fill, drain, head), series="copy, conditions", size=count
    )


def nest(depth: int) -> Schedule:
    """Return a copy in so many loops, each with a bound of its own that nobody knows and that may be 0."""
    dims = ", ".join(f"n{i}" for i in range(depth))
    promises = ", ".join(f"{name}: {{min: 0}}" for name in ("rows", *(f"n{i}" for i in range(depth))))
    head = HEAD + f"  sizes: {{dtype: u8, shape: [{dims}]}}\ndims: {{{promises}}}\n"

    def nested(steps: tuple[str, ...]) -> str:
        text, indent = "", 10
        for i in range(depth):
            text += f"{' ' * indent}- for: n{i}\n{' ' * (indent + 2)}as: i{i}\n{' ' * (indent + 2)}body:\n"
            indent += 4
        return text + lines(steps, indent)

    text = two(nested(FILL), nested(DRAIN), head=head)
    return Schedule(f"copy, {depth + 1} loops", text, series="copy, loops", size=depth + 1)


def loose(count: int) -> Schedule:
    """Return pairs of tasks that have nothing to do with each other, each pair with conditions of its own."""
    text = HEAD + f"  flags: {{dtype: i32, shape: [rows, {count}]}}\nlaunch: {{grid: [1]}}\nresources:\n"
    for i in range(count):
        text += f"  r{i}: {{kind: smem, stages: {2 + i % 3}, dtype: f32, shape: [128]}}\n"
    text += "tasks:\n"
    for i in range(count):
        for name, steps in (("load", FILL), ("store", DRAIN)):
            own = tuple(step.replace("ring", f"r{i}") for step in steps)
            text += task(f"{name}{i}", under(f"flags[loop, {i}] != 0", own))
    return Schedule(f"{count} loose pairs", text, series="loose pairs", size=count)


def hub(count: int, phases: int = 7) -> Schedule:
    """Return loaders with conditions and periods of their own, and one store that takes from all of them."""
    text = HEAD + f"  flags: {{dtype: i32, shape: [rows, {count}]}}\nlaunch: {{grid: [1]}}\nresources:\n"
    for i in range(count):
        text += f"  r{i}: {{kind: smem, stages: {2 + i % 5}, dtype: f32, shape: [128]}}\n"
    tasks, drains = "", ""
    for i in range(count):
        own, taken = (tuple(step.replace("ring", f"r{i}") for step in steps) for steps in (FILL, DRAIN))
        condition = f"flags[loop, {i}] != 0 and iter % {2 + i % phases} != 1"
        tasks += task(f"load{i}", under(condition, own))
        drains += under(condition, taken)
    text += f"tasks:\n{tasks}{task('store', drains)}"
    return Schedule(f"{count} loaders of one store", text, series="loaders", size=count)


def growing() -> Iterator[Schedule]:
    """Yield series of growing schedules."""
    yield from map(chain, range(2, 10))
    yield from map(stages, (2, 4, 8, 16))
    yield from map(steps, (1, 2, 4, 8, 16, 32))
    yield from map(conditions, (1, 2, 4, 8))
    yield from map(nest, (1, 2, 3))
    yield from map(loose, (2, 4, 8))


def explosive() -> Iterator[Schedule]:
    """Yield schedules made to explode: deep nests, thousands of steps, hundreds of conditions."""
    yield nest(12)
    yield steps(600)
    yield conditions(200)
    yield loose(12)
    yield hub(10)
    yield chain(16, stages=7)
