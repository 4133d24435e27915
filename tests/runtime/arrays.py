"""Tensors as torch, CuPy and the exchange protocols present them, without memory behind them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from tsc.runtime.tensors import dense_strides

ADDRESS = 0x7F00_0000_0000


class TorchDtype:
    """Prints as torch's do."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"


_torch_dtypes: dict[str, TorchDtype] = {}


class Tensor:
    """What the loader reads of a `torch.Tensor`."""

    def __init__(
        self,
        *shape: int,
        dtype: str = "bfloat16",
        strides: tuple[int, ...] | None = None,
        device: int | None = 0,
        address: int = ADDRESS,
    ) -> None:
        self.shape = shape
        self.dtype = _torch_dtypes.setdefault(dtype, TorchDtype(dtype))
        self.device = "cpu" if device is None else f"cuda:{device}"
        self._device = -1 if device is None else device
        self._strides = dense_strides(shape) if strides is None else strides
        self._address = address

    @property
    def is_cuda(self) -> bool:
        return self._device >= 0

    def data_ptr(self) -> int:
        return self._address

    def stride(self) -> tuple[int, ...]:
        return self._strides

    def get_device(self) -> int:
        return self._device


class NumpyDtype:
    """What the loader reads of a NumPy dtype."""

    def __init__(self, name: str) -> None:
        self.name = name


_numpy_dtypes: dict[str, NumpyDtype] = {}


class Ndarray:
    """What the loader reads of a `cupy.ndarray`."""

    __cuda_array_interface__: Any = None

    def __init__(self, *shape: int, dtype: str = "bfloat16", itemsize: int = 2, device: int = 0) -> None:
        self.shape = shape
        self.itemsize = itemsize
        self.dtype = _numpy_dtypes.setdefault(dtype, NumpyDtype(dtype))
        self.strides = tuple(stride * itemsize for stride in dense_strides(shape))
        self.data = _Memory(ADDRESS, device)


Ndarray.__module__ = "cupy"


class _Memory:
    def __init__(self, ptr: int, device_id: int) -> None:
        self.ptr = ptr
        self.device_id = device_id


class CudaArray:
    """An object with `__cuda_array_interface__` alone."""

    def __init__(self, *shape: int, typestr: str = "<f4", read_only: bool = False, **more: Any) -> None:
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": typestr,
            "data": (more.pop("address", ADDRESS), read_only),
            "version": 3,
            **more,
        }


class _DLTensor(ctypes.Structure):
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


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class _ManagedVersioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _DLTensor),
    )


_Destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
_name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)(("PyCapsule_GetName", ctypes.pythonapi))


class Exporter:
    """An object with `__dlpack__` alone, which counts how often the deleter of its capsules runs."""

    def __init__(
        self,
        *shape: int,
        code: int = 4,
        bits: int = 16,
        lanes: int = 1,
        strides: tuple[int, ...] | None = None,
        place: tuple[int, int] = (2, 0),
        address: int = ADDRESS,
        byte_offset: int = 0,
        version: tuple[int, int] | None = None,
        flags: int = 0,
        during: Callable[[], None] = lambda: None,
    ) -> None:
        self.place = place
        self.version = version
        self.during = during
        self.streams: list[object] = []
        self.deleted = 0
        self._extents = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        self._steps = (ctypes.c_int64 * max(len(shape), 1))(*(strides or ()))
        tensor = _DLTensor(address, *place, len(shape), code, bits, lanes, self._extents, None, byte_offset)
        if strides is not None:
            tensor.strides = self._steps
        if version is None:
            self._managed: ctypes.Structure = _Managed(tensor)
        else:
            self._managed = _ManagedVersioned(*version, None, None, flags, tensor)
        self._name = b"dltensor" if version is None else b"dltensor_versioned"
        self._destructor = _Destructor(self._destroy)

    def _destroy(self, capsule: int) -> None:
        # As the protocol has it: a capsule that nobody has taken over deletes its tensor.
        if _name_of(capsule) in (b"dltensor", b"dltensor_versioned"):
            self.deleted += 1

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.place

    def __dlpack__(self, *, stream: object = None) -> object:
        self.streams.append(stream)
        self.during()
        return _new(
            ctypes.addressof(self._managed), self._name, ctypes.cast(self._destructor, ctypes.c_void_p)
        )
