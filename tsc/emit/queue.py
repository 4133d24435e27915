"""The loop over the tiles, and the steps of the queue in it: by number, or by answers in a ring."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tsc.emit.function import Function
from tsc.emit.plan import Compound, Item, Statement
from tsc.emit.scope import Scope
from tsc.emit.steps import Steps
from tsc.emit.tiles import Decoder, declare_tiles
from tsc.expr import Expr, parse
from tsc.ops.lowering import Refused
from tsc.program.expand import QUEUE_VERBS, operand_of
from tsc.program.model import Answers, Queue
from tsc.program.storage import ANSWER_BYTES
from tsc.program.tree import Block, Step, TileLoop, walk
from tsc.spec.resources import Queue as QueueModel

Lower = Callable[[Block], list[Item]]


class Tiles:
    """The tiles as one task has them."""

    def __init__(self, function: Function, steps: Steps) -> None:
        """`steps` says how the task arrives."""
        self.function, self.steps = function, steps
        self.kernel, self.task, self.program = function.kernel, function.task, function.program
        self.queue = self.program.queue
        self.decoder = Decoder((), "", "u32")  # how numbers become tiles, once the loop has begun
        self.unit = ""  # the number of this one

    # ---- the loop ------------------------------------------------------------------------------------------

    def begin(self, node: TileLoop, scope: Scope) -> list[Item]:
        """Name what the loop counts and return what stands before it."""
        queue = self.queue
        if queue is None or queue.name != node.queue:
            raise Refused(f"`{node.queue}` is no queue")
        self.unit = self.function.names.free("unit")
        if self.task.derived and queue.policy != "atomic":
            return []  # it neither counts tiles nor looks at any
        self.decoder = declare_tiles(self.function, scope)
        return [*self.decoder.before]

    def loop(
        self, node: TileLoop, before: list[Item], lets: list[Item], skip: str, body: list[Item], lower: Lower
    ) -> list[Item]:
        """Print the loop around a body; a tile that is skipped does not count.

        `skip` is the C++ of the queue's condition, `lower` lowers steps.
        """
        queue, function = self.queue, self.function
        if queue is None:
            return body
        size = self.kernel.cluster_size
        share = f" / {size}" if size > 1 else ""
        if queue.policy == "grid":
            number: list[Item] = (
                [Statement("assign", {"name": "tile.seq", "value": "0"})] if function.uses_seq else []
            )
            tile: list[Item] = [*before, self._tile(f"blockIdx.x{share}"), *number, *lets]
            whole: list[Item] = (
                [Compound("if", {"condition": f"!({skip})"}, tuple(body))] if skip else list(body)
            )
            return [*tile, *whole]
        head: list[Item] = [*([] if self.task.derived else [self._tile(self.unit)]), *lets]
        if skip:
            # Nobody sees the tile, and still everybody takes the answer.
            answer = lower(tuple(self._own_steps(node))) if queue.dynamic else []
            leave = (*answer, Statement("line", {"text": "continue;"}))
            head.append(Compound("if", {"condition": skip}, leave))
        if function.uses_seq:
            seq = function.names.free("seq")
            before.append(Statement("variable", {"type": "int", "name": seq, "value": "0"}))
            head.append(Statement("assign", {"name": "tile.seq", "value": f"{seq}++"}))
        if queue.dynamic:
            if self.asks and queue.policy == "atomic" and self._follows():
                # The launch before may still count with the same counter.
                before = [Statement("pdl_wait"), *before]
            start, condition, advance = f"blockIdx.x{share}", f"{self.unit} >= 0", ""
            kind = "int"
        else:
            kind = self.decoder.type
            start, condition = f"blockIdx.x{share}", f"{self.unit} < {self.decoder.count}"
            advance = f"{self.unit} += {self._stride(node, share)}"
        fields = {"type": kind, "unit": self.unit, "start": start, "condition": condition, "advance": advance}
        return [*before, Compound("tile_loop", fields, (*head, *body))]

    def _tile(self, number: str) -> Item:
        counted = self.function.uses_seq
        return Statement("tile", {"value": self.decoder.at(number), "counted": counted})

    def facts(self) -> list[Expr]:
        """Return that coordinates stay below their extents; a cluster may stand past a ragged end, by less
        than its own size.
        """
        clusters = dict(self.program.cluster)
        axes = self.queue.axes if self.queue is not None else ()
        return [
            parse(f"tile.{axis} < ({extent.text})" + (f" + {size - 1}" if size > 1 else ""))
            for axis, extent in axes
            for size in (clusters.get(axis, 1),)
        ]

    def skip(self) -> Expr:
        """Return the condition under which nobody sees a tile, as the spec writes it."""
        model = self.program.spec.resources[self.queue.name] if self.queue is not None else None
        condition = model.skip_if if isinstance(model, QueueModel) else None
        return condition if condition is not None else parse(False)

    def _stride(self, node: TileLoop, share: str) -> str:
        """Return by how much a task advances: by what it writes, else by the number of clusters."""
        for step in self._own_steps(node):
            stride = getattr(step.model, "stride", None)
            if stride is not None:
                self._hold_stride(stride, step)
                outer = Scope(self.program.ranges, {}, (), {})
                return f"static_cast<u32>({self.function.text(stride, step.env, outer)})"
        return f"gridDim.x{share}"

    def _hold_stride(self, stride: Expr, step: Step) -> None:
        """Have the loader hold a stride above 0; with what it is added to it stays below 2^32."""
        flat = self.function.flat(stride, step.env)
        if flat.value is not None and not 1 <= flat.value < 2**31:
            raise Refused(f"a stride of {int(flat.value):,} never comes to the next tile")
        if flat.value is None:
            name = self.queue.name if self.queue is not None else ""
            for text in (f"({flat.text}) >= 1", f"({flat.text}) <= {2**31 - 1}"):
                self.kernel.asserts.setdefault(text, f"the stride of `{name}` is from 1 to 2,147,483,647")

    # ---- steps ---------------------------------------------------------------------------------------------

    def is_own(self, step: Step) -> bool:
        """Whether a step belongs to the queue's protocol."""
        if self.queue is None or step.verb not in QUEUE_VERBS or isinstance(step.model, str):
            return False
        reference = operand_of(step)
        return reference is not None and reference.name == self.queue.name

    def _own_steps(self, node: TileLoop) -> Iterator[Step]:
        return (one for one, _ in walk(node.body) if isinstance(one, Step) and self.is_own(one))

    def step(self, step: Step) -> list[Item]:
        """Lower a step of the queue; tiles that follow by number need none."""
        queue = self.queue
        if queue is None or queue.answers is None:
            return []
        answers = queue.answers
        match step.verb:
            case "acquire":
                wait = Statement("wait", self._barrier("empty", "write", " ^ 1"))
                return self._asking([wait])
            case "fetch_work_tile":
                return self._asking([self._fetch(queue, answers)])
            case "commit":
                given: list[Item] = []
                if queue.policy == "atomic" and self.kernel.cluster_size == 1:
                    given.append(Statement("arrive", {"barrier": self._barrier("full", "write")["barrier"]}))
                return [*self._asking(given), Statement("advance", {"cursor": self._cursor("write")})]
            case "try_wait":
                fields = self._barrier("full", "read")
                return [Statement("look", {**fields, "ready": self._ready()})]
            case "wait":
                tries = any(self.is_own(one) and one.verb == "try_wait" for one in self.task.steps())
                fields = self._barrier("full", "read") | {"ready": self._ready() if tries else ""}
                return [Statement("wait", fields)]
            case "get_and_advance_work_tile":
                return self._take(queue, answers)
            case "release":
                return [*self._release(), Statement("advance", {"cursor": self._cursor("read")})]
        return []

    @property
    def asks(self) -> bool:
        """Whether this is the scheduler task."""
        answers = self.queue.answers if self.queue is not None else None
        return answers is not None and answers.scheduler == self.task.label

    def _follows(self) -> bool:
        """Whether a launch may start before the one before it has ended."""
        return any(step.verb == "pdl_wait" for task in self.program.tasks for step in task.steps())

    def _fetch(self, queue: Queue, answers: Answers) -> Item:
        """Ask for the next cluster of tiles."""
        size = self.kernel.cluster_size
        answer = self._answer(answers, "write")
        full = self._barrier("full", "write")["barrier"]
        if queue.policy == "clc":
            return Statement("request_tile", {"answer": answer, "full": full, "ctas": size})
        counter = self.function.parameter(self.kernel.counter(queue.name))
        share = f" / {size}" if size > 1 else ""
        unit = f"next_unit({counter}, {self.decoder.count}, gridDim.x{share})"
        if size == 1:
            return Statement("call", {"name": "write_answer", "values": [], "arguments": [answer, unit]})
        fields = {"name": "send_answer", "values": [size], "arguments": [answer, full, unit]}
        return Statement("call", fields)

    def _take(self, queue: Queue, answers: Answers) -> list[Item]:
        answer, size = self._answer(answers, "read"), self.kernel.cluster_size
        if queue.policy == "atomic":
            return [Statement("assign", {"name": self.unit, "value": f"read_answer({answer})"})]
        # The hardware writes the next answer to this place past the order of ordinary accesses.
        value = f"granted_unit({answer}, {size})"
        return [Statement("assign", {"name": self.unit, "value": value}), Statement("fence_async")]

    def _release(self) -> list[Item]:
        """Give an answer back to the CTA that asked for it."""
        barrier = self._barrier("empty", "read")["barrier"]
        if self.kernel.cluster_size == 1:
            return self.steps.by_warp(Statement("arrive", {"barrier": barrier}))
        first = f"cluster_address({barrier}, 0)"
        return self.steps.by_warp(Statement("arrive_remote", {"barrier": first}))

    def _asking(self, items: list[Item]) -> list[Item]:
        """Leave statements to the thread that asks for the cluster."""
        conditions = [self.function.leader()]
        if self.kernel.cluster_size > 1:
            conditions.insert(0, self.function.builtin("first_cta", "bool", "cluster_rank() == 0"))
        condition = " && ".join(one for one in conditions if one)
        return [Compound("if", {"condition": condition}, tuple(items))] if condition and items else items

    # ---- variables -----------------------------------------------------------------------------------------

    def _answer(self, answers: Answers, side: str) -> str:
        return f"{self._base('', answers.offset)} + {ANSWER_BYTES} * {self._cursor(side)}.stage"

    def _barrier(self, kind: str, side: str, flip: str = "") -> dict[str, str]:
        """Return the barrier of a side's stage and the parity that it waits for."""
        answers = self.queue.answers if self.queue is not None else None
        if answers is None:
            raise Refused("tiles that follow by number have no barriers")
        offset = answers.full_offset if kind == "full" else answers.empty_offset
        cursor = self._cursor(side)
        fields = {"barrier": f"{self._base(kind, offset)} + 8 * {cursor}.stage"}
        return fields | {"parity": f"{cursor}.phase{flip}", "ready": ""}

    def _cursor(self, side: str) -> str:
        answers = self.queue.answers if self.queue is not None else None
        stages = answers.stages if answers is not None else 1
        return self._variable(f"queue {side}", side, f"Cursor<{stages}>", "")

    def _ready(self) -> str:
        return self._variable("queue ready", "ready", "bool", "false")

    def _variable(self, key: str, suffix: str, type_: str, value: str) -> str:
        function, name = self.function, self.queue.name if self.queue is not None else ""
        if key not in function.spelled_lets:
            spelled = function.spelled_lets[key] = function.names.free(f"{name}_{suffix}")
            fields = {"type": type_, "name": spelled, "value": value}
            function.prelude.states[spelled] = Statement("variable", fields)
        return function.spelled_lets[key]

    def _base(self, kind: str, offset: int) -> str:
        function, name = self.function, self.queue.name if self.queue is not None else ""
        key = f"queue base {kind}"
        if key not in function.spelled_lets:
            function.uses_shared = True
            spelled = function.names.free(f"{name}_{kind}") if kind else self.kernel.spelled[name]
            function.spelled_lets[key] = spelled
            place = self.kernel.place(f"{name}.{kind}" if kind else name, offset)
            fields = {"type": "u32", "name": spelled, "value": f"shared + {place}"}
            function.prelude.bases[key] = Statement("constant", fields)
        return function.spelled_lets[key]
