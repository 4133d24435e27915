"""One launch made ready: configuration and parameters in memory, to be enqueued any number of times."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from tsc.runtime.counters import Counters
from tsc.runtime.driver import TENSOR_MAP_BYTES, Cuda
from tsc.runtime.errors import LaunchError
from tsc.runtime.faults import sentence
from tsc.runtime.signature import Slot
from tsc.runtime.workspace import Block, Workspaces


class Parameters:
    """The kernel's parameters as the driver takes them: an array of pointers to their bytes.

    The driver copies them when it enqueues, so one object serves many launches and threads.
    """

    def __init__(self, slots: tuple[Slot, ...], size: int, values: list[bytes]) -> None:
        self._made = (slots, size, values)
        self._storage = ctypes.create_string_buffer(size + TENSOR_MAP_BYTES)
        start = ctypes.addressof(self._storage)
        # A tensor map must lie at a multiple of its own size.
        base = start + -start % TENSOR_MAP_BYTES
        for slot, value in zip(slots, values, strict=True):
            ctypes.memmove(base + slot.offset, value, slot.bytes)
        self._pointers = (ctypes.c_void_p * max(len(slots), 1))(*(base + slot.offset for slot in slots))
        self.address = ctypes.addressof(self._pointers)

    def replaced(self, index: int, value: bytes) -> Parameters:
        """The same parameters but for one."""
        slots, size, values = self._made
        return Parameters(slots, size, [*values[:index], value, *values[index + 1 :]])


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch on one stream of one GPU."""

    cuda: Cuda
    device: int
    stream: int
    function: Any
    config: Any
    parameters: Parameters
    workspaces: Workspaces
    zeroed: tuple[tuple[Block, int], ...]
    """workspace to be zeroed before each launch, and how many bytes of it"""
    counters: Counters | None = None
    """of a kernel that counts its tiles with one"""
    counter: int = 0
    """which parameter that is"""

    def run(self) -> None:
        """Enqueues the kernel. Raises LaunchError with what the driver says."""
        status, *device = self.cuda.driver.cuCtxGetDevice()
        if not status and int(device[0]) == self.device:
            self._enqueue()
        else:
            with self.cuda.on(self.device):
                self._enqueue()

    def _enqueue(self) -> None:
        if not self.zeroed:
            self._launch()
            return
        with self.workspaces.zeroing:
            for block, size in self.zeroed:
                self.cuda.fill_zero(block.pointer, size, self.stream)
            self._launch()

    def _launch(self) -> None:
        parameters = self.parameters
        if self.counters is not None and self.cuda.is_capturing(self.stream):
            own = self.counters.fresh(self.device)
            parameters = parameters.replaced(self.counter, own.to_bytes(8, "little"))
        (status,) = self.cuda.driver.cuLaunchKernelEx(self.config, self.function, parameters.address, 0)
        if status:
            config = self.config
            grid = f"{config.gridDimX:,} x {config.gridDimY:,} x {config.gridDimZ:,}"
            raise LaunchError(sentence(status, f"launch {grid} CTAs"))


class Nothing:
    """The launch of a call that has nothing to do: a tensor or the grid has no extent."""

    def run(self) -> None:
        """Does nothing."""


NOTHING = Nothing()
