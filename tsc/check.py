"""From a spec to its diagnostics: reading, the models, the program, the rules and the proof."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tsc.diagnostics import ignores
from tsc.diagnostics.model import Diagnostic, Finding, Label, Place, Rule, Severity
from tsc.program.model import Program
from tsc.program.names import mentions_arch
from tsc.program.resolve import resolve
from tsc.program.target import targets_of
from tsc.rules.causes import without_symptoms
from tsc.rules.merged import merged
from tsc.rules.registry import OF_BUILD, OF_PROOF, RULES, Check, by_name, checks
from tsc.source import Document, Reading, read
from tsc.source.route import Route
from tsc.source.span import Position, Span
from tsc.spec.document import Spec
from tsc.spec.load import to_spec
from tsc.spec.overrides import Overrides

if TYPE_CHECKING:
    from tsc.prove.judge import Judgement

_Judged = tuple["Judgement", tuple[Finding, ...]]
_WEIGHT = {Severity.ERROR: 2, Severity.WARNING: 1, Severity.ADVICE: 0}
_ADVICE = "TSC7"
_TEXT = "TSC0"
# The language is larger than what is generated, and a schedule is proved all the same.
_NOT_GENERATED = "TSC59"
_UNPROVEN = "unproven"
_NOWHERE = Span(Position(1, 1, 0), Position(1, 1, 0))


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether the schedule is proved, and how: at most `budget` states (of None: as many as usual).

    `allow_unproven` makes a warning of what is neither proved nor refuted.
    """

    wanted: bool = True
    budget: int | None = None
    allow_unproven: bool = False


class RuleFailure(Exception):
    """A rule that raised: a fault of the tool, which its text lays at the rule's door."""


@dataclass(frozen=True, slots=True)
class Report:
    """What the check says about one spec.

    `found` is all of it by place, `diagnostics` what was asked for. `program` is absent where the text or
    the models are at fault, `document` where the text cannot be read, `judgement` where the schedule was not
    looked at, because of errors or because nobody asked. Both are those of the first target; `programs` and
    `judgements` have all targets, in the order of the spec.
    """

    name: str
    text: str
    found: tuple[Diagnostic, ...]
    diagnostics: tuple[Diagnostic, ...]
    document: Document | None
    spec: Spec | None
    program: Program | None
    judgement: Judgement | None = None
    programs: tuple[Program, ...] = ()
    judgements: tuple[Judgement | None, ...] = ()

    @property
    def sources(self) -> dict[str, str]:
        """Texts by the name that the diagnostics give their file."""
        return {self.name: self.text}

    def exit_code(self, fail_on: str = Severity.ERROR) -> int:
        """Give 1 if a diagnostic weighs at least as much as `fail_on`, else 0."""
        least = _WEIGHT[Severity(fail_on)]
        return int(any(_WEIGHT[diagnostic.severity] >= least for diagnostic in self.diagnostics))


def check_file(
    path: str,
    *,
    overrides: Overrides | None = None,
    stdin_name: str | None = None,
    language: str | None = None,
    proof: Proof | None = None,
) -> Report:
    """Check the spec at `path`, `-` for standard input. Raises `tsc.source.ReadError`."""
    reading = read(path, stdin_name=stdin_name, language=language)
    return check_reading(reading, overrides or Overrides(), proof)


def check_reading(reading: Reading, overrides: Overrides, proof: Proof | None = None) -> Report:
    """Check what was read."""
    proof = proof or Proof()
    document = reading.document
    findings = list(reading.findings)
    spec = None
    programs: list[Program] = []
    judgements: list[Judgement | None] = []
    if document is not None:
        spec, mistakes = to_spec(document, overrides)
        findings = [*_unless_cut(findings, mistakes), *mistakes]
    if spec is not None:
        alike = not mentions_arch(spec)
        base = Path(reading.name).parent
        programs = [resolve(spec, reading.name, base, arch) for arch in targets_of(spec)]
        known: _Judged | None = None
        told = []
        for one in programs:
            mine, known = _of_target(one, proof, known if alike else None, sound=not _at_fault(findings))
            told.append(mine)
            judgements.append(known[0] if known is not None else None)
        findings += merged([one.arch for one in programs], told)
    program = programs[0] if programs else None
    judgement = judgements[0] if judgements else None
    changed = overrides.places()
    found = [_diagnose(finding, reading, changed) for finding in findings]
    if proof.allow_unproven:
        found = [_allowed(it) if it.name == _UNPROVEN else it for it in found]
    if document is not None:
        ran = {rule.name for rule in RULES if program is not None or rule.code.startswith(_TEXT)}
        judged = bool(judgements) and None not in judgements
        ran -= OF_BUILD if judged else OF_BUILD | OF_PROOF
        applied = ignores.apply(found, document, RULES, ran)
        found = [*applied.kept, *(_diagnose(finding, reading, changed) for finding in applied.unused)]
    ordered = tuple(sorted(_once(found), key=_by_place))
    several = tuple(programs), tuple(judgements)
    report = Report(
        reading.name, reading.text, ordered, ordered, document, spec, program, judgement, *several
    )
    return select(report)


