"""Waits for another number of arrivals than there are.

What it does
    Where `at` of `count_in` names axes of the tile alone, one counter hears of every tile that has those
    coordinates: as many as the other axes have places, times the `count_in` steps on it. Compares that with
    `of`.

Why is this bad
    With too large an `of` nobody is ever last; with too small a one somebody is while others still write.

Example
    axes: {m: m_tiles, split: 8}
    - {count_in: arrived, at: [tile.m], of: 4, last: last}

Use instead
    - {count_in: arrived, at: [tile.m], of: 8, last: last}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr.tree import Int, Ref
from tsc.ops.count_in import CountIn
from tsc.program.model import Program
from tsc.program.tree import Step, TileLoop

RULE = Rule("TSC538", "count-never-reached", Severity.ERROR, "`of` is not how many arrive at a counter")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each `count_in` whose `of` differs from the arrivals, where both are numbers."""
    steps = [step for task in program.tasks for step in task.steps()]
    plain = [s for task in program.tasks for n in task.tree if isinstance(n, TileLoop) for s in n.body]
    for step in steps:
        if not isinstance(step.model, CountIn):
            continue
        name, of = step.model.count_in.name, program.flat(step.model.of, step.env).value
        same = [s for s in steps if isinstance(s.model, CountIn) and s.model.count_in.name == name]
        places = _places(program, step)
        alike = all(s in plain and _axes(program, s) == _axes(program, step) for s in same)
        if places is None or of is None or not alike:
            continue
        if int(of) != places * len(same):
            many = f"{len(same)} steps of {places:,} tiles" if len(same) > 1 else f"{places:,} tiles"
            yield Finding(
                RULE.name,
                f"{many} count at one place of `{name}`, and `of` is {int(of):,}",
                Place((*step.route, "of")),
                tuple(Place((*s.route, "count_in"), label="counts, too") for s in same if s is not step),
                help=f"write `of: {places * len(same)}`"
                + (" or count once a tile" if len(same) > 1 else ""),
            )


def _axes(program: Program, step: Step) -> frozenset[str] | None:
    """Return the axes that `at` names, if it names nothing else."""
    at = step.model.at if isinstance(step.model, CountIn) else None
    trees = [program.flat(item, step.env).tree for item in at or ()]
    names = [tree.name for tree in trees if isinstance(tree, Ref)]
    rest = [tree for tree in trees if not isinstance(tree, (Ref, Int))]
    plain = not rest and len(set(names)) == len(names) and all(n.startswith("tile.") for n in names)
    return frozenset(name.removeprefix("tile.") for name in names) if plain else None


def _places(program: Program, step: Step) -> int | None:
    """Return how many tiles have the coordinates of a place, those past the end of a cluster included."""
    queue, axes = program.queue, _axes(program, step)
    if queue is None or queue.skip_if is not None or axes is None:
        return None
    total, sizes = 1, dict(program.cluster)
    for axis, extent in queue.axes:
        if axis not in axes:
            if extent.value is None:
                return None
            total *= -(-int(extent.value) // sizes.get(axis, 1)) * sizes.get(axis, 1)
    return total
