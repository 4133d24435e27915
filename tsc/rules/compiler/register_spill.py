"""Holds more values than fit in the registers of a thread.

What it does
    Reports the bytes that a thread of the built kernel stores to local memory and loads back, as the
    assembler counts them.

Why is this bad
    Local memory is device memory behind the caches: each access costs hundreds of cycles, in the middle of
    the loop more often than not.

Example
    tasks: {compute: {warps: 8, registers: 40, schedule: [...]}}

Use instead
    tasks: {compute: {warps: 8, registers: 232, schedule: [...]}}
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule(
    "TSC503", "register-spill", Severity.WARNING, "values do not fit in registers and move to local memory"
)
