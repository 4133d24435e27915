"""Memory resources and register sets with their sizes, and the layout of shared and tensor memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from tsc.expr import Expr
from tsc.model import Reference
from tsc.program.model import Buffer, Memory, Order, Pipeline, RegisterSet
from tsc.program.values import Values
from tsc.source.route import Route
from tsc.spec import resources as kinds
from tsc.spec.document import Spec

BITS = {
    "f32": 32,
    "tf32": 32,
    "i32": 32,
    "u32": 32,
    "f16": 16,
    "bf16": 16,
    "i64": 64,
    "e4m3": 8,
    "e5m2": 8,
    "i8": 8,
    "u8": 8,
    "bool": 8,
    "e2m1": 4,
    "i4": 4,
    "u4": 4,
}
"""Bits of an element by dtype."""

BARRIER_BYTES = 8  # an mbarrier object (PTX ISA, mbarrier)
ANSWER_BYTES = 16  # of a queue: what the hardware of sm_100 writes, and more than a number takes
SHARED_ALIGN = 1024  # where dynamic shared memory begins; the swizzle of 128 bytes needs it
TMA_ALIGN = 128  # PTX ISA, cp.async.bulk.tensor: shared-memory address


TENSOR_SLOT_BYTES = 8  # where the allocation leaves the address of tensor memory, 4 bytes of it
LEAST_COLUMNS = 32  # of tensor memory; PTX ISA, tcgen05.alloc: powers of two from there on


def allocated_columns(columns: int) -> int:
    """Return how many columns are allocated where so many are needed."""
    return max(LEAST_COLUMNS, 1 << (columns - 1).bit_length()) if columns else 0


def align_up(value: int, alignment: int) -> int:
    """Round up to a multiple."""
    return -(-value // alignment) * alignment


@dataclass(frozen=True, slots=True)
class Uses:
    """What decides about a buffer's form: whether a matrix unit or TMA touches it."""

    matrix: frozenset[
        tuple[str, str | None]
    ]  # (resource, buffer): tensor core, stmatrix, ldmatrix, fragment store
    bulk: frozenset[tuple[str, str | None]]  # TMA or bulk copies


def _shape(values: Values, shape: tuple[Expr, ...], route: Route) -> tuple[int, ...] | None:
    extents = [values.integer(extent, (*route, "shape", i)) for i, extent in enumerate(shape)]
    return (
        None
        if any(extent is None or extent < 0 for extent in extents)
        else tuple(e for e in extents if e is not None)
    )


def derived_swizzle(inner_bytes: int) -> int:
    """Return the widest swizzle span that divides the inner extent, or 0."""
    return next((span for span in (128, 64, 32) if inner_bytes and inner_bytes % span == 0), 0)


