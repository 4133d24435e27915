"""The namespace of a spec, and every place of an expression with what it may depend on there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tsc.expr import Expr
from tsc.model import Reference
from tsc.ops.base import StepModel
from tsc.program.scope import Known, Site, Stage
from tsc.program.target import find_target
from tsc.program.values import let_order
from tsc.source.route import Route
from tsc.spec import resources as kinds
from tsc.spec.document import Spec
from tsc.spec.schedule import Do, DomainLoop, For, Repeat, WorkTileLoop
from tsc.spec.tasks import Task

# Fields of steps and nodes whose value is needed when the kernel is built; everything else may depend on
# anything.
BUILD_FIELDS = {
    ("commit", "keep"),
    ("release", "keep"),
    ("domain_loop", "unroll"),
    ("for", "unroll"),
    ("every", "every"),
    ("every", "start"),
    ("repeat", "repeat"),
    ("if", "if_"),
    ("store_wait", "store_wait"),
    ("wgmma_wait", "wgmma_wait"),
    ("tma_prefetch", "box"),
    ("count_in", "of"),
}
OTHER_FIELDS = {
    ("work_tile_loop", "skip_if"): Stage.TILE,
    ("get_and_advance_work_tile", "stride"): Stage.LAUNCH,
}


def dims_of(spec: Spec) -> dict[str, list[Route]]:
    """List the names that become dims by being used in a param's shape, with the places of use.

    A name that is declared otherwise is no dim. `dims` itself declares nothing: a promise about an unused
    dim is an error of its own.
    """
    declared = (
        set(spec.constants) | set(spec.let) | {"sms"} | {n for n, p in spec.params.items() if p.shape is None}
    )
    found: dict[str, list[Route]] = {}
    for name, param in spec.params.items():
        for i, extent in enumerate(param.shape or ()):
            for used in extent.names:
                if used.text not in declared and "." not in used.text:
                    found.setdefault(used.text, []).append(("params", name, "shape", i))
    return found


def mentions_arch(spec: Spec) -> bool:
    """Whether something depends on the target's number."""
    return any(name.text == "arch" for site in sites(spec) for name in site.expr.names) or any(
        re.search(r"\barch\b", work.cuda or "") for work in spec.work.values()
    )


def with_arch(spec: Spec, arch: str) -> Spec:
    """Return the spec for one target: its number is a constant where something depends on it."""
    if not mentions_arch(spec):
        return spec
    target = find_target(arch)
    number = 0 if target is None else target.capability
    return spec.model_copy(update={"constants": {**spec.constants, "arch": number}})


def global_names(spec: Spec) -> dict[str, Known]:
    """Return what the file declares at its top, lets left out, and the names that all expressions may see."""
    names: dict[str, Known] = {name: Known(Stage.BUILD, "constant", "a constant") for name in spec.constants}
    names.update({name: Known(Stage.LAUNCH, "dim", "a dim") for name in dims_of(spec) if name not in names})
    for name, param in spec.params.items():
        kind = Known(Stage.LAUNCH, "scalar", "a scalar param") if param.shape is None else _TENSOR
        names.setdefault(name, kind)
    for name in spec.workspace:
        names.setdefault(name, _TENSOR)
    names["sms"] = Known(Stage.LAUNCH, "builtin", "the device's multiprocessors")
    for axis in "xyz":
        names[f"block.{axis}"] = Known(Stage.CTA, "builtin", "the CTA's index")
        names[f"grid.{axis}"] = Known(Stage.CTA, "builtin", "the grid's size")
    for axis in spec.launch.cluster:
        names[f"cluster.{axis}"] = Known(Stage.CTA, "builtin", "the CTA's rank in its cluster")
    return names


_TENSOR = Known(Stage.CTA, "tensor", "a tensor, known where a kernel runs")


def tile_names(spec: Spec) -> dict[str, Known]:
    """Return the names that a tile brings: its coordinates and its number."""
    names = {"tile.seq": Known(Stage.TILE, "tile", "how many tiles this CTA has had before")}
    for resource in spec.resources.values():
        if isinstance(resource, kinds.Queue):
            names.update(
                {
                    f"tile.{axis}": Known(Stage.TILE, "tile", "a coordinate of the tile")
                    for axis in resource.axes
                }
            )
    return names


def thread_names(spec: Spec) -> dict[str, Known]:
    """Return the names that only a task's threads know, registers of one value among them."""
    names = {name: Known(Stage.THREAD, "builtin", "known to a thread") for name in ("thread", "warp", "lane")}
    names["threads"] = Known(Stage.BUILD, "builtin", "the threads of the task")
    for name, resource in spec.resources.items():
        if (
            isinstance(resource, kinds.Registers)
            and resource.per_thread is not None
            and resource.dtype in _VALUES
        ):
            names[name] = Known(Stage.VALUE, "register", "a register")
    return names


