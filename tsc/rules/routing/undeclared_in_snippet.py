"""Mentions in a snippet a resource or tensor that its work does not list.

What it does
    Looks for names of tensors and resources in the text that stand in none of `reads`, `writes` and
    `updates`, and for buffers of a ring of which only others are listed. Names that the snippet declares
    itself hide them.

Why is this bad
    What a work does not list does not exist in its snippet: it would not compile. The lists are what all
    checks of accesses go by.

Example
    scale: {reads: [x], cuda: "y(task.thread) = 2.f * x(task.thread);"}

Use instead
    scale: {reads: [x], writes: [y], cuda: "y(task.thread) = 2.f * x(task.thread);"}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program, Work
from tsc.rules.routing.snippet import Piece, declared, names, place_of, snippets

RULE = Rule(
    "TSC160", "undeclared-in-snippet", Severity.ERROR, "a snippet mentions what its work does not list"
)

_VIEWS = ("smem", "tmem", "registers")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for the first mention of each name that is not listed."""
    for work in program.works.values():
        found = snippets(program)[work.name]
        own = declared(found) | {name for name, _ in (*work.args, *work.returns)}
        seen: set[str] = set()
        for piece in names(found):
            missing = "" if piece.text in own else _missing(program, work, found, piece)
            if missing and missing not in seen:
                seen.add(missing)
                model = program.spec.resources.get(piece.text)
                place, where = place_of(program, work, piece.start, piece.start + len(missing))
                viewed = model is None or model.kind in _VIEWS
                kind = "" if viewed or model is None else f", and a {model.kind} has no view"
                written = any(_written(found, other) for other in found if other.text == piece.text)
                yield Finding(
                    RULE.name,
                    f"`{missing}` is not in the lists of `{work.name}`{kind}{where}",
                    place,
                    help=(
                        "add it to `updates`, or to `writes` where no old value is read"
                        if written
                        else "add it to `reads`"
                    )
                    if viewed
                    else "leave it to the schedule",
                )


def _missing(program: Program, work: Work, found: list[Piece], piece: Piece) -> str:
    name = piece.text
    if name not in program.tensors and name not in program.spec.resources:
        return ""
    listed = [ref for ref in (*work.reads, *work.writes, *work.updates) if ref.name == name]
    if not listed:
        return name
    i = found.index(piece)
    behind = [other.text for other in found[i + 1 : i + 3]]
    memory = program.memories.get(name)
    if memory is None or len(behind) < 2 or behind[0] != "." or any(ref.buffer is None for ref in listed):
        return ""
    known = {buffer.name for buffer in memory.buffers}
    return f"{name}.{behind[1]}" if behind[1] in known - {ref.buffer for ref in listed} else ""


def _written(found: list[Piece], piece: Piece) -> bool:
    """Whether the statement looks like a store to it: `y(...) = `, `y.store`."""
    i, depth = found.index(piece) + 1, 0
    while i < len(found) and found[i].text != ";":
        depth += (found[i].text in "([{") - (found[i].text in ")]}")
        if depth < 0:
            return False
        text, after = found[i].text, found[i + 1].text if i + 1 < len(found) else ""
        if depth == 0 and (text in ("store", "store_bits") or (text == "=" and after != "=")):
            return True
        if depth == 0 and text == "=":
            return False
        i += 1
    return False
