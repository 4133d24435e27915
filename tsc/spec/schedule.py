"""The schedule grammar, one class a node kind (LANGUAGE section 3).

block    = [ node, ... ]
node     = step | WorkTileLoop | DomainLoop | For | ConditionalBlock | build
step     = "pdl_wait" | "pdl_launch" | "task_sync" | { verb: operand, option: value, ... }
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, Tag, WithJsonSchema
from typing_extensions import TypeAliasType

from tsc.model import BY_FORM, Expression, Flag, ListOf, Name, Operand, Scalar
from tsc.ops.base import StepModel
from tsc.ops.registry import OPERATIONS

BARE_STEPS = ("pdl_wait", "pdl_launch", "task_sync")
BareStep = Literal["pdl_wait", "pdl_launch", "task_sync"]


class Acquire(StepModel):
    """Take the next stage to fill; blocks until its last user has given it back."""

    verb: ClassVar[str] = "acquire"
    acquire: Operand
    """The ring or queue."""


class Commit(StepModel):
    """Hand over acquired stages, oldest first."""

    verb: ClassVar[str] = "commit"
    commit: Operand
    """The ring, fork or queue."""
    keep: Expression | None = None
    """Until so many are left; 0 if left out."""


class Wait(StepModel):
    """Take the next filled stage; blocks until every producing task has committed it."""

    verb: ClassVar[str] = "wait"
    wait: Operand
    """The ring or queue."""
    observe: Flag | None = None
    """Wait without becoming a consumer: no release is owed."""
    by: Name | None = None
    """Take it without looking at its barrier, because this ring was waited for before."""


class Release(StepModel):
    """Give back held stages, oldest first."""

    verb: ClassVar[str] = "release"
    release: Operand
    """The ring, merge or queue."""
    keep: Expression | None = None
    """Until so many are left; 0 if left out."""


class TryAcquire(StepModel):
    """Look whether the next stage is empty, without blocking."""

    verb: ClassVar[str] = "try_acquire"
    try_acquire: Operand
    """The ring or queue."""


class TryWait(StepModel):
    """Look whether the next stage is full, without blocking."""

    verb: ClassVar[str] = "try_wait"
    try_wait: Operand
    """The ring or queue."""


class Skip(StepModel):
    """Pass over stages that another consumer takes."""

    verb: ClassVar[str] = "skip"
    skip: Operand
    """The ring, of `released_by: one`."""
    count: Expression
    """How many stages."""


class GetAndAdvanceWorkTile(StepModel):
    """Take the tile that was waited for."""

    verb: ClassVar[str] = "get_and_advance_work_tile"
    get_and_advance_work_tile: Operand
    """The queue."""
    stride: Expression | None = None
    """Clusters to advance by, under `static`."""


class FetchWorkTile(StepModel):
    """Ask for the next tile, in the scheduler task."""

    verb: ClassVar[str] = "fetch_work_tile"
    fetch_work_tile: Operand
    """The queue."""


class Take(StepModel):
    """Wait until it is this task's turn."""

    verb: ClassVar[str] = "take"
    take: Operand
    """The turn."""


class Pass(StepModel):
    """Give the turn to the next."""

    verb: ClassVar[str] = "pass"
    pass_: Operand = Field(alias="pass")
    """The turn."""


class Sync(StepModel):
    """Meet all others at a named barrier."""

    verb: ClassVar[str] = "sync"
    sync: Operand
    """The barrier."""


class Arrive(StepModel):
    """Count at a named barrier without waiting."""

    verb: ClassVar[str] = "arrive"
    arrive: Operand
    """The barrier."""


class Do(StepModel):
    """Run a work of the task."""

    verb: ClassVar[str] = "do"
    do: Name
    """The work."""
    with_: dict[Name, Expression] = Field(default_factory=dict, alias="with")
    """Argument to value."""
    out: tuple[Name, ...] = ()
    """Names for the values it returns, in order; `_` for one that is not wanted."""


class WorkTileLoop(StepModel):
    """Run the body for every tile of a queue."""

    verb: ClassVar[str] = "work_tile_loop"
    work_tile_loop: Operand
    """The queue."""
    skip_if: Expression | None = None
    """Where it holds, the `skippable` blocks are skipped."""
    body: Block
    """What is done a tile."""


class DomainLoop(StepModel):
    """The loop over the domain of a tile: `start, start + step, ...` below its end."""

    verb: ClassVar[str] = "domain_loop"
    domain_loop: Expression
    """The end, exclusive."""
    start: Expression | None = None
    """The first value; 0 if left out."""
    step: Expression | None = None
    """The distance; 1 if left out."""
    unroll: Expression | None = None
    """How often the compiler unrolls it."""
    split_at: tuple[Expression, ...] = ()
    """Where the loop is cut into pieces, numbered by `part`."""
    key: Name | None = None
    """Names a trip count that is the same elsewhere in another form."""
    body: Block
    """What is done a round."""


