"""A kernel on each GPU: whether its code runs there, and the attributes it needs before the first launch."""

from __future__ import annotations

import math
import re
import threading
from dataclasses import dataclass
from typing import Any

from tsc.artifact.manifest import Manifest
from tsc.runtime.driver import Cuda
from tsc.runtime.errors import LaunchError

PORTABLE_CLUSTER = 8

RESIDENT = "launch.clusters"
"""The name of how many clusters can be resident at once, in expressions of persistent kernels."""


def persistent(manifest: Manifest) -> bool:
    """Whether CTAs live for several tiles, so that it matters how many can be resident at once."""
    return manifest.queue is not None and manifest.queue.policy in ("static", "atomic")


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU on which the kernel is ready to run."""

    number: int
    multiprocessors: int
    clusters: int | None = None
    """how many can be resident at once, asked for where CTAs are persistent"""

    @property
    def names(self) -> dict[str, int]:
        """What the GPU gives expressions."""
        found = {"sms": self.multiprocessors}
        return found if self.clusters is None else {**found, RESIDENT: self.clusters}


def mismatch(cuda: Cuda, manifest: Manifest, device: int) -> str:
    """The sentence that says why the manifest's target does not run on a GPU, empty where it runs."""
    major = cuda.device_fact(device, "COMPUTE_CAPABILITY_MAJOR")
    minor = cuda.device_fact(device, "COMPUTE_CAPABILITY_MINOR")
    if runs_on(manifest.arch, major, minor):
        return ""
    return (
        f"the cubin is built for `{manifest.arch}` and GPU {device} ({cuda.device_name(device)}) is "
        f"`sm_{major}{minor}`; build it with `--arch` for that one"
    )


def runs_on(arch: str, major: int, minor: int) -> bool:
    """Whether code for a target such as `sm_90a` runs on a GPU of this compute capability."""
    found = re.fullmatch(r"sm_(\d+)(\d)([af]?)", arch)
    if found is None:
        return False
    built_major, built_minor, suffix = int(found[1]), int(found[2]), found[3]
    if suffix == "a":
        return (built_major, built_minor) == (major, minor)
    # Plain code and code for a family run on later members of the same major version.
    return built_major == major and built_minor <= minor


def closeness(arch: str) -> tuple[int, bool]:
    """Largest for the best target: of the latest capability, and of one with all its instructions."""
    number = arch.removeprefix("sm_").rstrip("af")
    return int(number), arch.endswith("a")


class Devices:
    """The GPUs on which one kernel has been made ready; for use by several threads."""

    def __init__(self, cuda: Cuda, manifest: Manifest, kernel: Any) -> None:
        self._cuda = cuda
        self._manifest = manifest
        self._kernel = kernel
        self._ready: dict[int, Device] = {}
        self._lock = threading.Lock()

    def ready(self, number: int, stream: int | None = None) -> Device:
        """The GPU, made ready if it is not yet. Raises LaunchError where the kernel does not run on it.

        A context of the GPU is current. With a `stream` that is being captured nothing is made ready.
        """
        device = self._ready.get(number)
        if device is None:
            with self._lock:
                device = self._ready.get(number)
                if device is None:
                    device = self._make_ready(number, stream)
                    self._ready[number] = device
        return device

    def _make_ready(self, number: int, stream: int | None) -> Device:
        cuda, manifest = self._cuda, self._manifest
        refusal = mismatch(cuda, manifest, number)
        if refusal:
            raise LaunchError(refusal)
        if stream is not None and cuda.is_capturing(stream):
            raise LaunchError(
                f"the kernel is not loaded on GPU {number} yet, and a graph capture is under way; call it "
                "once, or its "
                "`prepare`, before the capture"
            )
        limit = cuda.device_fact(number, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")
        if manifest.smem_bytes > limit:
            raise LaunchError(
                f"the kernel needs {manifest.smem_bytes:,} B of shared memory and GPU {number} "
                f"({cuda.device_name(number)}) allows {limit:,} B; build it with fewer stages or smaller "
                "buffers"
            )
        cuda.raise_kernel_limit(self._kernel, number, "MAX_DYNAMIC_SHARED_SIZE_BYTES", manifest.smem_bytes)
        x, y, z = manifest.cluster
        if x * y * z > PORTABLE_CLUSTER:
            cuda.raise_kernel_limit(self._kernel, number, "NON_PORTABLE_CLUSTER_SIZE_ALLOWED", 1)
        # The driver loads code when it is first launched, which a capture may forbid.
        cuda.load_function(self._kernel)
        multiprocessors = cuda.device_fact(number, "MULTIPROCESSOR_COUNT")
        if not persistent(manifest):
            return Device(number, multiprocessors)
        return Device(number, multiprocessors, self._resident(number, multiprocessors))

    def _resident(self, number: int, multiprocessors: int) -> int:
        """How many clusters the GPU holds at once, of no more CTAs a multiprocessor than the spec says."""
        cuda, manifest = self._cuda, self._manifest
        function, size = cuda.driver.CUfunction(int(self._kernel)), math.prod(manifest.cluster)
        threads = math.prod(manifest.block)
        each = cuda.resident_ctas(function, threads, manifest.smem_bytes)
        clusters = min(each, manifest.ctas_per_sm) * multiprocessors // size
        if size > 1:
            # A cluster stays within a part of the GPU, and these parts need not be multiples of it.
            grid = (size * multiprocessors, 1, 1)
            shape = manifest.block, manifest.cluster, manifest.smem_bytes
            config = cuda.launch_config(grid, *shape, stream=0, pdl=False)
            clusters = min(clusters, cuda.resident_clusters(function, config))
        if clusters < 1:
            raise LaunchError(
                f"no CTA of the kernel ({threads:,} threads, {manifest.smem_bytes:,} B of shared memory, "
                f"cluster of {size}) fits on GPU {number} ({cuda.device_name(number)})"
            )
        return clusters
