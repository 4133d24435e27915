"""A driver in memory: the bindings' own structures and enums, functions that record what they are asked."""

from __future__ import annotations

import ctypes
import threading
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from cuda.bindings import driver as bindings

SUCCESS = bindings.CUresult.CUDA_SUCCESS


@dataclass
class Gpu:
    """A GPU of the fake machine."""

    major: int = 9
    minor: int = 0
    sms: int = 132
    smem_limit: int = 232_448
    name: str = "Fake H200"


@dataclass
class Launched:
    """One launch as the driver would have read it from memory."""

    function: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int] | None
    pdl: bool
    smem_bytes: int
    stream: int
    parameters: list[bytes]
    addresses: list[int]
    device: int


@dataclass
class FakeDriver:
    """Stands for `cuda.bindings.driver`."""

    gpus: list[Gpu] = field(default_factory=lambda: [Gpu()])
    parameter_sizes: list[int] = field(default_factory=list)
    first_context: int | None = 0
    """the GPU whose context is current in each new thread"""

    def __post_init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.launches: list[Launched] = []
        self.encoded: list[SimpleNamespace] = []
        self.capturing: set[int] = set()
        self.stream_devices: dict[int, int] = {}
        self.pointer_devices: dict[int, int | None] = {}
        self.failing: dict[str, Any] = {}
        self.attributes: dict[tuple[str, int], int] = {}
        self.freed: list[int] = []
        self.next_address = 0x7000_0000_0000
        self.ctas_each = 2
        self.clusters = 64
        self._threads = threading.local()
        self._lock = threading.Lock()

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("CU", "cuuint")):
            return getattr(bindings, name)
        raise AttributeError(name)

    def named(self, name: str) -> list[tuple[Any, ...]]:
        """The arguments of every call of one function."""
        return [arguments for called, arguments in self.calls if called == name]

    def _record(self, name: str, *arguments: Any) -> Any:
        with self._lock:
            self.calls.append((name, arguments))
        return self.failing.get(name, SUCCESS)

    @property
    def contexts(self) -> list[int]:
        """The GPUs of this thread's stack of contexts."""
        if not hasattr(self._threads, "stack"):
            self._threads.stack = [] if self.first_context is None else [self.first_context]
        stack: list[int] = self._threads.stack
        return stack

    def cuInit(self, flags: int) -> tuple[Any, ...]:
        return (self._record("cuInit", flags),)

    def cuDriverGetVersion(self) -> tuple[Any, ...]:
        return self._record("cuDriverGetVersion"), 13000

    def cuDeviceGetCount(self) -> tuple[Any, ...]:
        return self._record("cuDeviceGetCount"), len(self.gpus)

    def cuDeviceGetName(self, length: int, device: int) -> tuple[Any, ...]:
        return self._record("cuDeviceGetName", device), self.gpus[device].name.encode().ljust(length, b"\0")

    def cuDeviceGetAttribute(self, attribute: Any, device: int) -> tuple[Any, ...]:
        gpu = self.gpus[device]
        known = {
            "COMPUTE_CAPABILITY_MAJOR": gpu.major,
            "COMPUTE_CAPABILITY_MINOR": gpu.minor,
            "MULTIPROCESSOR_COUNT": gpu.sms,
            "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": gpu.smem_limit,
        }
        return self._record("cuDeviceGetAttribute"), known[
            attribute.name.removeprefix("CU_DEVICE_ATTRIBUTE_")
        ]

    def cuDevicePrimaryCtxRetain(self, device: int) -> tuple[Any, ...]:
        return self._record("cuDevicePrimaryCtxRetain", device), device

    def cuCtxGetCurrent(self) -> tuple[Any, ...]:
        return SUCCESS, self.contexts[-1] + 1 if self.contexts else 0

    def cuCtxGetDevice(self) -> tuple[Any, ...]:
        if not self.contexts:
            return bindings.CUresult.CUDA_ERROR_INVALID_CONTEXT, None
        return SUCCESS, self.contexts[-1]

    def cuCtxPushCurrent(self, context: Any) -> tuple[Any, ...]:
        self.contexts.append(context)
        return (self._record("cuCtxPushCurrent", context),)

    def cuCtxPopCurrent(self) -> tuple[Any, ...]:
        return self._record("cuCtxPopCurrent"), self.contexts.pop()

    def cuLibraryLoadData(self, code: bytes, *rest: Any) -> tuple[Any, ...]:
        return self._record("cuLibraryLoadData", code, *rest), bindings.CUlibrary(0x100)

    def cuLibraryUnload(self, library: Any) -> tuple[Any, ...]:
        return (self._record("cuLibraryUnload", int(library)),)

    def cuLibraryGetKernel(self, library: Any, name: bytes) -> tuple[Any, ...]:
        return self._record("cuLibraryGetKernel", int(library), name), bindings.CUkernel(0x200)

    def cuKernelGetFunction(self, kernel: Any) -> tuple[Any, ...]:
        return self._record("cuKernelGetFunction", int(kernel)), bindings.CUfunction(0x300)

    def cuKernelGetAttribute(self, attribute: Any, kernel: Any, device: int) -> tuple[Any, ...]:
        default = 49_152 if attribute.name.endswith("MAX_DYNAMIC_SHARED_SIZE_BYTES") else 0
        return self._record("cuKernelGetAttribute"), self.attributes.get((attribute.name, device), default)

    def cuKernelSetAttribute(self, attribute: Any, value: int, kernel: Any, device: int) -> tuple[Any, ...]:
        self.attributes[attribute.name, device] = value
        return (self._record("cuKernelSetAttribute", attribute.name, value, int(kernel), device),)

    def cuPointerGetAttribute(self, attribute: Any, pointer: int) -> tuple[Any, ...]:
        device = self.pointer_devices.get(pointer, 0)
        status = self._record("cuPointerGetAttribute", attribute.name, pointer)
        if attribute.name.endswith("MEMORY_TYPE"):
            return status, 1 if device is None else 2
        return status, device

    def cuStreamIsCapturing(self, stream: int) -> tuple[Any, ...]:
        status = bindings.CUstreamCaptureStatus
        active = status.CU_STREAM_CAPTURE_STATUS_ACTIVE
        none = status.CU_STREAM_CAPTURE_STATUS_NONE
        return self._record("cuStreamIsCapturing", stream), active if stream in self.capturing else none

    def cuStreamGetDevice(self, stream: int) -> tuple[Any, ...]:
        if stream in self.capturing:
            # The real one invalidates the capture as well.
            self.capturing.discard(stream)
            return bindings.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, None
        return self._record("cuStreamGetDevice", stream), self.stream_devices.get(stream, self.contexts[-1])

    def cuThreadExchangeStreamCaptureMode(self, mode: Any) -> tuple[Any, ...]:
        before = bindings.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
        return self._record("cuThreadExchangeStreamCaptureMode", mode.name), before

    def cuMemAlloc(self, size: int) -> tuple[Any, ...]:
        status = self._record("cuMemAlloc", size)
        with self._lock:
            address = self.next_address
            self.next_address += -(-size // 256) * 256
        return status, bindings.CUdeviceptr(address)

    def cuMemFree(self, pointer: int) -> tuple[Any, ...]:
        self.freed.append(pointer)
        return (self._record("cuMemFree", pointer),)

    def cuMemsetD8Async(self, pointer: int, value: int, size: int, stream: int) -> tuple[Any, ...]:
        return (self._record("cuMemsetD8Async", pointer, value, size, stream),)

    def cuStreamCreate(self, flags: int) -> tuple[Any, ...]:
        return self._record("cuStreamCreate", flags), bindings.CUstream(0x5000)

    def cuStreamSynchronize(self, stream: Any) -> tuple[Any, ...]:
        return (self._record("cuStreamSynchronize", int(stream)),)

    def cuStreamDestroy(self, stream: Any) -> tuple[Any, ...]:
        return (self._record("cuStreamDestroy", int(stream)),)

    def cuOccupancyMaxActiveBlocksPerMultiprocessor(self, *asked: Any) -> tuple[Any, ...]:
        return self._record("cuOccupancyMaxActiveBlocksPerMultiprocessor", *asked[1:]), self.ctas_each

    def cuOccupancyMaxActiveClusters(self, function: Any, config: Any) -> tuple[Any, ...]:
        return self._record("cuOccupancyMaxActiveClusters", config.sharedMemBytes), self.clusters

    def cuTensorMapEncodeTiled(
        self,
        data_type: Any,
        rank: int,
        address: int,
        extents: list[Any],
        pitches: list[Any],
        box: list[Any],
        steps: list[Any],
        interleave: Any,
        swizzle: Any,
        l2: Any,
        fill: Any,
    ) -> tuple[Any, ...]:
        status = self._record("cuTensorMapEncodeTiled")
        self.encoded.append(
            SimpleNamespace(
                data_type=data_type.name.removeprefix("CU_TENSOR_MAP_DATA_TYPE_"),
                rank=rank,
                address=address,
                extents=[int(extent) for extent in extents],
                pitches=[int(pitch) for pitch in pitches][: rank - 1],
                box=[int(extent) for extent in box],
                steps=[int(step) for step in steps],
                interleave=interleave.name,
                swizzle=swizzle.name,
                l2=l2.name,
                fill=fill.name,
            )
        )
        described = bindings.CUtensorMap()
        ctypes.memmove(described.getPtr(), bytes([len(self.encoded) % 256]) * 128, 128)
        return status, described

    def cuLaunchKernelEx(self, config: Any, function: Any, arguments: int, extra: int) -> tuple[Any, ...]:
        status = self._record("cuLaunchKernelEx", extra)
        pointers = (ctypes.c_void_p * len(self.parameter_sizes)).from_address(arguments)
        cluster, pdl = None, False
        for attribute in config.attrs[: config.numAttrs]:
            if attribute.id == bindings.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
                extents = attribute.value.clusterDim
                cluster = (extents.x, extents.y, extents.z)
            else:
                assert attribute.id.name == "CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION"
                pdl = attribute.value.programmaticStreamSerializationAllowed == 1
        launched = Launched(
            function=int(function),
            grid=(config.gridDimX, config.gridDimY, config.gridDimZ),
            block=(config.blockDimX, config.blockDimY, config.blockDimZ),
            cluster=cluster,
            pdl=pdl,
            smem_bytes=config.sharedMemBytes,
            stream=int(config.hStream),
            parameters=[
                ctypes.string_at(pointer, size)
                for pointer, size in zip(pointers, self.parameter_sizes, strict=True)
            ],
            addresses=list(pointers),
            device=self.contexts[-1],
        )
        if not status:
            with self._lock:
                self.launches.append(launched)
        return (status,)
