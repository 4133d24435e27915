"""Uses a fragment of which each thread has a row as one of which threads share out blocks, or converts one.

What it does
    Looks at what each task does with its fragments: `tcgen05_ld` and `tcgen05_st` of 128 rows give each
    thread a row; `wgmma`, `stmatrix` and `ldmatrix` have the threads of a warp share out blocks of 8 x 8, and
    so has an accumulator of 64 rows. `convert` has the same on both sides.

Why is this bad
    Which thread has which value is written into the instructions, and registers do not move between threads.

Example
    - {tcgen05_ld: slice, from: acc}              # 128 rows
    - {stmatrix: out, from: slice}

Use instead
    - {tcgen05_ld: slice, from: acc}
    - {store: out, from: slice}                   # a thread writes 16 bytes of its row at a time
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.ops.convert import Convert
from tsc.program.fragments import Said, layouts, said
from tsc.program.model import Program, Task
from tsc.rules.matrix.products import once

RULE = Rule("TSC240", "fragment-of-two-layouts", Severity.ERROR, "a fragment is used in two layouts")

_OTHERWISE = {"stmatrix": "store", "ldmatrix": "load"}


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each step that takes a fragment to lie otherwise than an earlier one."""
    yield from once(it for task in program.tasks for it in (*_uses(program, task), *_moves(program, task)))


def _uses(program: Program, task: Task) -> Iterator[Finding]:
    first: dict[str, Said] = {}
    for name, one in said(program, task):
        known = first.setdefault(name, one)
        if known.layout == one.layout:
            continue
        blocks, rows = (one, known) if known.layout == "lanes" else (known, one)
        verb = blocks.step.verb
        yield Finding(
            RULE.name,
            f"`{rows.step.verb}` gives each thread a row of `{name}`, and `{verb}` takes it block by block",
            Place(one.step.route),
            (Place(known.step.route, label=f"`{known.step.verb}` of it"),),
            help=f"write `{_OTHERWISE[verb]}`" if verb in _OTHERWISE else "use two fragments",
        )


def _moves(program: Program, task: Task) -> Iterator[Finding]:
    known = layouts(program, task)
    for step in task.steps():
        if not isinstance(step.model, Convert):
            continue
        to, source = step.model.convert.name, step.model.from_.name
        if {known.get(to), known.get(source)} == {"lanes", "matrix"}:
            rows, blocks = (to, source) if known[to] == "lanes" else (source, to)
            yield Finding(
                RULE.name,
                f"a thread has a row of `{rows}` and parts of rows of `{blocks}`, and `convert` moves "
                "nothing between threads",
                Place(step.route),
                help="go through shared memory: `store` the one and `load` the other",
            )
