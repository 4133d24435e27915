"""Say in a sentence of ours what a YAML scanner stumbled over, where, and which edit mends it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import yaml

from tsc.diagnostics.model import Finding, Place
from tsc.source.limits import too_deep
from tsc.source.lines import Lines
from tsc.source.wording import shown

_KEY = re.compile(r"""\s*(?:-\s+)*("[^"]*"|'[^']*'|[^\s#'"\[\]{},][^#:]*?)\s*:(?=\s|$)""")
_ENTRY = re.compile(r"-(?=\s|$)")
_CODE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))")
_NO_SPACE = re.compile(r"\s*(?:-\s+)*[A-Za-z_]\w*(:)[^\s:]")
_LONGEST = 1000  # of a line that is searched for a cause
_CLOSING = {"[": "]", "{": "}"}
_IN_FLOW = (
    "quote the expression or name it in `let`: inside `[...]` and `{...}` "
    "YAML itself reads `,` `[` `]` `{` `}`"
)


@dataclass(frozen=True, slots=True)
class _Fault:
    """A scanner's complaint: what it was about (`context`, from `since`) and what it met at `at`."""

    lines: Lines
    context: str
    since: int
    problem: str
    at: int

    @property
    def character(self) -> str:
        return self.lines.text[self.at : self.at + 1]

    @property
    def opening(self) -> str:
        """The character that the complaint is about."""
        return self.lines.text[self.since : self.since + 1]

    @property
    def line(self) -> int:
        return self.lines.number(self.at)

    @property
    def before(self) -> str:
        """What stands before the place on its line."""
        return self.lines.text[self.lines.starts[self.line - 1] : self.at]

    @property
    def previous(self) -> str:
        """The nearest line above that holds more than a comment."""
        for number in range(self.line - 1, 0, -1):
            line = self.lines.line(number)
            if line.strip() and not line.lstrip().startswith("#"):
                return line
        return ""

    def finding(
        self,
        message: str,
        help: str,
        *,
        at: int | None = None,
        to: int = 0,
        related: str = "",
        rule: str = "bad-syntax",
    ) -> Finding:
        """Give the finding at `at` up to `to`, by default one character; `related` labels the opening."""
        start = self.at if at is None else at
        last = max(len(self.lines.text.rstrip(" \r\n")) - 1, 0)
        start = min(start, last)  # the end of the text is shown at its last character
        place = Place((), span=self.lines.span(start, max(start + 1, to)))
        also: tuple[Place, ...] = ()
        if related:
            also = (Place((), label=related, span=self.lines.span(self.since, self.since + 1)),)
        return Finding(rule, message, place, also, help)


def explain(error: yaml.YAMLError, lines: Lines) -> Finding:
    """Give the finding for an error of PyYAML's scanner or parser, in either of its two spellings."""
    mark = getattr(error, "problem_mark", None)
    context_mark = getattr(error, "context_mark", None)
    at = 0 if mark is None else mark.index
    since = at if context_mark is None else context_mark.index
    context = getattr(error, "context", None) or ""
    fault = _Fault(lines, context, since, getattr(error, "problem", None) or "", at)
    for words, sentence in _SENTENCES:
        if words in f"{fault.context}: {fault.problem}":
            return sentence(fault)
    return fault.finding(
        "the text from here on is not YAML", "compare it with the lines around it, or quote it"
    )


def bad_escape(lines: Lines) -> Finding:
    """Give the finding for the first escape of a text whose code is no character."""
    escapes = ((match, int(match[1] or match[2], 16)) for match in _CODE.finditer(lines.text))
    bad = next((match for match, code in escapes if code > 0x10FFFF or 0xD800 <= code < 0xE000), None)
    return _no_character(lines, bad.start() if bad else 0, bad[0] if bad else lines.text[:1])


def _no_character(lines: Lines, at: int, piece: str) -> Finding:
    message = f"the escape `{piece}` is no character"
    place = Place((), span=lines.span(at, at + len(piece)))
    return Finding(
        "bad-syntax", message, place, help="write a code up to `\\U0010ffff`, or use single quotes"
    )


def _no_token(fault: _Fault) -> Finding:
    if fault.character == "\t":
        return _tab(fault)
    piece = "a backtick" if fault.character == "`" else f"`{fault.character}`"
    return fault.finding(f"a value does not start with {piece}", "quote the value")


def _tab(fault: _Fault) -> Finding:
    text = fault.lines.text
    start = end = fault.at
    while text[start - 1 : start] == "\t":
        start -= 1
    while text[end : end + 1] == "\t":
        end += 1
    message = "a tab indents this line, YAML indents with spaces"
    if text[fault.lines.starts[fault.line - 1] : start].strip():
        message = "a tab stands where YAML has spaces"
    return fault.finding(message, "replace the tab by spaces", at=start, to=end)


