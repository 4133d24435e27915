"""The instructions of what touches memory: operations, works, and tensors read inside expressions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tsc.ops.base import Engine as By
from tsc.ops.base import Mode
from tsc.ops.cluster_copy import ClusterCopy
from tsc.ops.tcgen05_mma import Tcgen05Mma
from tsc.program.accesses import Touch as Access
from tsc.program.model import Memory, Program
from tsc.program.names import expressions
from tsc.program.tree import Guard, Loop, Step, TileLoop
from tsc.prove.asked import FALSE, TRUE, Around
from tsc.prove.machine import Block, Cells, Fence, If, Item, Load, Node, Target, Test, Touch
from tsc.prove.translate.agent import AgentMaker
from tsc.prove.translate.cluster import conditions
from tsc.prove.translate.fills import destinations
from tsc.prove.translate.store_rings import committed
from tsc.prove.translate.tensors import ENGINES as ENGINE_OF
from tsc.prove.translate.tensors import Round, only
from tsc.prove.translate.translation import SegmentSource
from tsc.source.route import Route
from tsc.spec.schedule import Do

# Engines that see memory through the asynchronous proxy and read what a ring's producers left there.
READERS = frozenset((By.STORE, By.WGMMA, By.TCGEN05))


@dataclass(slots=True)
class Accesses:
    """Translates the accesses of one agent; `loops` are those around, innermost first, `around` outermost."""

    maker: AgentMaker
    loops: tuple[Round, ...] = ()
    around: tuple[Around, ...] = ()

    def step(self, step: Step) -> list[Node]:
        """Return the instructions of an operation or a work."""
        maker = self.maker
        touches = list(maker.program.touches(step, maker.task))
        found = [*self.indexed(step), *self._outside(step.route, touches)]
        by: dict[By, list[Access]] = {}
        for touch in touches:
            by.setdefault(touch.engine, []).append(touch)
        found += self._fence(step, touches)
        for engine, accesses in by.items():
            match engine:
                case By.THREAD | By.TMEM:
                    found += self._plain(step, accesses) if maker.works else []
                case By.TMA:
                    found += self._load(step, accesses) if maker.leads else []
                case By.STORE:
                    found += self._store(step, accesses) if maker.leads else []
                case By.WGMMA:
                    found += self._wgmma(step, accesses) if maker.works else []
                case By.TCGEN05:
                    found += self._issue(step, accesses, "tcgen05") if maker.leads else []
                case By.CP_ASYNC:
                    found += self._copy(step, accesses) if maker.works else []
        return found

    # ---- memory --------------------------------------------------------------------------------------------

    def item(
        self,
        step: Step,
        touch: Access,
        share: tuple[int, int] | None = None,
        cta: int | None = None,
        adds: bool | None = None,
    ) -> Item | None:
        """Return the bytes of an operand in memory, at the stage that it means.

        `adds`: whether an accumulator's old value counts; of other updates nothing is known.
        """
        maker, operand = self.maker, touch.operand
        memory = maker.program.memories.get(operand.name) if operand is not None else None
        if operand is None or memory is None or memory.kind == "signal":
            return None
        buffer = memory.buffer(touch.reference.buffer)
        name = buffer.name if buffer is not None else touch.reference.buffer
        place = maker.cta if cta is None else cta
        cells = maker.frame.bank.cells(memory, operand.copy, name, place, share)
        # What is updated may be written first, unless that is known.
        fresh = touch.mode == "read" or (touch.mode == "update" and adds is True)
        if not memory.ring:
            return Item(cells, touch.writes, fresh=fresh)
        cursor = self.stage(step, memory, operand.copy, touch.mode)
        if cursor is None:
            every = tuple(segment for stage in cells for segment in stage)
            return Item((every,), touch.writes, fresh=fresh)
        if cursor == maker.waited(memory, operand.copy):
            return Item(cells, touch.writes, cursor, 1, filled=touch.reads and adds is not False)
        anew = fresh and self._emptied(memory, operand.copy, cells)
        return Item(cells, touch.writes, cursor, 1, fresh and not anew, anew)

    def _emptied(self, memory: Memory, copy: int, cells: Cells) -> bool:
        """Whether bytes hold nothing to be relied upon once the agent has acquired their stage.

        What others update in a stage before they give it back is there for who fills it next.
        """
        maker = self.maker
        uses = maker.frame.kernel.program.uses
        if any(
            use.waits and use.engine_writes for use in uses if (use.ring, use.copy) == (memory.name, copy)
        ):
            return False
        if maker.part == "others" and not maker.view.rings.everybody(memory, copy, "write"):
            return False  # passes over the stage without looking at it
        shared = maker.frame.shared(memory, copy)
        fills = maker.fills(memory, copy) or ((),) * len(cells)
        return all(set(mine) <= set(own) - shared for mine, own in zip(cells, fills, strict=True))

    def stage(self, step: Step, memory: Memory, copy: int, mode: Mode) -> int | None:
        """Return the counter whose last stage an access means."""
        maker = self.maker
        pipeline = maker.program.pipelines.get((memory.name, copy))
        waited = maker.view.reads_where_it_waits(step, memory, copy, mode == "read")
        if waited is None:
            maker.frame.leave_out(step.route, f"which stage of `{memory.name}` is meant")
            return None
        if pipeline is not None and pipeline.store_ring:
            return maker.place(memory, copy, committed(maker, memory, copy) if mode == "read" else "acquire")
        return maker.place(memory, copy, "wait" if waited else "acquire")

    def register(self, touch: Access) -> Item | None:
        """Return a set of registers that wgmma works on beside the task's threads."""
        maker, operand = self.maker, touch.operand
        if operand is None or operand.kind != "registers" or operand.name not in asynchronous(maker):
            return None
        segment = maker.registers.get(operand.name)
        if segment is None:
            source = SegmentSource("registers", maker.cta, (), operand.name, maker.task.label)
            segment = maker.registers[operand.name] = maker.frame.bank.add(
                source, f"`{operand.name}` of `{maker.task.label}`"
            )
        return Item(((segment,),), touch.writes)

    def _memory(self, step: Step, accesses: list[Access]) -> list[Item]:
        return [item for touch in accesses if (item := self.item(step, touch)) is not None]

    def _registers(self, accesses: list[Access]) -> list[Item]:
        return [item for touch in accesses if (item := self.register(touch)) is not None]

    # ---- by engine -----------------------------------------------------------------------------------------

    def _plain(self, step: Step, accesses: list[Access]) -> list[Node]:
        items = [*self._memory(step, accesses), *self._registers(accesses)]
        found: list[Node] = [Touch(step.route, tuple(items))] if items else []
        found += self._global(step.route, accesses, None)
        # What threads write to tensor memory waits for itself and is fenced before anyone hears of it.
        if any(touch.engine is By.TMEM and touch.writes for touch in accesses) and any(
            touch.operand is not None and touch.operand.kind == "tmem" for touch in accesses
        ):
            found.append(Fence(step.route))
        return found

    def _copy(self, step: Step, accesses: list[Access]) -> list[Node]:
        engine = self.maker.engine("cp_async")
        items = self._memory(step, accesses)
        return [*self._global(step.route, accesses, None), Touch(step.route, tuple(items), engine)]

    def _issue(self, step: Step, accesses: list[Access], name: str) -> list[Node]:
        def issued(adds: bool | None) -> Block:
            items = [
                item
                for touch in accesses
                for cta, _ in destinations(self.maker.frame, step, touch, self.maker.cta)
                if (item := self.item(step, touch, cta=cta, adds=adds)) is not None
            ]
            return (Touch(step.route, tuple(items), self.maker.engine(name)),)

        if not isinstance(step.model, Tcgen05Mma):
            return list(issued(None))
        place = self.maker.frame.cluster.places(self.maker.cta)
        test = self.maker.frame.questions.holds(
            self.maker.task, step.model.accumulate, step, self.around, place
        )
        if test in (TRUE, FALSE):
            return list(issued(test == TRUE))
        return [If(step.route, test, issued(True), issued(False))]

    def _wgmma(self, step: Step, accesses: list[Access]) -> list[Node]:
        registers = tuple(self._registers(accesses))
        return [
            Touch(step.route, tuple(self._memory(step, accesses)), self.maker.engine("wgmma")),
            Touch(step.route, registers, self.maker.engine("wgmma registers")),
        ]

    def _store(self, step: Step, accesses: list[Access]) -> list[Node]:
        maker = self.maker
        reads = tuple(self._memory(step, accesses))
        found: list[Node] = [Touch(step.route, reads, maker.engine("store"))]
        # Groups are counted, so that an engine which writes what somebody reads has all of them.
        if maker.stores_are_read:
            engine = maker.engine("store to")
            variants: Block = (Touch(step.route, (), engine),)
            for test, items in self._tensor_items(accesses):
                touch = Touch(step.route, items, engine)
                variants = only(step.route, test, (touch,), variants)
            found += variants
        return found

    def _load(self, step: Step, accesses: list[Access]) -> list[Node]:
        maker = self.maker
        target = next((touch for touch in accesses if touch.writes and touch.operand is not None), None)
        memory = maker.program.memories.get(target.operand.name) if target and target.operand else None
        if target is None or target.operand is None or memory is None:
            return []
        copy = target.operand.copy
        pipeline = maker.program.pipelines.get((memory.name, copy))
        if not memory.ring or pipeline is None:
            sentence = f"when the load into `{target.reference}` is there"
            maker.frame.leave_out(step.route, sentence)
            return []
        if maker.lines.landings(maker.task, (memory.name,), copy) is None:
            maker.frame.leave_out(step.route, f"how many copies come to a stage of `{memory.name}`")
            return []
        targets = tuple(self._targets(step, target, memory, copy))
        if not targets:
            return []
        cursor, stages = targets[0].item.cursor, max(1, memory.stages or 1)
        if cursor is None:
            return []
        barrier = targets[0].barrier
        # What a copy reads, it reads until its bytes have landed.
        sources = [item for touch in accesses if not touch.writes and (item := self.item(step, touch))]
        reads = (Item(item.cells * stages, False, cursor, 1, item.fresh) for item in sources)
        targets = (*(Target(barrier, item) for item in reads), *targets)
        variants: Block = (Load(step.route, targets),)
        for test, items in self._tensor_items(accesses):
            # The tensor is read until the bytes have landed.
            read = [Item(item.cells * stages, False, cursor, 1) for item in items]
            load = Load(step.route, (*targets, *(Target(barrier, item) for item in read)))
            variants = only(step.route, test, (load,), variants)
        return list(variants)

    def _targets(self, step: Step, touch: Access, memory: Memory, copy: int) -> Iterator[Target]:
        """Yield where the bytes of a load go: every CTA that shares it gets this one's part."""
        maker, cluster = self.maker, self.maker.frame.cluster
        for cta, share in destinations(maker.frame, step, touch, maker.cta):
            item = self.item(step, touch, share, cta)
            if item is not None and item.cursor is not None:
                # Bytes for the tensor cores of a pair are counted at its leader.
                home = cluster.pair_of(cta)[0] if maker.lines.paired((memory.name,), copy) else cta
                # The bytes of a copy are announced by the CTA that they come to.
                weight = int(isinstance(step.model, ClusterCopy))
                yield Target(maker.lines.barrier(memory, copy, "write", home), item, weight)

    # ---- tensors -------------------------------------------------------------------------------------------

    def _tensor_items(self, accesses: list[Access]) -> Iterator[tuple[Test | None, tuple[Item, ...]]]:
        """Yield what is touched of tensors that need an order, with the test for the rounds that matter."""
        maker, tensors = self.maker, self.maker.frame.tensors
        for touch in accesses:
            name = touch.operand.name if touch.operand is not None else ""
            if name not in tensors.writers:
                continue
            writer = (maker.task.label, ENGINE_OF.get(touch.engine, "thread"))
            reads = touch.mode == "read" or (touch.mode == "update" and touch.engine is By.THREAD)
            rounds: dict[Test | None, list[Item]] = {}
            for round_ in tensors.rounds(name):
                test = tensors.in_round(name, self.loops, round_)
                found = tensors.segments(name, writer, reads, touch.writes, maker.cta, round_)
                for segment, writes in found:
                    rounds.setdefault(test, []).append(Item(((segment,),), writes))
            yield from ((test, tuple(items)) for test, items in rounds.items())

    def _global(self, route: Route, accesses: list[Access], engine: int | None) -> list[Node]:
        found: list[Node] = []
        for test, items in self._tensor_items(accesses):
            found += only(route, test, (Touch(route, items, engine),))
        return found

    # ---- the kernel before ---------------------------------------------------------------------------------

    def _outside(self, route: Route, accesses: list[Access]) -> list[Node]:
        found = [touch.operand for touch in accesses if touch.engine is not By.PREFETCH]
        return self.of_outside(route, [one.name for one in found if one is not None])

    def of_outside(self, route: Route, names: list[str]) -> list[Node]:
        """Return the read of what the kernels before write, where a tensor is not promised to be constant."""
        maker = self.maker
        tensors = [maker.program.tensors[name] for name in names if name in maker.program.tensors]
        if maker.frame.outside is None or all(tensor.constant for tensor in tensors):
            return []
        return [Touch(route, (Item(((maker.frame.outside,),), False),))]

    def indexed(self, node: Step | Loop | Guard | TileLoop) -> list[Node]:
        """Return the reads of tensors inside the expressions of a node."""
        if self.maker.frame.outside is None:
            return []
        return self.of_outside(node.route, list(asked_of(self.maker.program, node, self.maker.task.derived)))

    def _fence(self, step: Step, accesses: list[Access]) -> list[Node]:
        """Return the fence between copies by cp.async, seen at a barrier, and an engine that reads them."""
        maker = self.maker
        for touch in accesses:
            operand = touch.operand
            if touch.engine not in READERS or touch.mode != "read" or operand is None:
                continue
            if operand.name in maker.program.memories:
                writes = maker.frame.kernel.engines(operand.name, operand.copy)[1]
                if By.CP_ASYNC.value in writes:
                    return [Fence(step.route)]
        return []


