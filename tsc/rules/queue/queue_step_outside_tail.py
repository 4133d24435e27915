"""Writes a step of the queue anywhere but at the end of a tile.

What it does
    Checks that written steps of the queue stand directly in the body of the `work_tile_loop`: behind the
    `domain_loop`, or, without one, behind all other steps.

Why is this bad
    The steps give the tile back and take the next one. Steps behind them would still speak of the old tile,
    and inside a loop or a condition they run more than once a tile, or not at all.

Example
    - work_tile_loop: tiles
      body:
        - wait: tiles
        - get_and_advance_work_tile: tiles
        - release: tiles
        - do: scale

Use instead
    - work_tile_loop: tiles
      body:
        - do: scale
        - wait: tiles
        - get_and_advance_work_tile: tiles
        - release: tiles
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.program.tree import Guard, Loop, Node, Step, TileLoop, walk
from tsc.rules.queue.steps import Protocol, Written, protocols

RULE = Rule("TSC320", "queue-step-outside-tail", Severity.ERROR, "a step of the queue is not at a tile's end")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each place outside the TAIL at which a task writes steps of the queue."""
    for protocol in protocols(program):
        seen = {""}
        for written in protocol.steps:
            where = _misplaced(protocol, written)
            if where not in seen:
                seen.add(where)
                yield Finding(
                    RULE.name,
                    f"`{written.step.verb}: {written.queue}` stands {where}, and belongs at the tile's end",
                    written.place,
                    help="move it to the end of the body of the `work_tile_loop`, or leave all of them out",
                )


def _misplaced(protocol: Protocol, written: Written) -> str:
    tiles, *inner = written.above or (None,)
    if not isinstance(tiles, TileLoop):
        return "outside the `work_tile_loop`"
    if any(isinstance(node, Guard) and node.kind == "skippable" for node in inner):
        return ""  # another rule's
    if inner:
        return f"inside `{_verb(inner[-1])}`"
    if any(isinstance(node, Loop) and node.kind == "domain_loop" for node, _ in walk(tiles.body)):
        return "" if written.step.section == "TAIL" else "before the `domain_loop`"
    mine = {other.step.index for other in protocol.steps}
    place = tiles.body.index(written.step)
    after = next(
        (n for n in tiles.body[place:] if not (isinstance(n, Step) and (n.index in mine or n.derived))), None
    )
    return f"before `{_verb(after)}`" if after is not None else ""


def _verb(node: Node) -> str:
    match node:
        case Loop():
            return node.kind
        case TileLoop():
            return "work_tile_loop"
    return node.verb
