"""Keeps an array in local memory.

What it does
    Reports the bytes of the stack that a thread of the built kernel has, where nothing is spilled.

Why is this bad
    Registers have no addresses, so an array whose index is only known at run time moves to device memory
    behind the caches.

Example
    cuda: |
      float v[8];
      for (int i = 0; i < count; ++i) v[i] = x(i);

Use instead
    cuda: |
      float v[8];
      #pragma unroll
      for (int i = 0; i < 8; ++i) v[i] = x(i);
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule(
    "TSC504", "local-memory", Severity.WARNING, "an array that is indexed at run time lies in local memory"
)
