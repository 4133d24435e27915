"""Comments that silence diagnostics: `# tsc: ignore[name]`, and `# tsc: ignore-file[name]` for the spec.

A comment beside something speaks of its line, one that stands alone of the next line that is no comment.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Protocol

from tsc.diagnostics.model import Diagnostic, Finding, Place, Rule, Severity
from tsc.source.span import Span

_COMMENT = re.compile(r"#\s*tsc:\s*([A-Za-z][A-Za-z-]*)\s*(\[([^\]\r\n]*)(\]?))?")
_FILLER = re.compile(r"(?:\s++|#[^\r\n]*+)*+")
_NAME = re.compile(r"[^\s,]+")
_DIRECTIVES = ("ignore", "ignore-file")
_UNUSED = "unused-ignore"
_MOST = 100  # findings about comments of one spec


class Text(Protocol):
    """What a document has to offer here: its text, and the ranges of its comments in it."""

    @property
    def text(self) -> str:
        """The whole text."""
        ...

    @property
    def comments(self) -> tuple[tuple[int, int], ...]:
        """Offsets of each comment, in order."""
        ...

    def span(self, start: int, end: int) -> Span:
        """Lines and columns of a range of offsets."""
        ...


@dataclass(frozen=True, slots=True)
class Ignore:
    """One name in one comment: a rule's name or code, none for every rule; `line` is None for the file."""

    name: str | None
    line: int | None
    span: Span

    def covers(self, diagnostic: Diagnostic) -> bool:
        """Tell whether the comment speaks of this diagnostic, be it one that can be ignored or not."""
        here = self.line is None or self.line == diagnostic.span.start.line
        return here and self.name in (None, diagnostic.name, diagnostic.code)


@dataclass(frozen=True, slots=True)
class Applied:
    """The diagnostics of a spec, parted by its comments, and findings about comments that did nothing."""

    kept: tuple[Diagnostic, ...]
    ignored: tuple[Diagnostic, ...]
    unused: tuple[Finding, ...]


def apply(
    diagnostics: Sequence[Diagnostic],
    document: Text,
    rules: Iterable[Rule],
    active: Collection[str] | None = None,
) -> Applied:
    """Part the diagnostics of one spec by its comments.

    Errors of the text itself (TSC0xx) cannot be ignored. `active` are the names of the rules that ran, by
    default all: an ignore of a rule that did not run is not unused.
    """
    ignores, unused = read(document)
    by_line: dict[int | None, list[Ignore]] = {}
    for ignore in ignores:
        by_line.setdefault(ignore.line, []).append(ignore)
    kept: list[Diagnostic] = []
    ignored: list[Diagnostic] = []
    used: set[Ignore] = set()
    for diagnostic in diagnostics:
        near = [*by_line.get(None, ()), *by_line.get(diagnostic.span.start.line, ())]
        covering = [ignore for ignore in near if ignore.covers(diagnostic)] if _may_go(diagnostic) else []
        used.update(covering)
        (ignored if covering else kept).append(diagnostic)
    known = {rule.name: rule for rule in rules} | {rule.code: rule for rule in rules}
    for ignore in ignores:
        if ignore not in used and len(unused) < _MOST:
            unused += _unused(ignore, known, active)
    silent = {ignore.line for ignore in ignores if ignore.name in (_UNUSED, _code(known, _UNUSED))}
    unused = [finding for finding in unused if None not in silent and _line(finding) not in silent]
    unused.sort(key=_offset)
    return Applied(tuple(kept), tuple(ignored), tuple(unused))


def read(document: Text) -> tuple[list[Ignore], list[Finding]]:
    """Read the comments of a spec; findings are about those that want to be one and are not."""
    ignores: list[Ignore] = []
    findings: list[Finding] = []
    next_line, known_until = 0, 0  # comments that stand alone in a row speak of the same line
    for start, end in document.comments:
        match = _COMMENT.match(document.text, start, end)
        if match is None:
            continue
        word, listed = match[1], match[2] is not None
        if word not in _DIRECTIVES:
            if get_close_matches(word, _DIRECTIVES, n=1):
                message = f"`{word}` is no word that tsc knows in a comment"
                findings.append(_finding(document, match.span(1), message, "write `ignore` or `ignore-file`"))
            continue
        names = list(_NAME.finditer(match[3])) if listed else []
        if listed and (not match[4] or not names):
            message = "the list of names is not closed" if not match[4] else "the list of names is empty"
            findings.append(_finding(document, match.span(2), message, f"write `{word}[name, other]`"))
            continue
        line: int | None = document.span(start, start).start.line
        if word == "ignore-file":
            line = None
        elif _alone(document.text, start):
            if start >= known_until:
                known_until = _past_comments(document.text, start)
                next_line = document.span(known_until, known_until).start.line
            line = next_line
        if not listed:
            ignores.append(Ignore(None, line, document.span(start, match.end(1))))
        for name in names:
            first, last = name.span()
            span = document.span(match.start(3) + first, match.start(3) + last)
            ignores.append(Ignore(name[0], line, span))
    return ignores, findings


def _may_go(diagnostic: Diagnostic) -> bool:
    return not (diagnostic.code.startswith("TSC0") and diagnostic.severity is Severity.ERROR)


def _alone(text: str, start: int) -> bool:
    before = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    return not text[before:start].strip()


def _past_comments(text: str, at: int) -> int:
    """Give the offset of the next text that is no comment, or of the end."""
    filler = _FILLER.match(text, at)
    return filler.end() if filler else at


def _unused(ignore: Ignore, known: dict[str, Rule], active: Collection[str] | None) -> Iterator[Finding]:
    where = "in the spec" if ignore.line is None else f"on line {ignore.line}"
    if ignore.name is None:
        if active is None or all(rule.name in active for rule in known.values()):
            yield _at(ignore.span, f"nothing {where} is ignored by this", "delete the comment")
        return
    rule = known.get(ignore.name)
    if rule is None:
        near = get_close_matches(ignore.name, known, n=1)
        help = f"write `{near[0]}`" if near else "take the name from `tsc rules`"
        yield _at(ignore.span, f"no rule is called `{ignore.name}`", help)
    elif rule.name == _UNUSED:
        return
    elif rule.code.startswith("TSC0") and rule.severity is Severity.ERROR:
        yield _at(
            ignore.span, f"`{rule.name}` is an error of the text, which is never ignored", "mend the text"
        )
    elif active is None or rule.name in active:
        yield _at(ignore.span, f"`{ignore.name}` says nothing {where}", "delete it from the comment")


def _code(known: dict[str, Rule], name: str) -> str:
    return known[name].code if name in known else name


def _line(finding: Finding) -> int | None:
    return finding.place.span.start.line if finding.place.span else None


def _offset(finding: Finding) -> int:
    return finding.place.span.start.offset if finding.place.span else 0


def _finding(document: Text, range: tuple[int, int], message: str, help: str) -> Finding:
    return _at(document.span(*range), message, help)


def _at(span: Span, message: str, help: str) -> Finding:
    return Finding(_UNUSED, message, Place((), span=span), help=help)
