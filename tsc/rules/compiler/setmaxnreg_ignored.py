"""Has `registers` that come to nothing.

What it does
    Reports that the assembler left out the instructions that move registers from one warpgroup to another,
    and its reason.

Why is this bad
    Every task then runs with the same count, so one that asked for more spills, or the kernel does not
    start at all.

Example
    cuda: |
      helper(y);  // a function that is not inlined

Use instead
    cuda: |
      inlined_helper(y);  // `__forceinline__`
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule(
    "TSC505", "setmaxnreg-ignored", Severity.WARNING, "the assembler ignores the register counts of the tasks"
)
