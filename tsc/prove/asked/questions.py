"""Every question that a program's schedules ask, as the machine understands it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from tsc.expr import Expr
from tsc.expr.normal import poly_of
from tsc.expr.polynomial import ONE, tree_of, value_of
from tsc.expr.tree import Compare, Int, Node
from tsc.ops.tcgen05_mma import Tcgen05Mma
from tsc.program.model import Program, Task
from tsc.program.tree import Block, Guard, Loop, Step, TileLoop, walk
from tsc.program.tree import Node as TreeNode
from tsc.prove.asked.conditions import Conditions
from tsc.prove.asked.consistent import Told, consistent, witness
from tsc.prove.asked.cuts import Cuts
from tsc.prove.asked.decide import Decider
from tsc.prove.asked.model import FALSE, TRUE, Around, LoopNode, Promise, both, opposite
from tsc.prove.asked.places import Places
from tsc.prove.asked.scope import Rank, Scope, Shape
from tsc.prove.asked.store import Store
from tsc.prove.asked.symbols import THREAD_NAMES, Symbols, expression, free
from tsc.prove.machine import Ask, Bound, Exceeds, Fact, InRounds, Number, Test
from tsc.prove.verdict import Answer
from tsc.spec.schedule import Skip

# A count known when built is run out up to so many rounds; a larger one is a number of at least that.
MOST_ROUNDS = 64
# Conditions of larger clusters are not looked at ahead for all CTAs; they may be told apart less well.
_MOST_RANKS = 16
_PLAIN = frozenset(("load", "store", "do"))


class Questions:
    """Asks for loops and conditions; equal ones of different tasks are one `Number` or `Fact`.

    `around` are the loops around a node, outermost first, the loop over the tiles included; `rank` is the
    CTA's place along the cluster's axes. Nothing here raises for a wrong spec: what is not understood is a
    number or fact of its own.
    """

    def __init__(self, program: Program, rounds: int = MOST_ROUNDS) -> None:
        """Begin with nothing asked; counts known when built are run out up to `rounds`."""
        self.program = program
        self.symbols = Symbols(program)
        self.places = Places(program, self.symbols)
        self.decider = Decider(program, self.symbols, self.places.dims)
        self.store = Store(self.symbols, self.decider, rounds)
        self.cuts = Cuts()
        self.conditions = Conditions(self.store, self.decider, self.cuts)
        self._rank: dict[int, Rank] = {}
        self._seen: set[Rank] = set()
        for name, flat in program.lets.items():
            if flat.value is None and not flat.is_condition:
                self.store.wording.setdefault(tree_of(poly_of(flat.tree)), name)

    @property
    def numbers(self) -> list[Number]:
        """The numbers asked for so far; those of an earlier look may have become less by now."""
        self.store.refresh()
        return self.store.numbers

    @property
    def facts(self) -> list[Fact]:
        """The facts asked for so far."""
        return self.store.facts

    @property
    def promises(self) -> tuple[Promise, ...]:
        """What the answers rest on, beside the text of the program."""
        self.decider.vouch(self.symbols.shares.values())
        return tuple(self.decider.promises)

    def tree_of(self, question: Number | Fact) -> Node | None:
        """Return what a number or fact stands for, in symbols; nothing for one that has no form."""
        if isinstance(question, Number):
            names = [number.name for number in self.store.numbers]
            return self.store.number_trees[names.index(question.name)] if question.name in names else None
        names = [fact.name for fact in self.store.facts]
        return self.store.fact_trees[names.index(question.name)] if question.name in names else None

    def consistent(self, trail: Iterable[Answer]) -> bool | None:
        """Tell whether answers can all be true: False if they contradict each other."""
        return consistent(self, self._told(trail))

    def witness(self, trail: Iterable[Answer]) -> dict[str, int] | None:
        """Return small dims and scalar params under which the answers about them are true."""
        return witness(self, self._told(trail))

    def _told(self, trail: Iterable[Answer]) -> Iterator[Told]:
        numbers, facts = self.numbers, self.facts
        for one in trail:
            question = facts[one.index] if one.threshold is None else numbers[one.index]
            yield question, one.at, one.threshold, one.value

    # ---- loops ---------------------------------------------------------------------------------------------

    def tiles(self, task: Task, node: TileLoop) -> Bound:
        """Return how many tiles this CTA has: one under `grid`, under `static` at least one.

        No more CTAs are launched than there are tiles; but tiles may be skipped, and others may be faster.
        """
        queue = self.program.queue
        grid = queue is not None and queue.policy == "grid"
        if grid and queue is not None and queue.skip_if is None:
            return Bound(None, 1, 1)
        sure = queue is not None and queue.policy == "static" and queue.skip_if is None
        return Bound(self.store.tiles(1 if sure else 0, 1 if grid else None))

    def loop(self, task: Task, node: Loop, around: tuple[Around, ...], rank: Mapping[str, int]) -> Around:
        """Return a loop as the machine runs it. A split loop is one loop, its pieces told apart inside."""
        above, at = tuple(one.node for one in around), tuple(sorted(rank.items()))
        self._rank[id(node)] = at
        shape = self.places.shape(task, node, above, at)
        scope = self.places.scope(task, node, above, at)
        if node.key is not None:
            self._keyed(node.key, (*node.route, "key"))
        self._privately(node, (node.start, node.end, node.step), tuple(p.body for p in node.pieces), scope)
        self.store.wording.setdefault(tree_of(poly_of(scope.tree(node.end, node.env))), node.end.text)
        return self._machine(node, shape, scope)

    def _machine(self, node: Loop, shape: Shape, scope: Scope) -> Around:
        bound = poly_of(shape.bound)
        if value_of(bound) is None:
            return Around(node, shape.start, shape.step, self.store.bound(bound, scope, shape.start))
        count = bound.get(ONE, 0)
        # Lanes and a loop over all of their rounds stop at one bound, so both ask or both do not.
        near = count <= self.store.rounds or shape.start > self.store.rounds // 2
        if shape.step == 1 or shape.start >= shape.step:
            near = near and count - shape.start <= 2 * self.store.rounds
        if near or count <= shape.start:
            return Around(node, shape.start, shape.step, Bound(None, 1, count))
        return Around(node, shape.start, shape.step, self.store.large(count))

    def pieces(
        self,
        task: Task,
        node: Loop,
        around_inside: tuple[Around, ...],
        rank: Mapping[str, int] | None = None,
    ) -> tuple[Test, ...]:
        """Return for each piece of a split loop whether a round of the loop lies in it.

        `around_inside` ends with the loop itself. Without a `rank` that of the node's last `loop` counts.
        """
        at = self._rank.get(id(node), ()) if rank is None else tuple(sorted(rank.items()))
        above = tuple(one.node for one in around_inside[:-1])
        tests: list[Test] = []
        earlier: list[Test] = []
        for piece, (side, inside) in zip(node.pieces, self._cuts(task, node, above, at), strict=True):
            below = TRUE if side is None else self._condition(side, inside, piece.until or node.end)
            tests.append(both((*map(opposite, earlier), below)))
            earlier.append(below)
        return tuple(tests)

    def _cuts(
        self, task: Task, node: Loop, above: tuple[LoopNode, ...], at: Rank
    ) -> Iterator[tuple[Node | None, Scope]]:
        """Yield for each piece whether a round lies before its end; nothing for the last one."""
        before = self.places.scope(task, node, above, at)
        inside = self.places.scope(task, node, above, at, inside=True)
        shape = self.places.shape(task, node, above, at)
        rises = self.decider.decide(Compare((">",), (before.tree(node.step, node.env), Int(0))), before)
        for piece in node.pieces:
            side = None
            if piece.until is not None:
                cut = before.tree(piece.until, node.env)
                side = Compare(("<",) if rises is not False else (">",), (shape.value, cut))
            yield side, inside

    def count(
        self,
        task: Task,
        expr: Expr,
        node: Step,
        around: tuple[Around, ...] = (),
        rank: Mapping[str, int] | None = None,
    ) -> Bound:
        """Return how often a step is done that has a count (`skip`); a negative bound means never."""
        scope = self._scope(task, node, around, rank or {})
        poly = poly_of(scope.tree(expr, node.env))
        value = value_of(poly)
        if free(scope.tree(expr, node.env)) & THREAD_NAMES:
            poly = poly_of(scope.private(f"`{expr.text}`"))
        elif value is not None and value > self.store.rounds:
            return self.store.large(value)
        return self.store.bound(poly, scope)

    # ---- conditions ----------------------------------------------------------------------------------------

    def guard(self, task: Task, node: Guard, around: tuple[Around, ...], rank: Mapping[str, int]) -> Test:
        """Return whether a guard's `then` is done; for `when` and its kin, whether the condition holds."""
        scope = self._scope(task, node, around, rank)
        inner = around[-1] if around and isinstance(around[-1].node, Loop) else None
        match node.kind:
            case "first_iter" if inner is not None:
                return InRounds((True,), (False,))
            case "last_iter" if inner is not None:
                return Exceeds(inner.bound, inner.step, 0, value=False)
            case "every" if inner is not None and node.period and node.period > 0:
                late = (False,) * max(0, node.start or 0)
                return InRounds(late, (True, *(False,) * (node.period - 1)))
            case "skippable" if around and isinstance(around[0].node, TileLoop):
                return opposite(self.skip(task, around[0].node, around[:1], rank))
            case "when" if node.condition is not None:
                self._privately(node, (node.condition,), (node.then, node.otherwise), scope)
                tree = scope.tree(node.condition, node.env, rounds=True)
                if node.key is not None:
                    return self._named(node, node.key, tree, scope)
                return self._condition(tree, scope, node.condition)
        return self._unknown(node.verb, scope)

    def holds(
        self, task: Task, expr: Expr, node: Step, around: tuple[Around, ...], rank: Mapping[str, int]
    ) -> Test:
        """Return whether a condition of a step holds there."""
        scope = self._scope(task, node, around, rank)
        return self._condition(scope.tree(expr, node.env, rounds=True), scope, expr)

    def skip(self, task: Task, node: TileLoop, around: tuple[Around, ...], rank: Mapping[str, int]) -> Test:
        """Return whether `skip_if` of a loop over tiles leaves out the skippable blocks of a tile."""
        if node.skip_if is None:
            return FALSE
        at = tuple(sorted(rank.items()))
        scope = self.places.scope(task, node, (), at, inside=True)
        return self._condition(scope.tree(node.skip_if, node.env), scope, node.skip_if)

    def apart(self, task: Task, node: Guard | Loop) -> bool:
        """Whether a guard's condition or a loop's bound differs between the threads of a task."""
        exprs = (node.start, node.end, node.step) if isinstance(node, Loop) else (node.condition,)
        flat = [self.program.flat(expr, node.env) for expr in exprs if expr is not None]
        names = {name for expr in flat for name in expr.free}
        return bool(names & THREAD_NAMES) and not (names & THREAD_NAMES == {"warp"} and task.warps == 1)

    def _scope(
        self, task: Task, node: TreeNode, around: tuple[Around, ...], rank: Mapping[str, int]
    ) -> Scope:
        above: tuple[LoopNode, ...] = tuple(one.node for one in around)
        return self.places.scope(task, node, above, tuple(sorted(rank.items())))

    def _look_ahead(self, rank: Rank) -> None:
        """Note what bounds loops and what is compared with which constants, before a condition is asked."""
        clusters = sorted(self.program.cluster)
        found = [range(size) for _, size in clusters] if self.program.cluster_size <= _MOST_RANKS else []
        ranks = {rank} | {
            tuple(zip((a for a, _ in clusters), at, strict=True)) for at in product(*found) if found
        }
        new = sorted(ranks - self._seen)
        self._seen |= ranks
        places = [
            (task, node, tuple(one for one in above if isinstance(one, TileLoop | Loop)), at)
            for at in new
            for task in self.program.tasks
            for node, above in walk(task.tree)
        ]
        for task, node, above, at in places:
            if isinstance(node, Loop):
                self.store.expect(poly_of(self.places.shape(task, node, above, at).bound))
            elif isinstance(node, Step) and isinstance(node.model, Skip):
                scope = self.places.scope(task, node, above, at)
                self.store.expect(poly_of(scope.tree(node.model.count, node.env)))
        spare = Store(self.symbols, self.decider, self.store.rounds)
        spare.forms = self.store.forms
        collector = Conditions(spare, self.decider, self.cuts, collecting=True)
        for task, node, above, at in places:
            for tree, scope in self._asked(task, node, above, at):
                if expression(tree) is not None:
                    collector.test(tree, scope)

    def _asked(
        self, task: Task, node: TreeNode, above: tuple[LoopNode, ...], at: Rank
    ) -> Iterator[tuple[Node, Scope]]:
        """Yield the conditions that a node asks."""
        if isinstance(node, Guard) and node.condition is not None and node.key is None:
            scope = self.places.scope(task, node, above, at)
            yield scope.tree(node.condition, node.env, rounds=True), scope
        elif isinstance(node, TileLoop) and node.skip_if is not None:
            scope = self.places.scope(task, node, (), at, inside=True)
            yield scope.tree(node.skip_if, node.env), scope
        elif isinstance(node, Step) and isinstance(node.model, Tcgen05Mma):
            scope = self.places.scope(task, node, above, at)
            yield scope.tree(node.model.accumulate, node.env, rounds=True), scope
        elif isinstance(node, Loop) and node.split:
            for side, scope in self._cuts(task, node, above, at):
                if side is not None:
                    yield side, scope

    def _condition(self, tree: Node, scope: Scope, written: Expr) -> Test:
        self._look_ahead(scope.rank)
        if expression(tree) is None:
            return self._unknown(written.text, scope)
        return self.conditions.test(tree, scope)

    def _unknown(self, text: str, scope: Scope) -> Test:
        """Ask for a fact of one place."""
        key = (scope.task.label, scope.rank, scope.place, text)
        short = text if len(text) <= 60 else text[:57] + "..."
        name = f"{short} in `{scope.task.label}`{scope.places.of_rank(scope.rank)}"
        return Ask(self.store.fact(key, name, scope.depth, None))

    def _named(self, node: Guard, key: str, tree: Node, scope: Scope) -> Test:
        """Ask for the fact with a key."""
        self._keyed(key, (*node.route, "key"))
        own = scope.rank if scope.differs(tree) else ()
        depth = scope.depth
        if not free(tree) & THREAD_NAMES:
            depth = min(depth, self.symbols.depth(free(tree)))
        name = f"`key: {key}`{scope.places.of_rank(own) if own else ''}"
        return Ask(self.store.fact(("key", key, own), name, depth, None))

    # ---- promises ------------------------------------------------------------------------------------------

    def _keyed(self, key: str, route: tuple[str | int, ...]) -> None:
        self.decider.promise(f"`key: {key}` is one value in all tasks", route)

    def _privately(
        self, node: Guard | Loop, exprs: tuple[Expr, ...], inner: tuple[Block, ...], scope: Scope
    ) -> None:
        """Note the promises about the names of conditions and bounds: constant params and private values."""
        flat = [self.program.flat(expr, node.env) for expr in exprs]
        for name in sorted({name for expr in flat for name in expr.indexed}):
            tensor = self.program.tensors.get(name)
            if tensor is not None and tensor.constant:
                self.decider.promise(
                    f"no kernel before this one writes `{name}`", (*tensor.route, "constant")
                )
        if not _orders(inner):
            return
        for name in sorted({name for expr in flat for name in expr.free}):
            version = scope.seen.get(name)
            step = version.step if version is not None else None
            if version is not None and not (step is not None and step.verb == "count_in"):
                kind = "register" if name in self.program.registers else "token"
                text = f"all threads of `{scope.task.label}` have the same value of the {kind} `{name}`"
                self.decider.promise(text, node.route)


def _orders(inner: tuple[Block, ...]) -> bool:
    """Whether blocks hold a ring step or a collective operation."""
    return any(
        isinstance(node, Step) and node.verb not in _PLAIN for block in inner for node, _ in walk(block)
    )
