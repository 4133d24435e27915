"""From the models to the resolved program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import prod
from pathlib import Path

from tsc.expr import Expr, Interval, interval, parse
from tsc.ops.registry import BY_VERB
from tsc.program.accesses import Meanings, touches
from tsc.program.dims import INT32, Dim
from tsc.program.expand import operand_of
from tsc.program.graph import dependency_graph
from tsc.program.model import Group, Memory, Order, Program, Queue, Scalar, Task, Tensor, Work
from tsc.program.names import dims_of, let_stages, sites, with_arch
from tsc.program.queue import answer_bytes, place_answers
from tsc.program.rings import pipelines, ring_uses
from tsc.program.storage import TENSOR_SLOT_BYTES, Uses, lay_out, memories, register_sets
from tsc.program.target import find_target, targets_of
from tsc.program.tasks import instances, place_warps, replica_counts
from tsc.program.values import Values
from tsc.program.works import includes_of, works_of
from tsc.source.route import Route
from tsc.spec import resources as kinds
from tsc.spec.document import Spec

# A device has at most this many multiprocessors for the purpose of choosing widths; today's largest has 160.
MOST_SMS = 1024


def resolve(spec: Spec, name: str = "spec", base: Path | None = None, arch: str | None = None) -> Program:
    """Derive everything that LANGUAGE section 12 lists. Never raises for a wrong spec.

    `name` is the spec's name for `#line`, `base` the folder that its files are relative to, `arch` the
    target, by default the first of the spec's.
    """
    targets = targets_of(spec)
    arch = arch or targets[0]
    spec = with_arch(spec, arch)
    values = Values(spec.constants, spec.let)
    counts = replica_counts(spec, values)
    works = works_of(spec, base, name)
    tasks, warps = place_warps(instances(spec, values, counts))
    meanings = Meanings(spec, values, counts)
    tasks = _name_barriers(tasks)
    registers = register_sets(spec, values)
    cluster = {
        axis: max(1, values.integer(extent, ("launch", "cluster", axis)) or 1)
        for axis, extent in spec.launch.cluster.items()
    }
    found = memories(
        spec,
        values,
        _uses(tasks, meanings, works, frozenset(n for n, r in registers.items() if r.shape is not None)),
        counts,
    )
    groups = {
        n: Group(n, ("resources", n), m.kind, m.of)
        for n, m in spec.resources.items()
        if isinstance(m, (kinds.Merge, kinds.Fork))
    }
    found = {
        n: replace(m, group=next((g for g, group in groups.items() if n in group.members), None))
        for n, m in found.items()
    }
    usages = ring_uses(tasks, found, meanings, works, cluster)
    derived = pipelines(spec, {task.label: task for task in tasks}, found, usages, meanings, works, cluster)
    orders = _orders(spec, tasks, meanings, counts)
    queue = _queue(spec, values)
    members = {n: (g.kind, g.members) for n, g in groups.items()}
    layout = lay_out(found, derived, orders, members, answer_bytes(queue))
    queue, smem_bytes = place_answers(queue, tasks, prod(cluster.values()), layout.answers, layout.smem_bytes)
    tensor_slot = smem_bytes if layout.tmem_columns else None
    smem_bytes += 0 if tensor_slot is None else TENSOR_SLOT_BYTES
    tensors, scalars = _arguments(spec, values)
    dims = _dims(spec, values)
    ranges = _ranges(spec, values, dims, queue, cluster, warps)
    complete = all(_sized(spec, memory) for memory in found.values())
    return Program(
        spec=spec,
        kernel=spec.kernel,
        target=find_target(arch),
        targets=targets,
        arch=arch,
        constants=dict(spec.constants),
        lets=values.lets,
        let_stages=let_stages(spec),
        dims=dims,
        tensors=tensors,
        scalars=scalars,
        params=tuple(spec.params),
        queue=queue,
        memories=layout.memories,
        registers=registers,
        groups=groups,
        orders=layout.orders,
        works=works,
        includes=includes_of(spec, base),
        tasks=tuple(tasks),
        uses=tuple(usage.use for usage in usages),
        pipelines=layout.pipelines,
        graph=dependency_graph(tasks, found, meanings, works),
        cluster=tuple(cluster.items()),
        grid=_grid(spec, values, queue, cluster),
        threads=None if warps is None else 32 * warps,
        smem_bytes=smem_bytes if complete else None,
        tmem_columns=layout.tmem_columns if complete else None,
        tensor_slot=tensor_slot,
        sites=tuple(sites(spec)),
        failures=tuple(dict.fromkeys(values.failures)),
        ranges=ranges,
        values=values,
        meanings=meanings,
    )


def _sized(spec: Spec, memory: Memory) -> bool:
    """Whether the size of a resource is known."""
    model = spec.resources[memory.name]
    buffers = getattr(model, "buffers", None)
    wanted = 0 if memory.kind == "signal" else 1 if buffers is None else len(buffers)
    return len(memory.buffers) == wanted and (memory.stages is None or memory.stages > 0)


def _name_barriers(tasks: list[Task]) -> list[Task]:
    """Give each task of several warps that act together a named barrier; 0 is the CTA's."""
    named, free = [], 1
    for task in tasks:
        needs = not task.single and (task.warps or 0) > 1
        named.append(replace(task, barrier_id=free) if needs else task)
        free += needs
    return named


