"""From a resolved program to the plan of its kernel."""

from __future__ import annotations

from dataclasses import replace

from tsc.emit.arrivals import releases
from tsc.emit.function import NotUniform
from tsc.emit.kernel import Kernel
from tsc.emit.layout import barriers, regions
from tsc.emit.manifest import cluster_dims, manifest_of
from tsc.emit.names import identifier
from tsc.emit.plan import Barriers, Constant, KernelPlan, Region, TaskFunction
from tsc.emit.roles import asks_warp, roles
from tsc.emit.schedule import Schedule
from tsc.emit.tensor_memory import constants, in_columns, tensor_memory
from tsc.emit.tiles import tile_plan
from tsc.emit.works import Works
from tsc.program.model import Program, Task
from tsc.program.storage import BARRIER_BYTES
from tsc.source.document import Document
from tsc.version import VERSION


def complete(program: Program) -> bool:
    """Whether the spec is sound enough to be lowered at all."""
    placed = all(task.warps and task.first_warp is not None for task in program.tasks)
    return (
        not program.failures
        and placed
        and bool(program.tasks)
        and program.target is not None
        and program.grid is not None
        and program.smem_bytes is not None
        and program.threads is not None
        and program.threads <= 1024
        and len(program.lets) == len(program.spec.let) == len(program.let_stages)
    )


def plan_kernel(
    program: Program, arch: str | None = None, document: Document | None = None, sanitize: bool = False
) -> KernelPlan:
    """Plan a kernel; what cannot be lowered is among the plan's refusals.

    With `sanitize` every thread arrives at barriers by itself, so that a race checker can follow.
    """
    alike = _alike(program)
    kernel = Kernel(program, sanitize)
    works = Works(kernel, document)
    _refuse_features(kernel)
    functions: list[TaskFunction] = []
    calls: dict[str, str] = {}
    pending: list[tuple[TaskFunction, Schedule, tuple[Task, ...]]] = []
    for task in program.tasks:
        shared = task.name in alike
        if shared and task.replica:
            continue
        schedule = Schedule(kernel, works, task, shared, document)
        declarations, body = schedule.lower()
        own = kernel.siblings(task) if shared else (task,)
        label = task.name if shared or task.replica is None else f"{task.name}_{task.replica}"
        function = TaskFunction(
            kernel.names.free(f"{identifier(label)}_task"),
            f"task: {task.name if shared else task.label}",
            _comment(task, document),
            "int replica" if shared else "",
            (),
            declarations,
            body,
        )
        pending.append((function, schedule, own))
    for function, schedule, own in pending:
        used = schedule.function
        own_memory = ["shared"] * used.uses_shared + ["tensor"] * used.uses_tensor
        passed = [*(p.passed for p in used.parameters()), *(f"u32 {name}" for name in own_memory)]
        given = [*(p.name for p in used.parameters()), *own_memory]
        functions.append(replace(function, parameters=tuple(passed)))
        for task in own:
            values = f"<{task.replica}>" if function.template else ""
            calls[task.label] = f"{function.name}{values}({', '.join(given)})"
    any_seq = any(schedule.function.uses_seq for _, schedule, _ in pending)
    table, signals = regions(kernel), barriers(kernel)
    tensor = tensor_memory(kernel)
    target = arch or program.arch
    chain = roles(program, calls)
    return KernelPlan(
        kernel=program.kernel,
        spec=document.name if document is not None else "its spec",
        version=VERSION,
        arch=target,
        namespace=f"{program.kernel}_kernel",
        includes=program.spec.include,
        watchdog_ns=_watchdog(program),
        constants=kernel.constants(),
        regions=_table(table, signals),
        layout=_layout(kernel),
        tensor=None if tensor is None else replace(tensor, constants=constants(kernel)),
        tile=tile_plan(kernel, any_seq),
        devices=tuple(text for _, text in kernel.devices.values()),
        snippets=tuple(works.functions.values()),
        tasks=tuple(functions),
        parameters=kernel.parameters(),
        maps=tuple(p.name for p in kernel.parameters() if p.grid_constant),
        barriers=signals,
        roles=chain,
        cluster=cluster_dims(program),
        threads=program.threads or 0,
        ctas_per_sm=program.spec.launch.ctas_per_sm,
        shared_used=bool(signals or tensor) or any(one.function.uses_shared for _, one, _ in pending),
        remote=kernel.remote,
        parted=kernel.parted,
        sanitize=sanitize,
        warp_used=asks_warp(chain) or bool(signals or kernel.maps or tensor),
        manifest=manifest_of(kernel, target, document, table, signals),
        refusals=tuple(kernel.refusals),
        narrowed=tuple(dict.fromkeys(kernel.narrowed)),
    )


