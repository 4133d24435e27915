"""The architectures and their limits."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tsc.spec.document import Spec

_ARCH = re.compile(r"sm_(\d+)([af]?)\Z")


@dataclass(frozen=True, slots=True)
class Target:
    """An architecture; sizes in bytes, limits a CTA unless said otherwise.

    Sources: CUDA C++ Programming Guide, table of compute capabilities; PTX ISA, setmaxnreg and tcgen05.alloc.
    """

    arch: str
    capability: int  # 90, 100, 103
    suffix: str  # "a": architecture-specific instructions
    smem_bytes: int = 232_448
    registers: int = 65_536
    warps: int = 32
    tmem_columns: int = 0

    @property
    def hopper(self) -> bool:
        """Whether wgmma exists."""
        return self.capability == 90

    @property
    def blackwell(self) -> bool:
        """Whether tensor memory and cluster launch control exist."""
        return self.capability in (100, 103)


_TARGETS = {90: 0, 100: 512, 103: 512}


def known_targets() -> tuple[str, ...]:
    """List the architectures that a spec may name."""
    return tuple(f"sm_{capability}{suffix}" for capability in _TARGETS for suffix in ("", "a"))


def targets_of(spec: Spec) -> tuple[str, ...]:
    """List the architectures that a spec is for."""
    return spec.target if isinstance(spec.target, tuple) else (spec.target,)


def place_of(spec: Spec, arch: str) -> tuple[str | int, ...]:
    """Return the route to an architecture in a spec."""
    return ("target", spec.target.index(arch)) if isinstance(spec.target, tuple) else ("target",)


def find_target(arch: str) -> Target | None:
    """Return an architecture by its name, or nothing."""
    match = _ARCH.match(arch)
    if match is None or int(match.group(1)) not in _TARGETS or match.group(2) == "f":
        return None
    capability = int(match.group(1))
    return Target(arch=arch, capability=capability, suffix=match.group(2), tmem_columns=_TARGETS[capability])
