"""PyYAML's event stream, the same from its C parser and, where that is missing, from the pure one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, cast

import yaml

HAS_C = bool(yaml.__with_libyaml__)

_BREAKS = "\r\n\x85\u2028\u2029"


class _PureLoader(yaml.SafeLoader):
    """The pure loader, with tabs between tokens allowed as YAML and the C parser allow them."""

    def scan_to_next_token(self) -> None:
        """Skip blanks, comments and line breaks; a tab may not stand where it would indent."""
        while True:
            while self.peek() == " " or (
                self.peek() == "\t" and (self.flow_level or not self.allow_simple_key)
            ):
                self.forward()
            if self.peek() == "#":
                while self.peek() not in _BREAKS + "\0":
                    self.forward()
            if not cast(str, self.scan_line_break()):  # type: ignore[no-untyped-call]  # the stub has no types
                return
            if not self.flow_level:
                self.allow_simple_key = True

    def scan_plain_spaces(self, indent: int, start_mark: yaml.Mark) -> Any:
        """Read the blanks inside a plain scalar, tabs among them; a list of strings, or None."""
        length = 0
        while self.peek(length) in " \t":
            length += 1
        if self.peek(length) in _BREAKS:
            self.forward(length)
            return super().scan_plain_spaces(indent, start_mark)
        blanks = self.prefix(length)
        self.forward(length)
        return [blanks] if blanks else []


class Event(NamedTuple):
    """One event: `start` and `end` are offsets in code points, a value's own properties included."""

    kind: Literal["document", "scalar", "alias", "mapping", "sequence", "end"]
    start: int
    end: int
    anchor: str | None = None
    tag: str | None = None
    value: str = ""
    style: str | None = None
    flow: bool = False


def events(text: str, *, pure: bool = not HAS_C) -> Iterator[Event]:
    """Yield the events of `text` that matter.

    Raises yaml.YAMLError, and ValueError for an escape that is no character.
    """
    for event in yaml.parse(text, Loader=_PureLoader if pure else yaml.CSafeLoader):
        first, last = event.start_mark, event.end_mark
        start, end = first.index if first else 0, last.index if last else 0
        match event:
            case yaml.ScalarEvent():
                if pure:
                    event.value.encode()  # raises for a lone surrogate, which the C parser refuses
                yield Event("scalar", start, end, event.anchor, event.tag, event.value, event.style)
            case yaml.AliasEvent():
                yield Event("alias", start, end, event.anchor)
            case yaml.MappingStartEvent():
                yield Event("mapping", start, end, event.anchor, event.tag, flow=bool(event.flow_style))
            case yaml.SequenceStartEvent():
                yield Event("sequence", start, end, event.anchor, event.tag, flow=bool(event.flow_style))
            case yaml.CollectionEndEvent():
                yield Event("end", start, end)
            case yaml.DocumentStartEvent():
                yield Event("document", start, end)
