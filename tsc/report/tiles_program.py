"""The tiles of a spec as a picture: extents and workers of a launch, and what its loads bring a tile."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from operator import itemgetter

from tsc.expr import EvalError, Expr, evaluate, show
from tsc.expr.evaluator import cdiv
from tsc.model import Reference
from tsc.program.model import Program
from tsc.program.storage import BITS
from tsc.program.tree import Block, Guard, Loop, Step, TileLoop
from tsc.report.tiles import Operand, Picture, axes_apart
from tsc.spec.wording import series
from tsc.tiles.grid import Grid, Place
from tsc.tiles.registry import BY_KIND, walk_of

_LOADS = ("tma_load", "bulk_load", "cp_async")
_MULTIPROCESSORS = {90: 132, 100: 148, 103: 160}


class Unknown(Exception):
    """Something that a picture needs is not known before a launch; the text is the sentence for the user."""


def picture_of(program: Program, workers: int | None, sms: int | None) -> Picture:
    """Return the picture of a spec whose sizes are known, on a GPU of so many multiprocessors."""
    queue = program.queue
    if queue is None:
        raise Unknown(f"`{program.kernel}` has no queue, so that there are no tiles to order")
    if queue.order.kind == "table":
        raise Unknown(f"the order of `{queue.name}` is a table that each launch brings with it")
    capability = program.target.capability if program.target is not None else 90
    sms = sms or _MULTIPROCESSORS.get(capability, 132)
    size = program.cluster_size
    resident = max(1, sms * program.spec.launch.ctas_per_sm // size)
    known = {"sms": sms, "launch.clusters": resident}
    axes = tuple(axis for axis, _ in queue.axes)
    extents = tuple(_known(extent, known, f"the extent of `{axis}`") for axis, extent in queue.axes)
    clusters = dict(program.cluster)
    walk = walk_of(queue.order, axes)
    options = {name: _known(program.flat(it), known, f"`{name}`") for name, it in walk.options.items()}
    sizes = tuple(clusters.get(axis, 1) for axis in axes)
    grid = Grid(axes, tuple(max(0, it) for it in extents), walk, sizes, options)
    given = workers is not None
    if workers is None:
        one_each = queue.policy in ("grid", "clc") or not program.grid
        launched = resident if one_each else _known((program.grid or ())[0], known, "the grid") // size
        workers = max(1, min(grid.count, launched))
    who = ("cluster" if size > 1 else "CTA") + "s" * (workers > 1)
    device = "" if given else f" ({sms} multiprocessors)"
    notes = [f"{workers:,} {who} at a time{device}, policy `{queue.policy}`"]
    if queue.policy != "static":
        notes.append(
            "who takes which is decided at run time: shown as if each tile took as long as any other"
        )
    if queue.skip_if is not None:
        notes.append("tiles that `skip_if` leaves out are shown like the others")
    title = BY_KIND[queue.order.kind].comment(queue.order)
    operands = tuple(_operands(program, axes, known)) or axes_apart(axes)
    return Picture(
        f"{program.kernel}, {queue.order.kind}: {title[:1].lower()}{title[1:]}",
        grid,
        workers,
        operands,
        tuple(notes),
    )


def _known(expr: Expr, env: Mapping[str, int], what: str) -> int:
    free = sorted(expr.free - env.keys())
    if free:
        hint = " ".join(f"-D {name}=..." for name in free)
        raise Unknown(
            f"{what} depends on {series(free)}: give {'them' if len(free) > 1 else 'it'} with `{hint}`"
        )
    try:
        return int(evaluate(expr, env))
    except EvalError as error:
        raise Unknown(f"{what} has no value: {error.message}") from None


# ---- what a tile loads -------------------------------------------------------------------------------------


def _operands(program: Program, axes: tuple[str, ...], known: Mapping[str, int]) -> Iterator[Operand]:
    """Yield the loads of a tile's body that depend on the tile, those of one tensor and place together."""
    found: dict[tuple[str, tuple[str, ...]], tuple[int | None, tuple[Expr, ...]]] = {}
    for task in program.tasks:
        for node in task.tree:
            if isinstance(node, TileLoop):
                for step, rounds in _loads(node.body, program, known, 1):
                    name, bytes_, places = _load(program, step, task.name, task.replica)
                    own = tuple(it for it in places if any(used.startswith("tile.") for used in it.free))
                    key = name, tuple(map(show, own))
                    total = None if bytes_ is None or rounds is None else bytes_ * rounds
                    before, _ = found.get(key, (0, own))
                    both = None if total is None or before is None else before + total
                    found[key] = both, own
    for (name, _), (total, places) in found.items():
        yield Operand(name, total, _key(places, axes, known))


def _loads(
    block: Block, program: Program, known: Mapping[str, int], rounds: int | None
) -> Iterator[tuple[Step, int | None]]:
    for node in block:
        match node:
            case Step() if node.verb in _LOADS:
                yield node, rounds
            case Loop():
                trips = _trips(node, program, known)
                inner = None if trips is None or rounds is None else trips * rounds
                # The pieces of a loop that is split share its rounds; the first one stands for all.
                for piece in node.pieces[:1]:
                    yield from _loads(piece.body, program, known, inner)
            case Guard():
                yield from _loads((*node.then, *node.otherwise), program, known, rounds)


def _trips(loop: Loop, program: Program, known: Mapping[str, int]) -> int | None:
    try:
        start, end, step = (
            int(evaluate(program.flat(it, loop.env), known)) for it in (loop.start, loop.end, loop.step)
        )
    except EvalError:
        return None
    return max(0, cdiv(end - start, step)) if step else None


def _load(
    program: Program, step: Step, task: str, replica: int | None
) -> tuple[str, int | None, tuple[Expr, ...]]:
    """Return a load's tensor, the bytes that it brings and where they begin."""
    tensor = getattr(step.model, step.verb).name
    at = tuple(program.flat(it, step.env) for it in getattr(step.model, "at", None) or ())
    reference: Reference = getattr(step.model, "to")  # noqa: B009 - loads alone have one
    target = program.meanings.meaning(reference, task, replica, step.env, step.route)
    memory = program.memories.get(target.name) if target is not None else None
    buffer = memory.buffer(reference.buffer) if memory is not None else None
    if buffer is None or tensor not in program.tensors:
        return tensor, None, at
    return tensor, prod(buffer.shape) * BITS[program.tensors[tensor].dtype] // 8, at


def _key(
    places: Sequence[Expr], axes: tuple[str, ...], known: Mapping[str, int]
) -> Callable[[Sequence[Place]], Sequence[object]]:
    """Return what tells loads of different bytes apart: where they begin, in the first round of all loops."""
    used = [axis for axis in axes if any(f"tile.{axis}" in it.free for it in places)]
    own = itemgetter(*map(axes.index, used)) if used else lambda tile: 0

    def value(at: Place) -> object:
        env = {f"tile.{axis}": i for axis, i in zip(used, at, strict=True)} | dict(known)
        try:
            return tuple(evaluate(it, {**dict.fromkeys(it.free - env.keys(), 0), **env}) for it in places)
        except (EvalError, TypeError):
            return at

    def keys(tiles: Sequence[Place]) -> Sequence[object]:
        found = list(map(own, tiles))
        values = {at: value(at if len(used) > 1 else (at,)[: len(used)]) for at in set(found)}
        # Mostly different tiles load different bytes, and then their coordinates tell them apart.
        return found if len(set(values.values())) == len(values) else [values[at] for at in found]

    return keys
