"""Buffers of steps and works as C++: which memory a reference means, at which stage, and who shares it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from tsc.emit.function import Function
from tsc.emit.kernel import storage
from tsc.emit.rings import RingEnd, Rings
from tsc.model import Reference
from tsc.ops.lowering import Refused, TensorMemoryOperand
from tsc.program.model import Buffer, Memory, Operand
from tsc.program.multicast import Shared
from tsc.program.tree import Step


def memory_of(function: Function, operand: Operand, reference: Reference) -> tuple[Memory, Buffer]:
    """Return the shared memory and the buffer that a reference means; refuses what is neither."""
    memory = function.program.memories.get(operand.name)
    if memory is None or memory.kind != "smem":
        kind = "tensor memory" if memory is not None and memory.kind == "tmem" else "no shared memory"
        raise Refused(f"`{reference}` is {kind}, which is not generated here yet")
    buffer = memory.buffer(reference.buffer)
    if buffer is None:
        raise Refused(f"`{reference}` names several buffers at once")
    return memory, buffer


def tensor_operand(
    function: Function,
    rings: Rings,
    step: Step,
    operand: Operand,
    reference: Reference,
    mode: Literal["read", "write"],
) -> TensorMemoryOperand:
    """Return a buffer of tensor memory at the stage that a reader or a writer means."""
    memory = function.program.memories.get(operand.name)
    buffer = memory.buffer(reference.buffer) if memory is not None and memory.kind == "tmem" else None
    if memory is None or buffer is None:
        raise Refused(f"`{reference}` is no buffer in tensor memory")
    address = buffer_address(rings, step, memory, operand.copy, buffer, mode)
    text, shape, columns = str(reference), buffer.shape, buffer.bytes
    return TensorMemoryOperand(text, buffer.dtype, buffer.bits, shape, columns, address)


def matrix_text(
    rings: Rings, step: Step, operand: Operand, reference: Reference, type_: str, form: str, first: str
) -> str:
    """Return the C++ of a matrix descriptor, or of its lower word, at the current stage. `form` makes that of
    stage 0 from the address, which is `first` bytes behind the buffer's own.
    """
    function = rings.function
    memory, found = memory_of(function, operand, reference)
    end = current(rings, step, memory, operand.copy, "read") if memory.ring else None
    base = rings.address(memory, operand.copy)
    place = " + ".join([base, *(text for text in (str(found.offset), first) if text not in ("", "0"))])
    prefix = rings.prefix(memory, operand.copy)
    hint = f"{prefix}_matrix" if found.name == memory.name else f"{prefix}_{found.name}_matrix"
    shifted = ">>" in form and " + " in place
    name = function.hoisted(type_, hint, form.format(f"({place})" if shifted else place))
    if end is None or end.stage == "0":
        return name
    distance = function.kernel.place(f"{memory.name}.stage", memory.stage_bytes)
    return f"{name} + {end.stage} * ({distance} >> 4)"


def buffer_type(buffer: Buffer, readable: bool) -> str:
    """Return the type of a buffer's view."""
    extents = "".join(f", {extent}" for extent in buffer.shape)
    return f"Buffer<{'const ' if readable else ''}{storage(buffer.dtype)}, {buffer.swizzle}{extents}>"


def buffer_address(
    rings: Rings, step: Step, memory: Memory, copy: int, buffer: Buffer, mode: Literal["read", "write"]
) -> str:
    """Return the C++ of a buffer's first byte, at the stage that a reader or a writer means."""
    if not memory.ring:
        first = rings.address(memory, copy)
        return first if buffer.offset == 0 else f"{first} + {buffer.offset}"
    return rings.stage_address(current(rings, step, memory, copy, mode), buffer.offset)


