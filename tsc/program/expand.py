"""A task's schedule with builds expanded, split loops cut, and the queue's own steps added."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from tsc.expr import Expr, parse
from tsc.model import Reference, parse_reference
from tsc.ops.base import StepModel
from tsc.program.names import key_of
from tsc.program.tree import Block, Guard, Loop, Node, Piece, Section, Step, TileLoop
from tsc.program.values import Values
from tsc.source.route import Route
from tsc.spec import schedule as grammar

Env = Mapping[str, int | bool]

# The four steps of a data task and the eight of a scheduler task (LANGUAGE section 7), without the
# superfluous tries.
DATA_STEPS = ("wait", "get_and_advance_work_tile", "release")
FETCH_STEPS = ("acquire", "fetch_work_tile", "commit", *DATA_STEPS)
QUEUE_VERBS = frozenset(
    (
        "try_acquire",
        "acquire",
        "fetch_work_tile",
        "commit",
        "try_wait",
        "wait",
        "get_and_advance_work_tile",
        "release",
    )
)
# A repeat of more copies than this is refused where it stands: nobody wants its text.
MOST_COPIES = 1024

_GuardKind = Literal["first_iter", "last_iter", "every", "when", "skippable"]


def operand_of(step: Step) -> Reference | None:
    """Return what the step's verb names, where that is a reference."""
    if isinstance(step.model, str):
        return None
    for field, info in type(step.model).model_fields.items():
        if (info.alias or field) == step.verb:
            value = getattr(step.model, field)
            return value if isinstance(value, Reference) else None
    return None


