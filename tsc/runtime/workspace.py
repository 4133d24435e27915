"""The memory that a kernel needs beside its arguments: one block a workspace tensor, device and stream.

A block that has become too small is replaced by a larger one and kept, because a captured graph or a launch
under way may still use it; blocks at least double, so what is kept stays less than what is used.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass

from tsc.runtime.driver import PER_THREAD_STREAM, Cuda
from tsc.runtime.errors import LaunchError
from tsc.runtime.signature import WorkspaceTensor


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of device memory."""

    pointer: int
    bytes: int


class Workspaces:
    """The blocks of one kernel; for use by several threads."""

    def __init__(self, cuda: Cuda) -> None:
        self._cuda = cuda
        self._blocks: dict[Hashable, Block] = {}
        self._all: list[tuple[int, Block]] = []
        self._lock = threading.Lock()
        self.zeroing = threading.Lock()
        """Held from zeroing to launching, so that no launch of another thread comes in between."""

    def block(self, tensor: WorkspaceTensor, size: int, device: int, stream: int) -> Block:
        """A block of at least `size` bytes; a new one is zeroed first unless the spec says `never`.

        The context of `device` is current. Raises LaunchError if it would have to be allocated in a capture.
        """
        # One handle stands for as many streams as there are threads.
        owner = threading.get_ident() if stream == PER_THREAD_STREAM else 0
        key = (tensor.name, device, stream, owner)
        with self._lock:
            block = self._blocks.get(key)
            if block is not None and block.bytes >= size:
                return block
            if self._cuda.is_capturing(stream):
                raise LaunchError(
                    f"workspace `{tensor.name}` needs {size:,} B that are not allocated yet, and a graph "
                    "capture is under "
                    "way; call the kernel once on this stream with these shapes before the capture"
                )
            fresh = self._allocate(size, 2 * block.bytes if block is not None else 0)
            self._all.append((device, fresh))
            if tensor.zero == "once":
                self._cuda.fill_zero(fresh.pointer, fresh.bytes, stream)
            self._blocks[key] = fresh
            return fresh

    def _allocate(self, needed: int, wished: int) -> Block:
        if wished > needed:
            # Room to grow is a wish: where memory is short, what is needed must still do.
            with suppress(LaunchError):
                return Block(self._cuda.allocate(wished), wished)
        # Nothing at all has no address, and a kernel may still be given one.
        size = max(needed, 1)
        return Block(self._cuda.allocate(size), size)

    def free(self) -> None:
        """Gives every block back."""
        with self._lock:
            blocks, self._all = self._all, []
            self._blocks.clear()
        for device, block in blocks:
            with self._cuda.on(device):
                self._cuda.free(block.pointer)
