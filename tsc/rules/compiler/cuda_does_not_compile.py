"""Has CUDA that the compiler refuses.

What it does
    Reports each error of NVRTC and of its assembler at the line of the spec that it comes from, when the
    spec is built.

Why is this bad
    There is no kernel. The check reads the schedule and not the CUDA of works, so this is found by
    `tsc build` alone.

Example
    cuda: |
      y(i) = one;

Use instead
    cuda: |
      y(i) = 1.0f;
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule("TSC501", "cuda-does-not-compile", Severity.ERROR, "the CUDA of a snippet does not compile")
