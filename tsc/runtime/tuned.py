"""A tuned kernel: several cubins of one spec, and a table of which one is the fastest for which sizes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tsc.artifact.error import ArtifactError
from tsc.artifact.manifest import Manifest
from tsc.artifact.tuned import Entry, nearest, read_table
from tsc.runtime.arguments import arrange
from tsc.runtime.cache import RecentlyUsed
from tsc.runtime.errors import LaunchError, LoadError
from tsc.runtime.kernel import Kernel
from tsc.runtime.signature import Signature, TensorParam, signature_of

_KEPT_CHOICES = 256


class TunedKernel:
    """What `tsc.load` makes of a tuned folder; it is called like the kernel of one cubin.

    Each call goes to the cubin of the measured case that is nearest: the sum of |log| of the ratios of the
    sizes is the smallest, among the cases of the GPU that is current when the folder is loaded, or among all
    if none was measured on it. Cubins are loaded when they are first needed.
    """

    def __init__(
        self, entries: Sequence[Entry], folder: Path, device: str, load: Callable[[Path], Kernel]
    ) -> None:
        """Raises LoadError where an entry has no cubin, or the first one cannot be loaded."""
        for entry in entries:
            if not entry.cubin:
                raise LoadError(
                    f"the table in `{folder}` names no cubins; build them with "
                    "`tsc build SPEC --tuned TABLE -o FOLDER`"
                )
        if not entries:
            raise LoadError(f"the table in `{folder}` has no case")
        self._entries = tuple(entries)
        self._folder = folder
        self._device = device
        self._load = load
        self._kernels: dict[str, Kernel] = {}
        self._lock = threading.RLock()
        self._choices: RecentlyUsed[Kernel] = RecentlyUsed(_KEPT_CHOICES)
        self._signature: Signature = signature_of(self._kernel(entries[0]).manifest)

    @property
    def manifest(self) -> Manifest:
        """What the cubin of the first case says; params and dims are those of all."""
        return self._signature.manifest

    def __repr__(self) -> str:
        manifest = self.manifest
        return f"<tuned tsc kernel {manifest.kernel} of {len(self._entries)} cases for {manifest.arch}>"

    def __call__(self, /, *arguments: Any, stream: Any = None, **named: Any) -> None:
        """Enqueues the kernel that suits the sizes. Raises LaunchError, with nothing launched."""
        key: Hashable = (
            tuple(_shape(value) for value in arguments),
            tuple((name, _shape(value)) for name, value in sorted(named.items())),
        )
        kernel = self._choices.get(key)
        if kernel is None:
            kernel = self.choose(**self._sizes(arguments, named))
            self._choices.put(key, kernel)
        kernel(*arguments, stream=stream, **named)

    def entry(self, **sizes: int) -> Entry:
        """The measured case that a call with these sizes goes by."""
        found = nearest(self._entries, sizes, self._device)
        if found is None:
            raise LaunchError(f"`{self.manifest.kernel}`: the table has no case")
        return found

    def choose(self, **sizes: int) -> Kernel:
        """The kernel that a call with these sizes goes to, loaded. Raises LaunchError if it cannot be."""
        try:
            return self._kernel(self.entry(**sizes))
        except LoadError as error:
            raise LaunchError(f"`{self.manifest.kernel}`: {error}") from None

    def grid(self, **dims: int) -> tuple[int, int, int]:
        """The grid in CTAs for these dims. Raises LaunchError."""
        return self.choose(**dims).grid(**dims)

    def prepare(self, device: int | None = None) -> None:
        """Loads every cubin's code onto a GPU (by default the current one), ahead of a graph capture."""
        for entry in self._entries:
            self._kernel(entry).prepare(device)

    def close(self) -> None:
        """Frees and unloads all that was loaded."""
        with self._lock:
            self._choices.clear()
            for kernel in self._kernels.values():
                kernel.close()

    def _kernel(self, entry: Entry) -> Kernel:
        with self._lock:
            if entry.cubin not in self._kernels:
                self._kernels[entry.cubin] = self._load(self._folder / entry.cubin)
            return self._kernels[entry.cubin]

    def _sizes(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> dict[str, int]:
        """What the shapes tell of the sizes; the chosen kernel checks them all."""
        try:
            values, dims = arrange(self._signature, arguments, named)
        except LaunchError as error:
            raise LaunchError(f"`{self.manifest.kernel}`: {error}") from None
        sizes = dict(dims)
        for param, value in zip(self._signature.params, values, strict=True):
            shape = _shape(value)
            if isinstance(param, TensorParam) and isinstance(shape, tuple) and len(shape) == len(param.shape):
                for extent, size in zip(param.shape, shape, strict=True):
                    if extent.text in self.manifest.dims:
                        sizes.setdefault(extent.text, size)
        return sizes


def load_tuned(path: Path, device: Callable[[], str], load: Callable[[Path], Kernel]) -> TunedKernel:
    """The kernel of a tuned folder or table; `device` names the GPU. Raises LoadError."""
    try:
        table, file = read_table(path)
    except ArtifactError as error:
        raise LoadError(str(error)) from None
    return TunedKernel(table.entries, file.parent, device(), load)


def _shape(value: Any) -> Hashable:
    """What tells one choice from another: the shape of a tensor, and any other value's type."""
    shape = getattr(value, "shape", None)
    if shape is None:
        interface = getattr(value, "__cuda_array_interface__", None)
        shape = interface.get("shape") if isinstance(interface, dict) else None
    if shape is not None:
        return tuple(map(int, shape))
    return value if isinstance(value, int) else type(value).__qualname__
