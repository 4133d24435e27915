"""Task instances: replicas, warp ranges, and which of them one thread can run alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from tsc.ops.registry import BY_VERB
from tsc.program.expand import Expander, fetch_tree
from tsc.program.model import Task
from tsc.program.names import expressions
from tsc.program.tree import Block, Guard, Loop, Step, TileLoop, steps, walk
from tsc.program.values import Values
from tsc.source.route import Route
from tsc.spec.document import Spec
from tsc.spec.resources import Queue

# More copies of a task than a CTA has warps can never run.
MOST_REPLICAS = 32


def replica_counts(spec: Spec, values: Values) -> dict[str, int]:
    """Return how many instances each task has, at least 1 so that its schedule is looked at."""
    counts = {}
    for name, task in spec.tasks.items():
        count = values.integer(task.replicas, ("tasks", name, "replicas")) if task.replicas is not None else 1
        counts[name] = min(max(count or 1, 1), MOST_REPLICAS)
    return counts


def instances(spec: Spec, values: Values, counts: Mapping[str, int]) -> list[Task]:
    """Expand every task instance, in the order written; the scheduler task of a dynamic queue comes last."""
    queues = frozenset(name for name, model in spec.resources.items() if isinstance(model, Queue))
    made: list[Task] = []
    for name, model in spec.tasks.items():
        route: Route = ("tasks", name)
        for replica in range(counts[name]):
            own: dict[str, int | bool] = {} if model.replicas is None else {"replica": replica}
            warps = values.integer(model.warps, (*route, "warps"), own)
            env = {**own, "threads": 32 * (warps or 0)}
            tree = Expander(values, queues).task(model.schedule, (*route, "schedule"), env)
            task = Task(
                name=name,
                label=name if model.replicas is None else f"{name}[{replica}]",
                route=route,
                index=len(made),
                replica=None if model.replicas is None else replica,
                replicas=counts[name],
                warps=warps,
                first_warp=values.integer(model.first_warp, (*route, "first_warp"), own),
                registers=values.integer(model.registers, (*route, "registers"), own),
                ctas=model.ctas or _ctas(spec, tree),
                tree=tree,
                single=False,
            )
            made.append(replace(task, single=runs_alone(task)))
    for name, resource in spec.resources.items():
        if isinstance(resource, Queue) and resource.policy in ("atomic", "clc") and not _scheduled(made):
            made.append(_fetch(name, len(made), values))
    return made


def _ctas(spec: Spec, tree: Block) -> Literal["all", "leader"]:
    verbs = ("tcgen05_mma", "tcgen05_cp")
    pair = spec.launch.cta_group == 2 and any(step.verb in verbs for step in steps(tree))
    return "leader" if pair else "all"


def _scheduled(tasks: list[Task]) -> bool:
    return any(step.verb == "fetch_work_tile" for task in tasks for step in task.steps())


def _fetch(queue: str, index: int, values: Values) -> Task:
    label, route = f"{queue}.fetch", ("resources", queue)
    return Task(
        name=label,
        label=label,
        route=route,
        index=index,
        replica=None,
        replicas=1,
        warps=1,
        first_warp=None,
        registers=None,
        ctas="all",
        tree=fetch_tree(values, queue, route),
        single=True,
        derived=True,
    )


# Steps that one thread can do for all: ring and order steps on mbarriers, and the words that order launches.
_ALONE = frozenset(
    (
        "acquire",
        "commit",
        "wait",
        "release",
        "try_acquire",
        "try_wait",
        "skip",
        "take",
        "pass",
        "pdl_wait",
        "pdl_launch",
    )
) | {"get_and_advance_work_tile", "fetch_work_tile"}
_THREAD_NAMES = frozenset(("thread", "warp", "lane"))


def runs_alone(task: Task) -> bool:
    """Whether one elected thread can run the whole schedule: nothing in it is done by several threads."""
    for node, _ in walk(task.tree):
        if isinstance(node, Step):
            operation = BY_VERB.get(node.verb)
            alone = operation.issuer == "one" if operation is not None else node.verb in _ALONE
            if not alone:
                return False
        if _mentions_threads(node):
            return False
    return True


def _mentions_threads(node: object) -> bool:
    match node:
        case Step():
            if isinstance(node.model, str):
                return False
            fields = type(node.model).model_fields
            found = [expr for field in fields for _, expr in expressions(getattr(node.model, field), ())]
        case Loop():
            found = [node.start, node.end, node.step]
        case Guard():
            found = [node.condition] if node.condition is not None else []
        case TileLoop():
            found = [node.skip_if] if node.skip_if is not None else []
        case _:
            return False
    return any(name.text in _THREAD_NAMES for expr in found for name in expr.names)


def place_warps(tasks: list[Task]) -> tuple[list[Task], int | None]:
    """Give every task its first warp and return the CTA's warps, padding included.

    Tasks of whole warpgroups come first, each kind in the order written; a `first_warp` of the author's
    stands. Padding completes the last warpgroup if any task has `registers`, because setmaxnreg speaks to
    whole warpgroups.
    """
    if any(task.warps is None for task in tasks):
        return tasks, None
    taken = [(t.first_warp, t.first_warp + (t.warps or 0)) for t in tasks if t.first_warp is not None]
    order = sorted(range(len(tasks)), key=lambda i: (tasks[i].derived, (tasks[i].warps or 0) % 4 != 0, i))
    placed = list(tasks)
    cursor = 0
    for i in order:
        task = tasks[i]
        if task.first_warp is not None:
            continue
        need = max(0, task.warps or 0)
        while clash := next((end for begin, end in taken if begin < cursor + need and cursor < end), None):
            cursor = clash
        placed[i] = replace(task, first_warp=cursor)
        cursor += need
    total = max(((t.first_warp or 0) + (t.warps or 0) for t in placed), default=0)
    if any(task.registers is not None for task in placed):
        total = -(-total // 4) * 4
    return placed, total