def _uses(
    tasks: list[Task], meanings: Meanings, works: Mapping[str, Work], fragments: frozenset[str]
) -> Uses:
    matrix, bulk = set(), set()
    for task in tasks:
        for step in task.steps():
            if step.verb not in BY_VERB:
                continue
            found = list(touches(step, meanings, works, task.name, task.replica))
            whole = step.verb in ("wgmma", "tcgen05_mma", "stmatrix", "ldmatrix") or (
                step.verb in ("store", "load")
                and any(t.operand is not None and t.operand.name in fragments for t in found)
            )
            copies = step.verb.startswith(("tma_", "bulk_"))
            for touch in found:
                if touch.operand is not None and touch.operand.kind == "smem":
                    tag = (touch.operand.name, touch.reference.buffer)
                    if whole:
                        matrix.add(tag)
                    if copies:
                        bulk.add(tag)
    return Uses(frozenset(matrix), frozenset(bulk))


def _orders(
    spec: Spec, tasks: list[Task], meanings: Meanings, counts: Mapping[str, int]
) -> dict[tuple[str, int], Order]:
    """Collect the participants of turns and named barriers; thread counts are sums over them."""
    free = 1 + max((task.barrier_id or 0 for task in tasks), default=0)
    made: dict[tuple[str, int], Order] = {}
    for name, model in spec.resources.items():
        if not isinstance(model, (kinds.Turn, kinds.Barrier)):
            continue
        for copy in range(counts.get(model.per, 1) if model.per else 1):
            members = [task for task in tasks if _takes_part(task, name, copy, meanings)]
            if isinstance(model, kinds.Turn) and model.order is not None:
                members.sort(key=lambda task: _rank(task, model.order or (), meanings))
            labels = tuple(task.label for task in members)
            route = ("resources", name)
            if isinstance(model, kinds.Turn):
                made[name, copy] = Order(name, route, "turn", copy, labels)
            else:
                made[name, copy] = Order(
                    name, route, "barrier", copy, labels, None, free, sum(t.threads for t in members)
                )
                free += 1
    return made


def _takes_part(task: Task, name: str, copy: int, meanings: Meanings) -> bool:
    for step in task.steps():
        if step.verb in ("take", "pass", "sync", "arrive"):
            reference = operand_of(step)
            if reference is not None and reference.name == name:
                operand = meanings.meaning(reference, task.name, task.replica, step.env, step.route)
                if operand is not None and operand.copy == copy:
                    return True
    return False


def _rank(task: Task, order: tuple[object, ...], meanings: Meanings) -> int:
    for i, reference in enumerate(order):
        name, index = getattr(reference, "name", ""), getattr(reference, "index", None)
        value = None if index is None else meanings.values.integer(index, ())
        if name == task.name and (value is None or value == task.replica):
            return i
    return len(order)


def _arguments(spec: Spec, values: Values) -> tuple[dict[str, Tensor], dict[str, Scalar]]:
    tensors, scalars = {}, {}
    for name, param in spec.params.items():
        route = ("params", name)
        if param.shape is None:
            scalars[name] = Scalar(name, route, param.dtype)
            continue
        shape = tuple(values.flat(extent) for extent in param.shape)
        major = _major(param.major, param.shape)
        order = tuple(i for i in range(len(shape)) if i != major) + ((major,) if shape else ())
        tensors[name] = Tensor(
            name,
            route,
            param.dtype,
            shape,
            order,
            param.packed,
            param.constant,
            False,
            padded=param.padded,
        )
    for name, model in spec.workspace.items():
        shape = tuple(values.flat(extent) for extent in model.shape)
        route = ("workspace", name)
        tensors[name] = Tensor(
            name, route, model.dtype, shape, tuple(range(len(shape))), True, False, True, model.zero
        )
    return tensors, scalars


def _major(major: str | int | None, shape: tuple[Expr, ...]) -> int:
    last = len(shape) - 1
    if isinstance(major, int):
        return major if 0 <= major <= last else last
    named = [i for i, extent in enumerate(shape) if major is not None and extent.text.strip() == major]
    return named[0] if len(named) == 1 else last


def _dims(spec: Spec, values: Values) -> dict[str, Dim]:
    found = {}
    for name, uses in dims_of(spec).items():
        model = spec.dims.get(name)
        route = ("dims", name)
        low = values.integer(model.min, (*route, "min")) if model is not None else None
        high = values.integer(model.max, (*route, "max")) if model is not None else None
        step = values.integer(model.multiple_of, (*route, "multiple_of")) if model is not None else None
        least, high, step = max(0, low or 0), INT32 if high is None else high, max(1, step or 1)
        empties = _empties(spec, values, name, uses)
        dim = Dim(name, Interval(), step, tuple(uses), least, empties, runs_at_zero=low == 0)
        first = max(least, dim.unpromised.lo)
        found[name] = replace(dim, interval=Interval(first, max(first, high)))
    return found


