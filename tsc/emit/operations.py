"""Operations as instructions: what an operation's `bind` gets to know, and the predicate of who issues."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NoReturn

from typing_extensions import override

from tsc.emit.brackets import Brackets, loads_of
from tsc.emit.function import Function
from tsc.emit.kernel import bits_of, storage
from tsc.emit.places import loads_written, stores
from tsc.emit.plan import Comment, Compound, Instruction, Item, Statement
from tsc.emit.rings import RingEnd, Rings
from tsc.emit.scope import Scope
from tsc.expr import Expr, Interval, parse
from tsc.model import Reference
from tsc.ops.base import Cache, Engine, Operation
from tsc.ops.lowering import (
    BufferOperand,
    FragmentOperand,
    Lowering,
    MapKey,
    Multicast,
    Refused,
    RegisterOperand,
    TensorOperand,
)
from tsc.program.accesses import touches
from tsc.program.model import Buffer, Memory, Operand, Tensor
from tsc.program.tree import Step

CACHES = {
    "normal": "",
    "evict_first": "CACHE_EVICT_FIRST",
    "evict_last": "CACHE_EVICT_LAST",
    "no_allocate": "CACHE_NO_ALLOCATE",
}


class StepLowering(Lowering):
    """One step's surroundings; `before` collects the constants that the step needs named."""

    def __init__(self, function: Function, rings: Rings, step: Step, scope: Scope) -> None:
        self.function, self.kernel, self.rings = function, function.kernel, rings
        self.step, self.scope, self.env = step, scope, step.env
        self.before: list[Item] = []
        self._named: dict[tuple[str, str], str] = {}

    @override
    def refuse(self, sentence: str) -> NoReturn:
        raise Refused(sentence)

    @override
    def flat(self, expr: Expr) -> Expr:
        return self.function.flat(expr, self.env)

    @override
    def facts(self) -> tuple[Expr, ...]:
        return self.scope.facts

    @override
    def note(self, text: str) -> None:
        self.before.append(Comment(text))

    @override
    def outside(self, sentence: str, help: str = "") -> None:
        self.kernel.refuse(self.step.route, sentence, outside=True, help=help)

    # ---- operands ------------------------------------------------------------------------------------------

    def meaning(self, reference: Reference) -> Operand:
        """Return what a reference means here."""
        operand = self.kernel.meaning(reference, self.function.task, self.step)
        if operand is None:
            raise Refused(f"`{reference}` is nothing that is declared")
        return operand

    def _tensor(self, reference: Reference) -> Tensor:
        found = self.function.program.tensors.get(reference.name)
        if found is None:
            raise Refused(f"`{reference}` is no tensor")
        return found

    @override
    def tensor(self, reference: Reference) -> TensorOperand:
        found = self._tensor(reference)
        return TensorOperand(
            found.name, found.dtype, bits_of(found.dtype), found.shape, found.order, found.packed
        )

    @override
    def tensor_view(self, reference: Reference) -> str:
        return self.function.view(self._tensor(reference))

    @override
    def is_buffer(self, reference: Reference) -> bool:
        return self.meaning(reference).kind == "smem"

    @override
    def in_ring(self, reference: Reference) -> bool:
        memory = self.function.program.memories.get(reference.name)
        return memory is not None and memory.ring

    @override
    def buffer(self, reference: Reference, mode: Literal["read", "write"]) -> BufferOperand:
        operand = self.meaning(reference)
        memory, found = memory_of(self.function, operand, reference)
        address = buffer_address(self.rings, self.step, memory, operand.copy, found, mode)
        view = f"{buffer_type(found, mode == 'read')}{{{address}}}"
        return BufferOperand(
            str(reference),
            found.dtype,
            found.bits,
            found.shape,
            found.swizzle,
            reference.transposed,
            address,
            view,
        )

    @override
    def registers(self, reference: Reference) -> RegisterOperand:
        found = self.function.program.registers.get(reference.name)
        if found is None:
            raise Refused(f"`{reference}` is no set of registers")
        name = self.function.register(reference.name)
        return RegisterOperand(name, found.dtype, bits_of(found.dtype), found.per_thread or 1)

    @override
    def is_fragment(self, reference: Reference) -> bool:
        found = self.function.program.registers.get(reference.name)
        return found is not None and found.shape is not None

    @override
    def fragment(self, reference: Reference) -> FragmentOperand:
        function, name = self.function, reference.name
        if not self.is_fragment(reference):
            raise Refused(f"`{reference}` is no fragment")
        found = function.fragment(name)
        return FragmentOperand(
            self.kernel.spelled[name],
            found.dtype,
            bits_of(found.dtype),
            found.shape,
            found.split,
            found.warpgroups,
            found.rows,
            found.columns,
            function.warpgroup() if found.warpgroups > 1 else "0",
            function.share(found),
        )

    @override
    def matrix(self, buffer: BufferOperand, reference: Reference, first: str, atom: int) -> str:
        operand = self.meaning(reference)
        memory, found = memory_of(self.function, operand, reference)
        form = f"<{buffer.swizzle}, {atom}>" if atom else f"<{buffer.swizzle}>"
        end = current(self.rings, self.step, memory, operand.copy, "read") if memory.ring else None
        base = self.rings.address(memory, operand.copy)
        place = " + ".join([base, *([str(found.offset)] if found.offset else []), *([first] if first else [])])
        hint = f"{self.rings.prefix(memory, operand.copy)}_{found.name}_matrix"
        if found.name == memory.name:
            hint = f"{self.rings.prefix(memory, operand.copy)}_matrix"
        name = self.function.hoisted("u64", hint, f"matrix_descriptor{form}({place})")
        if end is None or end.stage == "0":
            return name
        return f"{name} + {end.stage} * ({self.kernel.place(f'{memory.name}.stage', memory.stage_bytes)} >> 4)"

    @override
    def device(self, wanted: str, text: Callable[[str], str]) -> str:
        return self.kernel.device(wanted, text)

    @override
    def completed(self) -> tuple[str, ...]:
        complete = self.rings.completions.get(self.step.index, frozenset())
        for name in sorted(complete):
            self.function.fragment(name)
        return tuple(spelled for name, spelled in self.kernel.spelled.items() if name in complete)

    @override
    def barrier(self, reference: Reference) -> str:
        operand = self.meaning(reference)
        memory, _ = memory_of(self.function, operand, reference)
        if not memory.ring:
            raise Refused(
                f"`{reference}` has no stages, and nothing else says when a load into it is complete"
            )
        end = self.rings.end(memory, operand.copy, "write")
        if end.pipeline.store_ring:
            raise Refused(f"a load into the store ring `{reference}` is not generated yet")
        return self.rings.at(self.rings.signals(end), end.stage)

    @override
    def multicast(self, axis: str) -> Multicast:
        extent, _ = self.kernel.axis(axis)
        rank = self.function.cluster_rank(axis)
        return Multicast(extent, rank, peers_mask(self.function, (axis,)) if extent > 1 else "1")

    @override
    def tensor_map(self, key: MapKey) -> str:
        return self.function.parameter(self.kernel.tensor_map(key))

    @override
    def need(self, tensor: str, align: int, stride_bytes: int) -> None:
        self.kernel.need(tensor, align, stride_bytes)

    @override
    def need_multiple(self, expr: Expr, factor: int, what: str) -> bool:
        known = {**self.kernel.multiples(), **self.scope.multiples}
        return self.kernel.assert_multiple(self.function.flat(expr, self.env), factor, known, what)

    # ---- expressions ---------------------------------------------------------------------------------------

    @override
    def coordinates(self, at: Sequence[Expr] | None, rank: int) -> tuple[Expr, ...]:
        if at is None:
            return tuple(parse(0) for _ in range(rank))
        if len(at) != rank:
            raise Refused(f"`at` has {len(at)} coordinates for {rank} dimensions")
        return tuple(at)

    @override
    def text(self, expr: Expr) -> str:
        return self.function.text(expr, self.env, self.scope)

    @override
    def wide(self, expr: Expr) -> str:
        return self.function.cpp(expr, self.env, self.scope).widened().text

    @override
    def named(self, type_: str, hint: str, text: str) -> str:
        key = (type_, text)
        if key not in self._named:
            name = self._named[key] = self.function.names.free(hint)
            self.before.append(Statement("constant", {"type": type_, "name": name, "value": text}))
        return self._named[key]

    @override
    def local(self, hint: str) -> str:
        return self.function.names.free(hint)

    @override
    def constant(self, expr: Expr) -> int:
        value = self.function.flat(expr, self.env).value
        if value is None:
            raise Refused(f"`{expr.text}` is not known when built")
        return int(value)

    @override
    def build_text(self, expr: Expr) -> str:
        return self.function.build_text(expr, self.env, self.scope)

    @override
    def interval(self, expr: Expr) -> Interval:
        return self.function.interval(expr, self.env, self.scope)

    @override
    def multiple(self, expr: Expr) -> int:
        return self.function.multiple(expr, self.env, self.scope)

    @override
    def proves(self, condition: Expr) -> bool:
        return self.function.proves(condition, self.env, self.scope)

    @override
    def reads_memory(self, expr: Expr) -> bool:
        flat = self.function.flat(expr, self.env)
        private = flat.free & (self.function.program.registers.keys() | self.function.token_types.keys())
        return bool(flat.indexed or private)

    @override
    def cache(self, cache: Cache, reads: str | None = None) -> str:
        hints = [CACHES[cache]] if CACHES[cache] else []
        if reads is not None and reads not in self.kernel.written:
            hints.append("CACHE_READ_ONLY")
        return f"<{' | '.join(hints)}>" if hints else ""

    @property
    @override
    def stores(self) -> bool:
        return stores(self.function.program, self.function.task)

    @property
    @override
    def loads_written(self) -> bool:
        return loads_written(self.function.program)

    @property
    @override
    def task(self) -> str:
        return self.function.task_name()