class Expander:
    """Expands one task instance; `queues` are the names of the queues of the spec."""

    def __init__(self, values: Values, queues: frozenset[str]) -> None:
        """Begin with no step counted."""
        self.values = values
        self.queues = queues
        self.count = 0
        self.copies = 0
        self.place: Literal["outside", "tiles", "domain"] = "outside"
        self.seen_tiles = False
        self.seen_domain = False
        self.has_tiles = False

    def task(self, schedule: tuple[Any, ...], route: Route, env: Env) -> Block:
        """Expand a whole schedule."""
        self.has_tiles = any(isinstance(node, grammar.WorkTileLoop) for node in schedule)
        return self.block(schedule, route, env)

    def section(self) -> Section:
        """Name the part of the schedule that the text has reached."""
        if self.has_tiles and self.place == "outside":
            return "AFTER" if self.seen_tiles else "BEFORE"
        if self.place == "domain":
            return "LOOP"
        return "TAIL" if self.seen_domain else "HEAD"

    def block(self, nodes: tuple[Any, ...] | None, route: Route, env: Env) -> Block:
        """Expand a block."""
        made: list[Node] = []
        for i, node in enumerate(nodes or ()):
            made.extend(self.node(node, (*route, i), env))
        return tuple(made)

    def step(
        self, verb: str, model: StepModel | str, route: Route, env: Env, *, derived: bool = False
    ) -> Step:
        """Make a step and count it."""
        index = self.count
        self.count += 1
        return Step(route, verb, model, env, self.section(), index, derived)

    def node(self, node: Any, route: Route, env: Env) -> Iterator[Node]:
        """Expand one node into none, one or several."""
        match node:
            case str():
                yield self.step(node, node, route, env)
            case grammar.WorkTileLoop():
                yield self._tiles(node, route, env)
            case grammar.DomainLoop():
                yield self._domain(node, route, env)
            case grammar.For():
                body = self.block(node.body, (*route, "body"), env)
                yield self._loop(node, node.for_, node.as_, route, env, (Piece(0, None, body),))
            case grammar.Repeat():
                yield from self._repeat(node, route, env)
            case grammar.If():
                yield from self._if(node, route, env)
            case _ if type(node) in grammar.BLOCKS:
                yield self._guard(node, route, env)
            case _:
                yield self.step(node.verb, node, route, env)

    def _tiles(self, node: grammar.WorkTileLoop, route: Route, env: Env) -> TileLoop:
        outer, self.place, self.seen_domain = self.place, "tiles", False
        body = self.block(node.body, (*route, "body"), env)
        queue = node.work_tile_loop.name
        written = any(
            isinstance(step, Step)
            and step.verb in QUEUE_VERBS
            and (ref := operand_of(step)) is not None
            and ref.name in self.queues
            for step in body
        )
        if not written and queue in self.queues:
            body += queue_steps(self, DATA_STEPS, queue, route, env)
        self.place, self.seen_tiles = outer, True
        return TileLoop(route, queue, node.skip_if, env, body)

    def _domain(self, node: grammar.DomainLoop, route: Route, env: Env) -> Loop:
        outer, self.place = self.place, "domain"
        pieces = []
        for part in range(len(node.split_at) + 1):
            until = node.split_at[part] if part < len(node.split_at) else None
            inner = {**env, "part": part} if node.split_at else env
            pieces.append(Piece(part, until, self.block(node.body, (*route, "body"), inner)))
        self.place, self.seen_domain = outer, True
        return self._loop(node, node.domain_loop, "loop", route, env, tuple(pieces))

    def _loop(
        self,
        node: grammar.DomainLoop | grammar.For,
        end: Expr,
        variable: str,
        route: Route,
        env: Env,
        pieces: tuple[Piece, ...],
    ) -> Loop:
        unroll = self.values.integer(node.unroll, (*route, "unroll"), env)
        kind: Literal["domain_loop", "for"] = "domain_loop" if isinstance(node, grammar.DomainLoop) else "for"
        return Loop(
            route=route,
            kind=kind,
            variable=variable,
            start=node.start or parse(0),
            end=end,
            step=node.step or parse(1),
            unroll=unroll,
            key=node.key,
            env=env,
            pieces=pieces,
            split=len(pieces) > 1,
        )

    def _repeat(self, node: grammar.Repeat, route: Route, env: Env) -> Iterator[Node]:
        where = (*route, "repeat")
        values: list[int | bool]
        if isinstance(node.repeat, tuple):
            items = [self.values.value(item, (*where, i), env) for i, item in enumerate(node.repeat)]
            values = [item for item in items if item is not None]
        else:
            count = self.values.integer(node.repeat, where, env) or 0
            # A repeat that is refused is still looked at once.
            values = list(range(count if self.copies + count <= MOST_COPIES else 1))
        for value in values:
            self.copies += 1
            if self.copies > MOST_COPIES:
                return
            yield from self.block(node.body, (*route, "body"), {**env, node.as_: value})

    def _if(self, node: grammar.If, route: Route, env: Env) -> Iterator[Node]:
        value = self.values.value(node.if_, (*route, "if"), env)
        if value is not None:
            side, key = (node.then, "then") if value else (node.else_, "else")
            yield from self.block(side, (*route, key), env)

    def _guard(self, node: Any, route: Route, env: Env) -> Guard:
        verb: str = node.verb
        kind: _GuardKind = "when" if verb.startswith("when") else verb  # type: ignore[assignment]
        condition: Expr | None = None
        period = start = None
        then: Block = ()
        otherwise: Block = ()
        match node:
            case grammar.When():
                condition = node.when
                then = self.block(node.then, (*route, "then"), env)
                otherwise = self.block(node.else_, (*route, "else"), env)
            case grammar.WhenTrue():
                condition, then = node.when_true, self.block(node.body, (*route, "body"), env)
            case grammar.WhenFalse():
                condition, otherwise = node.when_false, self.block(node.body, (*route, "body"), env)
            case grammar.Every():
                period = self.values.integer(node.every, (*route, "every"), env)
                start = (
                    self.values.integer(node.start, (*route, "start"), env) if node.start is not None else 0
                )
                then = self.block(node.body, (*route, "body"), env)
            case _:
                then = self.block(getattr(node, verb), (*route, key_of(node, verb)), env)
        key = getattr(node, "key", None)
        return Guard(route, kind, verb, condition, key, period, start, env, then, otherwise)


_MODELS: dict[str, type[StepModel]] = {
    "acquire": grammar.Acquire,
    "fetch_work_tile": grammar.FetchWorkTile,
    "commit": grammar.Commit,
    "wait": grammar.Wait,
    "get_and_advance_work_tile": grammar.GetAndAdvanceWorkTile,
    "release": grammar.Release,
}


def queue_steps(
    expander: Expander, verbs: tuple[str, ...], queue: str, route: Route, env: Env
) -> tuple[Node, ...]:
    """Make the derived steps of a queue."""
    reference = parse_reference(queue)
    return tuple(
        expander.step(verb, _MODELS[verb].model_validate({verb: reference}), route, env, derived=True)
        for verb in verbs
    )


def fetch_tree(values: Values, queue: str, route: Route) -> Block:
    """Return the schedule of the derived scheduler task of a dynamic queue."""
    expander = Expander(values, frozenset((queue,)))
    expander.has_tiles, expander.place, expander.seen_domain = True, "tiles", True
    return (TileLoop(route, queue, None, {}, queue_steps(expander, FETCH_STEPS, queue, route, {})),)
