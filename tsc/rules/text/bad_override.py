"""An option of the call sets something that the spec does not have.

What it does
    Looks up each `-D NAME=VALUE` among the constants and dims, and each `--set ROUTE=VALUE` in the
    document, and holds the size of a dim against what `dims` promises.

Why is this bad
    The kernel would be built without the change that was asked for.

Example
    tsc build spec.tsc.yaml -D STAGE=4

Use instead
    tsc build spec.tsc.yaml -D STAGES=4
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule("TSC023", "bad-override", Severity.ERROR, "an option sets what the spec does not have")