def memory_of(function: Function, operand: Operand, reference: Reference) -> tuple[Memory, Buffer]:
    """Return the shared memory and the buffer that a reference means; refuses what is neither."""
    memory = function.program.memories.get(operand.name)
    if memory is None or memory.kind != "smem":
        kind = "tensor memory" if memory is not None and memory.kind == "tmem" else "no shared memory"
        raise Refused(f"`{reference}` is {kind}, which is not generated here yet")
    buffer = memory.buffer(reference.buffer)
    if buffer is None:
        raise Refused(f"`{reference}` names several buffers at once")
    return memory, buffer


def buffer_type(buffer: Buffer, readable: bool) -> str:
    """Return the type of a buffer's view."""
    extents = "".join(f", {extent}" for extent in buffer.shape)
    return f"Buffer<{'const ' if readable else ''}{storage(buffer.dtype)}, {buffer.swizzle}{extents}>"


def buffer_address(
    rings: Rings, step: Step, memory: Memory, copy: int, buffer: Buffer, mode: Literal["read", "write"]
) -> str:
    """Return the C++ of a buffer's first byte, at the stage that a reader or a writer means."""
    if not memory.ring:
        first = rings.address(memory, copy)
        return first if buffer.offset == 0 else f"{first} + {buffer.offset}"
    return rings.stage_address(current(rings, step, memory, copy, mode), buffer.offset)


