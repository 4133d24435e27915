"""From the manifest's JSON text to its types; whatever contradicts itself or the format is refused."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container

from tsc.artifact.error import ArtifactError
from tsc.artifact.fields import Fields, damaged, decode, show
from tsc.artifact.model import (
    ARGUMENT_TYPES,
    DTYPE_BITS,
    MANIFEST_VERSION,
    Argument,
    Assertion,
    Barrier,
    Constant,
    CounterArgument,
    Dim,
    Manifest,
    PointerArgument,
    Queue,
    Region,
    Scalar,
    ScalarArgument,
    StrideArgument,
    Tensor,
    TensorMap,
    TensorMapArgument,
    ValueArgument,
    Workspace,
)
from tsc.expr import ExprError, parse

_LOW, _HIGH = -(1 << 63), (1 << 63) - 1
_U32 = (1 << 32) - 1


def decode_manifest(text: bytes) -> Manifest:
    """The manifest of this JSON text. Raises ArtifactError if it is damaged or of another version."""
    fields = Fields(decode(text))
    version = fields.integer("manifest", 0, _HIGH)
    if version > MANIFEST_VERSION:
        builder = f"tsc `{fields.text('tsc_version')}`" if "tsc_version" in fields else "a newer tsc"
        raise ArtifactError(
            f"the cubin's manifest has version {version} (built by {builder}), and this tsc reads up to "
            f"version {MANIFEST_VERSION}: upgrade with `pip install -U tsc-cuda`"
        )
    if version < MANIFEST_VERSION:
        damaged(f"`manifest` is {version}, and the first version is {MANIFEST_VERSION}")
    grid = fields.texts("grid")
    if len(grid) != 3:
        damaged(f"`grid` has {len(grid)} values, not 3")
    manifest = Manifest(
        manifest=version,
        tsc_version=fields.text("tsc_version"),
        kernel=fields.text("kernel"),
        arch=fields.text("arch"),
        spec=fields.text("spec"),
        spec_sha256=fields.text("spec_sha256"),
        constants=fields.table("constants", _constant),
        params=fields.each("params", _param),
        workspace=fields.each("workspace", _workspace),
        dims=fields.table("dims", _dim),
        asserts=fields.each("asserts", _assertion),
        block=fields.triple("block", 1, 1024),
        cluster=fields.triple("cluster", 1, 16),
        grid=(grid[0], grid[1], grid[2]),
        smem_bytes=fields.integer("smem_bytes", 0, _U32),
        ctas_per_sm=fields.integer("ctas_per_sm", 1, 64),
        pdl=fields.flag("pdl"),
        arguments=fields.each("arguments", _argument),
        tensor_maps=fields.each("tensor_maps", _tensor_map),
        layout=fields.each("layout", _region),
        barriers=fields.each("barriers", _barrier),
        queue=_queue(fields.value("queue")) if "queue" in fields else None,
    )
    _check_references(manifest)
    _check_expressions(manifest)
    return manifest


def _constant(value: object, route: str) -> Constant:
    if not isinstance(value, (bool, int, float, str)):
        damaged(f"`{route}` is {show(value)}, not a number, a string or a boolean")
    if isinstance(value, int) and not _LOW <= value <= _HIGH:
        damaged(f"`{route}` does not fit in 64 bits")
    if isinstance(value, float) and not math.isfinite(value):
        damaged(f"`{route}` is not finite")
    return value


def _param(value: object, route: str) -> Tensor | Scalar:
    fields = Fields(value, route)
    if fields.choice("kind", ("tensor", "scalar")) == "scalar":
        return Scalar(fields.text("name"), fields.choice("dtype", DTYPE_BITS))
    tensor = Tensor(
        name=fields.text("name"),
        dtype=fields.choice("dtype", DTYPE_BITS),
        shape=fields.texts("shape"),
        order=fields.integers("order", 0, 63),
        access=fields.choice("access", ("in", "out", "inout")),
        align=fields.integer("align", 1, 1 << 20),
        stride_multiple=fields.integer("stride_multiple", 1, 1 << 20),
        packed=fields.flag("packed"),
        constant=fields.flag("constant"),
        padded="padded" in fields and fields.flag("padded"),
    )
    if sorted(tensor.order) != list(range(len(tensor.shape))):
        rank = len(tensor.shape)
        damaged(f"`{route}.order` is {show(list(tensor.order))}, which is no order of {rank} dimensions")
    return tensor


def _workspace(value: object, route: str) -> Workspace:
    fields = Fields(value, route)
    return Workspace(
        name=fields.text("name"),
        dtype=fields.choice("dtype", DTYPE_BITS),
        shape=fields.texts("shape"),
        zero=fields.choice("zero", ("never", "once", "every_launch")),
    )


def _dim(value: object, route: str) -> Dim:
    fields = Fields(value, route)
    return Dim(
        min=fields.integer("min", _LOW, _HIGH),
        max=fields.integer("max", _LOW, _HIGH),
        multiple_of=fields.integer("multiple_of", 1, _HIGH),
        runs_at_zero="runs_at_zero" in fields and fields.flag("runs_at_zero"),
    )


def _assertion(value: object, route: str) -> Assertion:
    fields = Fields(value, route)
    return Assertion(fields.text("expr"), fields.text("text"))


def _argument(value: object, route: str) -> Argument:
    fields = Fields(value, route)
    match fields.choice("kind", ("tensor_map", "pointer", "stride", "value", "scalar", "counter")):
        case "tensor_map":
            return TensorMapArgument(fields.integer("map", 0, _U32))
        case "pointer":
            return PointerArgument(fields.text("tensor"))
        case "stride":
            return StrideArgument(
                fields.text("tensor"), fields.integer("dim", 0, 63), fields.choice("type", ARGUMENT_TYPES)
            )
        case "value":
            return ValueArgument(fields.text("expr"), fields.choice("type", ARGUMENT_TYPES))
        case "counter":
            return CounterArgument(fields.text("queue"))
        case _:
            return ScalarArgument(fields.text("param"), fields.choice("type", ARGUMENT_TYPES))


def _tensor_map(value: object, route: str) -> TensorMap:
    fields = Fields(value, route)
    return TensorMap(
        tensor=fields.text("tensor"),
        box=fields.integers("box", 1, 256),
        swizzle=fields.choice("swizzle", (0, 32, 64, 128)),
        l2=fields.choice("l2", (0, 64, 128, 256)),
        fill=fields.choice("fill", ("zero", "nan")),
    )


def _region(value: object, route: str) -> Region:
    fields = Fields(value, route)
    return Region(
        name=fields.text("name"),
        offset=fields.integer("offset", 0, _U32),
        bytes=fields.integer("bytes", 0, _U32),
        stages=fields.integer("stages", 1, _U32),
        over=fields.text("over") if "over" in fields else "",
    )


def _barrier(value: object, route: str) -> Barrier:
    fields = Fields(value, route)
    return Barrier(
        name=fields.text("name"),
        offset=fields.integer("offset", 0, _U32),
        count=fields.integer("count", 0, _U32),
        arrivals=fields.integer("arrivals", 1, _U32),
    )


def _queue(value: object) -> Queue | None:
    if value is None:
        return None
    fields = Fields(value, "queue")
    return Queue(
        name=fields.text("name"),
        policy=fields.choice("policy", ("grid", "static", "atomic", "clc")),
        stages=fields.integer("stages", 0, _U32),
    )


def _check_references(manifest: Manifest) -> None:
    tensors = {tensor.name: tensor for tensor in manifest.tensors}
    scalars = {scalar.name for scalar in manifest.scalars}
    uses = Counter(entry.name for entry in (*manifest.params, *manifest.workspace))
    for name, count in uses.items():
        if count > 1:
            damaged(f"`{name}` is declared {count} times")
    ranks = {entry.name: len(entry.shape) for entry in _shaped(manifest)}
    threads = math.prod(manifest.block)
    if threads > 1024:
        damaged(f"`block` has {threads:,} threads, more than 1,024")
    for index, argument in enumerate(manifest.arguments):
        route = f"arguments[{index}]"
        match argument:
            case TensorMapArgument(number) if number >= len(manifest.tensor_maps):
                damaged(f"`{route}.map` is {number}, and there are {len(manifest.tensor_maps)} tensor maps")
            case PointerArgument(name):
                _known(name, ranks, f"{route}.tensor")
            case StrideArgument(name, dim, _):
                _known(name, tensors, f"{route}.tensor")
                if dim >= ranks[name]:
                    damaged(f"`{route}.dim` is {dim}, and `{name}` has {ranks[name]} dimensions")
            case ScalarArgument(name, _):
                _known(name, scalars, f"{route}.param")
            case CounterArgument(name):
                _known(name, () if manifest.queue is None else (manifest.queue.name,), f"{route}.queue")
    for index, described in enumerate(manifest.tensor_maps):
        _known(described.tensor, ranks, f"tensor_maps[{index}].tensor")
        if not 1 <= len(described.box) <= 5 or len(described.box) != ranks[described.tensor]:
            rank = ranks[described.tensor]
            damaged(f"`tensor_maps[{index}].box` has {len(described.box)} extents for {rank} dimensions")


def _shaped(manifest: Manifest) -> list[Tensor | Workspace]:
    return [*manifest.tensors, *manifest.workspace]


def _known(name: str, names: Container[str], route: str) -> None:
    if name not in names:
        damaged(f"`{route}` names `{name}`, which the manifest does not declare")


def _check_expressions(manifest: Manifest) -> None:
    names = {
        "sms",
        "launch.clusters",
        *manifest.constants,
        *manifest.dims,
        *(scalar.name for scalar in manifest.scalars),
    }
    texts = {f"grid[{index}]": text for index, text in enumerate(manifest.grid)}
    for index, condition in enumerate(manifest.asserts):
        texts[f"asserts[{index}].expr"] = condition.expr
    for index, argument in enumerate(manifest.arguments):
        if isinstance(argument, ValueArgument):
            texts[f"arguments[{index}].expr"] = argument.expr
    for entry in _shaped(manifest):
        for index, text in enumerate(entry.shape):
            texts[f"{entry.name}.shape[{index}]"] = text
    for route, text in texts.items():
        try:
            used = parse(text).names
        except (ExprError, RecursionError) as error:
            damaged(f"`{route}` is {show(text)}, which is no expression ({error})")
        for name in used:
            _known(name.text, names, route)