def _value_not_allowed(fault: _Fault) -> Finding:
    before, name = fault.before, fault.before.strip()
    nowhere = fault.finding("a `:` stands where no key can be", "quote the text around the `:`")
    if max(len(before), len(fault.previous)) > _LONGEST:
        return nowhere
    if no_break := _no_break(fault):
        return no_break
    if glued := _NO_SPACE.match(before):
        return _no_space(fault, fault.at - len(before) + glued.start(1))
    if _KEY.match(before):
        help = "quote the value, or put the second key on a line of its own"
        return fault.finding("a second `:` stands in one value", help)
    above, previous = _KEY.match(fault.previous), fault.previous.strip()
    deeper = len(before) - len(before.lstrip()) > len(fault.previous) - len(fault.previous.lstrip())
    start = fault.at - len(before.lstrip())
    if above and deeper:
        message = f"the key `{shown(name)}` is indented under `{shown(above[1])}`, which has a value already"
        help = f"align it with `{shown(above[1])}`, or take the value of `{shown(above[1])}` away"
        return fault.finding(message, help, at=start, to=fault.at)
    if not above and (glued := _NO_SPACE.match(fault.previous)):
        line = next(n for n in range(fault.line - 1, 0, -1) if fault.lines.line(n) == fault.previous)
        colon = glued.start(1)
        key, value = fault.previous[:colon].strip().removeprefix("- "), fault.previous[colon + 1 :].strip()
        at = fault.lines.starts[line - 1] + colon
        return fault.finding("a space is missing after the `:`", f"write `{key}: {value}`", at=at)
    if not above and previous and name:
        message = f"the line above the key `{shown(name)}` is no `key: value`"
        help = f"write `{previous}: ...`" if len(previous) < 40 else "give it a key, or delete it"
        return fault.finding(message, help, at=start, to=fault.at)
    return nowhere


def _no_break(fault: _Fault) -> Finding | None:
    """Find a no-break space behind a `:`, on the line of the fault or the one above."""
    since = fault.lines.text.rfind(fault.previous, 0, fault.at) if fault.previous else fault.at
    at = fault.lines.text.find(":\xa0", since, fault.at)
    if at < 0:
        return None
    message = "a no-break space (U+00A0) stands behind the `:`, where YAML has a space"
    return fault.finding(message, "replace it by a space", at=at + 1)


def _no_space(fault: _Fault, at: int | None = None) -> Finding:
    return fault.finding("a space is missing after the `:`", "write `key: value`", at=at)


def _entry_not_allowed(fault: _Fault) -> Finding:
    help = "put it on the next line, or write it as `[...]`"
    return fault.finding("a list does not start on the line of its key", help)


def _key_not_allowed(fault: _Fault) -> Finding:
    return fault.finding("a `?` stands where no key can be", "quote the value")


def _flow(fault: _Fault) -> Finding:
    text, opening, character = fault.lines.text, fault.opening, fault.character
    closing = _CLOSING.get(opening, "]")
    later = fault.lines.number(fault.since) != fault.line
    if not character or (later and character in ":-") or text.startswith(("---", "..."), fault.at):
        return fault.finding(f"the `{opening}` is not closed", f"close it with `{closing}`", at=fault.since)
    if character in "]}":
        message = f"`{character}` stands where `{closing}` closes the `{opening}`"
        return fault.finding(message, f"write `{closing}`", related="opened here")
    if character in "[{" and text[fault.at - 1 : fault.at].strip(" \t\r\n,[{:"):
        message = f"`{character}` stands inside an entry of `{opening}...{closing}`"
        return fault.finding(message, _IN_FLOW)
    if character == ":":
        message = f"an entry of `{opening}...{closing}` has a second `:`"
        return fault.finding(message, "quote the value, or separate the entries with `,`")
    return fault.finding(f"a `,` is missing before `{character}`", "separate the entries with `,`")


def _block_mapping(fault: _Fault) -> Finding:
    before = fault.before.rstrip()
    if fault.character == ":" and not before.strip("- "):
        return _no_key(fault)
    if before and before[-1] in "\"']}":
        message = f"text follows the closing `{before[-1]}` of a value"
        return fault.finding(message, "quote the whole value, or delete what follows")
    if before.strip():
        return fault.finding("the value has ended before this", "quote the whole value")
    if _ENTRY.match(fault.lines.text, fault.at):
        message = "a list entry stands among the keys of a mapping"
        help = "indent it under the key that it belongs to"
        return fault.finding(message, help, related="the mapping starts here")
    return _indentation(fault)


def _no_key(fault: _Fault) -> Finding:
    return fault.finding("a key is missing before the `:`", "write the key, or delete the `:`")


def _block_sequence(fault: _Fault) -> Finding:
    if fault.before.strip():
        return _block_mapping(fault)
    if _ENTRY.match(fault.lines.text, fault.at):
        return _indentation(fault)
    message = "a key stands among the entries of a list"
    help = "start it with `- `, or indent it under the entry above"
    return fault.finding(message, help, related="the list starts here")


