"""Writes in a snippet what its work only reads.

What it does
    Looks for assignments to, and stores into, the views of names that stand in `reads` alone.

Why is this bad
    The view is const, so it would not compile; and what a work does not list as written gets no proxy fence
    before an engine reads it, no sync before other threads do, and no place in the proof.

Example
    scale: {reads: [row], cuda: "row(task.thread) *= 2.f;"}

Use instead
    scale: {updates: [row], cuda: "row(task.thread) *= 2.f;"}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program, Work
from tsc.rules.routing.snippet import Piece, declared, place_of, snippets

RULE = Rule("TSC168", "written-and-only-read", Severity.ERROR, "a snippet writes what its work only reads")

_STORES = frozenset(("store", "store_bits"))
_ASSIGNS = frozenset(("=", "+", "-", "*", "/", "%", "&", "|", "^"))


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for the first write of each name that is listed as read alone."""
    for work in program.works.values():
        found = snippets(program)[work.name]
        own = declared(found) | {name for name, _ in (*work.args, *work.returns)}
        written = {ref.name for ref in (*work.writes, *work.updates)}
        only = {ref.name: i for i, ref in enumerate(work.reads) if ref.name not in written | own}
        for i, piece in enumerate(found):
            free = piece.text in only and (i == 0 or found[i - 1].text not in (".", "->", "::"))
            if free and (fresh := _written(program, found, i)):
                yield _finding(program, work, piece, only.pop(piece.text), fresh == "=")


def _finding(program: Program, work: Work, piece: Piece, index: int, fresh: bool) -> Finding:
    place, where = place_of(program, work, piece.start, piece.end)
    return Finding(
        RULE.name,
        f"`{work.name}` writes `{piece.text}`{where}, and lists it in `reads` alone",
        place,
        (Place((*work.route, "reads", index), label="const, so that nothing is fenced or synced for it"),),
        help=f"move `{piece.text}` to `updates`"
        + (", or to `writes` if no old value is read" if fresh else ""),
    )


def _written(program: Program, found: list[Piece], i: int) -> str:
    """Return how a statement writes the view at `i`: `=`, another operator, or not at all (empty)."""
    depth, i = 0, i + 1
    while i + 1 < len(found):
        text, behind = found[i].text, found[i + 1].text
        depth += (text in "([") - (text in ")]")
        if depth < 0 or text in ";{}":
            return ""
        if depth == 0 and text == ".":
            if behind in _STORES:
                return "="
            ring = found[i - 1].text in program.memories
            if not ring:
                return ""  # a read through a member
            i += 1
        elif depth == 0 and text not in (")", "]"):
            if text == "=":
                return "" if behind == "=" else "="
            doubled = text in ("+", "-") and behind == text
            return text if doubled or (text in _ASSIGNS and behind == "=") else ""
        i += 1
    return ""
