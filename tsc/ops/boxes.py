"""How a box of a tensor is cut into TMA instructions, and where each part lies in shared memory.

Limits: CUDA driver API, cuTensorMapEncodeTiled (256 elements a dimension, the inner extent at most the
swizzle span,
in multiples of 16 bytes); PTX ISA, cp.async.bulk.tensor (addresses in shared memory are multiples of 128
bytes).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any, NoReturn

from tsc.expr import Expr, build
from tsc.expr.tree import Binary, Compare, Int
from tsc.ops.inside import not_beyond
from tsc.ops.lowering import BufferOperand, Lowering, MapKey, Multicast, TensorOperand

UNIT = 16  # bytes of an address in memory, of a distance between rows, and of what a store leaves out
MOST = 256  # elements of a box along one dimension
ALIGN = 128  # bytes of a shared-memory address
FARTHEST = 2**31 - 1  # a coordinate
LISTED = 8  # instructions that are written one by one; more of them become a loop

STORES = frozenset(("tma_store", "tma_reduce"))


@dataclass(frozen=True, slots=True)
class Cut:
    """A box in memory order, slowest dimension first: extents of one instruction, and instructions a
    dimension.

    `steps` are the bytes in shared memory from one instruction to the next along each dimension.
    """

    box: tuple[int, ...]
    counts: tuple[int, ...]
    steps: tuple[int, ...]

    @property
    def instructions(self) -> int:
        """How many instructions move the whole box."""
        return prod(self.counts)


def largest_part(extent: int, unit: int = 1) -> int:
    """Return the largest divisor of an extent that fits a box, a multiple of `unit`; 0 if there is none."""
    return next(
        (part for part in range(min(extent, MOST), 0, -1) if extent % part == 0 and part % unit == 0), 0
    )


def cut(shape: tuple[int, ...], bits: int, swizzle: int, part: tuple[int, ...] | None = None) -> Cut | None:
    """Cut a buffer (or the leading `part` of it) so that each instruction's box is contiguous; None if that
    cannot be.

    A swizzled buffer is a row of column atoms as wide as the span; others are row-major.
    """
    part = part or shape
    inner = part[-1]
    unit = max(1, 128 // bits)  # elements in 16 bytes
    if inner % unit:
        return None
    span = swizzle * 8 // bits if swizzle else 0
    column = span if swizzle else largest_part(inner, unit)
    if not column or (swizzle and inner % span):
        return None
    pitch = swizzle if swizzle else shape[-1] * bits // 8
    boxes, counts = [column], [inner // column]
    steps = [prod(shape[:-1]) * swizzle if swizzle else column * bits // 8]
    whole = swizzle > 0 or counts[0] == 1
    rows = 1  # rows of the buffer that one step along the dimension at hand passes
    for full, extent in zip(reversed(shape[:-1]), reversed(part[:-1]), strict=True):
        box = largest_part(extent) if whole else 1
        boxes.append(box)
        counts.append(extent // box)
        steps.append(box * rows * pitch)
        # Once a dimension is cut, or is only a part of the buffer's, what encloses it is no longer
        # contiguous.
        whole = whole and box == full
        rows *= full
    return Cut(tuple(reversed(boxes)), tuple(reversed(counts)), tuple(reversed(steps)))


@dataclass(frozen=True, slots=True)
class Transfer:
    """A copy between a tensor and a buffer: the map, and per instruction the address and the coordinates."""

    map: str
    loops: tuple[tuple[str, int], ...]  # variable and count, where the instructions are not listed
    parts: tuple[dict[str, Any], ...]  # address: C++, at: C++ of the coordinates, fastest first


def memory_order(tensor: TensorOperand, buffer: BufferOperand) -> tuple[int, ...] | None:
    """Return the tensor's dimensions that the buffer covers, as they lie in the buffer; None if TMA cannot
    do it.
    """
    rank = len(buffer.shape)
    covered = list(range(tensor.rank - rank, tensor.rank))
    if buffer.transposed and rank >= 2:
        covered[-2:] = covered[:-3:-1]
    fits = tuple(dim for dim in tensor.order if dim in covered) == tuple(covered)
    return tuple(covered) if covered and fits and covered[-1] == tensor.major else None


def transfer(
    lowering: Lowering,
    tensor: TensorOperand,
    buffer: BufferOperand,
    at: tuple[Expr, ...],
    verb: str,
    *,
    l2: int,
    fill: str = "zero",
    share: Multicast | None = None,
    added: Mapping[int, str] | None = None,
) -> Transfer:
    """Plan a TMA copy of a whole buffer, or of this CTA's share of it; refuses what cannot be done.

    `added` are C++ terms of coordinates, by dimension.
    """
    if not 1 <= tensor.rank <= 5:
        lowering.refuse(f"`{verb}` of a tensor of {tensor.rank} dimensions is not generated")
    if len(buffer.shape) > tensor.rank:
        lowering.refuse(
            f"`{verb}` between {len(buffer.shape)} dimensions of `{buffer.text}` and {tensor.rank} of "
            "a tensor"
        )
    if tensor.dtype != buffer.dtype:
        lowering.refuse(
            f"`{verb}` changes no dtype, and here it goes between `{tensor.dtype}` and `{buffer.dtype}`"
        )
    _hold_begin(lowering, tensor, at[tensor.major], verb)
    if tensor.bits < 8:
        tensor, buffer, at = _in_bytes(lowering, tensor, buffer, at, verb)
    covered = memory_order(tensor, buffer)
    if covered is None:
        lowering.refuse(
            f"`{buffer.text}` lies in another order of dimensions than `{tensor.name}`, and `{verb}` "
            "does not transpose"
        )
    part, sliced = buffer.shape, None
    if share is not None:
        sliced = next((i for i, extent in enumerate(buffer.shape) if extent > 1), 0)
        if buffer.shape[sliced] % share.size:
            lowering.refuse(
                f"{buffer.shape[sliced]} of `{buffer.text}` do not divide among {share.size} CTAs, so that "
                "`share: split` is not generated"
            )
        part = tuple(e // share.size if i == sliced else e for i, e in enumerate(buffer.shape))
    plan = cut(buffer.shape, buffer.bits, buffer.swizzle, part)
    offset = 0 if sliced is None else _slice_bytes(buffer, sliced, part)
    if plan is None or any(step % ALIGN for step, n in zip(plan.steps, plan.counts, strict=True) if n > 1):
        lowering.refuse(
            f"`{verb}` cannot be cut into boxes for `{buffer.text}`: each part starts at a multiple "
            "of 128 bytes"
        )
    pattern = 8 * buffer.swizzle or ALIGN
    rows = zip(plan.steps[:-1], plan.counts[:-1], strict=True)
    if offset % pattern or (buffer.swizzle and any(step % pattern for step, n in rows if n > 1)):
        lowering.refuse(
            f"a part of `{buffer.text}` would not start on its swizzle pattern, which repeats each "
            f"{pattern} bytes"
        )
    reach = dict(zip(covered, buffer.shape, strict=True))
    _hold(lowering, tensor, [reach.get(dim, 1) for dim in range(tensor.rank)], at, verb)
    lowering.need(tensor.name, UNIT, UNIT)
    if verb in STORES:
        _hold_rows(lowering, tensor, at[tensor.major], buffer.shape[-1], verb)
    box = [1] * tensor.rank
    for dim, extent in zip(covered, plan.box, strict=True):
        box[dim] = extent
    name = lowering.tensor_map(MapKey(tensor.name, tuple(box), buffer.swizzle, l2, fill))
    begin = buffer.address
    # A load may go past 2^31: it finds nothing at the negative coordinate that this becomes.
    late = frozenset(
        dim for dim, extent in reach.items() if verb in STORES and _wraps(lowering, at[dim], extent)
    )
    where: list[Expr | str] = list(at)
    for dim, term in (added or {}).items():
        text = lowering.text(at[dim])
        where[dim] = _capped(text, term) if dim in late else f"{_term(text)} + {term}"
    if share is not None and sliced is not None:
        begin = f"{begin} + {share.rank} * {offset}"
        where[covered[sliced]] = (
            f"{_term(lowering.text(at[covered[sliced]]))} + {share.rank} * {part[sliced]}"
        )
    return _parts(lowering, tensor, plan, covered, name, begin, where, late)


def _in_bytes(
    lowering: Lowering, tensor: TensorOperand, buffer: BufferOperand, at: tuple[Expr, ...], verb: str
) -> tuple[TensorOperand, BufferOperand, tuple[Expr, ...]]:
    """Return a copy of elements of less than a byte as one of bytes, which is how its map describes them."""
    each, major = 8 // tensor.bits, tensor.major
    what = f"`{verb}` of `{tensor.name}` by whole bytes"
    if buffer.shape[-1] % each or not lowering.need_multiple(tensor.shape[major], each, what):
        lowering.refuse(f"`{verb}` moves whole bytes, which hold {each} elements of `{tensor.name}` each")

    def whole(expr: Expr) -> Expr:
        return lowering.flat(build(Binary("//", expr.tree, Int(each))))

    shape = tuple(whole(extent) if dim == major else extent for dim, extent in enumerate(tensor.shape))
    place = tuple(whole(first) if dim == major else first for dim, first in enumerate(at))
    held = (*buffer.shape[:-1], buffer.shape[-1] // each)
    return replace(tensor, bits=8, shape=shape), replace(buffer, bits=8, shape=held), place


def _hold_begin(lowering: Lowering, tensor: TensorOperand, first: Expr, verb: str) -> None:
    """Let a box begin at whole 16 bytes of a row: an H200 answers one that does not, of a load or a store, by
    an illegal-instruction fault.
    """
    unit = UNIT * 8 // tensor.bits
    what = f"that `{verb}` of `{tensor.name}` begins at whole {UNIT} bytes of a row"
    if not lowering.need_multiple(first, unit, what):
        lowering.fault(
            "box-inside-16-bytes",
            f"`{verb}` begins at whole {UNIT} bytes of a row, {unit} elements of `{tensor.name}`, and "
            f"`{first.text}` may be no multiple of {unit}",
            f"make it a multiple of {unit}, or copy by threads",
        )


def _hold_rows(lowering: Lowering, tensor: TensorOperand, first: Expr, extent: int, verb: str) -> None:
    """Keep a box that may reach past the end of rows from what lies behind them.

    Loads, and stores along the other dimensions, end exactly where the tensor does. Along the contiguous one
    the hardware leaves out whole 16 bytes only: of a store of 129 bf16 values to a row, 7 more are written.
    """
    limit, name = tensor.shape[tensor.major], tensor.name
    if tensor.padded or lowering.proves(not_beyond(first, extent, limit)):
        return
    reason = f"`{verb}` writes rows of `{name}` in whole 16 bytes"
    promise = "" if tensor.workspace else f" promise `padded: true` of `{name}`,"
    edit = f"make `{limit.text}` a multiple of {UNIT * 8 // tensor.bits},{promise} or store by threads"
    if not lowering.need_whole_rows(name, UNIT, f"{reason}: {edit}"):
        ends = f"{reason}, and one of `{limit.text}` elements ends inside them"
        lowering.fault("box-inside-16-bytes", ends, edit)


def _wraps(lowering: Lowering, item: Expr, extent: int) -> bool:
    """Whether the last element of a box may have a coordinate past 2^31, a negative one to the hardware."""
    fits = lowering.interval(item).hi <= FARTHEST - extent + 1
    return not fits and not lowering.proves(_at_most(item, FARTHEST - extent + 1))


def _at_most(item: Expr, most: int) -> Expr:
    return build(Compare(("<=",), (item.tree, Int(most))))


def _capped(first: str, moving: str) -> str:
    """Return a sum that stays where nothing is left of a tensor instead of becoming negative."""
    return f"smaller(i64({first}) + {moving}, {FARTHEST})"


def _hold(
    lowering: Lowering, tensor: TensorOperand, extents: Sequence[int], at: tuple[Expr, ...], verb: str
) -> None:
    """Hold coordinates in the 32 bits in which the hardware takes them, where need be by a bound of a dim
    that the loader asserts; refuse what no such bound settles.

    Past 2^31 nothing is left of a tensor whose extent fits 32 bits. What a load finds there is what it finds
    at the negative coordinate that such a one becomes: nothing, as long as its box stays below zero.
    """
    for item, extent, limit in zip(at, extents, tensor.shape, strict=True):
        far = FARTHEST
        if not lowering.interval(limit).fits_32:
            far -= max(extents)
        elif verb not in STORES:
            far = 2**32 - 1 - max(extents)
        bounds = lowering.interval(item)
        lower = build(Compare((">=",), (item.tree, Int(-FARTHEST - 1))))
        if bounds.lo < -FARTHEST - 1 and not lowering.proves(lower):
            _refuse(lowering, item, bounds.lo)
        if bounds.hi <= far or lowering.proves(_at_most(item, far)):
            continue
        # Where a bound is asserted all the same, it holds for the whole box, and nothing has to be capped.
        what = f"`{verb}` of `{tensor.name}` in 32 bits"
        if not any(lowering.need_bound(_at_most(item, most), what) for most in (FARTHEST - extent + 1, far)):
            _refuse(lowering, item, bounds.hi)


def _refuse(lowering: Lowering, item: Expr, worst: int) -> NoReturn:
    lowering.refuse(
        f"TMA coordinates have 32 bits, and `{item.text}` may be {worst:,}; bound it by an `assert`"
    )


def _slice_bytes(buffer: BufferOperand, dim: int, part: tuple[int, ...]) -> int:
    """Bytes from one CTA's share to the next along a dimension of the buffer."""
    if dim == len(buffer.shape) - 1:
        rows = prod(buffer.shape[:-1])
        span = buffer.swizzle * 8 // buffer.bits if buffer.swizzle else 0
        return (
            part[dim] // span * rows * buffer.swizzle
            if span and part[dim] % span == 0
            else part[dim] * buffer.bits // 8
        )
    pitch = buffer.swizzle or buffer.shape[-1] * buffer.bits // 8
    return part[dim] * prod(buffer.shape[dim + 1 : -1]) * pitch


