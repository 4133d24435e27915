"""Operations as instructions: what an operation's `bind` gets to know, and the predicate of who issues."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NoReturn

from typing_extensions import override

from tsc.emit import registers
from tsc.emit.announcements import announcement
from tsc.emit.brackets import Brackets
from tsc.emit.function import Function
from tsc.emit.kernel import bits_of
from tsc.emit.operands import (
    buffer_address,
    buffer_type,
    cta_rank,
    matrix_text,
    memory_of,
    peers_mask,
    tensor_operand,
)
from tsc.emit.places import loads_written, stores
from tsc.emit.plan import Comment, Compound, Instruction, Item, Statement
from tsc.emit.rings import Rings
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
    TensorMemoryOperand,
    TensorOperand,
)
from tsc.program.accesses import touches
from tsc.program.model import Operand, Tensor
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
    def fault(self, rule: str, sentence: str, help: str = "") -> None:
        self.kernel.refuse(self.step.route, sentence, rule, help)

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
            found.name,
            found.dtype,
            bits_of(found.dtype),
            found.shape,
            found.order,
            found.packed,
            found.padded,
            found.workspace,
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
        return RegisterOperand(name, found.dtype, bits_of(found.dtype), self.function.held(reference.name))

    @override
    def is_fragment(self, reference: Reference) -> bool:
        found = self.function.program.registers.get(reference.name)
        return found is not None and found.shape is not None

    @override
    def fragment(self, reference: Reference) -> FragmentOperand:
        function, name = self.function, reference.name
        if not self.is_fragment(reference):
            raise Refused(f"`{reference}` is no fragment")
        found = registers.fragment(function, name)
        return FragmentOperand(
            self.kernel.spelled[name],
            found.dtype,
            bits_of(found.dtype),
            found.shape,
            found.split,
            found.warpgroups,
            found.rows,
            found.columns,
            registers.warpgroup(function, found),
            registers.share(function, found),
            found.lanes,
        )

    @override
    def tensor_memory(self, reference: Reference, mode: Literal["read", "write"]) -> TensorMemoryOperand:
        return tensor_operand(self.function, self.rings, self.step, self.meaning(reference), reference, mode)

    @override
    def in_tensor_memory(self, reference: Reference) -> bool:
        return self.meaning(reference).kind == "tmem"

    @override
    def matrix(self, buffer: BufferOperand, reference: Reference, first: str, atom: int) -> str:
        form = f"<{buffer.swizzle}, {atom}>" if atom else f"<{buffer.swizzle}>"
        text = f"matrix_descriptor{form}({{}})"
        return matrix_text(self.rings, self.step, self.meaning(reference), reference, "u64", text, first)

    @override
    def matrix_words(self, buffer: BufferOperand, reference: Reference, low: int) -> str:
        text = f"0x{low:08x} | ({{}} >> 4)" if low else "{} >> 4"
        return matrix_text(self.rings, self.step, self.meaning(reference), reference, "u32", text, "")

    @override
    def device(self, wanted: str, text: Callable[[str], str]) -> str:
        return self.kernel.device(wanted, text)

    @override
    def completed(self) -> tuple[str, ...]:
        complete = self.rings.completions.get(self.step.index, frozenset())
        for name in sorted(complete):
            registers.fragment(self.function, name)
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
        return self.rings.at(self.rings.signals(end), end.stage)

    @override
    def multicast(self, axis: str) -> Multicast:
        extent, _ = self.kernel.axis(axis)
        rank = self.function.cluster_rank(axis)
        return Multicast(extent, rank, peers_mask(self.function, (axis,)) if extent > 1 else "1")

    @override
    def peer(self, axis: str, place: Expr) -> str:
        extent, stride = self.kernel.axis(axis)
        text = self.function.text(place, self.env, self.scope)
        if extent == self.kernel.cluster_size:
            return text
        own = self.function.cluster_rank(axis)
        apart = f"({text} - {own})" if stride == 1 else f"({text} - {own}) * {stride}"
        return f"{cta_rank(self.function)} + {apart}"

    @override
    def for_pair(self, reference: Reference) -> bool:
        operand = self.meaning(reference)
        reads, _ = self.kernel.engines(operand.name, operand.copy)
        return self.group == 2 and Engine.TCGEN05.value in reads

    @property
    @override
    def group(self) -> int:
        return self.kernel.group

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

    @override
    def need_whole_rows(self, tensor: str, size: int, what: str) -> bool:
        return self.kernel.assert_rows(self.kernel.program.tensors[tensor], size, what)

    @override
    def need_bound(self, condition: Expr, what: str) -> bool:
        def holds(bound: Expr) -> bool:
            return self.function.proves(condition, self.env, self.scope.knowing(bound, *self.kernel.asserted))

        return self.proves(condition) or self.kernel.assert_bound(holds, what)

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
        return self.function.proves(condition, self.env, self.scope.knowing(*self.kernel.asserted))

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
    items[:0] = announcement(rings, brackets, step, fields)
    leader = function.leader() if operation.issuer == "one" else ""
    if leader:
        items = [Compound("if", {"condition": leader}, tuple(items))]
    if step.verb == "store_wait" and leader:
        items.append(Statement("sync", {"task": function.task_name()}))
    return [*cp_async_fence(function, rings, step), *lowering.before, *items]


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