def current(rings: Rings, step: Step, memory: Memory, copy: int, mode: Literal["read", "write"]) -> RingEnd:
    """Return the end whose stage an access means: the one taken last to read, or to write where that is how
    it is used.
    """
    pipeline, held = rings.pipeline(memory, copy), rings.held
    reads, writes = (memory.name, copy, "read") in held.takes, (memory.name, copy, "write") in held.takes
    if reads and writes:
        # A task that does both means the side whose stage it holds here.
        around = held.around.get(step.index, set())
        reads, writes = (memory.name, copy, "read") in around, (memory.name, copy, "write") in around
        reads, writes = (True, True) if not reads and not writes else (reads, writes)
    # A store ring is read where it was committed, and a consumer that updates a stage writes where it waited.
    side: Literal["write", "read"] = "read" if reads and (mode == "read" or not writes) else "write"
    if not reads and not writes:
        raise Refused(f"`{memory.name}` is used without a stage of it being taken")
    return rings.end(memory, copy, "write" if pipeline.store_ring else side)


def peers_mask(function: Function, axes: Sequence[str]) -> str:
    """Return the C++ of the mask of CTAs that share a place with this one along any of the axes."""
    kernel = function.kernel
    terms = []
    for axis in axes:
        extent, stride = kernel.axis(axis)
        own = sum(1 << i * stride for i in range(extent))
        if extent == kernel.cluster_size:
            terms.append(str(own))
            continue
        place = function.cluster_rank(axis)
        rank = function.builtin("rank", "int", "static_cast<int>(cluster_rank())")
        shift = f"{rank} - {place}" if stride == 1 else f"{rank} - {place} * {stride}"
        terms.append(f"{own} << ({shift})")
    text = " | ".join(f"({term})" if len(terms) > 1 and "<<" in term else term for term in terms)
    return text


