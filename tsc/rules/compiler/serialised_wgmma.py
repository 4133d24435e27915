"""Makes the tensor cores wait more often than the schedule says.

What it does
    Reports that the assembler put waits of its own between wgmmas, and its reason.

Why is this bad
    The multiplications no longer overlap with anything, which can halve the speed of a kernel that is right
    otherwise.

Example
    - {wgmma: acc, a: ab.a, b: ab.b, accumulate: true}
    - {do: scale}                    # touches acc
    - {wgmma_wait: 0}

Use instead
    - {wgmma: acc, a: ab.a, b: ab.b, accumulate: true}
    - {wgmma_wait: 0}
    - {do: scale}                    # touches acc
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule(
    "TSC506", "serialised-wgmma", Severity.WARNING, "the assembler makes asynchronous wgmmas wait in turn"
)
