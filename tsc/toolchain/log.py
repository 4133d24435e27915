"""Reads the log of NVRTC and of its assembler: typed messages, and what each kernel uses."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from tsc.toolchain.ptx import LineTable, SourceLine

_HEAD = re.compile(
    r"^(?:(?P<file>\S.*?)\((?P<line>\d+)\)|At end of source|nvrtc): "
    r"(?P<kind>catastrophic error|internal error|error|warning|remark|note)"
    r"(?: #(?P<code>\d+(?:-D)?))?: (?P<text>.*)$"
)
_COMMAND_LINE = re.compile(r"^Command-line error: (?P<text>.*)$")
_CARET = re.compile(r"^\s*\^[\^~]*\s*$")
_INSTANTIATED = re.compile(r'" at line (\d+)(?: of "?(.+?)"?)?$')
_NOISE = re.compile(
    r"^(\d+ (catastrophic )?errors? detected in|Compilation terminated|Remark: The warnings can be )"
)
_PTXAS = re.compile(
    r"^\s*ptxas\b(?: .*?, line (?P<line>\d+);)?\s*(?P<kind>info|warning|error|fatal|\.)\s*:?\s*(?P<text>.*)$"
)
_CODE = re.compile(r"^\((C\d+)\)\s*")
_ENTRY = re.compile(r"^Compiling entry function '(.+)' for '")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_AROUND = re.compile(r"\baround line (\d+)")
_STATISTICS = re.compile(r"Function properties for |Compile time |\d+ bytes gmem")
_ABORTED = "Ptx assembly aborted due to errors"


class LogSeverity(StrEnum):
    """How the compiler itself grades a message."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class LogMessage:
    """One message of the compiler or, with `tool` "ptxas", of the assembler."""

    severity: LogSeverity
    text: str
    file: str | None = None
    line: int | None = None
    code: str = ""
    """the tool's own number, such as `177-D` or `C7508`"""
    tool: str = "nvrtc"
    source: str = ""
    """the source line as the compiler shows it"""
    caret: int | None = None
    """the place in `source`, counted from zero"""
    details: tuple[str, ...] = ()
    notes: tuple[LogMessage, ...] = ()
    callers: tuple[SourceLine, ...] = ()
    """who instantiated or inlined the place, the nearest first"""
    ptx_line: int | None = None
    """the line of PTX the assembler speaks of"""


@dataclass(frozen=True, slots=True)
class Usage:
    """What one kernel uses, a thread (registers, spills, stack) or a CTA (shared memory, named barriers)."""

    registers: int = 0
    spill_stores: int = 0
    spill_loads: int = 0
    stack_bytes: int = 0
    smem_bytes: int = 0
    barriers: int = 0
    constant_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Log:
    """A whole log."""

    messages: tuple[LogMessage, ...]
    usage: Mapping[str, Usage]
    """by the kernel's symbol"""


def parse_log(text: str) -> Log:
    """Read a log; a line in no known form is kept as a message of grade `info`."""
    reader = _Reader()
    # The assembler ends its first part with a NUL when it complains after its statistics.
    for line in text.replace("\0", "").split("\n"):
        reader.read(line.rstrip("\r"))
    return Log(tuple(reader.messages), reader.usage)


def locate(log: Log, ptx: str, shown: Callable[[str], str] = str) -> Log:
    """Give the assembler's messages their place in the source, with the PTX that it read.

    The PTX is made with `-lineinfo`; `shown` turns its file names into the user's.
    """
    table = LineTable(ptx, shown)
    return dataclasses.replace(log, messages=tuple(_located(message, table) for message in log.messages))


def _located(message: LogMessage, table: LineTable) -> LogMessage:
    if message.ptx_line is None:
        return message
    places = table.places(message.ptx_line)
    return dataclasses.replace(
        message,
        file=places[0].file if places else None,
        line=places[0].line if places else None,
        callers=places[1:],
        source=table.text(message.ptx_line),
    )


