"""DLPack capsules, read in place with ctypes: legacy and versioned ones.

A capsule is read and never renamed to "used", so its own destructor calls the producer's deleter, once, when
the last reference to the capsule goes. Whoever reads one keeps it until the launch that uses its pointer is
enqueued.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

CUDA, CUDA_MANAGED = 2, 13

PLACES = {
    1: "in host memory",
    2: "in GPU memory",
    3: "in pinned host memory",
    4: "in OpenCL memory",
    7: "in Vulkan memory",
    8: "in Metal memory",
    10: "in ROCm memory",
    11: "in pinned host memory",
    13: "in managed memory",
    14: "in oneAPI memory",
    15: "in WebGPU memory",
}

_READ_ONLY, _IS_COPY, _SUBBYTE_PADDED = 1, 2, 4


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


# Prototypes of their own: attributes set on `ctypes.pythonapi` would be shared with every other user of it.
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)


@dataclass(frozen=True, slots=True)
class Exported:
    """What a capsule says about its tensor; strides in elements, None for a dense row-major tensor."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    code: int
    bits: int
    lanes: int
    device_type: int
    device: int
    writable: bool


class CapsuleError(Exception):
    """The object is no capsule that can be used; the text completes "`x` ..."."""


def read(capsule: object) -> Exported:
    """The facts in a capsule named `dltensor` or `dltensor_versioned`. Raises CapsuleError for any other."""
    flags = 0
    if _is_valid(capsule, b"dltensor_versioned"):
        versioned = _Versioned.from_address(_pointer_of(capsule, b"dltensor_versioned"))
        if versioned.major != 1:
            raise CapsuleError(
                f"exports DLPack {versioned.major}.{versioned.minor}, and this tsc reads version 1"
            )
        flags, tensor = versioned.flags, versioned.tensor
    elif _is_valid(capsule, b"dltensor"):
        tensor = _Tensor.from_address(_pointer_of(capsule, b"dltensor"))
    else:
        raise CapsuleError("exports no unused DLPack capsule")
    if flags & _SUBBYTE_PADDED and tensor.bits < 8:
        raise CapsuleError("holds one element of less than 8 bits a byte, and the kernel reads two a byte")
    rank = tensor.ndim
    return Exported(
        pointer=(tensor.data or 0) + tensor.byte_offset,
        shape=tuple(tensor.shape[:rank]) if rank else (),
        strides=tuple(tensor.strides[:rank]) if rank and tensor.strides else None,
        code=tensor.code,
        bits=tensor.bits,
        lanes=tensor.lanes,
        device_type=tensor.device_type,
        device=tensor.device_id,
        writable=not flags & (_READ_ONLY | _IS_COPY),
    )