def _alike(program: Program) -> frozenset[str]:
    """Find the tasks whose replicas one template can be, by lowering them on trial."""
    found = set()
    for task in program.tasks:
        if task.replica != 0 or task.replicas < 2:
            continue
        trial = Kernel(program)
        works = Works(trial, None)
        try:
            bodies = [_trial(trial, works, other) for other in trial.siblings(task)]
        except NotUniform:
            continue
        if not trial.refusals and all(body == bodies[0] for body in bodies):
            found.add(task.name)
    return frozenset(found)


def _trial(kernel: Kernel, works: Works, task: Task) -> object:
    schedule = Schedule(kernel, works, task, True, None)
    body = schedule.lower()
    used = schedule.function
    return body, used.parameters(), used.uses_shared, used.uses_tensor, task.single


def _comment(task: Task, document: Document | None) -> str:
    what = "One thread" if task.single else f"{task.threads} threads"
    if document is None:
        return f"{what}."
    from tsc.diagnostics.model import Place

    return f"{what}; line {document.span_of(Place(task.route)).start.line} of the spec."


def _watchdog(program: Program) -> int | None:
    debug = program.spec.debug
    return None if debug is None or debug.wait_timeout_ms is None else debug.wait_timeout_ms * 1_000_000


def _layout(kernel: Kernel) -> tuple[Constant, ...]:
    """Return the constants of the layout, those of a resource together."""
    program = kernel.program
    owners = [*program.memories, *program.groups, *(name for name, _ in program.orders)]
    owners += [] if program.queue is None else [program.queue.name]
    owners.append("tensor")
    kinds = ["", "stage", "copy", "full", "full.copy", "empty", "empty.copy"]

    def rank(key: str) -> tuple[int, int]:
        owner, _, kind = key.partition(".")
        return owners.index(owner), kinds.index(kind) if kind in kinds else len(kinds)

    keys = (key for key in kernel.layout if not in_columns(kernel, key))
    return tuple(kernel.layout[key] for key in sorted(keys, key=rank))


def _table(regions: tuple[Region, ...], signals: tuple[Barriers, ...]) -> tuple[Region, ...]:
    """Return all that lies in shared memory, barriers included."""
    rows = [
        Region(
            b.name,
            b.offset,
            BARRIER_BYTES * b.count,
            b.count,
            f"{b.arrivals} arrival{'s' if b.arrivals > 1 else ''}",
        )
        for b in signals
    ]
    return tuple(sorted((*regions, *rows), key=lambda region: region.offset))


def _refuse_features(kernel: Kernel) -> None:
    """Refuse what is not a matter of any one step."""
    program = kernel.program
    spec = program.spec
    first = program.cluster[0][0] if program.cluster else ""
    if spec.launch.cta_group == 2 and kernel.axis(first)[1] != 1:
        # The hardware pairs ranks, and those run fastest along x.
        kernel.refuse(("launch", "cta_group"), f"pairs along `{first}` are not generated: they lie along `x`")
    if spec.debug is not None and spec.debug.trace:
        kernel.refuse(("debug", "trace"), "`trace` is not generated yet")
    if spec.debug is not None and spec.debug.count_tiles:
        kernel.refuse(("debug", "count_tiles"), "`count_tiles` is not generated yet")
    for memory in program.memories.values():
        if memory.released_by == "one" and len(set(releases(kernel, memory.name))) > 1:
            sentence = f"tasks of different sizes that release `{memory.name}` by turns are not generated yet"
            kernel.refuse((*memory.route, "released_by"), sentence)