def asked_of(program: Program, node: Step | Loop | Guard | TileLoop, derived: bool) -> dict[str, str]:
    """Return the tensors that a node's expressions read; of the queue's, each with the queue's key."""
    queue = program.queue
    found = [(expr, "") for expr in conditions(node)]
    names: dict[str, str] = {}
    if isinstance(node, Step):
        fields = () if isinstance(node.model, str) else type(node.model).model_fields
        found = [(expr, "") for field in fields for _, expr in expressions(getattr(node.model, field), ())]
    elif isinstance(node, TileLoop) and queue is not None and not derived:
        # Who takes tiles reads the order where a tensor has it, and asks which of them nobody sees.
        found += [] if queue.skip_if is None else [(queue.skip_if, "skip_if")]
        names |= {queue.order.from_: "order"} if queue.order.kind == "table" else {}
    for expr, key in found:
        names = {name: key for name in sorted(program.flat(expr, node.env).indexed)} | names
    return names


def asynchronous(maker: AgentMaker) -> frozenset[str]:
    """Return the registers on which wgmma works in a task."""
    if maker.fragments is None:
        maker.fragments = frozenset(
            touch.operand.name
            for step in maker.task.steps()
            if not isinstance(step.model, str | Do)
            for touch in maker.program.touches(step, maker.task)
            if touch.engine is By.WGMMA and touch.operand is not None and touch.operand.kind == "registers"
        )
    return maker.fragments