def _empties(spec: Spec, values: Values, name: str, uses: Iterable[Route]) -> bool:
    """Whether a tensor is empty where a dim is 0, whatever the others are."""
    for _, param, _, index in uses:
        extent = values.flat((spec.params[str(param)].shape or ())[int(index)])
        others = dict.fromkeys(extent.free - {name}, Interval(0, INT32))
        if interval(extent, {**others, name: Interval(0, 0)}) == Interval(0, 0):
            return True
    return False


def _queue(spec: Spec, values: Values) -> Queue | None:
    for name, model in spec.resources.items():
        if isinstance(model, kinds.Queue):
            route = ("resources", name)
            axes = tuple((axis, values.flat(extent)) for axis, extent in model.axes.items())
            stages = values.integer(model.stages, (*route, "stages")) if model.stages is not None else 2
            skip = values.flat(model.skip_if) if model.skip_if is not None else None
            return Queue(name, route, model.policy, axes, skip, stages, model.order)
    return None


def cluster_tiles(queue: Queue, cluster: Mapping[str, int]) -> str:
    """Return the expression of how many clusters of tiles there are."""
    parts = []
    for axis, extent in queue.axes:
        size = cluster.get(axis, 1)
        parts.append(f"cdiv({extent.text}, {size})" if size > 1 else f"({extent.text})")
    return " * ".join(parts) if parts else "1"


def _grid(
    spec: Spec, values: Values, queue: Queue | None, cluster: Mapping[str, int]
) -> tuple[Expr, ...] | None:
    if queue is None:
        if spec.launch.grid is None:
            return None
        return tuple(values.flat(extent) for extent in spec.launch.grid)
    size = 1
    for extent in cluster.values():
        size *= extent
    tiles = cluster_tiles(queue, cluster)
    if queue.policy in ("grid", "clc"):
        # The hardware hands out CTAs that would otherwise start: there is one for each tile.
        return (values.flat(parse(f"{tiles} * {size}")),)
    # Even waves: the fewest clusters that need no more waves than all that can be resident would (LANGUAGE
    # section 6). The loader asks the driver how many that are.
    most = "launch.clusters"
    if spec.launch.ctas is not None:
        most = f"max(1, ({values.flat(spec.launch.ctas).text}) // {size})"
        return (values.flat(parse(f"min({tiles}, {most}) * {size}")),)
    return (values.flat(parse(f"cdiv({tiles}, max(1, cdiv({tiles}, {most}))) * {size}")),)


def _ranges(
    spec: Spec,
    values: Values,
    dims: Mapping[str, Dim],
    queue: Queue | None,
    cluster: Mapping[str, int],
    warps: int | None,
) -> dict[str, Interval]:
    """Bound every name that is not local to a task; a grid that is not given has the hardware's limits."""
    ranges = {name: dim.interval for name, dim in dims.items()}
    ranges["sms"] = Interval(1, MOST_SMS)
    ranges["launch.clusters"] = Interval(1, MOST_SMS * 32)
    widths = {
        "i32": Interval(-(2**31), INT32),
        "u32": Interval(0, 2**32 - 1),
        "i64": Interval(-(2**63), 2**63 - 1),
    }
    widths |= {"i8": Interval(-128, 127), "u8": Interval(0, 255), "bool": Interval(0, 1)}
    widths |= {"i4": Interval(-8, 7), "u4": Interval(0, 15)}
    stored = {name: param.dtype for name, param in spec.params.items()}
    stored |= {name: model.dtype for name, model in spec.workspace.items()}
    ranges |= {name: widths[dtype] for name, dtype in stored.items() if dtype in widths}
    grid = _grid(spec, values, queue, cluster) or ()
    for i, axis in enumerate("xyz"):
        most = INT32 if axis == "x" else 65_535
        if i < len(grid):
            most = max(1, min(most, interval(grid[i], ranges).hi))
        ranges[f"grid.{axis}"] = Interval(1, most if i < len(grid) else 1)
        ranges[f"block.{axis}"] = Interval(0, (most if i < len(grid) else 1) - 1)
    for axis, size in cluster.items():
        ranges[f"cluster.{axis}"] = Interval(0, size - 1)
    ranges["tile.seq"] = Interval(0, INT32)
    for axis, extent in queue.axes if queue is not None else ():
        size = cluster.get(axis, 1)
        # Clusters are whole, and the loader holds all their tiles together below 2^31.
        most = min(-(-interval(extent, ranges).hi // size) * size, INT32)
        ranges[f"tile.{axis}"] = Interval(0, max(0, most - 1))
    for name, flat in values.lets.items():
        if name not in ranges and all(used.text in ranges for used in flat.names):
            ranges[name] = interval(flat, ranges)
    return ranges