def lower_operation(
    function: Function, rings: Rings, brackets: Brackets, step: Step, scope: Scope, operation: Operation
) -> list[Item]:
    """Return the statements of an operation: named values, announcement of bytes, the instructions."""
    if operation.bind is None:
        raise Refused(f"`{step.verb}` is not generated yet")
    lowering = StepLowering(function, rings, step, scope)
    fields: Mapping[str, Any] = operation.bind(step.model, lowering)
    items: list[Item] = [Instruction(operation.template, fields)]
    if fields.get("only"):
        items = [Compound("if", {"condition": fields["only"]}, tuple(items))]
    announced = announcement(rings, brackets, step, fields)
    if announced is not None:
        items.insert(0, announced)
    leader = function.leader() if operation.issuer == "one" else ""
    if leader:
        items = [Compound("if", {"condition": leader}, tuple(items))]
    if step.verb == "store_wait" and leader:
        items.append(Statement("sync", {"task": function.task_name()}))
    return [*cp_async_fence(function, rings, step), *lowering.before, *items]


def announcement(rings: Rings, brackets: Brackets, step: Step, fields: Mapping[str, Any]) -> Item | None:
    """Return the statement by which a load announces its bytes, or those of its whole bracket."""
    filled = loads_of(step, rings.kernel, rings.task)
    if not filled or step.index in brackets.quiet:
        return None
    total = brackets.totals.get(step.index)
    size = total if total is not None else fields["bytes"]
    arrives = step.index in brackets.totals and all(fills_alone(rings, *ring) for ring in filled)
    fields = {"barrier": fields["barrier"], "bytes": size}
    return Statement("arrive_expect" if arrives else "expect", fields)


def fills_alone(rings: Rings, ring: str, copy: int) -> bool:
    """Whether the task's arrivals at a ring's full barriers are made by the one thread that issues loads."""
    program = rings.program
    group = program.groups.get(program.memories[ring].group or "")
    names = group.members if group is not None and group.kind == "fork" else (ring,)
    members = tuple((program.memories[name], copy) for name in names if name in program.memories)
    return rings.arrives(members, "write") in ("one", "leader")


def cp_async_fence(function: Function, rings: Rings, step: Step) -> list[Item]:
    """Return the fence between copies by cp.async, seen at their barrier, and an engine that reads what they
    brought.
    """
    program, task = function.program, function.task
    for touch in touches(step, program.meanings, program.works, task.name, task.replica):
        if (
            touch.engine not in (Engine.STORE, Engine.WGMMA, Engine.TCGEN05)
            or touch.mode != "read"
            or touch.operand is None
        ):
            continue
        name, copy = touch.operand.name, touch.operand.copy
        if name in program.memories and Engine.CP_ASYNC.value in function.kernel.engines(name, copy)[1]:
            return [Comment("cp.async wrote through the generic proxy"), Statement("fence_async")]
    return []
