"""A task's schedule as statements: blocks, loops and guards around the steps."""

from __future__ import annotations

from dataclasses import replace

from tsc.emit import registers
from tsc.emit.brackets import find_brackets
from tsc.emit.comments import step_text
from tsc.emit.function import Function
from tsc.emit.hazards import find_hazards
from tsc.emit.kernel import Kernel
from tsc.emit.loops import Loops
from tsc.emit.operations import lower_operation
from tsc.emit.plan import Comment, Compound, Item, Statement
from tsc.emit.queue import Tiles
from tsc.emit.ranges import launch_ranges
from tsc.emit.rings import Rings
from tsc.emit.scope import Scope
from tsc.emit.steps import Steps
from tsc.emit.tensor_waits import Waits, tensor_waits
from tsc.emit.works import Works
from tsc.expr import EvalError, Expr, ExprError, build
from tsc.expr.tree import Compare, Ref, Unary
from tsc.ops.base import Engine
from tsc.ops.lowering import Refused
from tsc.ops.registry import BY_VERB
from tsc.ops.store_wait import StoreWait
from tsc.program.accesses import touches
from tsc.program.model import Task
from tsc.program.tree import Block, Guard, Loop, Node, Step, TileLoop
from tsc.source.document import Document
from tsc.spec.schedule import Do