class _Reader:
    def __init__(self) -> None:
        self.messages: list[LogMessage] = []
        self.usage: dict[str, Usage] = {}
        self._kernel = ""
        self._open = False
        self._in_note = False

    def read(self, line: str) -> None:
        if not line.strip():
            self._open = False
        elif assembler := _PTXAS.match(line):
            self._open = False
            self._assembler(assembler)
        elif self._open and line[0].isspace():
            self._amend(line)
        elif head := _HEAD.match(line) or _COMMAND_LINE.match(line):
            self._head(head.groupdict())
        elif not _NOISE.match(line):
            self._open = False
            self.messages.append(LogMessage(LogSeverity.INFO, line.strip()))

    def _head(self, parts: Mapping[str, str | None]) -> None:
        kind = parts.get("kind") or "error"
        severity = {"warning": LogSeverity.WARNING, "remark": LogSeverity.INFO, "note": LogSeverity.NOTE}.get(
            kind, LogSeverity.ERROR
        )
        line = parts.get("line")
        message = LogMessage(
            severity,
            parts["text"] or "",
            file=parts.get("file"),
            line=int(line) if line else None,
            code=parts.get("code") or "",
        )
        self._in_note = severity is LogSeverity.NOTE and self._open
        if self._in_note:
            owner = self.messages[-1]
            self.messages[-1] = dataclasses.replace(owner, notes=(*owner.notes, message))
        else:
            self.messages.append(message)
        self._open = True

    def _amend(self, line: str) -> None:
        """Add an indented line to the message above it: a source line, its caret, or more words."""
        owner = self.messages[-1]
        message = owner.notes[-1] if self._in_note else owner
        instantiated = _INSTANTIATED.search(line)
        if _CARET.match(line) and message.details:
            *details, source = message.details
            # The compiler indents what it shows by two columns.
            message = dataclasses.replace(
                message, details=tuple(details), source=source[2:], caret=max(0, line.index("^") - 2)
            )
        elif instantiated:
            file = instantiated[2] or (owner.callers[-1].file if owner.callers else owner.file) or ""
            caller = SourceLine(file, int(instantiated[1]))
            self.messages[-1] = dataclasses.replace(owner, callers=(*owner.callers, caller))
            return
        elif line.strip().startswith("detected during:"):
            return
        else:
            message = dataclasses.replace(message, details=(*message.details, line))
        if self._in_note:
            message = dataclasses.replace(owner, notes=(*owner.notes[:-1], message))
        self.messages[-1] = message

    def _assembler(self, parts: re.Match[str]) -> None:
        text = parts["text"].strip()
        if entry := _ENTRY.match(text):
            self._kernel = entry[1]
            self.usage[self._kernel] = Usage()
        elif frame := _FRAME.search(text):
            self._add_frame(*(int(amount) for amount in frame.groups()))
        elif text.startswith("Used ") and parts["kind"] == "info":
            self._add_used(text)
        elif text == _ABORTED and any(message.severity is LogSeverity.ERROR for message in self.messages):
            return
        elif parts["kind"] != "." and not _STATISTICS.match(text):
            self._assembler_message(parts, text)

    def _assembler_message(self, parts: re.Match[str], text: str) -> None:
        code = _CODE.match(text)
        grades = {"info": LogSeverity.INFO, "warning": LogSeverity.WARNING}
        severity = grades.get(parts["kind"], LogSeverity.ERROR)
        if code and severity is LogSeverity.INFO:
            # The assembler grades a lost optimisation as information; for a kernel it is a warning.
            severity = LogSeverity.WARNING
        around = _AROUND.search(text)
        line = parts["line"] or (around[1] if around else None)
        self.messages.append(
            LogMessage(
                severity,
                text[code.end() :] if code else text,
                code=code[1] if code else "",
                tool="ptxas",
                ptx_line=int(line) if line else None,
            )
        )

    def _add_frame(self, stack: int, stores: int, loads: int) -> None:
        # A function that is not inlined comes after its kernel, and its spills are the kernel's.
        known = self.usage.get(self._kernel)
        if known is not None:
            self.usage[self._kernel] = dataclasses.replace(
                known,
                stack_bytes=max(known.stack_bytes, stack),
                spill_stores=known.spill_stores + stores,
                spill_loads=known.spill_loads + loads,
            )

    def _add_used(self, text: str) -> None:
        known = self.usage.get(self._kernel)
        if known is None:
            return

        def amount(pattern: str) -> int:
            return sum(int(number) for number in re.findall(pattern, text))

        self.usage[self._kernel] = dataclasses.replace(
            known,
            registers=amount(r"(\d+) registers"),
            barriers=amount(r"(\d+) barriers"),
            smem_bytes=amount(r"(\d+) bytes smem"),
            stack_bytes=max(known.stack_bytes, amount(r"(\d+) bytes cumulative stack size")),
            constant_bytes=amount(r"(\d+) bytes cmem\[\d+\]"),
        )
