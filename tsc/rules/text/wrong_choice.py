"""A value is none of the few that its key allows.

What it does
    Compares the value with the list of those that the language has for the key.

Why is this bad
    Such a word chooses an instruction, a layout or a protocol, and there is no other.

Example
    x: {dtype: bfloat16, shape: [m]}

Use instead
    x: {dtype: bf16, shape: [m]}
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule("TSC013", "wrong-choice", Severity.ERROR, "a value that is none of those that a key allows")
