"""Has an instruction that names more registers than a thread has.

What it does
    Reports that the assembler refuses an instruction, most often a `wgmma` with a wide accumulator, and how
    many registers it would need.

Why is this bad
    There is no kernel. For a `wgmma` the assembler goes by the count at the start, which is the same for all
    threads; `registers` of a task, which moves them afterwards, comes too late. The check finds what the
    schedule asks for (`too-few-registers-at-start`, `fragments-exceed-registers`), and not what the assembler
    adds to it.

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
    "an instruction needs more registers than a thread has",
)
