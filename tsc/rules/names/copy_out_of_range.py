"""Names a copy of a `per:` resource that does not exist, or none where none is the task's own.

What it does
    Checks the index in `name[i]` against the number of copies, that only a `per:` resource is indexed,
    and that a task other than the one in `per:` says which copy it means.

Why is this bad
    The step would touch bytes or barriers of something else.

Example
    qs: {kind: smem, per: math, stages: 1, dtype: bf16, shape: [64]}     # math has 2 replicas
    - acquire: qs[2]

Use instead
    - acquire: qs[1]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.names.misnamed import misnamed

RULE = Rule("TSC113", "copy-out-of-range", Severity.ERROR, "a reference names a copy that does not exist")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each copy that is not there, with all places of a task that name it."""
    alike: dict[tuple[str, str], list[Finding]] = {}
    for task, finding in misnamed(program):
        alike.setdefault((task, finding.message), []).append(finding)
    for first, *others in alike.values():
        places = dict.fromkeys(other.place.route for other in others if other.place != first.place)
        yield replace(first, related=tuple(Place(route, label="here too") for route in places))
