"""Compiles CUDA text to PTX and cubin with NVRTC: no GPU, no driver and no CUDA toolkit.

cuda.bindings is called directly, because cuda.core asks the driver before it makes PTX, and its `ObjectCode`
loads a library whenever it is shown.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, Protocol, cast

from tsc.toolchain.errors import NvrtcMissing, ToolchainError, UnsupportedArch
from tsc.toolchain.names import prepare

INSTALL: Final = "pip install cuda-bindings nvidia-cuda-nvrtc"

_REJECTED = 6  # NVRTC_ERROR_COMPILATION
_SUCCESS = 0
# The first architecture with features of its own (`a`), and of its family (`f`).
_SUFFIX_SINCE: Final = {"a": 90, "f": 100}


class _Nvrtc(Protocol):
    """What is used of `cuda.bindings.nvrtc`, which ships without stubs."""

    def nvrtcVersion(self) -> tuple[int, int, int]: ...
    def nvrtcGetSupportedArchs(self) -> tuple[int, list[int]]: ...
    def nvrtcCreateProgram(
        self, source: bytes, name: bytes, count: int, headers: Sequence[bytes], names: Sequence[bytes]
    ) -> tuple[int, Any]: ...
    def nvrtcCompileProgram(self, program: Any, count: int, options: Sequence[bytes]) -> tuple[int]: ...
    def nvrtcDestroyProgram(self, program: Any) -> tuple[int]: ...
    def nvrtcGetErrorString(self, result: int) -> tuple[int, bytes]: ...
    def nvrtcGetProgramLogSize(self, program: Any) -> tuple[int, int]: ...
    def nvrtcGetProgramLog(self, program: Any, buffer: bytearray) -> tuple[int]: ...
    def nvrtcGetPTXSize(self, program: Any) -> tuple[int, int]: ...
    def nvrtcGetPTX(self, program: Any, buffer: bytearray) -> tuple[int]: ...
    def nvrtcGetCUBINSize(self, program: Any) -> tuple[int, int]: ...
    def nvrtcGetCUBIN(self, program: Any, buffer: bytearray) -> tuple[int]: ...


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """How to compile; equal options and equal text give equal bytes."""

    lineinfo: bool = False
    """file and line of every instruction, for profilers and disassemblers"""
    fast_math: bool = False
    extra: tuple[str, ...] = ()
    """further options of NVRTC, as they are"""
    source_root: str = "/tsc"
    """the folder that debug info gives for relative file names"""

    def flags(self, arch: str) -> tuple[str, ...]:
        """The command line of NVRTC."""
        flags = [
            f"--gpu-architecture={arch}",
            "-std=c++20",
            # Where a driver is present NVRTC keeps a cache of its own, and a hit has no log.
            "--no-cache",
            "--ptxas-options=-v",
            "--ptxas-options=--warn-on-spills",
            "--ptxas-options=--warn-on-local-memory-usage",
        ]
        if self.lineinfo:
            flags.append("-lineinfo")
        if self.fast_math:
            flags.append("--use_fast_math")
        return (*flags, *self.extra)


@dataclass(frozen=True, slots=True)
class Compiled:
    """What NVRTC makes of one source, `log` with the file names as they were given."""

    cubin: bytes = field(repr=False)
    ptx: str = field(repr=False)
    log: str = field(repr=False)
    nvrtc_version: str


class Rejected(Exception):
    """NVRTC or the assembler refuses the source; the PTX is there if it was the assembler."""

    def __init__(self, log: str, ptx: str) -> None:
        super().__init__("the CUDA does not compile")
        self.log = log
        self.ptx = ptx


@cache
def _nvrtc() -> _Nvrtc:
    try:
        library = cast(_Nvrtc, importlib.import_module("cuda.bindings.nvrtc"))
    except ImportError as error:
        raise NvrtcMissing(f"the package cuda-bindings cannot be loaded ({error}): `{INSTALL}`") from None
    try:
        library.nvrtcVersion()
    except Exception:
        # The binding loads the library at the first call and has no public class for its failure.
        raise NvrtcMissing(f"NVRTC, the CUDA compiler, is not installed: `{INSTALL}`") from None
    return library


def nvrtc_version() -> str:
    """The version of NVRTC, such as `13.5`. Raises NvrtcMissing."""
    result, major, minor = _nvrtc().nvrtcVersion()
    _require(result)
    return f"{major}.{minor}"


def nvrtc_identity() -> tuple[int, ...]:
    """What tells this build of NVRTC from others of its version: the library's size and time.

    Empty where the library's file is not known. Raises NvrtcMissing.
    """
    _nvrtc()
    try:
        found = importlib.import_module("cuda.pathfinder").load_nvidia_dynamic_lib("nvrtc")
        status = Path(found.abs_path).stat()
    except Exception:
        # A library that the process had loaded before may have no path, and pathfinder says so in many ways.
        return ()
    return status.st_size, status.st_mtime_ns


def supported_archs() -> tuple[str, ...]:
    """The targets that this NVRTC compiles for, such as `sm_90a`. Raises NvrtcMissing."""
    result, numbers = _nvrtc().nvrtcGetSupportedArchs()
    _require(result)
    return tuple(
        f"sm_{number}{suffix}"
        for number in numbers
        for suffix in ("", *(letter for letter, since in _SUFFIX_SINCE.items() if number >= since))
    )


def check_arch(arch: str) -> None:
    """Raise UnsupportedArch, with the targets that there are, unless this NVRTC compiles for `arch`."""
    supported = supported_archs()
    if arch in supported:
        return
    number = re.fullmatch(r"(sm_\d+)[a-z]", arch)
    why = f": `{number[1]}` has no such suffix" if number and number[1] in supported else ""
    raise UnsupportedArch(
        f"NVRTC {nvrtc_version()} does not compile for `{arch}`{why}; it knows {', '.join(supported)}"
    )


def compile_cuda(
    source: str, *, arch: str, headers: Mapping[str, str] | None = None, options: CompileOptions | None = None
) -> Compiled:
    """Compile a source and its in-memory headers (include name to text) to PTX and cubin.

    Raises Rejected if the text does not compile, ToolchainError if NVRTC cannot do its work at all.
    """
    check_arch(arch)
    options = options or CompileOptions()
    prepared = prepare(source, headers or {}, options.source_root)
    for text in (prepared.source, *prepared.headers.values()):
        if "\0" in text:
            raise ToolchainError("the generated CUDA has a NUL character, where NVRTC would stop reading")
    nvrtc = _nvrtc()
    texts = [_encoded(text) for text in prepared.headers.values()]
    names = [_encoded(name) for name in prepared.headers]
    result, program = nvrtc.nvrtcCreateProgram(
        _encoded(prepared.source), _encoded(prepared.name), len(names), texts, names
    )
    _require(result)
    try:
        flags = [_encoded(flag) for flag in options.flags(arch)]
        (result,) = nvrtc.nvrtcCompileProgram(program, len(flags), flags)
        log = prepared.shown(_text(program, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog))
        if int(result) not in (_SUCCESS, _REJECTED):
            said = " ".join(log.split())
            raise ToolchainError(f"NVRTC fails with {_described(result)}{f': {said}' if said else ''}")
        ptx = _text(program, nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX)
        if int(result) == _REJECTED:
            raise Rejected(log, ptx)
        cubin = _bytes(program, nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN)
    finally:
        nvrtc.nvrtcDestroyProgram(program)
    if not cubin.startswith(b"\x7fELF"):
        raise ToolchainError("NVRTC reports success and gives no cubin")
    return Compiled(cubin, ptx, log, nvrtc_version())


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


class _Size(Protocol):
    def __call__(self, program: Any, /) -> tuple[int, int]: ...


class _Get(Protocol):
    def __call__(self, program: Any, buffer: bytearray, /) -> tuple[int]: ...


def _bytes(program: Any, size_of: _Size, get: _Get) -> bytes:
    result, size = size_of(program)
    if int(result) != _SUCCESS or size == 0:
        return b""
    buffer = bytearray(size)
    (result,) = get(program, buffer)
    return bytes(buffer) if int(result) == _SUCCESS else b""


def _text(program: Any, size_of: _Size, get: _Get) -> str:
    return _bytes(program, size_of, get).rstrip(b"\0").decode("utf-8", "surrogateescape")


def _described(result: int) -> str:
    _, text = _nvrtc().nvrtcGetErrorString(result)
    return text.decode("utf-8", "replace")


def _require(result: int) -> None:
    if int(result) != _SUCCESS:
        raise ToolchainError(f"NVRTC fails with {_described(result)}")
