"""The CUDA driver in Python's types: every call that the loader makes, its result checked.

`cuda.bindings.driver` is imported when the first cubin is loaded, so that `import tsc` costs nothing.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeAlias

from tsc.runtime.errors import LaunchError, LoadError
from tsc.runtime.faults import sentence

LEGACY_STREAM = 1
PER_THREAD_STREAM = 2

TENSOR_MAP_BYTES = 128


Outcome: TypeAlias = tuple[Any, ...]
"""What a driver function gives: a `CUresult`, then its results."""


class Driver(Protocol):
    """What is used of `cuda.bindings.driver`."""

    CUlaunchConfig: Any
    CUlaunchAttribute: Any
    CUlaunchAttributeID: Any
    CUfunction: Any
    CUfunction_attribute: Any
    CUdevice_attribute: Any
    CUpointer_attribute: Any
    CUstreamCaptureStatus: Any
    CUstreamCaptureMode: Any
    CUtensorMapDataType: Any
    CUtensorMapInterleave: Any
    CUtensorMapSwizzle: Any
    CUtensorMapL2promotion: Any
    CUtensorMapFloatOOBfill: Any
    cuuint32_t: Any
    cuuint64_t: Any

    cuInit: Callable[[int], Outcome]
    cuDriverGetVersion: Callable[[], Outcome]
    cuDeviceGetCount: Callable[[], Outcome]
    cuDeviceGetName: Callable[[int, int], Outcome]
    cuDeviceGetAttribute: Callable[[Any, int], Outcome]
    cuDevicePrimaryCtxRetain: Callable[[int], Outcome]
    cuCtxGetCurrent: Callable[[], Outcome]
    cuCtxGetDevice: Callable[[], Outcome]
    cuCtxPushCurrent: Callable[[Any], Outcome]
    cuCtxPopCurrent: Callable[[], Outcome]
    cuLibraryLoadData: Callable[[bytes, list[Any], list[Any], int, list[Any], list[Any], int], Outcome]
    cuLibraryUnload: Callable[[Any], Outcome]
    cuLibraryGetKernel: Callable[[Any, bytes], Outcome]
    cuKernelGetFunction: Callable[[Any], Outcome]
    cuKernelGetAttribute: Callable[[Any, Any, int], Outcome]
    cuKernelSetAttribute: Callable[[Any, int, Any, int], Outcome]
    cuPointerGetAttribute: Callable[[Any, int], Outcome]
    cuStreamIsCapturing: Callable[[int], Outcome]
    cuStreamGetDevice: Callable[[int], Outcome]
    cuThreadExchangeStreamCaptureMode: Callable[[Any], Outcome]
    cuMemAlloc: Callable[[int], Outcome]
    cuMemFree: Callable[[int], Outcome]
    cuMemsetD8Async: Callable[[int, int, int, int], Outcome]
    cuStreamCreate: Callable[[int], Outcome]
    cuStreamSynchronize: Callable[[Any], Outcome]
    cuStreamDestroy: Callable[[Any], Outcome]
    cuOccupancyMaxActiveBlocksPerMultiprocessor: Callable[[Any, int, int], Outcome]
    cuOccupancyMaxActiveClusters: Callable[[Any, Any], Outcome]
    cuTensorMapEncodeTiled: Callable[..., Outcome]
    cuLaunchKernelEx: Callable[[Any, Any, int, int], Outcome]


def connect() -> Cuda:
    """The driver of this machine, set up. Raises LoadError where there is none or it has no GPU."""
    try:
        from cuda.bindings import driver
    except ImportError:
        raise LoadError(
            "cuda-python is not installed, and kernels run through it; `pip install cuda-python`"
        ) from None
    try:
        (status,) = driver.cuInit(0)
    except Exception as error:
        # The bindings look for libcuda at the first call; what they raise is private to them.
        if "libcuda" in str(error) or type(error).__name__ == "DynamicLibNotFoundError":
            raise LoadError(
                "there is no CUDA driver on this machine (libcuda is not found), and a kernel needs one to "
                "run; "
                "`tsc inspect` reads a cubin without"
            ) from None
        raise LoadError(f"the CUDA driver cannot be used: {_first_line(error)}") from None
    if status:
        raise LoadError(sentence(status, "start"))
    cuda = Cuda(driver)
    if cuda.device_count() == 0:
        raise LoadError(sentence(driver.CUresult.CUDA_ERROR_NO_DEVICE, "start"))
    return cuda


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


class Cuda:
    """The driver's calls. A failed one raises LaunchError, whose text says what the code means."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self._primary: dict[int, Any] = {}
        self._lock = threading.Lock()

    def _checked(self, outcome: Outcome, doing: str) -> Any:
        if outcome[0]:
            raise LaunchError(sentence(outcome[0], doing))
        return outcome[1] if len(outcome) > 1 else None

    def driver_version(self) -> str:
        """The newest CUDA that the driver knows, such as `13.0`."""
        version = int(self._checked(self.driver.cuDriverGetVersion(), "tell its version"))
        return f"{version // 1000}.{version % 1000 // 10}"

    def device_count(self) -> int:
        """How many GPUs this process may use."""
        return int(self._checked(self.driver.cuDeviceGetCount(), "count the GPUs"))

    def device_name(self, device: int) -> str:
        """The product's name."""
        name: bytes = self._checked(
            self.driver.cuDeviceGetName(128, device), f"tell the name of GPU {device}"
        )
        return name.split(b"\0")[0].decode(errors="replace").strip()

    def device_fact(self, device: int, name: str) -> int:
        """One number about a GPU; `name` is that of a `CUdevice_attribute` without its prefix."""
        which = getattr(self.driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(self._checked(self.driver.cuDeviceGetAttribute(which, device), f"describe GPU {device}"))

    def current_device(self) -> int | None:
        """The GPU of the calling thread's context, None without a context."""
        # Asked first, because asking for the device where there is no context is an error to whoever traces
        # the calls, as compute-sanitizer does.
        status, context = self.driver.cuCtxGetCurrent()
        if status or not int(context):
            return None
        status, *rest = self.driver.cuCtxGetDevice()
        return None if status else int(rest[0])

    @contextmanager
    def on(self, device: int) -> Iterator[None]:
        """Within, a context of `device` is current in this thread: the one that is, or the primary one."""
        if self.current_device() == device:
            yield
            return
        with self._lock:
            context = self._primary.get(device)
            if context is None:
                # Kept to the end of the process: other libraries share the primary context, and need it as
                # well.
                context = self._checked(self.driver.cuDevicePrimaryCtxRetain(device), f"open GPU {device}")
                self._primary[device] = context
        self._checked(self.driver.cuCtxPushCurrent(context), f"use GPU {device}")
        try:
            yield
        finally:
            self.driver.cuCtxPopCurrent()

    def load_library(self, image: bytes) -> Any:
        """A library for all contexts, loaded into each when it is first used there."""
        with self._beside_captures():
            return self._checked(self.driver.cuLibraryLoadData(image, [], [], 0, [], [], 0), "load the cubin")

    def unload_library(self, library: Any) -> None:
        """Gives a library back."""
        self._checked(self.driver.cuLibraryUnload(library), "unload the cubin")

    def find_kernel(self, library: Any, name: str) -> Any:
        """A kernel of a library, for all contexts."""
        return self._checked(
            self.driver.cuLibraryGetKernel(library, name.encode()), f"find `{name}` in the cubin"
        )

    def load_function(self, kernel: Any) -> None:
        """Loads the kernel's code into the current context now, as its first launch would."""
        with self._beside_captures():
            self._checked(self.driver.cuKernelGetFunction(kernel), "load the kernel's code")

    def raise_kernel_limit(self, kernel: Any, device: int, name: str, value: int) -> None:
        """Sets an attribute of a kernel on a GPU, unless it has this value or a larger one already."""
        which = getattr(self.driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        before = self._checked(self.driver.cuKernelGetAttribute(which, kernel, device), "describe the kernel")
        # Lowering it would race with launches that need the larger one.
        if int(before) < value:
            self._checked(
                self.driver.cuKernelSetAttribute(which, value, kernel, device), f"set {name} to {value:,}"
            )

    def pointer_device(self, pointer: int) -> int | None:
        """The GPU that an address belongs to, None for memory of the host or of nobody."""
        driver = self.driver
        kind = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE
        status, *rest = driver.cuPointerGetAttribute(kind, pointer)
        if status or int(rest[0]) == 1:
            return None
        which = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
        return int(self._checked(driver.cuPointerGetAttribute(which, pointer), "find the GPU of a pointer"))

    def is_capturing(self, stream: int) -> bool:
        """Whether work on `stream` goes into a graph. Raises LaunchError if the capture cannot take it."""
        status, *rest = self.driver.cuStreamIsCapturing(stream)
        if status:
            raise LaunchError(sentence(status, "look at the stream"))
        return bool(rest[0] != self.driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE)

    def stream_device(self, stream: int) -> int | None:
        """The GPU of a stream, None if the driver is too old to tell, or under a capture.

        Asking about a stream under capture fails and invalidates the capture (seen with driver 580).
        """
        if self.is_capturing(stream):
            return None
        try:
            status, *rest = self.driver.cuStreamGetDevice(stream)
        except (AttributeError, RuntimeError):
            return None
        if status:
            raise LaunchError(sentence(status, "look at the stream"))
        return int(rest[0])

    @contextmanager
    def _beside_captures(self) -> Iterator[None]:
        """Within, this thread may load, allocate and free although another thread captures a graph."""
        relaxed = self.driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        status, *before = self.driver.cuThreadExchangeStreamCaptureMode(relaxed)
        try:
            yield
        finally:
            # Where the mode could not be set there is no capture to be beside of.
            if not status:
                self.driver.cuThreadExchangeStreamCaptureMode(before[0])

    def allocate(self, size: int) -> int:
        """The address of `size` bytes of the current GPU."""
        with self._beside_captures():
            return int(self._checked(self.driver.cuMemAlloc(size), f"allocate {size:,} B of workspace"))

    def free(self, pointer: int) -> None:
        """Gives memory back, once all work that may use it is done."""
        with self._beside_captures():
            self._checked(self.driver.cuMemFree(pointer), "free the workspace")

    def fill_zero(self, pointer: int, size: int, stream: int) -> None:
        """Zeroes memory in the stream's order."""
        self._checked(self.driver.cuMemsetD8Async(pointer, 0, size, stream), "zero the workspace")

    def zero_now(self, pointer: int, size: int) -> None:
        """Zeroes memory that nobody uses yet, and returns when that is done; under a capture as well."""
        with self._beside_captures():
            # On a stream of its own, which orders nothing else: CU_STREAM_NON_BLOCKING.
            stream = self._checked(self.driver.cuStreamCreate(1), "make a stream")
            try:
                self.fill_zero(pointer, size, int(stream))
                self._checked(self.driver.cuStreamSynchronize(stream), "zero the counters")
            finally:
                self.driver.cuStreamDestroy(stream)

    def resident_ctas(self, function: Any, threads: int, smem_bytes: int) -> int:
        """How many CTAs of a kernel one multiprocessor of the current GPU holds at once."""
        found = self.driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(function, threads, smem_bytes)
        return int(self._checked(found, "ask how many CTAs fit"))

    def resident_clusters(self, function: Any, config: Any) -> int:
        """How many clusters of a launch the current GPU holds at once."""
        found = self.driver.cuOccupancyMaxActiveClusters(function, config)
        return int(self._checked(found, "ask how many clusters fit"))

    def encode_tiled(
        self,
        data_type: str,
        pointer: int,
        extents: Sequence[int],
        pitches: Sequence[int],
        box: Sequence[int],
        swizzle: int,
        l2: int,
        nan_fill: bool,
    ) -> bytes:
        """A tensor map of 128 bytes; `extents`, `pitches` (bytes) and `box` go from the contiguous dim on."""
        driver = self.driver
        rank = len(extents)
        outcome = driver.cuTensorMapEncodeTiled(
            getattr(driver.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{data_type}"),
            rank,
            pointer,
            [driver.cuuint64_t(extent) for extent in extents],
            # The driver reads none of them for one dim; the bindings would turn an empty list into a null
            # pointer.
            [driver.cuuint64_t(pitch) for pitch in pitches or (16,)],
            [driver.cuuint32_t(extent) for extent in box],
            [driver.cuuint32_t(1)] * rank,
            driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
            getattr(
                driver.CUtensorMapSwizzle, f"CU_TENSOR_MAP_SWIZZLE_{f'{swizzle}B' if swizzle else 'NONE'}"
            ),
            getattr(
                driver.CUtensorMapL2promotion, f"CU_TENSOR_MAP_L2_PROMOTION_{f'L2_{l2}B' if l2 else 'NONE'}"
            ),
            driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
            if nan_fill
            else driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        )
        encoded = self._checked(outcome, "encode a tensor map")
        return ctypes.string_at(encoded.getPtr(), TENSOR_MAP_BYTES)

    def launch_config(
        self,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        cluster: tuple[int, int, int],
        smem_bytes: int,
        stream: int,
        pdl: bool,
    ) -> Any:
        """A `CUlaunchConfig`; `grid` counts CTAs."""
        driver = self.driver
        config = driver.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = grid
        config.blockDimX, config.blockDimY, config.blockDimZ = block
        config.sharedMemBytes = smem_bytes
        config.hStream = stream
        attributes = []
        if cluster != (1, 1, 1):
            attribute = driver.CUlaunchAttribute()
            attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            extents = attribute.value.clusterDim
            extents.x, extents.y, extents.z = cluster
            attributes.append(attribute)
        if pdl:
            attribute = driver.CUlaunchAttribute()
            attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
            attribute.value.programmaticStreamSerializationAllowed = 1
            attributes.append(attribute)
        config.attrs = attributes
        config.numAttrs = len(attributes)
        return config