def _buffer(
    values: Values,
    name: str,
    model: kinds.BufferModel | kinds.Smem | kinds.Tmem,
    route: Route,
    matrix: bool,
    bulk: bool,
) -> Buffer | None:
    if model.dtype is None or model.shape is None:
        return None
    shape = _shape(values, model.shape, route)
    if shape is None:
        return None
    bits = BITS[model.dtype]
    elements = 1
    for extent in shape:
        elements *= extent
    written = getattr(model, "swizzle", None)
    inner = shape[-1] * bits // 8 if shape else 0
    swizzle = (
        (derived_swizzle(inner) if matrix else 0)
        if written is None
        else 0
        if written == "none"
        else int(written)
    )
    needed = {128: 1024, 64: 512, 32: 256}.get(swizzle, TMA_ALIGN if bulk else 16)
    asked = values.integer(getattr(model, "align", None), (*route, "align"))
    return Buffer(
        name, route, model.dtype, shape, bits, swizzle, max(needed, asked or 1), -(-elements * bits // 8)
    )


def memories(spec: Spec, values: Values, uses: Uses, copies: Mapping[str, int]) -> dict[str, Memory]:
    """Size every memory resource and signal; `copies` counts the replicas of each task."""
    found: dict[str, Memory] = {}
    for name, model in spec.resources.items():
        route: Route = ("resources", name)
        if isinstance(model, kinds.Signal):
            stages = values.integer(model.stages, (*route, "stages"))
            found[name] = Memory(
                name,
                route,
                "signal",
                (),
                stages,
                copies.get(model.per or "", 1),
                model.per,
                model.released_by,
                (1, 1),
                None,
                None,
                0,
                0,
                1,
            )
        elif isinstance(model, (kinds.Smem, kinds.Tmem)):
            found[name] = _memory(name, model, route, values, uses, copies)
    return found


def _memory(
    name: str,
    model: kinds.Smem | kinds.Tmem,
    route: Route,
    values: Values,
    uses: Uses,
    copies: Mapping[str, int],
) -> Memory:
    made: list[Buffer] = []
    forms: list[tuple[str, kinds.BufferModel | kinds.Smem | kinds.Tmem, Route, str | None]] = []
    if model.buffers is None:
        forms.append((name, model, route, None))
    else:
        forms.extend((key, part, (*route, "buffers", key), key) for key, part in model.buffers.items())
    for key, part, where, buffer in forms:
        tags = {(name, buffer), (name, None)}
        one = _buffer(values, key, part, where, bool(tags & uses.matrix), bool(tags & uses.bulk))
        if one is not None:
            made.append(one)
    stages = values.integer(model.stages, (*route, "stages")) if model.stages is not None else None
    if model.stages is not None and stages is None:
        stages = 0
    if isinstance(model, kinds.Tmem):
        made, stage = _columns(made)
        align = 1
    else:
        offset, align, placed = 0, max((b.align for b in made), default=16), []
        for one in made:
            offset = align_up(offset, one.align)
            placed.append(replace(one, offset=offset))
            offset += one.bytes
        made, stage = placed, align_up(offset, align)
    over = model.over.of if isinstance(model.over, kinds.Over) else model.over
    over_stage = (
        values.integer(model.over.stage, (*route, "over", "stage"))
        if isinstance(model.over, kinds.Over)
        else None
    )
    lanes = model.interleave
    pair = (
        (lanes.producer, lanes.consumer) if isinstance(lanes, kinds.Interleave) else (lanes or 1, lanes or 1)
    )
    number = copies.get(model.per, 1) if model.per else 1
    kind: Literal["smem", "tmem"] = "tmem" if isinstance(model, kinds.Tmem) else "smem"
    return Memory(
        name,
        route,
        kind,
        tuple(made),
        stages,
        number,
        model.per,
        model.released_by,
        pair,
        over,
        over_stage,
        stage,
        stage * max(1, stages or 1),
        align,
        over_copy=values.integer(over.index, (*route, "over")) or 0 if over is not None else 0,
    )


def _columns(buffers: list[Buffer]) -> tuple[list[Buffer], int]:
    """Place tensor-memory buffers side by side; 32 bits take a column, narrower elements share it."""
    offset, placed = 0, []
    for one in buffers:
        columns = -(-(one.shape[-1] if one.shape else 1) * one.bits // 32)
        placed.append(replace(one, offset=offset, bytes=columns))
        offset += columns
    return placed, offset


def register_sets(spec: Spec, values: Values) -> dict[str, RegisterSet]:
    """Size every register resource."""
    found = {}
    for name, model in spec.resources.items():
        if isinstance(model, kinds.Registers):
            route: Route = ("resources", name)
            shape = _shape(values, model.shape, route) if model.shape is not None else None
            count = values.integer(model.per_thread, (*route, "per_thread"))
            found[name] = RegisterSet(name, route, model.dtype, shape, count, model.rows_of, model.split)
    return found


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything lies; `smem_bytes` includes barriers and padding."""

    memories: dict[str, Memory]
    pipelines: dict[tuple[str, int], Pipeline]
    orders: dict[tuple[str, int], Order]
    smem_bytes: int
    tmem_columns: int
    answers: int  # first byte of a queue's answers


def lay_out(
    found: Mapping[str, Memory],
    pipelines: Mapping[tuple[str, int], Pipeline],
    orders: Mapping[tuple[str, int], Order],
    groups: Mapping[str, tuple[str, tuple[str, ...]]],
    answer_bytes: int = 0,
) -> Layout:
    """Place storage in the order written, the answers of a queue, then all barriers in one array at the end.

    `groups` maps a merge or fork to its kind and members, which share the empty or the full barriers.
    """
    placed: dict[str, Memory] = {}
    aligns = _alignments(found)
    offset = columns = 0
    for name, memory in found.items():
        if memory.kind == "signal" or memory.over is not None:
            placed[name] = memory
        elif memory.kind == "tmem":
            placed[name] = replace(memory, offset=columns)
            columns += memory.copy_bytes * memory.copies
        else:
            offset = align_up(offset, aligns[name])
            placed[name] = replace(memory, offset=offset)
            offset += memory.copy_bytes * memory.copies
    for name in found:
        placed[name] = _overlay(name, placed, frozenset())
    answers = align_up(offset, ANSWER_BYTES) if answer_bytes else offset
    offset = align_up(answers + answer_bytes, BARRIER_BYTES)
    rings: dict[tuple[str, int], Pipeline] = {}
    shared: dict[tuple[str, int], int] = {}
    for key, ring in pipelines.items():
        if (ring.store_ring and not ring.loaded) or ring.stages < 1:
            rings[key] = ring
            continue
        places = {}
        for side in ("full",) if ring.store_ring else ("full", "empty"):
            group = next(
                (g for g, (kind, of) in groups.items() if ring.ring in of and side == _shared_side(kind)),
                None,
            )
            known = shared.get((group, ring.copy)) if group is not None else None
            if known is None:
                known = offset
                offset += BARRIER_BYTES * ring.stages
                if group is not None:
                    shared[group, ring.copy] = known
            places[side] = known
        rings[key] = replace(ring, full_offset=places["full"], empty_offset=places.get("empty"))
    turns = {}
    for key, order in orders.items():
        if order.kind == "turn":
            turns[key] = replace(order, offset=offset)
            offset += BARRIER_BYTES * len(order.participants)
        else:
            turns[key] = order
    return Layout(placed, rings, turns, offset, columns, answers)


def _shared_side(kind: str) -> str:
    return "empty" if kind == "merge" else "full"


def _alignments(found: Mapping[str, Memory]) -> dict[str, int]:
    """Align each resource also for what lies over it."""
    aligns = {name: memory.align for name, memory in found.items()}
    for name in found:
        under, seen = name, set[str]()
        while under not in seen and (over := found[under].over) is not None and over.name in found:
            seen.add(under)
            under = over.name
            aligns[under] = max(aligns[under], found[name].align)
    return aligns


def copy_on_copy(memory: Memory, under: Memory) -> bool:
    """Whether each copy of an overlay lies on the copy of the same replica, not all of them in one place."""
    over = memory.over
    return over is not None and over.index is None and memory.per is not None and memory.per == under.per


def _overlay(name: str, placed: Mapping[str, Memory], above: frozenset[str]) -> Memory:
    memory = placed[name]
    if memory.over is None or memory.offset is not None or name in above:
        return memory
    under: Reference = memory.over
    if under.name not in placed or placed[under.name].kind != memory.kind:
        return memory
    base = _overlay(under.name, placed, above | {name})
    if base.offset is None:
        return memory
    apart = base.copy_bytes if copy_on_copy(memory, base) else memory.copy_bytes
    begin = base.offset + memory.over_copy * base.copy_bytes + (memory.over_stage or 0) * base.stage_bytes
    return replace(memory, offset=begin, copy_bytes=apart)
