"""A task's ends of rings: which C++ variables they have, and what their steps print."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tsc.emit.fragments import completions
from tsc.emit.function import Function
from tsc.emit.held import End, Held, analyse
from tsc.emit.plan import Compound, Item, Statement
from tsc.emit.ring_places import RingPlaces
from tsc.emit.scope import Scope
from tsc.expr import Expr
from tsc.ops.base import Engine
from tsc.ops.lowering import Refused
from tsc.program.accesses import touches
from tsc.program.arrivals import Side, Who, steps_of, who
from tsc.program.expand import operand_of
from tsc.program.model import Memory, Pipeline
from tsc.program.tree import Step

ASYNC_READERS = frozenset(("store", "wgmma", "tcgen05"))


@dataclass(frozen=True, slots=True)
class RingEnd:
    """One side of one ring copy in one task, as C++ variables.

    `take` is the cursor of the next stage to take, `give` that of the oldest one held; one serves both
    where no more
    than one is ever held. `stage` is the C++ of the stage taken last. `held` counts where the number is not
    known.
    """

    ring: Memory
    copy: int
    side: Side
    pipeline: Pipeline
    label: str
    take: str
    give: str
    stage: str
    held: str
    ready: str
    everybody: bool  # whether all threads wait, or the leader alone
    stride: int = 1  # stages from one that it takes to the next: the lanes of its side
    observes: bool = False  # it holds nothing

    @property
    def single(self) -> bool:
        """Whether one cursor serves both."""
        return self.take == self.give


class Rings(RingPlaces):
    """All ring ends of a task, made as they are met."""

    def __init__(self, function: Function) -> None:
        super().__init__(function)
        self.held: Held = analyse(self.task.tree, self._ends_of, self._keep)
        self.ends: dict[End, RingEnd] = {}
        self.touched = self._touched()
        self.completions = completions(self.program, self.task)

    def _touched(self) -> frozenset[tuple[str, int]]:
        """Return the rings whose payload the task touches."""
        program, task = self.program, self.task
        return frozenset(
            (touch.operand.name, touch.operand.copy)
            for step in task.steps()
            for touch in touches(step, program.meanings, program.works, task.name, task.replica)
            if touch.operand is not None
        )

    # ---- what a step names ---------------------------------------------------------------------------------

    def members(self, step: Step) -> tuple[tuple[Memory, int], ...]:
        """Return the rings of a ring step, those of a group apart; none for a queue."""
        reference = operand_of(step)
        if reference is None:
            return ()
        operand = self.kernel.meaning(reference, self.task, step)
        if operand is None:
            return ()
        names = self.program.meanings.group_members(reference.name)
        found = [
            (self.program.memories[name], operand.copy) for name in names if name in self.program.memories
        ]
        return tuple((memory, copy) for memory, copy in found if memory.ring)

    def _ends_of(self, step: Step) -> list[tuple[str, int, int]]:
        return [(memory.name, copy, memory.stages or 1) for memory, copy in self.members(step)]

    def _keep(self, step: Step) -> int:
        keep = getattr(step.model, "keep", None)
        return (
            0 if keep is None else int(self.program.meanings.values.integer(keep, step.route, step.env) or 0)
        )

    def keep_text(self, step: Step) -> str:
        """Return the C++ of how many stages stay held."""
        keep = getattr(step.model, "keep", None)
        return "0" if keep is None else self.function.build_text(keep, step.env, Scope({}, {}, (), {}))

    # ---- variables -----------------------------------------------------------------------------------------

    def end(self, memory: Memory, copy: int, side: Side) -> RingEnd:
        """Return one side of a ring copy, with its variables declared."""
        key: End = (memory.name, copy, side)
        if key not in self.ends:
            self.ends[key] = self._make(memory, copy, side, key)
        return self.ends[key]

    def waits_on(self, end: RingEnd) -> str:
        """Return the barriers that a side waits on."""
        return self.barriers(end.ring, end.copy, "empty" if end.side == "write" else "full")

    def signals(self, end: RingEnd) -> str:
        """Return the barriers that a side arrives at."""
        return self.barriers(end.ring, end.copy, "full" if end.side == "write" else "empty")

    def _make(self, memory: Memory, copy: int, side: Side, key: End) -> RingEnd:
        pipeline = self.pipeline(memory, copy)
        stages, prefix, held = pipeline.stages, self.prefix(memory, copy), self.held
        cursor = f"Cursor<{self.stages_text(memory)}>"
        observed = held.only_observes(key)
        deep = held.deepest.get(key, 1) > 1 or not held.certain(key) or key in held.looks_ahead
        deep = deep or pipeline.loaded  # it waits for the bytes of the oldest one
        word = "write" if side == "write" else "read"
        first = self.first(memory, side)
        take = give = (
            self._variable(f"{prefix}_{word}", cursor, first)
            if not (pipeline.store_ring and stages == 1)
            else ""
        )
        stage = "0" if stages == 1 else f"{take}.stage"
        counter = ready = ""
        if deep:
            give = self._variable(f"{prefix}_{'commit' if side == 'write' else 'release'}", cursor, first)
            if not held.certain(key):
                counter = self._variable(f"{prefix}_{'acquired' if side == 'write' else 'held'}", "int", "0")
        if (deep or observed or pipeline.store_ring) and stages > 1 and (memory.name, copy) in self.touched:
            stage = self._variable(f"{prefix}_{word}_stage", "u32", "0")
        if key in held.looks:
            ready = self._variable(f"{prefix}_{word}_ready", "bool", "false")
        everybody = pipeline.store_ring or self.everybody(memory, copy, side)
        stride = steps_of(memory, self.task, side)[1]
        made = RingEnd(memory, copy, side, pipeline, prefix, take, give, stage, counter, ready, everybody)
        return replace(made, stride=stride, observes=observed)

    def observer(self, memory: Memory, copy: int) -> RingEnd:
        """Return the end by which a task looks on: beside stages that it takes it has a cursor of its own."""
        end = self.end(memory, copy, "read")
        if end.observes:
            return end
        key = f"{end.label}.observer"
        if key not in self.function.spelled_lets:
            cursor = f"Cursor<{self.stages_text(memory)}>"
            name = self._variable(f"{end.label}_observe", cursor, self.first(memory, "read"))
            self.function.spelled_lets[key] = name
        take = self.function.spelled_lets[key]
        return replace(end, take=take, give=take, stage="0", held="", ready="", everybody=True, observes=True)

    def committed(self, end: RingEnd) -> str:
        """Return the C++ of the stage of a store ring that was committed last."""
        if end.single or end.pipeline.stages == 1:
            return end.stage
        key = f"{end.give}.stage"
        if key not in self.function.spelled_lets:
            self.function.spelled_lets[key] = self._variable(f"{end.label}_read_stage", "u32", "0")
        return self.function.spelled_lets[key]

    def first(self, memory: Memory, side: Side) -> str:
        """Return the C++ of the cursor that stands at a lane's first stage, empty for stage 0."""
        own = steps_of(memory, self.task, side)
        if own[1] == 1:
            return ""
        lanes = [steps_of(memory, task, side)[0] for task in self.kernel.siblings(self.task)]
        stages = memory.stages or 1
        place, phase = ([lane % stages for lane in lanes], [lane // stages & 1 for lane in lanes])
        if not any(place) and not any(phase):
            return ""
        values = [*([place] if stages > 1 else []), *([phase] if any(phase) else [])]
        return "{" + ", ".join(map(self.function.vary, values)) + "}"

    def advance(self, end: RingEnd, cursor: str) -> Statement:
        """Return the step of a cursor to the next stage of its end."""
        if end.stride == 1:
            return Statement("advance", {"cursor": cursor})
        return Statement("skip", {"cursor": cursor, "argument": f"<{end.stride}>()"})

    def _variable(self, wanted: str, type_: str, value: str = "") -> str:
        name = self.function.names.free(wanted)
        self.function.prelude.states[name] = Statement(
            "variable", {"type": type_, "name": name, "value": value}
        )
        return name

    # ---- arrivals ------------------------------------------------------------------------------------------

    def arrives(self, members: tuple[tuple[Memory, int], ...], side: Side) -> Who:
        """Return who arrives for the task, at a ring or at the rings of a group together."""
        found = [self.kernel.use(self.task, memory.name, copy) for memory, copy in members]
        return who(self.task, [use for use in found if use is not None], side)

    def everybody(self, memory: Memory, copy: int, side: Side) -> bool:
        """Whether all threads wait at this end: where only the leader arrives, the others could be lapped."""
        if self.held.only_observes((memory.name, copy, side)) or self.task.warps == 1:
            return True
        return self.arrives(self.together(memory, copy, side), side) != "leader"

    def together(self, memory: Memory, copy: int, side: Side) -> tuple[tuple[Memory, int], ...]:
        """Return the rings for which the task arrives at once: those of the group that shares a side."""
        group = self.program.groups.get(memory.group or "")
        shared = group is not None and side == ("read" if group.kind == "merge" else "write")
        names = group.members if shared and group is not None else (memory.name,)
        return tuple((self.program.memories[name], copy) for name in names if name in self.program.memories)

    # ---- addresses -----------------------------------------------------------------------------------------

    def stage_address(self, end: RingEnd, offset: int) -> str:
        """Return the C++ of a byte of the stage taken last."""
        text = self.address(end.ring, end.copy)
        if end.stage != "0":
            text += f" + {end.stage} * {self.kernel.place(f'{end.ring.name}.stage', end.ring.stage_bytes)}"
        return text if offset == 0 else f"{text} + {offset}"

    def cursor_stage(self, end: RingEnd, cursor: str) -> str:
        """Return the C++ of a cursor's stage."""
        return "0" if end.pipeline.stages == 1 else f"{cursor}.stage"

    # ---- steps that take -----------------------------------------------------------------------------------

    def take(self, step: Step, end: RingEnd, blocks: bool) -> list[Item]:
        """Take the next stage; without `blocks` its barrier is not looked at."""
        items: list[Item] = []
        if blocks:
            flip = " ^ 1" if end.side == "write" else ""
            fields = {
                "barrier": self.at(self.waits_on(end), self.cursor_stage(end, end.take)),
                "parity": f"{end.take}.phase{flip}",
                "ready": end.ready,
            }
            wait = Statement("wait", fields)
            if end.side == "read" and self.kernel.filled_by_threads_of_both(end.ring.name, end.copy):
                # What a look says is no leave to read what threads of another CTA wrote.
                wait = Statement("receive", {key: fields[key] for key in ("barrier", "parity")})
            items.append(self.guarded(wait, end.everybody))
        if end.ready:  # it spoke of this stage, also where another barrier answers for it
            items.append(Statement("assign", {"name": end.ready, "value": "false"}))
        if not end.single or end.observes:
            if end.stage not in ("0", f"{end.take}.stage"):
                items.append(Statement("assign", {"name": end.stage, "value": f"{end.take}.stage"}))
            items.append(self.advance(end, end.take))
        if end.held:
            items.append(Statement("count", {"name": end.held}))
        return items

    def drained(self) -> dict[tuple[Memory, int], Step]:
        """Return the rings of which the task waits at its end until every stage has come back, with the
        first `acquire` of each: those of which peers or the tensor core give stages back.
        """
        found: dict[tuple[Memory, int], Step] = {}
        for step in self.task.steps():
            for memory, copy in self.members(step) if step.verb == "acquire" else ():
                engines = self.kernel.engines(memory.name, copy)[0]
                if self.kernel.reaches(memory.name, copy) or Engine.TCGEN05.value in engines:
                    found.setdefault((memory, copy), step)
        return found

    def drain(self, end: RingEnd) -> list[Item]:
        """Wait until every stage has been given back, as if each were taken once more."""
        if end.pipeline.stages % end.stride:
            raise Refused(
                f"`{end.ring.name}`, whose lanes do not divide its stages, is not generated here yet"
            )
        stage, rounds = self.function.names.free("stage"), self.stages_text(end.ring)
        if end.stride > 1:
            rounds = str(end.pipeline.stages // end.stride)
        fields = {
            "barrier": self.at(self.waits_on(end), self.cursor_stage(end, end.take)),
            "parity": f"{end.take}.phase ^ 1",
            "ready": "",
        }
        head = {
            "type": "int",
            "variable": stage,
            "start": "0",
            "condition": f"{stage} < {rounds}",
            "advance": f"++{stage}",
            "counter": "",
            "counter_type": "int",
            "inline_counter": False,
            "unroll": None,
        }
        body = (Statement("wait", fields), self.advance(end, end.take))
        return [self.guarded(Compound("for", head, body), end.everybody)]

    def look(self, end: RingEnd) -> list[Item]:
        """Look at the next stage's barrier."""
        flip = " ^ 1" if end.side == "write" else ""
        barrier = self.at(self.waits_on(end), self.cursor_stage(end, end.take))
        look = Statement(
            "look", {"ready": end.ready, "barrier": barrier, "parity": f"{end.take}.phase{flip}"}
        )
        return [self.guarded(look, end.everybody)]

    def forget(self, step: Step | None = None) -> list[Item]:
        """Forget what looks have said, behind a step that waits for others.

        Whoever skips may look at a stage whose fill before the wanted one is still under way, and the barrier
        does not tell the two apart. What a wait may take for its own is judged where the wait stands, so an
        answer holds only as long as nothing else has been waited for.
        """
        looks_on = step is None or getattr(step.model, "observe", None)
        own = set() if step is None or looks_on else {(one.name, copy) for one, copy in self.members(step)}
        skipping = {(name, copy) for name, copy, side in self.held.skips & self.held.looks if side == "read"}
        ends = {
            (memory.name, copy): self.end(memory, copy, "read")
            for look in self.task.steps()
            if look.verb == "try_wait"
            for memory, copy in self.members(look)
            if (memory.name, copy) in skipping - own
        }
        return [Statement("assign", {"name": end.ready, "value": "false"}) for end in ends.values()]

    def guarded(self, item: Item, everybody: bool) -> Item:
        """Leave a statement to the leader where not all threads run it."""
        leader = "" if everybody else self.function.leader()
        return Compound("if", {"condition": leader}, (item,)) if leader else item

    # ---- steps that give -----------------------------------------------------------------------------------

    def give(self, step: Step, ends: list[RingEnd], arrive: list[Item]) -> list[Item]:
        """Give back or hand over stages until `keep` are left; `arrive` is what one of them takes."""
        first = ends[0]
        keep = self.held.keeps.get(step.index, 0)
        counts = self.held.counts(step, (first.ring.name, first.copy, first.side))
        if any(self.held.counts(step, (end.ring.name, end.copy, end.side)) != counts for end in ends):
            raise Refused(f"`{step.verb}` of rings of which a task holds different numbers of stages")
        once = [*arrive, *(self.advance(end, end.give) for end in ends)]
        if first.held:
            body = [*once, *(Statement("uncount", {"name": end.held}) for end in ends if end.held)]
            most = max((count - keep for count in counts), default=0)
            if most <= 0:
                return []
            condition = f"{first.held} > {self.keep_text(step)}"
            return [Compound("while" if most > 1 else "if", {"condition": condition}, tuple(body))]
        times = max(0, max(counts, default=0) - keep)
        return [item for _ in range(times) for item in once]

    def skip(self, end: RingEnd, count: Expr, text: str, static: int | None) -> list[Item]:
        """Pass over stages."""
        if end.stride > 1:
            static = None if static is None else static * end.stride
            text = f"({text}) * {end.stride}"
        argument = f"<{static}>()" if static is not None else f"({text})"
        cursors = [end.take] if end.single else [end.take, end.give]
        items: list[Item] = [
            Statement("skip", {"cursor": cursor, "argument": argument}) for cursor in cursors
        ]
        # An earlier look was at a stage that is passed over.
        if end.ready and static != 0:
            items.append(Statement("assign", {"name": end.ready, "value": "false"}))
        return items
