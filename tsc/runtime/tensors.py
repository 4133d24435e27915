"""Tensors of any framework as plain facts: torch and CuPy by their attributes, others by DLPack or the CUDA
array interface. No framework is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from tsc.runtime import dlpack
from tsc.runtime.driver import LEGACY_STREAM
from tsc.runtime.dtypes import from_dlpack, from_type_string
from tsc.runtime.errors import LaunchError

HOST = -1
"""Stands for the device of a tensor that is on no GPU."""

ASK_DRIVER = -2
"""Stands for the device of a tensor that does not say where it is."""


class Facts(NamedTuple):
    """What a kernel's argument is, as its framework tells it; hashable, so that equal calls can be told."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """in elements"""
    dtype: Hashable
    """the framework's own, or a name"""
    device: int
    """number of the GPU, HOST or ASK_DRIVER"""
    writable: bool = True


Reader = Callable[[Any], Facts]


def read_torch(tensor: Any) -> Facts:
    """The facts of a `torch.Tensor`."""
    device = tensor.get_device() if tensor.is_cuda else HOST
    return Facts(tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype, device)


def read_cupy(array: Any) -> Facts:
    """The facts of a `cupy.ndarray`."""
    size = array.itemsize
    memory = array.data
    strides = tuple([stride // size for stride in array.strides])
    return Facts(memory.ptr, array.shape, strides, array.dtype, memory.device_id)


def direct_reader(kind: type) -> Reader | None:
    """The reader for a type whose attributes say all, None for others."""
    if all(hasattr(kind, name) for name in ("data_ptr", "stride", "get_device", "is_cuda")):
        return read_torch
    if kind.__module__.partition(".")[0] == "cupy" and hasattr(kind, "__cuda_array_interface__"):
        return read_cupy
    return None


def offers(value: object, *names: str) -> bool:
    """Whether an object has one of the attributes, without tripping over one that fails when it is read."""
    for name in names:
        if hasattr(type(value), name):
            return True
        try:
            getattr(value, name)
        except Exception:
            continue
        return True
    return False


def is_tensor(value: object) -> bool:
    """Whether one of the readers can make something of it."""
    return direct_reader(type(value)) is not None or offers(value, "__dlpack__", "__cuda_array_interface__")


def read_exported(name: str, value: Any, stream: int, capturing: bool) -> tuple[Facts, object]:
    """The facts of argument `name` by an exchange protocol, and what keeps its memory until the launch.

    The producer orders `stream` after its own work, except in a capture, which may hold no outside event.
    Raises LaunchError for what is no tensor, and for one on no GPU.
    """
    if offers(value, "__dlpack__"):
        return _read_dlpack(name, value, -1 if capturing else stream or LEGACY_STREAM)
    protocol = "`__cuda_array_interface__`"
    try:
        interface = value.__cuda_array_interface__
    except Exception as error:
        raise LaunchError(f"`{name}` cannot be read: its {protocol} fails ({error})") from None
    try:
        return _read_cuda_array(interface), value
    except (KeyError, TypeError, ValueError):
        raise LaunchError(
            f"`{name}` cannot be read: its {protocol} lacks what the protocol asks for"
        ) from None


def host_sentence(name: str, place: str) -> str:
    """The sentence about a tensor on no GPU."""
    return f"`{name}` is {place}, and the kernel needs it on a GPU; copy it there first"


def _read_dlpack(name: str, value: Any, stream: int) -> tuple[Facts, object]:
    try:
        kind = int(value.__dlpack_device__()[0]) if offers(value, "__dlpack_device__") else dlpack.CUDA
        if kind in (dlpack.CUDA, dlpack.CUDA_MANAGED):
            capsule = value.__dlpack__(stream=stream)
            exported = dlpack.read(capsule)
            kind = exported.device_type
    except dlpack.CapsuleError as error:
        raise LaunchError(f"`{name}` {error}") from None
    except Exception as error:
        raise LaunchError(f"`{name}` cannot be read: its `__dlpack__` fails ({error})") from None
    if kind not in (dlpack.CUDA, dlpack.CUDA_MANAGED):
        raise LaunchError(host_sentence(name, dlpack.PLACES.get(kind, f"on DLPack device type {kind}")))
    facts = Facts(
        exported.pointer,
        exported.shape,
        dense_strides(exported.shape) if exported.strides is None else exported.strides,
        from_dlpack(exported.code, exported.bits, exported.lanes),
        exported.device if kind == dlpack.CUDA else ASK_DRIVER,
        exported.writable,
    )
    return facts, capsule


def _read_cuda_array(interface: dict[str, Any]) -> Facts:
    text = interface["typestr"]
    pointer, read_only = interface["data"]
    shape = tuple(int(extent) for extent in interface["shape"])
    size = int(text[2:])
    pitches = interface.get("strides")
    strides = dense_strides(shape) if pitches is None else tuple(int(pitch) // size for pitch in pitches)
    return Facts(int(pointer or 0), shape, strides, from_type_string(text), ASK_DRIVER, not read_only)


def dense_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a row-major tensor without gaps, in elements."""
    strides = []
    run = 1
    for extent in reversed(shape):
        strides.append(run)
        run *= extent
    return tuple(reversed(strides))
