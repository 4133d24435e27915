"""What the loader must know, as the JSON of the cubin's manifest."""

from __future__ import annotations

import hashlib
from typing import Any

from tsc.emit.kernel import Kernel, bits_of
from tsc.emit.plan import Barriers, Parameter, Region
from tsc.emit.tiles import tile_limits
from tsc.expr import Expr
from tsc.program.accesses import touches
from tsc.program.model import Program, Tensor
from tsc.source.document import Document
from tsc.spec.load import to_spec
from tsc.version import VERSION


def manifest_of(
    kernel: Kernel,
    arch: str,
    document: Document | None,
    regions: tuple[Region, ...],
    barriers: tuple[Barriers, ...],
) -> dict[str, Any]:
    """Return the manifest of a kernel whose tasks have been lowered."""
    program = kernel.program
    spec = program.spec
    grid = [_shown(extent) for extent in program.grid or ()]
    access = _accesses(program)
    return {
        "manifest": 1,
        "tsc_version": VERSION,
        "kernel": program.kernel,
        "arch": arch,
        "spec": document.name if document is not None else program.kernel,
        "spec_sha256": spec_hash(program, document),
        "constants": dict(program.constants),
        "params": [_param(kernel, name, access) for name in program.params],
        "workspace": [
            {"name": t.name, "dtype": t.dtype, "shape": [_shown(e) for e in t.shape], "zero": t.zero}
            for t in program.tensors.values()
            if t.workspace
        ],
        "dims": {
            name: {
                "min": dim.least,
                "max": dim.interval.hi,
                "multiple_of": dim.multiple_of,
                **({"runs_at_zero": True} if dim.runs_at_zero else {}),
            }
            for name, dim in program.dims.items()
        },
        "asserts": _asserts(kernel),
        "block": [program.threads or 0, 1, 1],
        "cluster": list(cluster_dims(program)),
        "grid": [*grid, *("1" for _ in range(3 - len(grid)))],
        "smem_bytes": program.smem_bytes or 0,
        "ctas_per_sm": spec.launch.ctas_per_sm,
        "pdl": any(step.verb == "pdl_wait" for task in program.tasks for step in task.steps()),
        "arguments": [_argument(kernel, parameter) for parameter in kernel.parameters()],
        "tensor_maps": [
            {
                "tensor": key.tensor,
                "box": [key.box[dim] for dim in program.tensors[key.tensor].order],
                "swizzle": key.swizzle,
                "l2": key.l2,
                "fill": key.fill,
            }
            for key in kernel.ordered_maps()
        ],
        "layout": [
            {"name": r.name, "offset": r.offset, "bytes": r.bytes, "stages": r.stages, "over": r.over}
            for r in regions
        ],
        "barriers": [
            {"name": b.name, "offset": b.offset, "count": b.count, "arrivals": b.arrivals} for b in barriers
        ],
        "queue": _queue(program),
    }


def _queue(program: Program) -> dict[str, Any] | None:
    queue = program.queue
    if queue is None:
        return None
    return {
        "name": queue.name,
        "policy": queue.policy,
        "stages": queue.answers.stages if queue.answers else 0,
    }


def _argument(kernel: Kernel, parameter: Parameter) -> dict[str, Any]:
    if parameter.grid_constant:
        return {"kind": "tensor_map", "map": kernel.ordered_maps().index(parameter.argument["map"])}
    return dict(parameter.argument)


def cluster_dims(program: Program) -> tuple[int, int, int]:
    """Return the cluster as CUDA counts it: along x where a queue hands out tiles, else by axis."""
    if program.queue is not None:
        return program.cluster_size, 1, 1
    sizes = dict(program.cluster)
    return sizes.get("x", 1), sizes.get("y", 1), sizes.get("z", 1)


def spec_hash(program: Program, document: Document | None) -> str:
    """Return the SHA-256 of the spec's text, of what was set from outside, and of the files that it names."""
    digest = hashlib.sha256()
    if document is not None:
        digest.update(document.text.encode())
    if document is None or to_spec(document)[0] != program.spec:
        digest.update(repr(program.spec).encode())
    for work in program.works.values():
        if work.text_route[-1] == "file":
            digest.update((work.text or "").encode())
    for text in program.includes.values():
        digest.update((text or "").encode())
    return digest.hexdigest()


def _shown(expr: Expr) -> str:
    return " ".join(expr.text.split())


def _accesses(program: Program) -> dict[str, set[str]]:
    """Return for each tensor whether it is read, written or both; an expression reads, too."""
    found: dict[str, set[str]] = {}
    for task in program.tasks:
        for step in task.steps():
            for touch in touches(step, program.meanings, program.works, task.name, task.replica):
                if touch.operand is not None and touch.operand.kind == "tensor":
                    entry = found.setdefault(touch.operand.name, set())
                    entry |= {"in"} if touch.reads else set()
                    entry |= {"out"} if touch.writes else set()
    return found


def _param(kernel: Kernel, name: str, access: dict[str, set[str]]) -> dict[str, Any]:
    program = kernel.program
    if name in program.scalars:
        return {"name": name, "kind": "scalar", "dtype": program.scalars[name].dtype}
    tensor = program.tensors[name]
    ways = access.get(name, {"in"})
    align, stride = kernel.needs.get(name, (1, 1))
    return {
        "name": name,
        "kind": "tensor",
        "dtype": tensor.dtype,
        "shape": [_shown(extent) for extent in tensor.shape],
        "order": list(tensor.order),
        "access": "inout" if len(ways) > 1 else next(iter(ways)),
        "align": max(align, _natural(tensor)),
        "stride_multiple": max(1, stride * 8 // bits_of(tensor.dtype)),
        "packed": tensor.packed,
        **({"padded": True} if tensor.padded else {}),
        "constant": tensor.constant,
    }


def _natural(tensor: Tensor) -> int:
    return max(1, bits_of(tensor.dtype) // 8)


def _asserts(kernel: Kernel) -> list[dict[str, str]]:
    """Return what must hold at each launch and is not known to when built."""
    program = kernel.program
    found: dict[str, str] = {}
    for expr in program.spec.assert_:
        flat = program.values.flat(expr)
        if flat.value is not True:
            found.setdefault(_shown(flat), _shown(expr))
    for text, reason in kernel.asserts.items():
        found.setdefault(text, reason)
    for limit, reason in tile_limits(program):
        found.setdefault(_shown(limit), reason)
    return [{"expr": text, "text": reason} for text, reason in found.items()]
