"""From CUDA text to a cubin with its diagnostics: cache, compiler and the reading of its log in one."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from tsc.diagnostics.model import Diagnostic
from tsc.toolchain.cache import Cache, cache_key
from tsc.toolchain.diagnose import SpecText, internal_errors, to_diagnostics
from tsc.toolchain.errors import CompileFailed
from tsc.toolchain.log import Log, Usage, locate, parse_log
from tsc.toolchain.names import SOURCE_NAME, prepare
from tsc.toolchain.nvrtc import (
    Compiled,
    CompileOptions,
    Rejected,
    check_arch,
    compile_cuda,
    nvrtc_identity,
    nvrtc_version,
)
from tsc.version import VERSION

_NO_SPEC: Final = SpecText(SOURCE_NAME, "")


@dataclass(frozen=True, slots=True)
class Built:
    """A compiled kernel and what the compiler says of it."""

    cubin: bytes = field(repr=False)
    ptx: str = field(repr=False)
    usage: Usage
    """of the kernel, or of the first if there are several"""
    usages: Mapping[str, Usage]
    """of every kernel, by its symbol"""
    diagnostics: tuple[Diagnostic, ...]
    log: str = field(repr=False)
    nvrtc_version: str
    seconds: float
    cached: bool


def compile_source(
    source: str,
    headers: Mapping[str, str],
    arch: str,
    options: CompileOptions | None = None,
    *,
    spec: SpecText | None = None,
    cache: Cache | None = None,
) -> Built:
    """Compile a source with its in-memory headers (include name to text) for one target.

    `spec` is the text that `#line` directives of its name point into. Raises CompileFailed with diagnostics,
    or another ToolchainError if there is no compiler for this target.
    """
    started = time.perf_counter()
    job = _Job(source, headers, arch, options or CompileOptions(), spec or _NO_SPEC)
    check_arch(arch)
    key = job.key() if cache else ""
    stored = cache.get(key) if cache else None
    outcome = _Outcome.unpacked(stored) if stored else job.run()
    if cache and not stored:
        cache.put(key, outcome.packed())
    log = job.placed(outcome)
    usage = next(iter(log.usage.values()), Usage())
    return Built(
        cubin=outcome.compiled.cubin,
        ptx=outcome.compiled.ptx,
        usage=usage,
        usages=log.usage,
        diagnostics=tuple(
            to_diagnostics(log.messages, job.spec.text, job.spec.name, anchor=job.spec.anchor, usage=usage)
        ),
        log=outcome.compiled.log,
        nvrtc_version=outcome.compiled.nvrtc_version,
        seconds=time.perf_counter() - started,
        cached=stored is not None,
    )


@dataclass(frozen=True, slots=True)
class _Outcome:
    """A compile; `lined` is a second log and PTX, with line information, where a message needs its place."""

    compiled: Compiled
    lined: tuple[str, str] | None = None

    def packed(self) -> dict[str, bytes]:
        texts = {"ptx": self.compiled.ptx, "log": self.compiled.log, "nvrtc": self.compiled.nvrtc_version}
        if self.lined:
            texts |= {"lined_log": self.lined[0], "lined_ptx": self.lined[1]}
        encoded = {name: text.encode("utf-8", "surrogateescape") for name, text in texts.items()}
        return {"cubin": self.compiled.cubin, **encoded}

    @classmethod
    def unpacked(cls, parts: Mapping[str, bytes]) -> _Outcome:
        texts = {
            name: part.decode("utf-8", "surrogateescape") for name, part in parts.items() if name != "cubin"
        }
        lined = (texts["lined_log"], texts["lined_ptx"]) if "lined_log" in texts else None
        return cls(Compiled(parts["cubin"], texts["ptx"], texts["log"], texts["nvrtc"]), lined)


@dataclass(frozen=True, slots=True)
class _Job:
    """Everything that decides what one compile gives."""

    source: str
    headers: Mapping[str, str]
    arch: str
    options: CompileOptions
    spec: SpecText

    def key(self) -> str:
        return cache_key(
            {
                "tsc": VERSION,
                "nvrtc": [nvrtc_version(), *nvrtc_identity()],
                "flags": self.options.flags(self.arch),
                "root": self.options.source_root,
                "source": self.source,
                "headers": dict(self.headers),
            }
        )

    def compile(self, *, lineinfo: bool) -> Compiled:
        options = replace(self.options, lineinfo=lineinfo)
        return compile_cuda(self.source, arch=self.arch, headers=self.headers, options=options)

    def run(self) -> _Outcome:
        try:
            compiled = self.compile(lineinfo=self.options.lineinfo)
        except Rejected as rejected:
            raise self._failure(rejected) from None
        if not _asks_for_place(parse_log(compiled.log)):
            return _Outcome(compiled)
        lined = compiled if self.options.lineinfo else self.compile(lineinfo=True)
        return _Outcome(compiled, (lined.log, lined.ptx))

    def placed(self, outcome: _Outcome) -> Log:
        if outcome.lined is None:
            return parse_log(outcome.compiled.log)
        log, ptx = outcome.lined
        return self._located(parse_log(log), ptx)

    def _located(self, log: Log, ptx: str) -> Log:
        return locate(log, ptx, prepare(self.source, self.headers, self.options.source_root).shown)

    def _failure(self, rejected: Rejected) -> CompileFailed:
        """The error for the user, with the assembler's complaints traced from the PTX to the source."""
        log, ptx = parse_log(rejected.log), rejected.ptx
        if _asks_for_place(log):
            if not self.options.lineinfo:
                try:
                    self.compile(lineinfo=True)
                except Rejected as lined:
                    log, ptx = parse_log(lined.log), lined.ptx
            log = self._located(log, ptx)
        spec = self.spec
        diagnostics = tuple(to_diagnostics(log.messages, spec.text, spec.name, anchor=spec.anchor))
        internal = internal_errors(log.messages, spec.name)
        failed = CompileFailed(spec.name, diagnostics, internal, rejected.log)
        if failed.is_fault_of_spec or internal:
            return failed
        # No error was recognised: the whole log is better than silence.
        return CompileFailed(spec.name, diagnostics, (rejected.log.strip(),), rejected.log)


def _asks_for_place(log: Log) -> bool:
    return any(message.ptx_line is not None for message in log.messages)
