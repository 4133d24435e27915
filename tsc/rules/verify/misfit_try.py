"""Tries what the spec has no place for.

What it does
    Looks each key of `tune.try` up as a constant, a dim or a route of the spec, and asks for a value that
    it can have.

Why is this bad
    The search ends at once, or throws every point of the space out.

Example
    constants: {BN: 128}
    tune:
      try: {BM: [64, 128]}

Use instead
    constants: {BN: 128}
    tune:
      try: {BN: [64, 128]}
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule("TSC197", "misfit-try", Severity.ERROR, "`tune.try` sets what the spec does not have")