def current(rings: Rings, step: Step, memory: Memory, copy: int, mode: Literal["read", "write"]) -> RingEnd:
    """Return the end whose stage an access means: the one taken last to read, or to write where that is how
    it is used.
    """
    pipeline, held = rings.pipeline(memory, copy), rings.held
    reads, writes = (memory.name, copy, "read") in held.takes, (memory.name, copy, "write") in held.takes
    if reads and writes:
        # A task that does both means the side whose stage it holds here.
        around = held.around.get(step.index, set())
        reads, writes = (memory.name, copy, "read") in around, (memory.name, copy, "write") in around
        reads, writes = (True, True) if not reads and not writes else (reads, writes)
    # A store ring is read where it was committed, and a consumer that updates a stage writes where it waited.
    side: Literal["write", "read"] = "read" if reads and (mode == "read" or not writes) else "write"
    if not reads and not writes:
        raise Refused(f"`{memory.name}` is used without a stage of it being taken")
    end = rings.end(memory, copy, "write" if pipeline.store_ring else side)
    return replace(end, stage=rings.committed(end)) if pipeline.store_ring and mode == "read" else end


def fillers_mask(function: Function, shared: Sequence[Shared]) -> str:
    """Return the C++ of the mask of CTAs whose loads fill stages of this one, itself included."""
    kernel = function.kernel
    parts = {one.axis for one in shared if not one.led and not one.sent}
    loads = [
        one
        for one in shared
        if kernel.axis(one.axis)[0] > 1 and not ((one.led or one.sent) and one.axis in parts)
    ]
    terms = [peers_mask(function, (one.axis,)) for one in loads if not one.led and not one.sent]
    copied = dict.fromkeys(one.axis for one in loads if one.sent)
    terms += [_senders(function, axis, [one.sent for one in loads if one.axis == axis]) for axis in copied]
    for axis in (one.axis for one in loads if one.led):
        extent, stride = kernel.axis(axis)
        if extent == kernel.cluster_size:
            terms.append("1")
            continue
        place = function.cluster_rank(axis)
        steps = place if stride == 1 else f"{place} * {stride}"
        terms.append(f"1 << ({cta_rank(function)} - {steps})")
    if all(one.led for one in loads):
        terms.append(f"1 << {cta_rank(function)}")
    apart = len(terms) > 1
    return " | ".join(f"({term})" if apart and ("<<" in term or "?" in term) else term for term in terms)


def _senders(function: Function, axis: str, sent: Sequence[tuple[int, ...]]) -> str:
    """Return the C++ of the mask of CTAs along an axis that send to this one, itself included."""
    extent, stride = function.kernel.axis(axis)
    masks = [1 << place * stride for place in range(extent)]
    for places in sent:
        for own, to in enumerate(places):
            masks[to] |= 1 << own * stride
    if len(set(masks)) == 1:
        return peers_mask(function, (axis,))
    place = function.cluster_rank(axis)
    *some, last = (str(mask) for mask in masks)
    text = "".join(f"{place} == {i} ? {mask} : " for i, mask in enumerate(some)) + last
    if extent == function.kernel.cluster_size:
        return text
    return f"({text}) << ({cta_rank(function)} - {place}" + (")" if stride == 1 else f" * {stride})")


def cta_rank(function: Function) -> str:
    """Return the C++ of this CTA's rank in its cluster."""
    return function.builtin("rank", "int", "static_cast<int>(cluster_rank())")


def peers_mask(function: Function, axes: Sequence[str]) -> str:
    """Return the C++ of the mask of CTAs that share a place with this one along any of the axes."""
    kernel = function.kernel
    terms = []
    for axis in axes:
        extent, stride = kernel.axis(axis)
        if extent == 1:
            continue
        own = sum(1 << i * stride for i in range(extent))
        if extent == kernel.cluster_size:
            terms.append(str(own))
            continue
        place = function.cluster_rank(axis)
        rank = cta_rank(function)
        shift = f"{rank} - {place}" if stride == 1 else f"{rank} - {place} * {stride}"
        terms.append(f"{own} << ({shift})")
    text = " | ".join(f"({term})" if len(terms) > 1 and "<<" in term else term for term in terms)
    return text