def _of_target(
    program: Program, proof: Proof, known: _Judged | None, *, sound: bool
) -> tuple[list[Finding], _Judged | None]:
    """What the rules say about one target, and its verdict: the `known` one of another target, if any.

    `sound` is whether the text itself has no error.
    """
    found = list(without_symptoms(program, tuple(_apply_rules(program, checks()))))
    if sound and not _at_fault(found):
        found += _apply_rules(program, checks(sound=True))
    if not proof.wanted or not sound or _at_fault(found):
        return found, None
    if known is None:
        judgement = _judge(program, proof.budget)
        known = judgement, tuple(_apply_rules(program, checks(proof=True)))
    return [*found, *known[1]], known


def _allowed(diagnostic: Diagnostic) -> Diagnostic:
    """Make a warning of what is open, without the advice to allow it."""
    from tsc.rules.proof.unproven import ALLOW

    return replace(diagnostic, severity=Severity.WARNING, help=diagnostic.help.removesuffix(f", {ALLOW}"))


def select(report: Report, select: Collection[str] = (), ignore: Collection[str] = ()) -> Report:
    """Keep the diagnostics of the rules in `select`, by default all but advice, without those in `ignore`.

    A rule is chosen by its code, the beginning of its code, or its name.
    """

    def wanted(diagnostic: Diagnostic) -> bool:
        if _chosen(diagnostic, ignore):
            return False
        return _chosen(diagnostic, select) if select else not diagnostic.code.startswith(_ADVICE)

    return replace(report, diagnostics=tuple(filter(wanted, report.found)))


def unknown_choices(words: Iterable[str]) -> list[str]:
    """Give those words that choose no rule, so that a call can say so instead of finding nothing."""
    return [word for word in words if not any(_matches(rule.code, rule.name, word) for rule in RULES)]


def _chosen(diagnostic: Diagnostic, words: Collection[str]) -> bool:
    return any(_matches(diagnostic.code, diagnostic.name, word) for word in words)


def _matches(code: str, name: str, word: str) -> bool:
    return name == word or (word.upper().startswith("TSC") and code.startswith(word.upper()))


def _at_fault(findings: Iterable[Finding]) -> bool:
    rules = (by_name(finding.rule) for finding in findings)
    return any(
        rule is not None and rule.severity is Severity.ERROR and not rule.code.startswith(_NOT_GENERATED)
        for rule in rules
    )


def _judge(program: Program, budget: int | None) -> Judgement:
    # A spec that is wrong in a plainer way never needs the prover, which takes a while to import.
    from tsc.prove.judge import judge
    from tsc.prove.verdict import BUDGET

    try:
        return judge(program, BUDGET if budget is None else budget)
    except Exception as error:
        raise RuleFailure(f"the proof failed on this spec: {type(error).__name__}: {error}") from error


def _apply_rules(program: Program, rules: Iterable[tuple[Rule, Check]]) -> Iterator[Finding]:
    for rule, check in rules:
        try:
            yield from check(program)
        except Exception as error:
            raise RuleFailure(
                f"the rule {rule.code} {rule.name} failed on this spec: {type(error).__name__}: {error}"
            ) from error


def _unless_cut(findings: Iterable[Finding], mistakes: Iterable[Finding]) -> Iterator[Finding]:
    """Drop what the reader said about the pieces of a cut expression: one mistake, said where it was made."""
    cuts = [it.place.span for it in mistakes if it.rule == "cut-expression" and it.place.span is not None]
    for finding in findings:
        span = finding.place.span
        if span is None or not any(cut.start <= span.start and span.end <= cut.end for cut in cuts):
            yield finding


def _diagnose(finding: Finding, reading: Reading, changed: dict[Route, str]) -> Diagnostic:
    rule = by_name(finding.rule)
    if rule is None:
        raise RuleFailure(f"a finding names the rule `{finding.rule}`, which does not exist")
    place = _at_option(finding.place, changed)
    return Diagnostic(
        code=rule.code,
        name=rule.name,
        severity=rule.severity,
        message=finding.message,
        file=reading.name,
        span=_span(place, reading),
        label=place.label,
        related=tuple(
            Label(_span(related, reading), related.label)
            for related in (_at_option(other, changed) for other in finding.related)
        ),
        help=finding.help,
        route=finding.place.route,
    )


def _at_option(place: Place, changed: dict[Route, str]) -> Place:
    """Turn a place whose value came from the command line into its key, and say so there."""
    for depth in range(len(place.route), 0, -1):
        option = changed.get(place.route[:depth])
        if option is not None and place.span is None:
            label = f"{place.label}; set by `{option}`" if place.label else f"set by `{option}`"
            return Place(place.route[:depth], "key", label=label)
    return place


def _span(place: Place, reading: Reading) -> Span:
    if place.span is not None:
        return place.span
    return _NOWHERE if reading.document is None else reading.document.span_of(place)


def _by_place(diagnostic: Diagnostic) -> tuple[Position, Position, str, str]:
    return diagnostic.span.start, diagnostic.span.end, diagnostic.code, diagnostic.message


def _once(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    # Replicas, copies of a repeated block and aliases lead to the same text: one problem, however often met.
    seen = set()
    for it in diagnostics:
        key = (it.code, it.span, it.message)
        if key not in seen:
            seen.add(key)
            yield it
