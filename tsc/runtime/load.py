"""`tsc.load`: from a cubin to a callable."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from tsc.artifact.elf import Cubin, read_cubin, read_file
from tsc.artifact.error import ArtifactError
from tsc.artifact.manifest import Manifest, manifest_of
from tsc.artifact.tuned import SUFFIX
from tsc.runtime import driver
from tsc.runtime.devices import mismatch
from tsc.runtime.errors import KernelError, LoadError
from tsc.runtime.folder import for_device, holds_targets
from tsc.runtime.kernel import Kernel
from tsc.runtime.signature import Slot, signature_of
from tsc.runtime.tuned import TunedKernel, load_tuned

Source: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview


def load(source: Source) -> Kernel | TunedKernel:
    """The kernel of a cubin that `tsc build` made, given the file's path or its bytes.

    A folder, or a `*.tuned.json` in one, is a tuned kernel: of its cubins each call takes the one that was
    the fastest for the sizes most like its own. A folder of cubins for several targets is the kernel of the
    one for the GPU in use, or for the first.

    The file is read and checked first, then the driver. Raises LoadError with one sentence: a file that is
    missing or is no cubin of tsc, a manifest of a newer tsc, no driver, no GPU, or none that runs the cubin's
    target.
    """
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        if path.is_dir() and holds_targets(path):
            cuda = driver.connect()
            return load_cubin(for_device(cuda, path, cuda.current_device() or 0))
        if path.is_dir() or path.name.endswith(SUFFIX):
            return load_tuned(path, _device_name, load_cubin)
    return load_cubin(source)


def load_cubin(source: Source) -> Kernel:
    """The kernel of one cubin. Raises LoadError."""
    name, data = _read(source)
    try:
        cubin = read_cubin(data)
        manifest = manifest_of(cubin)
        _check_parameters(cubin, signature_of(manifest).slots, manifest)
    except ArtifactError as error:
        raise LoadError(f"{name}{error}") from None
    cuda = driver.connect()
    try:
        _check_target(cuda, manifest)
        kernel = Kernel(manifest, data, cuda)
        current = cuda.current_device()
        if current is not None and not mismatch(cuda, manifest, current):
            # Whoever uses a GPU already may go straight on to a graph capture; others choose theirs by the
            # first call.
            kernel.prepare(current)
    except KernelError as error:
        raise LoadError(f"{name}{error}") from None
    return kernel


def _device_name() -> str:
    """The name of the GPU in use, or of the first. Raises LoadError where there is none."""
    cuda = driver.connect()
    return cuda.device_name(cuda.current_device() or 0)


def _read(source: Source) -> tuple[str, bytes]:
    if isinstance(source, (bytes, bytearray, memoryview)):
        return "", bytes(source)
    try:
        path = os.fspath(source)
    except TypeError:
        raise LoadError(
            f"a `{type(source).__name__}` is no cubin; pass a path or the cubin's bytes"
        ) from None
    try:
        return f"`{path}`: ", read_file(Path(path))
    except ArtifactError as error:
        raise LoadError(str(error)) from None


def _check_parameters(cubin: Cubin, slots: Sequence[Slot], manifest: Manifest) -> None:
    """Holds the manifest's arguments against the code's parameters: a wrong size would be read as garbage."""
    parameters = cubin.resources(manifest.kernel).parameters
    if not parameters:
        return
    wanted = [parameter.size for parameter in parameters]
    described = [slot.bytes for slot in slots]
    if wanted != described:
        raise ArtifactError(
            f"the cubin's manifest is damaged: it describes arguments of {described} B, and the code of "
            f"`{manifest.kernel}` takes {wanted} B"
        )


def _check_target(cuda: driver.Cuda, manifest: Manifest) -> None:
    refusals = [mismatch(cuda, manifest, device) for device in range(cuda.device_count())]
    if all(refusals):
        raise LoadError(refusals[0])
