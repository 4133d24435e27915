"""TSC501 to TSC507: what the compiler says of a spec's CUDA; `tsc build` reports them, and no check."""

from __future__ import annotations

from types import ModuleType

from tsc.rules.compiler import (
    compiler_warning,
    cuda_does_not_compile,
    local_memory,
    register_spill,
    registers_run_out,
    serialised_wgmma,
    setmaxnreg_ignored,
)

RULES: tuple[ModuleType, ...] = (
    cuda_does_not_compile,
    compiler_warning,
    register_spill,
    local_memory,
    setmaxnreg_ignored,
    serialised_wgmma,
    registers_run_out,
)
