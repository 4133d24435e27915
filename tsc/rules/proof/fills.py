"""How often a task takes part in a ring, as an expression: the fills it makes or takes in one tile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, product
from math import prod

from tsc.expr import EvalError, Expr, ExprError, evaluate, fold, interval, parse
from tsc.program.model import Pipeline, Program, Task
from tsc.program.tree import Guard, Loop, Step, walk
from tsc.rules.brackets.holds import ring_of
from tsc.source.route import Route

MOST_TRIED = 4_000
"""Inputs that are tried in the search for those at which two counts differ."""
MOST_SORTED = 100_000
"""Inputs of which the small ones are found by sorting."""

_OF_RUN = ("tile.", "block.", "grid.", "cluster.")


@dataclass(frozen=True, slots=True)
class Fills:
    """The number of fills of a ring that a task makes or takes in one tile.

    `place` is the bound of the innermost loop around the steps, or the step itself where there is none.
    """

    task: Task
    count: Expr
    place: Route


def fills(program: Program, task: Task, ring: tuple[str, int], verb: str) -> Fills | None:
    """Count the steps `verb` of a ring copy in a task; nothing where conditions decide about them."""
    terms: list[str] = []
    place: Route = ()
    for node, above in walk(task.tree):
        if not isinstance(node, Step) or ring not in ring_of(program, task, node):
            continue
        if node.verb == "skip":
            return None
        if node.verb != verb or getattr(node.model, "observe", None):
            continue
        loops = [outer for outer in above if isinstance(outer, Loop)]
        if any(isinstance(outer, Guard) for outer in above) or any(loop.split for loop in loops):
            return None
        counts = [trips(program, loop) for loop in loops]
        if None in counts or _varies(loops):
            return None
        terms.append(" * ".join(["1", *(f"({count})" for count in counts)]))
        if not place or (loops and place[-1] == verb):
            place = (*loops[-1].route, loops[-1].kind) if loops else (*node.route, verb)
    if not terms:
        return None
    with suppress(ExprError):
        return Fills(task, fold(parse(" + ".join(terms)), {}), place)
    return None


def keys_of(program: Program, task: Task, ring: tuple[str, int], verb: str) -> list[str]:
    """Return the keys of the loops around the steps of a task."""
    return [
        outer.key
        for node, above in walk(task.tree)
        if isinstance(node, Step) and node.verb == verb and ring in ring_of(program, task, node)
        for outer in above
        if isinstance(outer, Loop) and outer.key is not None
    ]


def pairs(program: Program, key: tuple[str, int], pipeline: Pipeline) -> Iterator[tuple[Fills, Fills]]:
    """Yield the count of the first producer with that of every other task, lanes summed up."""
    memory = program.memories[key[0]]
    if pipeline.store_ring or memory.released_by == "one":
        return
    sides: list[Fills] = []
    keys: set[str] = set()
    for verb, labels, lanes in (
        ("acquire", pipeline.producers, memory.lanes[0]),
        ("wait", pipeline.consumers, memory.lanes[1]),
    ):
        found = [fills(program, program.task(label), key, verb) for label in labels]
        for label in labels:
            keys |= set(keys_of(program, program.task(label), key, verb))
        known = [one for one in found if one is not None]
        if lanes > 1 and len(known) < len(found):
            continue
        sides += _summed(known) if lanes > 1 else known
    for other in sides[1:] if not keys else ():
        yield sides[0], other


def _summed(lanes: list[Fills]) -> list[Fills]:
    with suppress(ExprError):
        total = parse(" + ".join(f"({one.count.text})" for one in lanes))
        return [Fills(lanes[0].task, fold(total, {}), lanes[0].place)] if lanes else []
    return []


def trips(program: Program, loop: Loop) -> str | None:
    """Return the number of rounds of a loop; nothing where its direction is not known."""
    start, end, step = (program.flat(e, loop.env) for e in (loop.start, loop.end, loop.step))
    rising = interval(step, program.ranges)
    if not (rising.lo > 0 or rising.hi < 0):
        return None
    length = f"({end.text}) - ({start.text})" if rising.lo > 0 else f"({start.text}) - ({end.text})"
    with suppress(ExprError):
        by = step.text if rising.lo > 0 else f"-({step.text})"
        rounds = length if step.value in (1, -1) else f"cdiv({length}, {by})"
        return fold(parse(f"max(0, {rounds})"), {}).text
    return None


def _varies(loops: list[Loop]) -> bool:
    """Whether the bounds of an inner loop depend on the value of one around it."""
    values = {loop.variable for loop in loops} | {"iter", "trips"}
    return any(
        name.text in values for loop in loops for e in (loop.start, loop.end, loop.step) for name in e.names
    )


def differing(program: Program, one: Expr, other: Expr) -> list[dict[str, int]]:
    """Search inputs for which two counts differ: one for which both are positive, if any, and the least."""
    least: list[dict[str, int]] = []
    for shown, counts in tried(program, one, other):
        if counts[0] == counts[1]:
            continue
        if all(counts):
            return [shown, *least]
        least = least or [shown]
    return least


def tried(program: Program, one: Expr, other: Expr) -> Iterator[tuple[dict[str, int], tuple[int, int]]]:
    """Yield inputs, the small ones first, and what two counts are with them."""
    names = sorted({name.text for expr in (one, other) for name in expr.names})
    if any(name not in program.dims and name not in program.ranges and name != "sms" for name in names):
        return  # tokens, registers and tensors have values that nobody can choose here
    facts, wide = _facts(program, names)
    choices = [_values(program, name, (one, other, *facts)) for name in wide]
    while prod(map(len, choices)) > MOST_SORTED:
        max(choices, key=len).pop()  # its largest value
    for values in islice(sorted(product(*choices), key=_size), MOST_TRIED):
        env = dict(zip(wide, values, strict=True))
        with suppress(EvalError):
            counts = evaluate(one, env), evaluate(other, env)
            if all(evaluate(fact, env) for fact in facts):
                yield {name: env[name] for name in names}, counts


def _size(values: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    return sum(values), values


def _facts(program: Program, names: Iterable[str]) -> tuple[list[Expr], list[str]]:
    """Return what is promised about names, and all names that it mentions."""
    wide = list(names)
    facts: list[Expr] = []
    asserted = [program.flat(expr) for expr in program.spec.assert_]
    queue = program.queue
    for axis, extent in queue.axes if queue is not None else ():
        with suppress(ExprError):
            asserted.append(parse(f"tile.{axis} < ({program.flat(extent).text})"))
    grown = True
    while grown:
        grown = False
        for fact in asserted:
            mentioned = {name.text for name in fact.names}
            if fact not in facts and mentioned & set(wide):
                facts.append(fact)
                wide += sorted(mentioned - set(wide))
                grown = True
    return facts, wide


def _values(program: Program, name: str, exprs: Iterable[Expr]) -> list[int]:
    """Return values worth trying: the least, the first few, and those around every constant."""
    dim = program.dims.get(name)
    allowed = dim.interval if dim is not None else program.ranges.get(name)
    least = max(0, allowed.lo) if allowed is not None else 0
    most = allowed.hi if allowed is not None else 2**31
    near = {0, 1, 2, 3, *(around for c in _constants(exprs) for m in (1, 2) for around in (m * c, m * c + 1))}
    multiple = dim.multiple_of if dim is not None else 1
    found = {-(-max(least, value) // multiple) * multiple for value in {least, *near}}
    if name.startswith(_OF_RUN):
        found = {value for value in found if value <= 3}
    return sorted(value for value in found if least <= value <= most)


def _constants(exprs: Iterable[Expr]) -> Iterator[int]:
    from tsc.expr.tree import Int, children

    stack = [expr.tree for expr in exprs]
    while stack:
        node = stack.pop()
        if isinstance(node, Int) and node.value <= 2**20:
            yield node.value
        stack += children(node)


def shown(values: Mapping[str, int]) -> str:
    """Write inputs as a message does: `m = 1` and `k = 65`."""
    parts = [f"`{name} = {value:,}`" for name, value in values.items()]
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def turns(program: Program, ring: str, one: Fills, other: Fills) -> str:
    """Name the option by which the replicas of a task take turns at a ring."""
    memory = program.memories.get(ring)
    if memory is None or memory.copies > 1:
        return ""
    for side, fills_, lanes in zip(("producer", "consumer"), (one, other), memory.lanes, strict=True):
        if fills_.task.replicas > 1 and lanes == 1:
            option = f"`interleave: {{{side}: {fills_.task.replicas}}}`"
            return f", or write {option} where the replicas of `{fills_.task.name}` take turns at `{ring}`"
    return ""
