"""Writes into a snippet what only the schedule may do.

What it does
    Looks for barriers other than `task.sync()`, asynchronous copies and matrix products, changes of the
    register count, shared memory of the snippet's own, `return`, and `asm` that is more than arithmetic.

Why is this bad
    All accesses of a work are finished when it ends, and all its threads reach the end: what the checks
    say about a schedule rests on both.

Example
    cuda: |
      if (task.thread >= COLS) return;
      y(task.thread) = x(task.thread);

Use instead
    cuda: |
      if (task.thread < COLS) y(task.thread) = x(task.thread);
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.routing.assembly import instructions
from tsc.rules.routing.snippet import Piece, declared, place_of, snippets
from tsc.rules.routing.snippet_scopes import returns

RULE = Rule("TSC159", "snippet-breaks-rules", Severity.ERROR, "a snippet does what only a schedule may do")

_BARRIER = ("is a barrier beside the task's own", "write `task.sync()`, or a step such as `sync`")
_ASYNC = ("is asynchronous, and a work ends finished", "write it as a step of the schedule")
_REFUSED = tuple(
    (re.compile(rf"(?:{pattern})\Z"), why, hint)
    for pattern, (why, hint) in (
        (
            r"__syncthreads\w*|__barrier_sync\w*|__cluster_barrier_\w+|named_barrier_\w+|mbarrier_\w+",
            _BARRIER,
        ),
        (
            r"cluster_(?:sync|arrive|wait)\w*|cooperative_groups|this_thread_block|this_cluster|this_grid",
            _BARRIER,
        ),
        (
            r"(?:tma|bulk|wgmma|tcgen05)_\w+|tensor_(?:allocate|free|(?:load|store)_x\d+)\w*"
            r"|cp_async\w*|memcpy_async|__pipeline_\w+",
            _ASYNC,
        ),
        (
            r"registers_(?:grow|shrink)|setmaxnreg",
            ("changes the register count", "give the task `registers`"),
        ),
        (
            r"grid_dependen\w+|cudaGridDependency\w+|cudaTriggerProgrammatic\w+",
            ("orders launches", "write the step `pdl_wait` or `pdl_launch`"),
        ),
        (
            r"__shared__",
            (
                "is shared memory that the layout does not know",
                "declare a resource of kind `smem`, and list it",
            ),
        ),
    )
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each thing in a snippet that breaks its rules."""
    for work in program.works.values():
        found = snippets(program)[work.name]
        for piece, why, hint in [
            *_named(program, found),
            *_returns(found),
            *instructions(work.text or "", found),
        ]:
            place, where = place_of(program, work, piece.start, piece.end)
            yield Finding(RULE.name, f"`{piece.text}` in `{work.name}` {why}{where}", place, help=hint)


def _named(program: Program, found: list[Piece]) -> Iterator[tuple[Piece, str, str]]:
    known = declared(found) | program.constants.keys() | program.lets.keys() | program.dims.keys()
    for i, piece in enumerate(found):
        member = i > 0 and found[i - 1].text in (".", "->")
        for pattern, why, hint in _REFUSED if piece.word and not member and piece.text not in known else ():
            if pattern.match(piece.text):
                yield piece, why, hint


def _returns(found: list[Piece]) -> Iterator[tuple[Piece, str, str]]:
    for piece in returns(found):
        yield piece, "leaves the work before its end", "put what follows under a condition"
