"""One tensor against what the kernel needs of it: type, place, strides, alignment."""

from __future__ import annotations

from dataclasses import dataclass

from tsc.runtime.dtypes import described, elements_each, spelled
from tsc.runtime.errors import LaunchError
from tsc.runtime.signature import TensorParam
from tsc.runtime.tensors import HOST, Facts, dense_strides, host_sentence


@dataclass(frozen=True, slots=True)
class Laid:
    """A tensor's extents and strides, counted in the kernel's elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]


def in_elements(param: TensorParam, facts: Facts) -> Laid:
    """The tensor in elements, of which a byte may hold two. Raises LaunchError for another type."""
    given = spelled(facts.dtype)
    each = elements_each(param.dtype, given)
    if not each:
        raise LaunchError(
            f"`{param.name}` holds {given} and the kernel takes {described(param.dtype)}; convert it first"
        )
    shape, strides = tuple(facts.shape), tuple(facts.strides)
    if each == 1 or len(shape) != len(param.shape) or not shape:
        return Laid(shape, strides)
    inner = param.order[-1]
    return Laid(
        tuple(extent * each if dim == inner else extent for dim, extent in enumerate(shape)),
        tuple(stride if dim == inner else stride * each for dim, stride in enumerate(strides)),
    )


def check_place(param: TensorParam, facts: Facts, tensor: object) -> None:
    """Refuses a tensor that is on no GPU, and one that may not be written where the kernel writes."""
    if facts.device == HOST:
        device = getattr(tensor, "device", None)
        raise LaunchError(host_sentence(param.name, f"on `{device}`" if device else "in host memory"))
    if param.written and not facts.writable:
        raise LaunchError(f"`{param.name}` is read-only by its producer, and the kernel writes it")


def check_strides(param: TensorParam, laid: Laid) -> Laid:
    """The tensor with the strides that the kernel gets. Raises LaunchError where they do not fit.

    A dimension of one element may have any stride, so it gets the one that a dense tensor would have, rounded
    up to what the kernel needs.
    """
    shape, strides, name = laid.shape, list(laid.strides), param.name
    if not shape or 0 in shape:
        return Laid(shape, dense_strides(shape))
    inner = param.order[-1]
    run = 1
    for dim in reversed(param.order):
        stride = strides[dim]
        if shape[dim] == 1:
            strides[dim] = run if dim == inner else -(-run // param.stride_multiple) * param.stride_multiple
            continue
        if stride < 0:
            raise LaunchError(
                f"`{name}` has stride {stride:,} in dimension {dim}; pass a copy that is not flipped"
            )
        if stride == 0 and param.written:
            raise LaunchError(
                f"`{name}` is written, and in dimension {dim} its elements share memory (stride 0); pass a "
                "tensor "
                "that is not broadcast"
            )
        if dim == inner and stride != 1:
            raise LaunchError(
                f"`{name}` has stride {stride:,} in dimension {dim}, which must be contiguous; pass a copy "
                "where "
                "its stride is 1"
            )
        if dim != inner and stride % param.stride_multiple:
            multiple = param.stride_multiple
            raise LaunchError(
                f"`{name}` has stride {stride:,} in dimension {dim}, and the kernel needs a multiple of "
                f"{multiple:,} elements ({multiple * param.dtype.bits // 8:,} B); pad it to "
                f"{-(-stride // multiple) * multiple:,}"
            )
        if param.packed and stride != run:
            raise LaunchError(
                f"`{name}` has stride {stride:,} in dimension {dim}, and the kernel needs it without gaps "
                f"(stride {run:,}); pass a contiguous copy"
            )
        if param.padded and dim != inner and stride < (own := _padded(param, shape[inner])):
            raise LaunchError(
                f"`{name}` has stride {stride:,} in dimension {dim}, and a row of {shape[inner]:,} has "
                f"{own:,} elements with the padding that the kernel writes; pass one whose rows lie that far "
                "apart"
            )
        run = max(run, stride * shape[dim])
    return Laid(shape, tuple(strides))


def _padded(param: TensorParam, extent: int) -> int:
    """Elements of a row up to a multiple of 16 bytes."""
    bits = extent * param.dtype.bits
    return -(-bits // 128) * 128 // param.dtype.bits


def check_address(param: TensorParam, pointer: int) -> None:
    """Refuses a base address that the kernel's accesses cannot start from."""
    if pointer == 0:
        raise LaunchError(
            f"`{param.name}` has elements and no memory (a null pointer); pass a tensor that owns some"
        )
    past = pointer % param.align
    if past:
        raise LaunchError(
            f"`{param.name}` begins {past:,} B past a multiple of {param.align:,} B, which the kernel needs "
            f"(address {pointer:#x}); pass a copy, or a slice that begins on one"
        )
