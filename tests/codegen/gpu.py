"""Runs a kernel for a test: bytes in, bytes out, through the driver that cuda-bindings wraps."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.codegen.headers import compiled


def packed16(values: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(values)}H", *values)


def unpacked16(data: bytes) -> list[int]:
    return list(struct.unpack(f"<{len(data) // 2}H", data))


def halves(count: int) -> list[int]:
    """Different 16-bit patterns, as long as there are any."""
    return [value % 65521 for value in range(1, count + 1)]


def checked(result: tuple[Any, ...]) -> Any:
    """The values of a driver call, which begins with its status."""
    assert int(result[0]) == 0, str(result[0])
    return result[1] if len(result) == 2 else result[1:]


@dataclass(frozen=True)
class Map:
    """A tensor map over an array in memory; extents and box begin with the slowest dimension."""

    array: int
    """which of the kernel's arrays"""
    type: str
    bytes: int
    extents: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int
    pitch: int = 0
    """elements from row to row, the inner extent if 0"""

    def encoded(self, address: int) -> Any:
        from cuda.bindings import driver

        extents, box = self.extents[::-1], self.box[::-1]
        strides, pitch = [], self.bytes
        for extent in (self.pitch or extents[0], *extents[1:])[:-1]:
            pitch *= extent
            strides.append(pitch)
        kinds = driver.CUtensorMapSwizzle
        return checked(
            driver.cuTensorMapEncodeTiled(
                getattr(driver.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{self.type}"),
                len(extents),
                address,
                [driver.cuuint64_t(extent) for extent in extents],
                # The driver refuses a null pointer, also where there is no stride to give.
                [driver.cuuint64_t(stride) for stride in strides or [pitch]],
                [driver.cuuint32_t(extent) for extent in box],
                [driver.cuuint32_t(1) for _ in box],
                driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
                getattr(kinds, f"CU_TENSOR_MAP_SWIZZLE_{f'{self.swizzle}B' if self.swizzle else 'NONE'}"),
                driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_NONE,
                driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )
        )


@contextmanager
def context() -> Iterator[str]:
    """The first device's own context; gives the architecture to compile for."""
    from cuda.bindings import driver

    checked((*driver.cuInit(0), None))
    device = checked(driver.cuDeviceGet(0))
    primary = checked(driver.cuDevicePrimaryCtxRetain(device))
    checked((*driver.cuCtxSetCurrent(primary), None))
    major = checked(
        driver.cuDeviceGetAttribute(
            driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device
        )
    )
    try:
        yield f"sm_{major}0a"
    finally:
        checked((*driver.cuDevicePrimaryCtxRelease(device), None))


def launch(
    source: str,
    arrays: Sequence[bytes],
    *,
    threads: int,
    blocks: int = 1,
    shared: int = 0,
    maps: Sequence[Map] = (),
) -> list[bytes]:
    """Run `kernel` with the maps and the arrays' addresses as arguments; return the arrays afterwards."""
    from cuda.bindings import driver

    with context() as arch:
        cubin = compiled(source, arch).cubin
        module = checked(driver.cuModuleLoadData(cubin))
        function = checked(driver.cuModuleGetFunction(module, b"kernel"))
        limit = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        checked((*driver.cuFuncSetAttribute(function, limit, shared), None))
        addresses = [checked(driver.cuMemAlloc(max(len(data), 16))) for data in arrays]
        for address, data in zip(addresses, arrays, strict=True):
            checked((*driver.cuMemcpyHtoD(address, data, len(data)), None))
        encoded = [each.encoded(int(addresses[each.array])) for each in maps]
        values = [ctypes.c_uint64(int(address)) for address in addresses]
        places = [each.getPtr() for each in encoded] + [ctypes.addressof(value) for value in values]
        pointers = (ctypes.c_void_p * len(places))(*places)
        checked(
            (
                *driver.cuLaunchKernel(
                    function, blocks, 1, 1, threads, 1, 1, shared, 0, ctypes.addressof(pointers), 0
                ),
                None,
            )
        )
        checked((*driver.cuCtxSynchronize(), None))
        results = []
        for address, data in zip(addresses, arrays, strict=True):
            result = bytearray(len(data))
            checked((*driver.cuMemcpyDtoH(result, address, len(data)), None))
            results.append(bytes(result))
            checked((*driver.cuMemFree(address), None))
        checked((*driver.cuModuleUnload(module), None))
        return results
