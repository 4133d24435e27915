"""Has an instruction that names more registers than a thread has when the kernel starts.

What it does
    Reports that the assembler refuses an instruction, most often a `wgmma` with a wide accumulator, and how
    many registers it would need.

Why is this bad
    There is no kernel. The assembler goes by the count at the start, which is the same for all threads;
    `registers` of a task, which moves them afterwards, comes too late. The check finds what a `wgmma` of the
    schedule needs (`too-few-registers-at-start`), and not what the assembler adds to it.

Example
    math: {warps: 12, registers: 160, schedule: [...]}       # with the loader 512 threads, 128 registers each

Use instead
    math: {warps: 8, registers: 232, schedule: [...]}        # 384 threads, 168 registers each
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule(
    "TSC507",
    "registers-run-out",
    Severity.ERROR,
    "an instruction needs more registers than threads start with",
)