_VALUES = {"bool", "i8", "u8", "i32", "u32", "i64"}


def everywhere(spec: Spec) -> dict[str, Known]:
    """Return every name that is known somewhere: what a let may mention."""
    return {**global_names(spec), **tile_names(spec), **thread_names(spec), **_LOOP, **_REPLICA, **_PART}


_LOOP = {
    "loop": Known(Stage.ITERATION, "loop", "the value of the domain loop"),
    "iter": Known(Stage.ITERATION, "loop", "the count of rounds"),
    "trips": Known(Stage.ITERATION, "loop", "the number of rounds"),
}
_REPLICA = {"replica": Known(Stage.BUILD, "builtin", "the number of this copy of the task")}
_PART = {"part": Known(Stage.BUILD, "repeat", "the piece of the split loop")}


def let_stages(spec: Spec) -> dict[str, Stage]:
    """Return when each let is known: as late as what it mentions. Lets in a circle are left out."""
    known = everywhere(spec)
    stages: dict[str, Stage] = {}
    for name in let_order(spec.let):
        used = (stages.get(one.text) or known.get(one.text, _UNKNOWN).stage for one in spec.let[name].names)
        stages[name] = max(used, default=Stage.BUILD)
    return stages


_UNKNOWN = Known(Stage.BUILD, "builtin", "unknown")


def expressions(value: Any, route: Route) -> Iterator[tuple[Route, Expr]]:
    """Yield the expressions inside a field's value, references' indices included, with their routes."""
    if isinstance(value, Expr):
        yield route, value
    elif isinstance(value, Reference):
        if value.index is not None:
            yield route, value.index
    elif isinstance(value, (tuple, list)):
        for i, item in enumerate(value):
            yield from expressions(item, (*route, i))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from expressions(item, (*route, key))


def key_of(model: StepModel, field: str) -> str:
    """Return a field's key in the document (`from_` is written `from`)."""
    return type(model).model_fields[field].alias or field


def block_fields(model: StepModel) -> tuple[str, ...]:
    """Return the fields of a node that hold blocks, in the order of the text."""
    return _BLOCK_FIELDS.get(model.verb, ())


_BLOCK_FIELDS = {
    "work_tile_loop": ("body",),
    "domain_loop": ("body",),
    "for": ("body",),
    "first_iter": ("first_iter",),
    "last_iter": ("last_iter",),
    "every": ("body",),
    "when_true": ("body",),
    "when_false": ("body",),
    "when": ("then", "else_"),
    "skippable": ("skippable",),
    "repeat": ("body",),
    "if": ("then", "else_"),
}


def written(
    block: tuple[Any, ...], route: Route, above: tuple[StepModel, ...] = ()
) -> Iterator[tuple[Any, Route, tuple[StepModel, ...]]]:
    """Yield every node of a schedule as written, with its route and the nodes around it, outermost first."""
    for i, node in enumerate(block):
        here = (*route, i)
        yield node, here, above
        if isinstance(node, StepModel):
            for field in block_fields(node):
                inner = getattr(node, field)
                if inner is not None:
                    yield from written(inner, (*here, key_of(node, field)), (*above, node))


def tokens_of(task: Task) -> dict[str, Known]:
    """Return the tokens that a task's schedule makes somewhere."""
    made = {}
    for node, _, _ in written(task.schedule, ()):
        if isinstance(node, Do):
            made.update({name: Known(Stage.VALUE, "token", "a token") for name in node.out if name != "_"})
    return made


def _local(task: Task, above: tuple[StepModel, ...], tiles: dict[str, Known]) -> dict[str, Known]:
    names: dict[str, Known] = dict(_REPLICA) if task.replicas is not None else {}
    for node in above:
        match node:
            case WorkTileLoop():
                names.update(tiles)
            case DomainLoop():
                names.update(_LOOP)
                if node.split_at:
                    names.update(_PART)
            case For():
                names[node.as_] = Known(Stage.ITERATION, "for", "the value of a `for`")
                names.update({name: _LOOP[name] for name in ("iter", "trips")})
            case Repeat():
                names[node.as_] = Known(Stage.BUILD, "repeat", "a `repeat` variable")
    return names


