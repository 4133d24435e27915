"""From the compiler's messages to diagnostics at the spec's own lines, and to reports of faults elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from tsc.diagnostics.model import Diagnostic, Label, Rule
from tsc.rules.compiler import (
    compiler_warning,
    cuda_does_not_compile,
    local_memory,
    register_spill,
    registers_run_out,
    serialised_wgmma,
    setmaxnreg_ignored,
)
from tsc.source.span import Position, Span
from tsc.toolchain.log import LogMessage, LogSeverity, Usage
from tsc.toolchain.names import SOURCE_NAME

DOES_NOT_COMPILE: Final = cuda_does_not_compile.RULE
COMPILER_WARNING: Final = compiler_warning.RULE
REGISTER_SPILL: Final = register_spill.RULE
LOCAL_MEMORY: Final = local_memory.RULE
SETMAXNREG_IGNORED: Final = setmaxnreg_ignored.RULE
SERIALISED_WGMMA: Final = serialised_wgmma.RULE
REGISTERS_RUN_OUT: Final = registers_run_out.RULE
RULES: Final = (
    DOES_NOT_COMPILE,
    COMPILER_WARNING,
    REGISTER_SPILL,
    LOCAL_MEMORY,
    SETMAXNREG_IGNORED,
    SERIALISED_WGMMA,
    REGISTERS_RUN_OUT,
)

_BREAK = re.compile(r"\r\n|\r|\n")
_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r"\"([^\"]+)\"|'([^']+)'")
_HEX = re.compile(r"\b0x([0-9a-f]+)\b")
_SPILLED = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
_ASSERTION = re.compile(r'static assertion failed with "(.*)"$', re.S)
_SCARCE = re.compile(r"Insufficient registers \((\d+)\) to compile .* register target of (\d+)")
_STACK = re.compile(r"size of stack frame: (\d+) bytes")
_HELPS: Final[Mapping[str, str]] = {
    "without execution space annotations": "write `__device__` before the function",
    "without memory space annotations": "write `__device__` or `__constant__` before the variable",
    "cannot open source file": "no CUDA toolkit is used, so only the headers that tsc carries exist",
    "At end of source": "look for an opening bracket without its closing one",
}


@dataclass(frozen=True, slots=True)
class SpecText:
    """The spec that a kernel comes from; `anchor` is the place for what concerns the kernel as a whole."""

    name: str
    text: str
    anchor: Span | None = None


def to_diagnostics(
    messages: Iterable[LogMessage], spec_text: str, spec_name: str, *, anchor: Span | None = None,
    usage: Usage | None = None,
) -> list[Diagnostic]:  # fmt: skip
    """The messages that a user can act on, each once, in the order of the spec's lines.

    A message belongs to the spec if its own place or a place that inlined or instantiated it does. What the
    assembler says without a place, and an error at the very end of the source, goes to `anchor`.
    """
    lines = _Lines(spec_text)
    whole = anchor or lines.span(1, "", None)
    known = list(messages)
    spilled = any(_SPILLED.search(message.text) for message in known)
    asserted = {_line_in(message, spec_name) for message in known if _ASSERTION.match(message.text)}
    found: dict[tuple[str, str, Span], Diagnostic] = {}
    for message in known:
        line = _line_in(message, spec_name)
        if message.severity not in (LogSeverity.ERROR, LogSeverity.WARNING):
            continue
        if line is None and not _concerns_whole(message):
            continue
        if (
            line is not None
            and line in asserted
            and message.file != spec_name
            and not _ASSERTION.match(message.text)
        ):
            continue  # what a view is asked wrongly fails further in, too
        rule, text, help_ = _judge(message, spec_name, usage)
        if rule is LOCAL_MEMORY and spilled:
            continue
        shown = message.source if message.file == spec_name and message.tool == "nvrtc" else ""
        span = whole if line is None else lines.span(line, shown, message.caret)
        found.setdefault(
            (rule.code, text, span),
            Diagnostic(
                code=rule.code,
                name=rule.name,
                severity=rule.severity,
                message=text,
                file=spec_name,
                span=span,
                label="",
                related=_related(message, spec_name, lines),
                help=help_,
                route=(),
            ),
        )
    return sorted(found.values(), key=lambda one: one.span.start)


def internal_errors(messages: Iterable[LogMessage], spec_name: str) -> tuple[str, ...]:
    """The errors in generated code, each with its place and the line as the compiler shows it."""
    shown = []
    for message in messages:
        if message.severity is not LogSeverity.ERROR or _concerns_whole(message):
            continue
        if _line_in(message, spec_name) is not None:
            continue
        place = f"{message.file}({message.line}): " if message.file else ""
        notes = [*message.details, *(note.text for note in message.notes)]
        lines = [f"{place}{message.text}", *(f"  {note.strip()}" for note in notes)]
        if message.source:
            lines.append(f"    {message.source}")
            if message.caret is not None:
                # A tab before the caret keeps its width.
                lines.append("    " + re.sub(r"[^\t]", " ", message.source[: message.caret]) + "^")
        shown.append("\n".join(lines))
    return tuple(dict.fromkeys(shown))


def _line_in(message: LogMessage, spec_name: str) -> int | None:
    """The line of the spec that a message belongs to, None if it belongs to other text."""
    if message.file == spec_name:
        return message.line
    for caller in message.callers:
        if caller.file == spec_name:
            return caller.line
    if message.file is None:
        return next((note.line for note in message.notes if note.file == spec_name), None)
    return None


def _concerns_whole(message: LogMessage) -> bool:
    """Whether a message without a place in the spec is about the kernel and not about generated code."""
    if message.tool == "ptxas":
        return message.severity is LogSeverity.WARNING or message.ptx_line is None
    return message.severity is LogSeverity.ERROR and message.file is None


def _judge(message: LogMessage, spec_name: str, usage: Usage | None) -> tuple[Rule, str, str]:
    """The rule that a message falls under, its wording and the help."""
    text = message.text
    if spilled := _SPILLED.search(text):
        at = f" at {usage.registers} registers" if usage and usage.registers else ""
        return (
            REGISTER_SPILL,
            f"each thread spills registers to local memory{at}: {int(spilled[1]):,} B of stores and "
            f"{int(spilled[2]):,} B of loads",
            "give the task more `registers`, or hold fewer values at a time",
        )
    if stack := _STACK.search(text):
        return (
            LOCAL_MEMORY,
            f"each thread keeps {int(stack[1]):,} B in local memory",
            "index arrays of a snippet by constants only, with their loops unrolled; `printf` needs some too",
        )
    if "setmaxnreg" in text and "ignored" in text:
        return (
            SETMAXNREG_IGNORED,
            f"the tasks' `registers` have no effect: {_worded(text)}",
            "write larger `registers` for the task with the largest fragments"
            if "minimum register" in text
            else "keep functions of snippets inlined: every call must be known when the kernel is compiled",
        )
    if "wgmma" in text and ("serialized" in text or "injected" in text):
        return (
            SERIALISED_WGMMA,
            f"the tensor cores wait more often than the schedule says: {_worded(text)}",
            _serialised(text),
        )
    if scarce := _SCARCE.search(text):
        return (
            REGISTERS_RUN_OUT,
            f"an instruction needs {int(scarce[2])} registers a thread at the start, and there are "
            f"{int(scarce[1])}",
            "give a warpgroup fewer columns of an accumulator, or the CTA fewer threads",
        )
    if "register allocation failed" in text.lower():  # with a count of its own, whatever `registers` says
        return (
            REGISTERS_RUN_OUT,
            "an instruction needs more registers at a time than a thread of its task has",
            "give the task more `registers`, or move fewer columns of a fragment at a time",
        )
    rule = DOES_NOT_COMPILE if message.severity is LogSeverity.ERROR else COMPILER_WARNING
    asserted = _ASSERTION.match(text)
    if asserted and message.file == SOURCE_NAME:
        # A sentence of the views, in which the compiler shows each backtick as a question mark.
        return rule, re.sub(r"\?(\w+)\?", r"`\1`", asserted[1]), ""
    text = _worded(text)
    if message.tool == "ptxas":
        return rule, f"{text} in the instruction `{message.source}`" if message.source else text, ""
    if message.severity is LogSeverity.ERROR and message.file is None:
        return rule, f"{text} at the end of the generated source", _HELPS["At end of source"]
    if message.file != spec_name:
        text = f"{text} in `{message.file}`, line {message.line}"
    details = [detail.strip() for detail in message.details]
    help_ = next((one for part, one in _HELPS.items() if part in message.text), "; ".join(details))
    return rule, text, help_


def _serialised(text: str) -> str:
    """The edit, by the reason that the assembler gives."""
    if "register resources" in text:
        return "give the task more `registers`, or a warpgroup less of the tile"
    return "touch an accumulator only after the wait that completes it, and unroll loops over a fragment"


def _worded(text: str) -> str:
    """A tool's sentence in this project's form: backticks, decimal sizes, no capital and no full stop."""
    text = re.sub(r"^Potential Performance Loss: |\bin around line \d+ ", "", text)
    text = re.sub(r"\s*Consider using .*$", "", text)
    text = _QUOTED.sub(lambda match: f"`{match[1] or match[2]}`", text)
    text = _HEX.sub(lambda match: f"{int(match[1], 16):,}", text)
    if re.match(r"[A-Z][a-z]*\b", text):
        text = text[0].lower() + text[1:]
    return text.rstrip(". ")


def _related(message: LogMessage, spec_name: str, lines: _Lines) -> tuple[Label, ...]:
    return tuple(
        Label(lines.span(note.line, note.source, note.caret), _worded(note.text))
        for note in message.notes
        if note.file == spec_name and note.line is not None and message.file is not None
    )


class _Lines:
    """The spec's text by lines, to find what the compiler points at."""

    def __init__(self, text: str) -> None:
        self._text = text
        starts = [0, *(match.end() for match in _BREAK.finditer(text))]
        ends = [*(match.start() for match in _BREAK.finditer(text)), len(text)]
        self._bounds = list(zip(starts, ends, strict=True))

    def span(self, line: int, source: str, caret: int | None) -> Span:
        """The token under the caret if the spec's line has it, else all of the line's text."""
        number = min(max(line, 1), len(self._bounds))
        start, end = self._bounds[number - 1]
        text = self._text[start:end]
        indent = len(text) - len(text.lstrip())
        first, last = _token(text, source, caret) or (indent, max(len(text.rstrip()), indent))
        return Span(Position(number, first + 1, start + first), Position(number, last + 1, start + last))


def _token(text: str, source: str, caret: int | None) -> tuple[int, int] | None:
    """The columns in a line of the spec of what the caret points at in the line that the compiler shows."""
    if caret is None or caret >= len(source):
        return None
    word = _WORD.match(source, caret)
    width = len(word[0]) if word else 1
    shown = source.strip()
    at = text.find(shown)
    if at >= 0:
        first = at + max(0, caret - (len(source) - len(source.lstrip())))
        return first, first + width
    # The generator may have put the snippet into other words: a name that occurs once is still the one.
    found = [match.start() for match in re.finditer(rf"\b{re.escape(word[0])}\b", text)] if word else []
    return (found[0], found[0] + width) if len(found) == 1 else None
