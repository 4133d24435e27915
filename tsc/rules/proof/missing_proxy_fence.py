"""Hands bytes that threads wrote to an asynchronous operation without a proxy fence.

What it does
    Checks that between an ordinary write and an asynchronous access of the same bytes a proxy fence stands on
    the way. The fences that a `commit` implies are derived; this is about ways without one.

Why is this bad
    Threads and copy engines reach memory by different proxies. Without the fence the engine may read the old
    bytes, although the order of the steps is right.

Example
    write: [{do: fill}, {arrive: ready}]
    send:  [{sync: ready}, {tma_store: y, from: staged}]

Use instead
    write: [acquire: staged, {do: fill}, commit: staged]
    send:  [wait: staged, {tma_store: y, from: staged}, store_wait: 0, release: staged]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.proof.faults import faults

RULE = Rule(
    "TSC403",
    "missing-proxy-fence",
    Severity.ERROR,
    "written bytes are not made visible to the asynchronous proxy",
)
PROOF = True
DERIVED = True  # the generator puts every fence in, so no spec can leave one out


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each pair of steps."""
    for teller, alarm in faults(program, RULE.name):
        from tsc.rules.proof.meeting import race

        yield race(
            RULE.name,
            teller,
            alarm,
            lacks="no proxy fence stands between the two",
            help="hand it over by a `commit`, which fences, or write it through the same proxy",
        )
