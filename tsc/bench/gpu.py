"""The clock and the contestants of a real GPU: CUDA graphs and events, by way of torch.

`torch` is passed in or imported when the first of these is made: the rest of the package does without.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


class GpuClock:
    """Measures with events on one stream."""

    def __init__(self, torch: Any, stream: Any) -> None:
        self._torch = torch
        self._stream = stream

    def block(self, replay: Callable[[], None], uncounted: int, counted: int) -> float:
        """Seconds between two events around the counted replays."""
        event = self._torch.cuda.Event
        begin, end = event(enable_timing=True), event(enable_timing=True)
        with self._torch.cuda.stream(self._stream):
            for _ in range(uncounted):
                replay()
            begin.record()
            for _ in range(counted):
                replay()
            end.record()
        end.synchronize()
        return float(begin.elapsed_time(end)) / 1e3

    def rest(self, seconds: float) -> None:
        """Wait, with nothing enqueued."""
        time.sleep(seconds)

    def now(self) -> float:
        """Seconds of the host's clock."""
        return time.monotonic()


class Graph:
    """A contestant: launches over rotating sets of buffers, captured once and replayed."""

    def __init__(
        self, torch: Any, stream: Any, name: str, launch: Callable[[int], Any], sets: int, launches: int
    ) -> None:
        """Launch over every set once, which makes workspaces and settles what a library chooses; capture."""
        self.name = name
        self.launches = launches
        self._graph = torch.cuda.CUDAGraph()
        # Not `torch.cuda.graph`: it empties torch's caches each time, and there are many candidates.
        with torch.cuda.stream(stream):
            for index in range(sets):
                launch(index)
            stream.synchronize()
            self._graph.capture_begin()
            try:
                for index in range(launches):
                    launch(index % sets)
            finally:
                self._graph.capture_end()

    def replay(self) -> None:
        """Enqueue all launches on the current stream."""
        self._graph.replay()


def l2_bytes(torch: Any) -> int:
    """The size of the L2 of the current GPU."""
    return int(torch.cuda.get_device_properties(torch.cuda.current_device()).L2_cache_size)