def _term(text: str) -> str:
    """Return C++ to which something is added, in parentheses where it binds less than a sum."""
    return text if not set(text) & set("?:<>=!&|^") else f"({text})"


def moved(expr: Expr, by: int) -> Expr:
    """Return a coordinate further on by a constant."""
    return (
        expr
        if by == 0
        else build(Int(expr.value + by) if isinstance(expr.value, int) else Binary("+", expr.tree, Int(by)))
    )


def _parts(
    lowering: Lowering,
    tensor: TensorOperand,
    plan: Cut,
    covered: tuple[int, ...],
    name: str,
    begin: str,
    where: list[Expr | str],
    late: frozenset[int],
) -> Transfer:
    """Print the address and the coordinates of each instruction; those `late` are capped where they move."""
    texts = [item if isinstance(item, str) else lowering.text(item) for item in where]
    if plan.instructions > LISTED:
        loops: list[tuple[str, int]] = []
        address = begin
        for i, (count, step) in enumerate(zip(plan.counts, plan.steps, strict=True)):
            if count == 1:
                continue
            variable = lowering.local("part" if not loops else f"part_{len(loops)}")
            loops.append((variable, count))
            address += f" + {variable} * {step}"
            moving = f"{variable} * {plan.box[i]}"
            first = texts[covered[i]]
            if covered[i] in late:
                texts[covered[i]] = _capped(first, moving)
            else:
                texts[covered[i]] = moving if first == "0" else f"{_term(first)} + {moving}"
        return Transfer(name, tuple(loops), ({"address": address, "at": _fastest_first(tensor, texts)},))
    parts = []
    for index in product(*map(range, plan.counts)):
        offset = sum(i * step for i, step in zip(index, plan.steps, strict=True))
        own = list(texts)
        for dim, i, extent in zip(covered, index, plan.box, strict=True):
            item = where[dim]
            if i and dim in late:
                own[dim] = _capped(own[dim], str(i * extent))
            elif i:
                own[dim] = (
                    f"{item} + {i * extent}"
                    if isinstance(item, str)
                    else lowering.text(moved(item, i * extent))
                )
        address = begin if offset == 0 else f"{begin} + {offset}"
        parts.append({"address": address, "at": _fastest_first(tensor, own)})
    return Transfer(name, (), tuple(parts))


def _fastest_first(tensor: TensorOperand, texts: list[str]) -> str:
    return ", ".join(texts[dim] for dim in reversed(tensor.order))