class For(StepModel):
    """A further run-time loop."""

    verb: ClassVar[str] = "for"
    for_: Expression = Field(alias="for")
    """The end, exclusive."""
    start: Expression | None = None
    """The first value; 0 if left out."""
    step: Expression | None = None
    """The distance; 1 if left out."""
    unroll: Expression | None = None
    """How often the compiler unrolls it."""
    key: Name | None = None
    """Names a trip count that is the same elsewhere in another form."""
    as_: Name = Field(alias="as")
    """The name of its value."""
    body: Block
    """What is done a round."""


class FirstIter(StepModel):
    """In the first round of the innermost loop."""

    verb: ClassVar[str] = "first_iter"
    first_iter: Block
    """What is done then."""


class LastIter(StepModel):
    """In the last round of the innermost loop."""

    verb: ClassVar[str] = "last_iter"
    last_iter: Block
    """What is done then."""


class Every(StepModel):
    """In rounds `start, start + period, ...`, counted from zero."""

    verb: ClassVar[str] = "every"
    every: Expression
    """The period."""
    start: Expression | None = None
    """The first round; 0 if left out."""
    body: Block
    """What is done then."""


class WhenTrue(StepModel):
    """Where a condition holds."""

    verb: ClassVar[str] = "when_true"
    when_true: Expression
    """The condition."""
    key: Name | None = None
    """Names a condition that other tasks share."""
    body: Block
    """What is done then."""


class WhenFalse(StepModel):
    """Where a condition does not hold."""

    verb: ClassVar[str] = "when_false"
    when_false: Expression
    """The condition."""
    key: Name | None = None
    """Names a condition that other tasks share."""
    body: Block
    """What is done then."""


class When(StepModel):
    """One thing where a condition holds, another where it does not."""

    verb: ClassVar[str] = "when"
    when: Expression
    """The condition."""
    key: Name | None = None
    """Names a condition that other tasks share."""
    then: Block
    """What is done where it holds."""
    else_: Block | None = Field(default=None, alias="else")
    """What is done where it does not."""


class Skippable(StepModel):
    """Left out for a tile that the loop's `skip_if` names."""

    verb: ClassVar[str] = "skippable"
    skippable: Block
    """What is left out."""


class Repeat(StepModel):
    """One copy of the body a value, made when built."""

    verb: ClassVar[str] = "repeat"
    repeat: Annotated[Annotated[Expression, Scalar] | Annotated[tuple[Expression, ...], ListOf], BY_FORM]
    """How many copies, or the values."""
    as_: Name = Field(alias="as")
    """The name of the value."""
    body: Block
    """What is copied."""


class If(StepModel):
    """One of two blocks is kept when built."""

    verb: ClassVar[str] = "if"
    if_: Expression = Field(alias="if")
    """A build-time condition."""
    then: Block
    """Kept where it holds."""
    else_: Block | None = Field(default=None, alias="else")
    """Kept where it does not."""


RING_STEPS = (Acquire, Commit, Wait, Release, TryAcquire, TryWait, Skip)
QUEUE_STEPS = (GetAndAdvanceWorkTile, FetchWorkTile)
ORDER_STEPS = (Take, Pass, Sync, Arrive)
LOOPS = (WorkTileLoop, DomainLoop, For)
CONDITIONALS = (FirstIter, LastIter, Every, WhenTrue, WhenFalse, When, Skippable)
BLOCKS: tuple[type[StepModel], ...] = (*LOOPS, *CONDITIONALS, Repeat, If)
STEPS: tuple[type[StepModel], ...] = (
    *RING_STEPS,
    *QUEUE_STEPS,
    *ORDER_STEPS,
    Do,
    *(operation.model for operation in OPERATIONS),
)
NODES: dict[str, type[StepModel]] = {model.verb: model for model in (*BLOCKS, *STEPS)}


def verb_of(value: Any) -> str | None:
    """Return the one key of a node that is a verb, or nothing where there is none or more than one."""
    if isinstance(value, str):
        return value if value in BARE_STEPS else None
    if isinstance(value, StepModel):
        return value.verb
    if not isinstance(value, dict):
        return None
    verbs = [key for key in value if key in NODES]
    return verbs[0] if len(verbs) == 1 else None


def _union() -> Any:
    members: list[Any] = [Annotated[model, Tag(verb)] for verb, model in NODES.items()]
    for step in BARE_STEPS:
        members.append(Annotated[Literal[step], WithJsonSchema({"const": step}), Tag(step)])
    return Annotated[
        reduce(or_, members),
        Discriminator(verb_of, custom_error_type="tsc_verb", custom_error_message="no single verb"),
    ]


if TYPE_CHECKING:
    Node = StepModel | BareStep
else:
    # A named alias, so that the schema has the union once.
    Node = TypeAliasType("Node", _union())
"""A node of the schedule tree, chosen by its verb."""

Block = tuple[Node, ...]
"""A list of nodes, never empty (which a rule says, in better words than a length could)."""

Schedule = Block
__all__ = ["BARE_STEPS", "BLOCKS", "NODES", "STEPS", "BareStep", "Block", "Node", "Schedule", "verb_of"]
