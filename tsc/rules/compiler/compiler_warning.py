"""Has CUDA that the compiler warns of.

What it does
    Reports each warning of NVRTC and of its assembler at the line of the spec that it comes from, when
    the spec is built.

Why is this bad
    The kernel is built all the same, and what is warned of is often a slip: a variable that nobody reads,
    a comparison that always holds.

Example
    cuda: |
      int unused = 3;
      y(i) = 1.0f;

Use instead
    cuda: |
      y(i) = 1.0f;
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule(
    "TSC502", "compiler-warning", Severity.WARNING, "the compiler or the assembler warns of the spec's CUDA"
)