def _indentation(fault: _Fault) -> Finding:
    width = len(fault.before)
    spaces = "1 space" if width == 1 else f"{width} spaces"
    message = f"the indentation of {spaces} fits no line above"
    return fault.finding(message, "align it with the line that it belongs beside")


def _unclosed_quote(fault: _Fault) -> Finding:
    quote = fault.opening
    return fault.finding(f"the `{quote}` is not closed", f"close it with `{quote}`", at=fault.since)


def _escape(fault: _Fault) -> Finding:
    start = max(fault.lines.text.rfind("\\", 0, fault.at + 1), 0)
    piece = fault.lines.text[start : start + 2]
    help = f"write `\\{piece}`, or use single quotes"
    return fault.finding(f"`{piece}` is no escape of a double-quoted value", help, at=start, to=start + 2)


def _escape_digits(fault: _Fault) -> Finding:
    start = max(fault.lines.text.rfind("\\", 0, fault.at + 1), 0)
    if code := _CODE.match(fault.lines.text, start):
        return _no_character(fault.lines, start, code[0])
    piece = fault.lines.text[start : start + 2]
    digits = {"x": 2, "u": 4}.get(piece[1:], 8)
    message = f"the escape `{piece}` is not followed by {digits} hexadecimal digits"
    return fault.finding(message, f"write {digits} digits, or use single quotes", at=start, to=start + 2)


def _alias(fault: _Fault) -> Finding:
    meaning = "an alias" if fault.opening == "*" else "an anchor"
    message = f"`{fault.opening}` starts {meaning}, and no name follows it"
    return fault.finding(message, "quote the expression", at=fault.since)


def _no_content(fault: _Fault) -> Finding:
    character = fault.character
    if character in ("]", "}"):
        help = f"delete it, or quote the value that `{character}` is in"
        return fault.finding(f"`{character}` closes nothing", help)
    if character == ":":
        return _no_key(fault)
    if character == ",":
        return fault.finding("a value is missing before the `,`", "write the value, or delete the `,`")
    return fault.finding("a value is missing here", "write the value")


def _block_header(fault: _Fault) -> Finding:
    message = f"`{fault.opening}` starts a block of text, and more than that stands on its line"
    help = "quote the expression, or put the text on the next line"
    return fault.finding(message, help, at=fault.since)


def _no_colon(fault: _Fault) -> Finding:
    line = fault.lines.number(fault.since)
    end = fault.lines.starts[line - 1] + len(fault.lines.line(line))
    piece = fault.lines.text[fault.since : end].split(" #")[0].rstrip()
    message, help = f"`{piece}` has no `:` after it", f"write `{piece}: ...`"
    if len(piece) >= 40:
        message, help = "this key has no `:` after it", "write `key: value`"
    return fault.finding(message, help, at=fault.since, to=fault.since + len(piece))


def _document_start(fault: _Fault) -> Finding:
    if not fault.before.strip() and not fault.previous.startswith("..."):
        return _indentation(fault)
    help = "delete it, or indent it as part of a value"
    return fault.finding("text follows the end of the document", help)


def _document_indicator(fault: _Fault) -> Finding:
    message = "a document mark stands inside a quoted value"
    help = "close the quote before it"
    return fault.finding(message, help, to=fault.at + 3, related="the quote opens here")


def _tag(fault: _Fault) -> Finding:
    message = "`!` starts a tag, which the language does not have"
    help = "quote the value; in expressions write `not`"
    return fault.finding(message, help, at=fault.since, rule="unsupported-yaml")


def _directive(fault: _Fault) -> Finding:
    message = "a line that starts with `%` is a directive, which a spec does not have"
    return fault.finding(message, "delete the line", at=fault.since, rule="unsupported-yaml")


def _nesting(fault: _Fault) -> Finding:
    return too_deep(fault.lines.span(fault.at, fault.at + 1))


# The first entry whose words are in "context: problem" of the error speaks.
_SENTENCES: tuple[tuple[str, Callable[[_Fault], Finding]], ...] = (
    ("nesting depth", _nesting),
    ("violates indentation", _tab),
    ("found a tab character", _tab),
    ("cannot start any token", _no_token),
    ("mapping values are not allowed", _value_not_allowed),
    ("sequence entries are not allowed", _entry_not_allowed),
    ("mapping keys are not allowed", _key_not_allowed),
    ("found unexpected ':'", _no_space),
    ("a flow sequence", _flow),
    ("a flow mapping", _flow),
    ("a block mapping", _block_mapping),
    ("a block collection", _block_sequence),
    ("unknown escape character", _escape),
    ("hexdecimal", _escape_digits),
    ("hexadecimal", _escape_digits),
    ("invalid Unicode character escape", _escape_digits),
    ("found unexpected end of stream", _unclosed_quote),
    ("found unexpected document", _document_indicator),
    ("an alias", _alias),
    ("an anchor", _alias),
    ("a tag", _tag),
    ("tag handle", _tag),
    ("directive", _directive),
    ("a block scalar", _block_header),
    ("node content", _no_content),
    ("a simple key", _no_colon),
    ("document start", _document_start),
)
