"""What the toolchain raises; the text of each error is one sentence for the user.

ToolchainError
├── NvrtcMissing        no NVRTC on this machine
├── UnsupportedArch     this NVRTC does not know the target
├── CompileFailed       the CUDA does not compile
└── WriteError          an output cannot be written
"""

from __future__ import annotations

from tsc.diagnostics.model import Diagnostic, Severity


class ToolchainError(Exception):
    """The tools around the compiler fail, not the spec."""


class NvrtcMissing(ToolchainError):
    """NVRTC or its Python binding is not installed."""


class UnsupportedArch(ToolchainError):
    """The target is not one that this NVRTC compiles for."""


class CompileFailed(ToolchainError):
    """The CUDA does not compile.

    `diagnostics` are at lines of the spec. If none of them is an error the generated code is wrong, and
    `internal` has the compiler's errors with their places in it; `log` is the whole log.
    """

    def __init__(
        self, name: str, diagnostics: tuple[Diagnostic, ...], internal: tuple[str, ...], log: str
    ) -> None:
        self.diagnostics = diagnostics
        self.internal = internal
        self.log = log
        super().__init__(
            f"the CUDA of `{name}` does not compile"
            if self.is_fault_of_spec
            else f"tsc made CUDA from `{name}` that does not compile, which is a fault of tsc"
        )

    @property
    def is_fault_of_spec(self) -> bool:
        """Whether a line of the spec is at fault; otherwise tsc is."""
        return any(one.severity is Severity.ERROR for one in self.diagnostics)


class WriteError(ToolchainError):
    """An output cannot be written."""