def sites(spec: Spec) -> Iterator[Site]:
    """Yield every place of an expression, with what it may depend on and what it sees."""
    base = global_names(spec)
    lets = {name: Known(stage, "let", "a let") for name, stage in let_stages(spec).items()}
    outer = {**base, **lets}
    yield from _top_sites(spec, outer)
    tiles, threads = tile_names(spec), thread_names(spec)
    for name, task in spec.tasks.items():
        scope = {**outer, **threads, **tokens_of(task)}
        for field in ("warps", "replicas", "registers", "first_warp"):
            own = {**outer, **(_REPLICA if task.replicas is not None and field != "replicas" else {})}
            for where, expr in expressions(getattr(task, field), ("tasks", name, field)):
                yield Site(where, expr, Stage.BUILD, f"`{field}`", own, name)
        for node, route, above in written(task.schedule, ("tasks", name, "schedule")):
            if isinstance(node, StepModel):
                yield from _node_sites(node, route, {**scope, **_local(task, above, tiles)}, spec, name)


def _node_sites(
    node: StepModel, route: Route, scope: Mapping[str, Known], spec: Spec, task: str
) -> Iterator[Site]:
    skipped = block_fields(node)
    for field in type(node).model_fields:
        if field in skipped:
            continue
        key = key_of(node, field)
        allowed = (
            Stage.BUILD
            if (node.verb, field) in BUILD_FIELDS
            else OTHER_FIELDS.get((node.verb, field), Stage.THREAD)
        )
        inner = scope
        if isinstance(node, WorkTileLoop):
            inner = {**scope, **tile_names(spec)}
        value = getattr(node, field)
        constants = _const_args(spec, node) if isinstance(node, Do) and field == "with_" else frozenset()
        for where, expr in expressions(value, (*route, key)):
            limit = (
                Stage.BUILD
                if isinstance(value, Reference) or (constants and where[-1] in constants)
                else allowed
            )
            yield Site(where, expr, limit, f"`{key}`", inner, task)


def _const_args(spec: Spec, node: Do) -> frozenset[str]:
    work = spec.work.get(node.do)
    return frozenset(name for name, kind in work.args.items() if kind == "const") if work else frozenset()


def _top_sites(spec: Spec, scope: Mapping[str, Known]) -> Iterator[Site]:
    everything = {**everywhere(spec), **scope}
    for name, expr in spec.let.items():
        yield Site(("let", name), expr, Stage.THREAD, f"let `{name}`", everything)
    for name, param in spec.params.items():
        for where, expr in expressions(param.shape, ("params", name, "shape")):
            yield Site(where, expr, Stage.LAUNCH, "`shape`", scope)
    for name, tensor in spec.workspace.items():
        for where, expr in expressions(tensor.shape, ("workspace", name, "shape")):
            yield Site(where, expr, Stage.LAUNCH, "`shape`", scope)
    for where, expr in expressions(spec.launch.grid, ("launch", "grid")):
        yield Site(where, expr, Stage.LAUNCH, "`grid`", scope)
    for where, expr in expressions(spec.launch.ctas, ("launch", "ctas")):
        yield Site(where, expr, Stage.LAUNCH, "`ctas`", scope)
    for where, expr in expressions(spec.launch.cluster, ("launch", "cluster")):
        yield Site(where, expr, Stage.BUILD, "`cluster`", scope)
    for name, dim in spec.dims.items():
        for field in ("min", "max", "multiple_of"):
            for where, expr in expressions(getattr(dim, field), ("dims", name, field)):
                yield Site(where, expr, Stage.BUILD, f"`{field}`", scope)
    for where, expr in expressions(spec.assert_, ("assert",)):
        yield Site(where, expr, Stage.LAUNCH, "`assert`", scope)
    if spec.expect is not None:
        for field in type(spec.expect).model_fields:
            for where, expr in expressions(getattr(spec.expect, field), ("expect", field)):
                yield Site(where, expr, Stage.BUILD, f"`{field}`", scope)
    for name, resource in spec.resources.items():
        yield from _resource_sites(resource, ("resources", name), scope, spec)


def _resource_sites(model: Any, route: Route, scope: Mapping[str, Known], spec: Spec) -> Iterator[Site]:
    for field in type(model).model_fields:
        value = getattr(model, field)
        key = type(model).model_fields[field].alias or field
        here = (*route, key)
        allowed, inner = Stage.BUILD, scope
        if isinstance(model, kinds.Queue):
            allowed = {"axes": Stage.LAUNCH, "skip_if": Stage.TILE}.get(field, Stage.BUILD)
            inner = {**scope, **tile_names(spec)} if field == "skip_if" else scope
        for where, expr in expressions(value, here):
            yield Site(where, expr, allowed, f"`{key}`", inner)
        nested = value.items() if isinstance(value, dict) else [(None, value)]
        for name, item in nested:
            if hasattr(type(item), "model_fields") and not isinstance(item, StepModel):
                yield from _resource_sites(item, here if name is None else (*here, name), scope, spec)
