"""A task's schedule as an agent's body: loops, conditions, and the steps between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tsc.program.tree import Block as Schedule
from tsc.program.tree import Guard, Loop, Step, TileLoop
from tsc.program.tree import Node as ScheduleNode
from tsc.prove.asked import FALSE, TRUE, Around
from tsc.prove.machine import Block, Fence, If, Node, Test, Touch, Wait
from tsc.prove.machine import Item as Part
from tsc.prove.machine import Loop as MachineLoop
from tsc.prove.translate.accesses import Accesses
from tsc.prove.translate.agent import AgentMaker
from tsc.prove.translate.queue import QUEUE_VERBS, before_tiles, queue_step, steps_of_queue
from tsc.prove.translate.tensors import TILE, Round
from tsc.source.route import Route

RING_VERBS = frozenset(("acquire", "commit", "wait", "release", "try_acquire", "try_wait", "skip"))
ORDER_VERBS = frozenset(("take", "pass", "sync", "arrive"))


@dataclass(frozen=True, slots=True)
class Walker:
    """Walks the schedule of one agent; `around` are the loops that it is in, outermost first."""

    maker: AgentMaker
    around: tuple[Around, ...] = ()

    def block(self, block: Schedule) -> Block:
        """Return the instructions of a block."""
        found: list[Node] = []
        for node in block:
            found += self._before(node)
            found += self.node(node)
        return tuple(one for i, one in enumerate(found) if not (i and _again(found[i - 1], one)))

    def _before(self, node: ScheduleNode) -> Sequence[Node]:
        """Return what the generator puts before a node that not all threads of the task enter."""
        kinds = self.maker.view.hazards.before.get(id(node), set())
        found: list[Node] = [Fence(node.route)] if "fence" in kinds else []
        found += [Fence(node.route, tensors=True)] if "global" in kinds else []
        return [*found, *(self.maker.sync(node.route) if "sync" in kinds else [])]

    def node(self, node: ScheduleNode) -> Sequence[Node]:
        """Return the instructions of one node."""
        match node:
            case Step():
                return self.step(node)
            case TileLoop():
                return [*self.accesses.indexed(node), *self.tiles(node)]
            case Loop():
                return [*self.accesses.indexed(node), *self.loop(node)]
            case Guard():
                return [*self.accesses.indexed(node), *self.guard(node)]

    # ---- loops and conditions ------------------------------------------------------------------------------

    @property
    def accesses(self) -> Accesses:
        """Return what translates accesses at this place."""
        loops = [
            Round(TILE if isinstance(one.node, TileLoop) else one.node.variable, one.start, one.step)
            for one in reversed(self.around)
        ]
        return Accesses(self.maker, tuple(loops), self.around)

    @property
    def place(self) -> dict[str, int]:
        """Return where this CTA stands in its cluster."""
        return self.maker.frame.cluster.places(self.maker.cta)

    def tiles(self, node: TileLoop) -> list[Node]:
        """Return the loop over the tiles."""
        bound = self.maker.frame.questions.tiles(self.maker.task, node)
        inner = replace(self, around=(*self.around, Around(node, 0, 1, bound)))
        body = inner.block(node.body)
        queue = self.maker.frame.dynamic
        if queue is not None and queue.skip_if is not None and not self.maker.task.derived:
            # Answers are taken for tiles as well that nobody sees.
            skips = replace(node, skip_if=queue.skip_if)
            test = self.maker.frame.questions.skip(self.maker.task, skips, inner.around, self.place)
            body = _either(node.route, test, inner.block(steps_of_queue(self.maker, node)), body)
        before = before_tiles(self.maker, node)
        return [*before, MachineLoop(node.route, bound, body, tiles=True)] if body else []

    def loop(self, node: Loop) -> list[Node]:
        """Return a loop; where it is split, each round asks in which piece it is."""
        questions, task = self.maker.frame.questions, self.maker.task
        shape = questions.loop(task, node, self.around, self.place)
        inner = replace(self, around=(*self.around, shape))
        body = inner.block(node.pieces[-1].body)
        if node.split:
            # What is in no piece before the last one is in that.
            tests = questions.pieces(task, node, inner.around, self.place)
            for piece, test in reversed(list(zip(node.pieces[:-1], tests, strict=False))):
                body = _either(node.route, test, inner.block(piece.body), body)
        return [MachineLoop(node.route, shape.bound, body, shape.start, shape.step)] if body else []

    def guard(self, node: Guard) -> list[Node]:
        """Return a conditional block, or the side that is known to be taken."""
        questions, task = self.maker.frame.questions, self.maker.task
        if questions.apart(task, node):
            # Some threads go one way and some the other, so both come.
            return [*self.block(node.then), *self.block(node.otherwise)]
        test = questions.guard(task, node, self.around, self.place)
        return list(_either(node.route, test, self.block(node.then), self.block(node.otherwise)))

    # ---- steps ---------------------------------------------------------------------------------------------

    def step(self, step: Step) -> list[Node]:
        """Return the instructions of a step, behind the fences and syncs that it needs."""
        maker = self.maker
        if step.verb in QUEUE_VERBS and (found := queue_step(maker, step)) is not None:
            return found
        found = maker.fences(step)
        match step.verb:
            case "pdl_wait" | "pdl_launch":
                return [*found, *self.launch(step)]
            case "task_sync":
                return [*found, *maker.sync(step.route)]
            case "count_in":
                return [*found, *maker.count_in(step), *self.accesses.step(step)]
            case "store_wait":
                return [*found, *maker.store_wait(step)]
            case "wgmma_wait":
                return [*found, *maker.wgmma_wait(step)]
            case verb if verb in ORDER_VERBS:
                return [*found, *maker.order_step(step)]
            case verb if verb in RING_VERBS:
                return [*self.accesses.indexed(step), *found, *maker.ring_step(step, self.around)]
        found += self.accesses.step(step)
        early = maker.view.early.get(step.index)
        return found if early is None else [*found, *maker.commit(early, maker.view.members(early))]

    def launch(self, step: Step) -> list[Node]:
        """Wait for the kernel before, or let the next one start once that is over."""
        frame = self.maker.frame
        if frame.outside is None or frame.before is None:
            return []
        if step.verb == "pdl_launch":
            return [Touch(step.route, (Part(((frame.outside,),), False),))]
        ring = frame.lines.barriers[frame.before].ring
        return [Wait(step.route, frame.before, self.maker.cursor(("pdl",), ring), moves=False)]


def _again(before: Node, node: Node) -> bool:
    """Whether an access only repeats the one right before it, as those of a `repeat` do."""
    return isinstance(node, Touch) and node.engine is None and node == before


def _either(route: Route, test: Test, then: Block, otherwise: Block) -> Block:
    """Return one of two blocks by a test, without it where its value is known."""
    if test in (TRUE, FALSE) or then == otherwise:
        return then if test == TRUE or then == otherwise else otherwise
    return (If(route, test, then, otherwise),)