class Schedule:
    """Lowers one task instance."""

    def __init__(
        self, kernel: Kernel, works: Works, task: Task, symbolic: bool, document: Document | None
    ) -> None:
        self.kernel, self.works, self.task, self.document = kernel, works, task, document
        self.program = kernel.program
        self.function = Function(kernel, task, symbolic)
        self.rings = Rings(self.function)
        self.brackets = find_brackets(kernel, task, self.rings)
        self.hazards = find_hazards(kernel, task, self.brackets)
        for route in self.hazards.impossible:
            kernel.refuse(route, "threads that take different ways here would have to meet inside")
        for route, sentence in self.hazards.refused.items():
            kernel.refuse(route, sentence)
        self.tensor_waits = tensor_waits(self.rings)
        self.steps = Steps(self.function, self.rings, self.brackets)
        self.queue = Tiles(self.function, self.steps)
        self.loops = Loops(self.function, self.block)
        self.skipped = ""

    def lower(self) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
        """Return the declarations and the schedule."""
        scope = Scope(launch_ranges(self.kernel, self.task), {}, self.promises(), {})
        body = self.block(self.task.tree, scope)
        body += self.waits(self.tensor_waits.at_end)
        if self._stores_at_end():
            wait: Item = Statement("store_read", {"pending": 0})
            leader = self.function.leader()
            body.append(Comment("Shared memory outlives the stores that read it."))
            body.append(Compound("if", {"condition": leader}, (wait,)) if leader else wait)
        body += self._drains()
        return (*self._head(), *self.function.prelude.items()), tuple(body)

    def _drains(self) -> list[Item]:
        """Wait until every stage that this task filled has come back, where peers or the tensor core give it
        back: their last arrivals have to land before this CTA's shared memory goes away.
        """
        items: list[Item] = []
        peers = False
        for (memory, copy), step in self.rings.drained().items():
            peers |= self.kernel.reaches(memory.name, copy)
            try:
                items += self.rings.drain(self.rings.end(memory, copy, "write"))
            except Refused as refused:
                self.kernel.refuse(step.route, refused.sentence)
        who = "Peers'" if peers else "The tensor core's"
        note = Comment(f"{who} last arrivals have to land while this CTA's shared memory is there.")
        return [note, *items] if items else []

    def promises(self) -> tuple[Expr, ...]:
        """Return what holds throughout: the spec's assertions, and where blocks lie in its grid."""
        found = [self.program.values.flat(expr) for expr in self.program.spec.assert_]
        given = self.program.grid if self.program.queue is None else None
        for axis, extent in zip("xyz", given or (), strict=False):
            found.append(build(Compare(("<",), (Ref(f"block.{axis}"), extent.tree))))
            found.append(build(Compare(("==",), (Ref(f"grid.{axis}"), extent.tree))))
        return tuple(found)

    def _head(self) -> list[Item]:
        function, siblings = self.function, self.kernel.siblings(self.task)
        items: list[Item] = []
        if function.uses_task:
            barrier = function.vary([task.barrier_id or 0 for task in siblings])
            first = function.vary([task.first_warp or 0 for task in siblings])
            items.append(
                Statement("task", {"threads": self.task.threads, "barrier": barrier, "first": first})
            )
        if function.uses_leader:
            items.append(Statement("leader"))
        return items

    def _stores_at_end(self) -> bool:
        """Whether stores may still read shared memory when the schedule ends; those of store rings may."""
        return any(
            step.verb == "acquire" and pipeline is not None and pipeline.store_ring
            for step in self.task.steps()
            for memory, copy in self.rings.members(step)
            for pipeline in (self.program.pipelines.get((memory.name, copy)),)
        ) or self._pending(self.task.tree, False)

    def _pending(self, block: Block, pending: bool) -> bool:
        """Whether a store may be pending after a block; loops may have no round."""
        for node in block:
            match node:
                case Step(verb="store_wait", model=StoreWait() as model):
                    left = self.function.flat(model.store_wait, node.env).value
                    pending = pending and left != 0
                case Step():
                    pending = pending or self._stores(node)
                case Guard():
                    pending = self._pending(node.then, pending) or self._pending(node.otherwise, pending)
                case Loop():
                    for piece in node.pieces:
                        pending = self._pending(piece.body, pending) or pending
                case TileLoop():
                    pending = self._pending(node.body, pending) or pending
        return pending

    def _stores(self, step: Step) -> bool:
        program, task = self.program, self.task
        found = touches(step, program.meanings, program.works, task.name, task.replica)
        return any(touch.engine is Engine.STORE for touch in found)

    # ---- blocks --------------------------------------------------------------------------------------------

    def block(self, block: Block, scope: Scope) -> list[Item]:
        """Lower a block."""
        items: list[Item] = []
        for node in block:
            try:
                items.extend(self.node(node, scope))
            except Refused as refused:
                self.kernel.refuse(node.route, refused.sentence)
            except (ExprError, EvalError) as error:
                self.kernel.refuse(node.route, error.message)
        return [*self.function.of_blocks.get(id(block), ()), *items]

    def node(self, node: Node, scope: Scope) -> list[Item]:
        """Lower one node, with the meeting before it that its threads would not all come to inside."""
        kinds = self.hazards.before.get(id(node), set())
        fence: list[Item] = [Statement("fence_async")] if "fence" in kinds else []
        fence += [Statement("fence_async_global")] if "global" in kinds else []
        sync = [self.steps.sync()] if "sync" in kinds else []
        waits = self.waits(self.tensor_waits.before.get(id(node), Waits()))
        return [*waits, *fence, *sync, *self.bare(node, scope)]

    def bare(self, node: Node, scope: Scope) -> list[Item]:
        """Lower one node by itself."""
        match node:
            case Step():
                return self.step(node, scope)
            case Loop():
                return self.loops.lower(node, scope)
            case Guard():
                return self.guard(node, scope)
            case TileLoop():
                return self.tiles(node, scope)

    # ---- steps ---------------------------------------------------------------------------------------------

    def step(self, step: Step, scope: Scope) -> list[Item]:
        """Lower a step, with the syncs and fences that it needs before it."""
        if self.queue.is_own(step):
            items = self.queue.step(step)
            own = self.waits(self.tensor_waits.ahead.get(step.index, Waits()))
            return [Comment(step_text(step, self.document)), *own, *items] if items else []
        if step.index in self.tensor_waits.refused:
            raise Refused(self.tensor_waits.refused[step.index])
        waits = self.tensor_waits.ahead.get(step.index, Waits())
        items = self.waits(replace(waits, fence_after=False))
        if step.index in self.hazards.fences:
            items.append(Statement("fence_async"))
        if step.index in self.hazards.global_fences:
            items.append(Statement("fence_async_global"))
        if step.index in self.hazards.syncs:
            items.append(self.steps.sync())
        if waits.fence_after:
            # Behind the sync: what others did comes to most threads by it.
            items.append(Statement("tensor_fence_after"))
        if isinstance(step.model, Do):
            items += self.works.call(self.function, self.rings, step, scope)
        elif step.verb in BY_VERB:
            items += lower_operation(
                self.function, self.rings, self.brackets, step, scope, BY_VERB[step.verb]
            )
        else:
            items += self.steps.lower(step, scope)
        return [Comment(step_text(step, self.document)), *items]

    def waits(self, waits: Waits) -> list[Item]:
        """Wait for what is moved between tensor memory and registers, and fence it."""
        items: list[Item] = []
        if waits.loads:
            for name in waits.fragments:
                registers.fragment(self.function, name)
            held = [own for name, own in self.kernel.spelled.items() if name in waits.fragments]
            items.append(Statement("tensor_wait_ld", {"held": held}))
        items += [Statement("tensor_wait_st")] if waits.stores else []
        items += [Statement("tensor_fence_before")] if waits.fence_before else []
        items += [self.steps.sync()] if waits.meets else []
        return [*items, *([Statement("tensor_fence_after")] if waits.fence_after else [])]

    # ---- guards --------------------------------------------------------------------------------------------

    def guard(self, node: Guard, scope: Scope) -> list[Item]:
        """Lower a conditional block."""
        match node.kind:
            case "when":
                return self.when(node, scope)
            case "skippable":
                condition = f"!{self.skipped}"
            case _:
                condition = self.loops.round_condition(node, scope)
        return [Compound("if", {"condition": condition}, tuple(self.block(node.then, scope.inside())))]

    def when(self, node: Guard, scope: Scope) -> list[Item]:
        """Lower `when`, `when_true` and `when_false`; a condition known when built leaves one side."""
        condition, function = node.condition, self.function
        if condition is None:
            raise Refused("a condition that is not there")
        flat = function.flat(condition, node.env)
        opposite = build(Unary("not", flat.tree))
        inside = scope.inside()
        known = flat.value
        symbolic = function.symbolic and "replica" in function.resolved(condition, node.env, scope).free
        if known is not None and not symbolic:
            return self.block(node.then if known else node.otherwise, scope)
        then = self.block(node.then, inside if known is not None else inside.knowing(flat))
        otherwise = self.block(node.otherwise, inside if known is not None else inside.knowing(opposite))
        text = function.text(condition, node.env, scope)
        word = "if constexpr" if known is not None else "if"
        if not node.then:
            own = function.resolved(condition, node.env, scope)
            text = function.text(build(Unary("not", own.tree)), node.env, scope)
            return [Compound("if", {"condition": text, "word": word}, tuple(otherwise))]
        return [Compound("if", {"condition": text, "word": word}, tuple(then), tuple(otherwise))]

    # ---- tiles ---------------------------------------------------------------------------------------------

    def tiles(self, node: TileLoop, scope: Scope) -> list[Item]:
        """Lower the loop over tiles."""
        queue, function = self.program.queue, self.function
        before = self.queue.begin(node, scope)
        outer_lets, function.tile_lets = function.tile_lets, {}
        axes = queue.axes if queue is not None else ()
        spelled: dict[str, str] = {f"tile.{axis}": f"tile.{axis}" for axis, _ in axes}
        spelled["tile.seq"] = "tile.seq"
        inner = replace(scope.naming({}, spelled), certain="tile", tile=True).knowing(*self.queue.facts())
        body: list[Item] = []
        # Who does nothing but ask does not look at the tiles.
        skips = queue is not None and queue.skip_if is not None and not self.task.derived
        skip = function.text(self.queue.skip(), node.env, inner) if skips else ""
        # The others are made behind it: for a tile that nobody sees, what they read may not be there.
        asked = list(function.tile_lets.values())
        if node.skip_if is not None:
            text = function.text(node.skip_if, node.env, inner)
            self.skipped = function.names.free("skipped")
            body.append(Statement("constant", {"type": "bool", "name": self.skipped, "value": text}))
        body += [*self.rings.forget(), *self.block(node.body, inner)]
        made, function.tile_lets = list(function.tile_lets.values())[len(asked) :], outer_lets
        for name in list(function.spelled_lets):
            if name in self.program.lets and name not in function.prelude.lets:
                del function.spelled_lets[name]
        whole = [*made, *body]
        return self.queue.loop(node, before, asked, skip, whole, lambda steps: self.block(steps, inner))
