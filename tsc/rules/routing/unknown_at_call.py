"""Calls a work whose snippet mentions a value that does not exist at the call.

What it does
    Looks for `tile`, `loop`, `iter` and `trips` in the snippet of each work, and checks that every call
    stands inside the loop that they speak of. Names that the snippet declares itself hide them; a let is
    looked through.

Why is this bad
    The value is handed to the snippet by the call, and there is none: it would not compile.

Example
    - do: fill                                          # its snippet mentions `tile.row`
    - {work_tile_loop: tiles, body: [do: drain]}

Use instead
    - {work_tile_loop: tiles, body: [do: fill, do: drain]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program, Work
from tsc.program.tree import Loop, Node, Step, TileLoop, walk
from tsc.rules.routing.snippet import Piece, declared, names, place_of, snippets
from tsc.spec.schedule import Do

RULE = Rule("TSC167", "unknown-at-call", Severity.ERROR, "a snippet mentions what its call does not know")

_WHERE = {
    "tile": "a `work_tile_loop`",
    "loop": "a `domain_loop`",
    "iter": "a loop",
    "trips": "a loop",
}


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for the first such call of each work and name."""
    reported: set[tuple[str, str]] = set()
    for task in program.tasks:
        for node, above in walk(task.tree):
            work = _called(program, node)
            if work is None:
                continue
            for piece, name in _mentions(program, work):
                if _known(name, above) or (work.name, name) in reported:
                    continue
                reported.add((work.name, name))
                through = f"`{piece.text}`, which is made of `{name}`" if piece.text != name else f"`{name}`"
                place, where = place_of(program, work, piece.start, piece.end)
                yield Finding(
                    RULE.name,
                    f"`{work.name}` mentions {through}{where}, and is called outside {_WHERE[name]}",
                    Place(node.route),
                    (Place(place.route, within=place.within, label="mentioned here"),),
                    help=f"call it inside {_WHERE[name]}, or hand the value over as an argument",
                )


def _called(program: Program, node: Node) -> Work | None:
    return program.works.get(node.model.do) if isinstance(node, Step) and isinstance(node.model, Do) else None


def _mentions(program: Program, work: Work) -> Iterator[tuple[Piece, str]]:
    found = snippets(program)[work.name]
    own = declared(found) | {name for name, _ in (*work.args, *work.returns)}
    for piece in names(found):
        let = program.lets.get(piece.text)
        used = {name.text.split(".")[0] for name in let.names} if let is not None else {piece.text}
        if piece.text not in own:
            yield from ((piece, name) for name in sorted(used & _WHERE.keys()))


def _known(name: str, above: tuple[Node, ...]) -> bool:
    if name == "tile":
        return any(isinstance(node, TileLoop) for node in above)
    loops = [node for node in above if isinstance(node, Loop)]
    return any(node.kind == "domain_loop" for node in loops) if name == "loop" else bool(loops)
