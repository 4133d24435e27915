"""The counters of queues: 32 bits of device memory that the CTAs of one launch share.

Each counter is 0 when it is made, and each launch leaves its own at 0. Launches of one stream follow each
other and share one. A launch that a CUDA graph takes has its own, because the graph may run beside
anything. (Two executable graphs made of one captured graph share theirs: do not run them at the same time.)
"""

from __future__ import annotations

import threading
from collections.abc import Hashable

from tsc.runtime.driver import PER_THREAD_STREAM, Cuda

# Counters lie apart, so that their atomics go to different lines of the L2 cache.
_APART = 128
_SLAB = 512 * _APART


class Counters:
    """The counters of one kernel; for use by several threads."""

    def __init__(self, cuda: Cuda) -> None:
        self._cuda = cuda
        self._of_streams: dict[Hashable, int] = {}
        self._free: dict[int, list[int]] = {}
        self._slabs: list[tuple[int, int]] = []
        self._lock = threading.Lock()

    def of_stream(self, device: int, stream: int) -> int:
        """The address of the counter of all launches on a stream. The context of `device` is current."""
        # One handle stands for as many streams as there are threads.
        key = (device, stream, threading.get_ident() if stream == PER_THREAD_STREAM else 0)
        with self._lock:
            if key not in self._of_streams:
                self._of_streams[key] = self._next(device)
            return self._of_streams[key]

    def fresh(self, device: int) -> int:
        """The address of a counter that no other launch has. The context of `device` is current."""
        with self._lock:
            return self._next(device)

    def _next(self, device: int) -> int:
        free = self._free.setdefault(device, [])
        if not free:
            slab = self._cuda.allocate(_SLAB)
            self._slabs.append((device, slab))
            self._cuda.zero_now(slab, _SLAB)
            free += range(slab + _SLAB - _APART, slab - 1, -_APART)
        return free.pop()

    def free(self) -> None:
        """Gives all memory back."""
        with self._lock:
            slabs, self._slabs = self._slabs, []
            self._of_streams.clear()
            self._free.clear()
        for device, slab in slabs:
            with self._cuda.on(device):
                self._cuda.free(slab)
