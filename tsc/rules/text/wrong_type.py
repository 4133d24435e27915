"""A value has another type than its key takes, or is missing.

What it does
    Compares each value with the type of its key. A text does not pass for a number, a number not for
    a text, and a key without a value for nothing. Only `true` and `false` are booleans: `yes`, `no`,
    `on` and `off` are texts.

Why is this bad
    What would be converted in silence is often not what was meant.

Example
    x: {dtype: bf16, shape: [m], packed: yes}

Use instead
    x: {dtype: bf16, shape: [m], packed: true}
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule("TSC012", "wrong-type", Severity.ERROR, "a value of the wrong type, or none")
