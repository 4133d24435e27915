"""Cubins with a manifest inside, compiled from hand-written CUDA."""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import dataclass
from typing import Any

from tests import ready
from tests.runtime.manifests import manifest
from tsc.artifact.manifest import to_c_array

COPY = """
extern "C" __global__ void scale(const unsigned short *x) { if (x == nullptr) __trap(); }
"""


@dataclass(frozen=True, slots=True)
class Source:
    """CUDA for one target, which NVRTC compiles."""

    text: str
    arch: str

    def build(self) -> bytes:
        from cuda.bindings import nvrtc

        def checked(outcome: tuple[Any, ...]) -> Any:
            assert outcome[0] == 0, outcome
            return outcome[1] if len(outcome) > 1 else None

        program = checked(nvrtc.nvrtcCreateProgram(self.text.encode(), b"test.cu", 0, [], []))
        options = [f"--gpu-architecture={self.arch}".encode(), b"--std=c++20"]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
        if status:
            log = b" " * checked(nvrtc.nvrtcGetProgramLogSize(program))
            checked(nvrtc.nvrtcGetProgramLog(program, log))
            raise AssertionError(log.decode())
        cubin: bytes = b" " * checked(nvrtc.nvrtcGetCUBINSize(program))
        checked(nvrtc.nvrtcGetCUBIN(program, cubin))
        return cubin


@functools.cache
def compiled(source: str, arch: str = "sm_90a") -> bytes:
    """The cubin of a source."""
    digest = hashlib.sha256(f"{arch} {source}".encode()).hexdigest()[:16]
    return ready.image(f"loader/{digest}", Source(source, arch))


def cubin(source: str = COPY, arch: str = "sm_90a", **changes: Any) -> bytes:
    """A kernel's cubin, with a manifest of which some entries are replaced."""
    text = json.dumps(manifest(arch=arch, **changes))
    return compiled(to_c_array(text) + source, arch)
