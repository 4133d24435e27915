"""Read YAML 1.2: PyYAML scans, and what its events mean is decided here.

The events are composed with an explicit stack, so that neither a deep nest nor an alias bomb costs more
than the limits allow.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from difflib import get_close_matches

import yaml

from tsc.diagnostics.model import Finding, Place
from tsc.source import limits
from tsc.source.core_schema import NumberTooLarge, resolve
from tsc.source.lines import Lines
from tsc.source.route import Route
from tsc.source.tree import Node, Outline, Range, Style
from tsc.source.wording import shown
from tsc.source.yaml_errors import bad_escape, explain
from tsc.source.yaml_events import HAS_C, Event, events

_STYLES: dict[str | None, Style] = {"'": "single", '"': "double", "|": "literal", ">": "folded"}
_PROPERTY = re.compile(r"&[A-Za-z0-9_-]+|!(?:<[^>\s]*>|[^\s,\[\]{}]*)")
_FILLER = re.compile(r"(?:[ \t\r\n]++|(?<=[ \t\r\n])#[^\r\n]*+)*+")
_GLUED = re.compile(r"""[A-Za-z_]\w*:(?=[\w\[{"'(-])""")
_DIRECTIVE = re.compile(r"(?:[ \t]*+(?:#[^\r\n]*+)?(?:\r\n?|\n))*+(%[^\r\n]*)")
_KNOWN_DIRECTIVE = re.compile(r"%YAML[ \t]+1\.2[ \t]*(?:#.*)?")
_COMMENT = re.compile(r"(?:^|(?<=[ \t\r\n]))#[^\r\n]*")
_MOST_SEARCHED = 1000  # anchors among which a similar name is looked for
_KINDS = {bool: "a boolean", int: "an integer", float: "a number", type(None): "null"}


class _Refused(Exception):
    """A spec beyond a limit, or beyond all help: reading ends here."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


@dataclass(slots=True)
class _Frame:
    """A mapping or sequence whose end has not come yet."""

    node: Node
    data: dict[str, object] | list[object]
    anchor: str | None
    flow: bool
    values_before: int
    is_key: bool = False
    levels: int = 0  # of the deepest value inside
    key: str | None = None
    key_range: Range = (0, 0)
    expects_key: bool = True
    keeps: bool = True  # whether the value of the current key goes into the document


@dataclass(frozen=True, slots=True)
class _Anchor:
    node: Node
    data: object
    values: int
    levels: int


@dataclass(slots=True)
class _Composer:
    lines: Lines
    findings: list[Finding] = field(default_factory=list)
    stack: list[_Frame] = field(default_factory=list)
    anchors: dict[str, _Anchor | None] = field(default_factory=dict)  # None: its value is still open
    opaque: list[Range] = field(default_factory=list)
    root: Node | None = None
    data: object = None
    values: int = 0
    whole: bool = True

    def run(self, pure: bool) -> None:
        documents = 0
        for event in events(self.lines.text, pure=pure):
            match event.kind:
                case "scalar":
                    self.scalar(event)
                case "mapping" | "sequence":
                    self.open(event)
                case "end":
                    self.close(event)
                case "alias":
                    self.alias(event)
                case "document":
                    documents += 1
                    if documents == 2:
                        self.second_document(event)
                        return

    def second_document(self, event: Event) -> None:
        start = event.start
        self.report(
            "unsupported-yaml",
            "a second document starts here, a spec is one document",
            start,
            start + 3,
            "keep one spec a file, and delete the `---` between them",
        )

    def scalar(self, event: Event) -> None:
        style: Style = _STYLES.get(event.style, "plain")
        start, end = self.after_properties(event), event.end
        if style in ("literal", "folded"):
            end = self.end_of_block(start, end)
            header = self.lines.text.find("\n", start, end)
            self.opaque.append((end if header < 0 else header, end))
        elif style != "plain":
            self.opaque.append((start, end))
        node = Node(start, end, style)
        self.count(1 + len(event.value) // limits.TEXT_PER_VALUE, node)
        value: object = event.value
        if style == "plain":
            try:
                value = resolve(event.value)
            except NumberTooLarge:
                span = self.lines.span(start, end)
                self.add(limits.too_many_digits(event.value, span, self.route()))
                self.whole = False
        if event.anchor:
            weight = 1 + len(event.value) // limits.TEXT_PER_VALUE
            self.anchors[event.anchor] = _Anchor(node, value, weight, 0)
        if self.awaits_key():
            self.key(node, event.value, value)
        else:
            self.put(node, value, 0)

    def alias(self, event: Event) -> None:
        start, end = event.start, event.end
        name = event.anchor or ""
        anchor = self.anchors.get(name)
        node = Node(start, end, "alias")
        if anchor is None:
            self.bad_alias(name, start, end)
            anchor = _Anchor(node, None, 1, 0)
        else:
            node.target, node.children = anchor.node, anchor.node.children
            self.count(anchor.values, node)
            if len(self.stack) + anchor.levels > limits.MAX_LEVELS:
                raise _Refused(limits.too_deep(self.lines.span(start, end), self.route()))
        if not self.awaits_key():
            self.put(node, _copy(anchor.data), anchor.levels)
        elif anchor.node is node:
            self.drop_key()
        elif isinstance(anchor.data, str):
            self.key(node, anchor.data, anchor.data)
        else:
            self.complex_key(node)

    def bad_alias(self, name: str, start: int, end: int) -> None:
        self.whole = False
        if name in self.anchors:
            message = f"the alias `*{shown(name)}` stands inside the value that it names"
            self.report("unsupported-yaml", message, start, end, "write the value out")
            return
        near = get_close_matches(name, self.anchors, n=1) if len(self.anchors) < _MOST_SEARCHED else []
        help = (
            f"write `*{near[0]}`" if near else f"set the anchor `&{shown(name)}` before it, or quote the text"
        )
        self.report("bad-syntax", f"the alias `*{shown(name)}` names no anchor above it", start, end, help)

    def open(self, event: Event) -> None:
        mapping = event.kind == "mapping"
        start = self.after_properties(event)
        node = Node(start, event.end, "mapping" if mapping else "sequence", children={})
        if len(self.stack) >= limits.MAX_LEVELS:
            raise _Refused(limits.too_deep(self.lines.span(start, start + 1), self.route()))
        frame = _Frame(node, {} if mapping else [], event.anchor, event.flow, self.values)
        frame.is_key = self.awaits_key()
        self.count(1, node)
        self.stack.append(frame)
        if event.anchor:
            self.anchors[event.anchor] = None

    def close(self, event: Event) -> None:
        frame = self.stack.pop()
        if frame.flow:
            frame.node.end = event.end
        if frame.anchor:
            values = self.values - frame.values_before
            self.anchors[frame.anchor] = _Anchor(frame.node, frame.data, values, frame.levels + 1)
        if frame.is_key:
            self.complex_key(frame.node)
        else:
            self.put(frame.node, frame.data, frame.levels + 1)

    def key(self, node: Node, text: str, value: object) -> None:
        frame = self.stack[-1]
        frame.expects_key = False
        frame.key, frame.key_range, frame.keeps = text, (node.start, node.end), True
        frame.node.end = max(frame.node.end, node.end)
        plain = node.style == "plain"
        if plain and text == "<<":
            help = "write the keys out, or let an alias stand for the whole mapping"
            self.report(
                "unsupported-yaml", "the merge key `<<` is not part of YAML 1.2", node.start, node.end, help
            )
            frame.keeps = False
        elif plain and (glued := _GLUED.match(text)):
            at = node.start + glued.end() - 1
            self.report("bad-syntax", "a space is missing after the `:`", at, at + 1, "write `key: value`")
            frame.keeps = False
        elif plain and text == "":
            self.report(
                "unsupported-yaml",
                "a key is missing before the `:`",
                node.start,
                node.end + 1,
                "write the key, or delete the `:`",
            )
            frame.keeps = False
        elif not isinstance(value, str):
            message = f"the key `{shown(text)}` is {_KINDS[type(value)]}, keys are strings"
            self.report("unsupported-yaml", message, node.start, node.end, f'quote it: `"{shown(text)}"`')
        if frame.keeps and frame.node.children and text in frame.node.children:
            first = frame.node.children[text].key or (node.start, node.end)
            related = Place(self.route(), "key", label="first set here", span=self.lines.span(*first))
            place = Place(self.route(), "key", span=self.lines.span(node.start, node.end))
            message = f"the key `{shown(text)}` is set twice in one mapping"
            self.add(Finding("duplicate-key", message, place, (related,), "delete one of the two"))
            frame.keeps = False

    def drop_key(self) -> None:
        """Leave the value that comes next out."""
        frame = self.stack[-1]
        frame.key, frame.expects_key, frame.keeps = None, False, False

    def complex_key(self, node: Node) -> None:
        self.drop_key()
        self.report(
            "unsupported-yaml",
            "a list or mapping is used as a key, keys are strings",
            node.start,
            node.end,
            "write a name; an expression that starts with `[` or `{` is quoted",
        )

    def put(self, node: Node, value: object, levels: int) -> None:
        if not self.stack:
            self.root, self.data = node, value
            return
        frame = self.stack[-1]
        children = frame.node.children
        frame.levels = max(frame.levels, levels)
        frame.node.end = max(frame.node.end, node.end)
        if isinstance(frame.data, list):
            if children is not None:
                children[len(frame.data)] = node
            frame.data.append(value)
            return
        if frame.keeps and frame.key is not None and children is not None:
            node.key = frame.key_range
            children[frame.key] = node
            frame.data[frame.key] = value
        frame.key, frame.expects_key = None, True

    def awaits_key(self) -> bool:
        return bool(self.stack) and isinstance(self.stack[-1].data, dict) and self.stack[-1].expects_key

    def count(self, values: int, node: Node) -> None:
        if self.values + values > limits.MAX_VALUES:
            span = self.lines.span(node.start, node.end)
            if node.style == "alias":
                message = (
                    f"the aliases up to here stand for more than {limits.MAX_VALUES:,} values, "
                    "the most a spec may have"
                )
                raise _Refused(
                    limits.too_large(message, span, self.route(), "write fewer aliases of aliases")
                )
            raise _Refused(limits.too_many_values(span, self.route()))
        self.values += values

    def after_properties(self, event: Event) -> int:
        """Give where the value itself starts, after its anchor and its tag; a tag is reported."""
        start, text = event.start, self.lines.text
        if event.anchor is None and event.tag is None:
            return start
        while match := _PROPERTY.match(text, start):
            if match[0].startswith("!"):
                message = f"the tag `{shown(match[0])}` is not part of the language"
                help = "quote the value" if match[0] == "!!str" else "delete the tag"
                help = help if match[0].startswith("!!") else "quote the value; in expressions write `not`"
                self.report("unsupported-yaml", message, match.start(), match.end(), help)
            filler = _FILLER.match(text, match.end())
            start = filler.end() if filler else match.end()
        if event.kind == "scalar":
            return min(start, event.end)
        return start

    def end_of_block(self, start: int, end: int) -> int:
        """Give the end of the last line of a block scalar that holds more than blanks."""
        content = self.lines.text[start:end].rstrip()
        rest = re.compile(r"[ \t]*").match(self.lines.text, start + len(content), end)
        return rest.end() if rest else end

    def route(self) -> Route:
        steps: list[str | int] = []
        for frame in self.stack:
            if isinstance(frame.data, list):
                steps.append(len(frame.data))
            elif frame.key is not None:
                steps.append(frame.key)
        return tuple(steps)

    def report(self, rule: str, message: str, start: int, end: int, help: str = "") -> None:
        place = Place(self.route(), span=self.lines.span(start, end))
        self.add(Finding(rule, message, place, help=help))

    def add(self, finding: Finding) -> None:
        if len(self.findings) + 1 >= limits.MAX_FINDINGS:
            raise _Refused(finding)
        self.findings.append(finding)

    def all_comments(self) -> tuple[Range, ...]:
        text, found, at = self.lines.text, [], 0
        if "#" not in text:
            return ()
        opaque = iter(sorted(self.opaque))
        hidden = next(opaque, None)
        while match := _COMMENT.search(text, at):
            while hidden is not None and hidden[1] <= match.start():
                hidden = next(opaque, None)
            if hidden is not None and hidden[0] <= match.start():
                at = hidden[1]
            else:
                found.append((match.start(), match.end()))
                at = match.end()
        return tuple(found)


def compose(lines: Lines, *, pure: bool = not HAS_C) -> Outline:
    """Read the YAML text of `lines`: data, places, comments and every finding up to a syntax error."""
    composer = _Composer(lines)
    directive = _DIRECTIVE.match(lines.text)
    if directive and not _KNOWN_DIRECTIVE.fullmatch(directive[1]):
        start, end = directive.span(1)
        composer.report(
            "unsupported-yaml",
            f"the directive `{shown(directive[1])}` is not supported",
            start,
            end,
            "delete the line; a spec is YAML 1.2 without being told",
        )
        return Outline(findings=tuple(composer.findings))
    try:
        composer.run(pure)
    except _Refused as refused:
        return Outline(findings=(*composer.findings, refused.finding))
    except (ValueError, OverflowError):  # the pure scanner makes characters without a look at their code
        return Outline(findings=(*composer.findings, bad_escape(lines)))
    except yaml.YAMLError as error:
        return Outline(findings=(*composer.findings, explain(error, lines)))
    root = composer.root if composer.whole else None
    return Outline(composer.data, root, composer.all_comments(), tuple(composer.findings))


def _copy(value: object) -> object:
    if isinstance(value, dict):
        return {key: _copy(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_copy(inner) for inner in value]
    return value
