"""A folder of cubins of one kernel for several targets, of which one is for the GPU in use."""

from __future__ import annotations

from pathlib import Path

from tsc.artifact.elf import read_cubin, read_file
from tsc.artifact.error import ArtifactError
from tsc.artifact.manifest import Manifest, manifest_of
from tsc.artifact.tuned import SUFFIX
from tsc.runtime.devices import closeness, runs_on
from tsc.runtime.driver import Cuda
from tsc.runtime.errors import LoadError


def holds_targets(folder: Path) -> bool:
    """Whether a folder has cubins and no table that says what each is for."""
    return not any(folder.glob(f"*{SUFFIX}")) and any(folder.glob("*.cubin"))


def for_device(cuda: Cuda, folder: Path, device: int) -> Path:
    """The cubin for a GPU: of those that run there the one for the closest target. Raises LoadError."""
    found = [(path, _manifest(path)) for path in sorted(folder.glob("*.cubin"))]
    kernels = sorted({manifest.kernel for _, manifest in found})
    if len(kernels) > 1:
        raise LoadError(
            f"`{folder}`: it has the kernels {_listed(kernels)}, and one is loaded; name its file"
        )
    major = cuda.device_fact(device, "COMPUTE_CAPABILITY_MAJOR")
    minor = cuda.device_fact(device, "COMPUTE_CAPABILITY_MINOR")
    fit = [(path, manifest.arch) for path, manifest in found if runs_on(manifest.arch, major, minor)]
    if not fit:
        archs = _listed(sorted({manifest.arch for _, manifest in found}))
        raise LoadError(
            f"`{folder}`: its cubins are built for {archs}, and GPU {device} ({cuda.device_name(device)}) is "
            f"`sm_{major}{minor}`; build one with `--arch` for it"
        )
    best = max(closeness(arch) for _, arch in fit)
    paths = [path for path, arch in fit if closeness(arch) == best]
    if len(paths) > 1:
        names = _listed([path.name for path in paths])
        raise LoadError(f"`{folder}`: {names} are built for the same target; name the file to load")
    return paths[0]


def _manifest(path: Path) -> Manifest:
    try:
        return manifest_of(read_cubin(read_file(path)))
    except ArtifactError as error:
        raise LoadError(f"`{path}`: {error}") from None


def _listed(names: list[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return " and ".join(filter(None, (", ".join(quoted[:-1]), *quoted[-1:])))
