"""From a document to the models: every mistake of it in one run, each a finding."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pydantic import ValidationError

from tsc.diagnostics.model import Finding, Place
from tsc.source import Document
from tsc.spec.cuts import sift
from tsc.spec.document import Spec
from tsc.spec.overrides import Overrides, apply
from tsc.spec.tried import mistaken_tries

MOST = 100
"""Findings of one document that are shown; whoever has more mends those first."""
SAME = 5
"""Places at which one and the same mistake is shown."""
EXPLAINED = 5_000
"""Errors that are looked into; a document with more is no spec at all, and only their number is told."""


def to_spec(
    document: Document, overrides: Overrides | None = None
) -> tuple[Spec | None, tuple[Finding, ...]]:
    """Give the spec that a document describes, with a call's changes in it, or findings that say why not."""
    changes = overrides or Overrides()
    data, refused = apply(document.data, changes)
    sifted = sift(document, data, frozenset(changes.places()))
    findings = [*refused, *sifted.cuts]
    spec: Spec | None = None
    unexplained = 0
    try:
        spec = Spec.model_validate(data)
    except ValidationError as error:
        from tsc.spec.errors import (
            explain,
        )  # not before: a spec without a mistake pays nothing for its wording

        details = error.errors(include_url=False, include_input=False)
        findings += explain(details[:EXPLAINED], data, sifted)
        unexplained = len(details[EXPLAINED:])
    findings += sifted.empty.values()
    sound = not findings
    if spec is not None and spec.tune is not None and spec.tune.try_:
        findings += mistaken_tries(spec.tune, data)  # the kernel is what it is without them
    findings.sort(key=lambda finding: document.span_of(finding.place).start)
    return (spec if sound else None), tuple(bounded(findings, unexplained))


def bounded(findings: Iterable[Finding], unexplained: int = 0) -> list[Finding]:
    """Keep what a reader can take in: a mistake that is everywhere once, and no more than `MOST`.

    `unexplained` is the number of further problems that no finding is about.
    """
    alike: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        alike.setdefault((finding.rule, finding.message), []).append(finding)
    shown: list[Finding] = []
    for group in alike.values():
        shown += [_joined(group)] if len(group) > SAME else group
    left = len(shown[MOST:]) + unexplained
    if not left:
        return shown
    place = Place(shown[MOST].place.route, label="the next one") if len(shown) > MOST else Place(())
    message = f"{left:,} more problems are not shown"
    return [*shown[:MOST], Finding("too-many-problems", message, place, help="mend those above first")]


def _joined(group: list[Finding]) -> Finding:
    first, others = group[0], group[1:]
    related = tuple(Place(each.place.route, each.place.part, label="here too") for each in others[: SAME - 1])
    message = f"{first.message}, here and in {len(others):,} more places"
    return replace(first, message=message, related=(*first.related, *related))
