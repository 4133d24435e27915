"""Snippets as device functions of their own: what they are given is all that exists for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from tsc.emit import registers
from tsc.emit.copies import NO_CODE, copies_fields, numbered
from tsc.emit.function import Function
from tsc.emit.kernel import Kernel, bits_of, storage
from tsc.emit.names import identifier
from tsc.emit.operands import buffer_address, buffer_type, memory_of
from tsc.emit.plan import Item, Narrowed, SnippetFunction, Statement
from tsc.emit.ranges import WIDTHS
from tsc.emit.rings import Rings
from tsc.emit.scope import Scope
from tsc.expr import Expr, ExprError, parse
from tsc.model import Reference
from tsc.ops.lowering import Refused
from tsc.ops.neighbours import LARGEST, piece_bytes
from tsc.program.model import Memory, Operand, Task, Tensor, Work
from tsc.program.scope import Stage
from tsc.program.tree import Step
from tsc.source.document import Document
from tsc.spec.schedule import Do

ARGS = {"i32": "int", "u32": "u32", "i64": "i64", "f32": "float", "bool": "bool"}
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)?")


def mentioned(text: str) -> frozenset[str]:
    """Return the names in a snippet, those of two parts too, outside of comments and strings."""
    found = {re.sub(r"\s", "", name) for name in _NAME.findall(NO_CODE.sub(" ", text))}
    return frozenset(found | {name.split(".")[0] for name in found})


@dataclass(slots=True)
class _Call:
    """A call under construction: parameters of the function, and what is passed for them."""

    parameters: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    templates: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    structs: list[str] = field(default_factory=list)

    def add(self, parameter: str, argument: str) -> None:
        self.parameters.append(parameter)
        self.arguments.append(argument)


class Works:
    """The functions of all works, made as calls ask for them."""

    def __init__(self, kernel: Kernel, document: Document | None) -> None:
        self.kernel, self.document, self.program = kernel, document, kernel.program
        self.functions: dict[tuple[str, ...], SnippetFunction] = {}
        self.task_template = kernel.names.free("TASK")
        self.structs: dict[tuple[str, str], str] = {}
        self.callers: dict[str, set[str]] = {}
        for task in self.program.tasks:
            for step in task.steps():
                if isinstance(step.model, Do):
                    self.callers.setdefault(step.model.do, set()).add(task_type(task))

    def call(self, function: Function, rings: Rings, step: Step, scope: Scope) -> list[Item]:
        """Return the call of a work, its function made where no other call has the same form."""
        model = step.model
        if not isinstance(model, Do) or model.do not in self.program.works:
            raise Refused(f"`{step.verb}` without a work is not generated")
        work = self.program.works[model.do]
        if work.text is None:
            raise Refused(f"the text of `{work.name}` cannot be read")
        call = _Call()
        several = len(self.callers.get(work.name, ())) > 1
        task = function.task_name()
        call.add(f"const {self.task_template if several else task_type(function.task)}& task", task)
        views = [*((r, False) for r in (*work.writes, *work.updates)), *((r, True) for r in work.reads)]
        whole = frozenset(reference.name for reference, _ in views)
        self._views(call, function, rings, step, work, views)
        self._values(call, function, step, scope, work, whole)
        self._arguments(call, function, step, scope, work, model)
        self._tokens(call, function, work, model)
        templates = [*call.templates, *([f"class {self.task_template}"] if several else [])]
        snippet = self._function(work, call, templates, self._constants(work, whole))
        fields = {"name": snippet.name, "values": call.values, "arguments": call.arguments}
        return [Statement("call", fields)]

    # ---- what a snippet gets -------------------------------------------------------------------------------

    def _views(
        self,
        call: _Call,
        function: Function,
        rings: Rings,
        step: Step,
        work: Work,
        views: list[tuple[Reference, bool]],
    ) -> None:
        # Ring -> number of the copy, if it has one -> member, type, address.
        members: dict[str, dict[int | None, list[tuple[str, str, str]]]] = {}
        order: list[tuple[str, Operand, bool]] = []
        for reference, readable in views:
            operand = self.kernel.meaning(reference, function.task, step)
            if operand is None:
                raise Refused(f"`{reference}` of `{work.name}` is nothing that is declared")
            if operand.kind in ("smem", "tmem", "signal"):
                memory = self.program.memories[operand.name]
                if operand.kind != "smem":
                    raise Refused(
                        f"`{reference}` is no shared memory, and `{work.name}` cannot be given it yet"
                    )
                if operand.name not in members:
                    order.append((operand.name, operand, readable))
                number = None if reference.index is None else operand.copy
                members.setdefault(operand.name, {}).setdefault(number, []).extend(
                    self._buffers(function, rings, step, memory, operand, reference, readable)
                )
            else:
                order.append((operand.name, operand, readable))
        for name, operand, readable in order:
            if operand.kind == "tensor":
                tensor = self.program.tensors[name]
                self._need(work, tensor)
                call.add(f"const {function.tensor_type(tensor, readable)}& {name}", function.view(tensor))
            elif operand.kind == "registers":
                self._registers(call, function, name, readable)
            elif operand.kind == "smem":
                self._memory(call, work, name, members[name])
            elif operand.kind != "scalar":
                raise Refused(f"`{name}` cannot be given to `{work.name}`")

    def _buffers(
        self,
        function: Function,
        rings: Rings,
        step: Step,
        memory: Memory,
        operand: Operand,
        reference: Reference,
        readable: bool,
    ) -> Iterator[tuple[str, str, str]]:
        names = (
            [reference.buffer] if reference.buffer is not None else [buffer.name for buffer in memory.buffers]
        )
        plain = self.program.spec.resources[memory.name]
        unnamed = getattr(plain, "buffers", None) is None
        for name in names:
            part = Reference(reference.text, reference.name, reference.index, None if unnamed else name)
            _, buffer = memory_of(function, operand, part)
            mode: Literal["read", "write"] = "read" if readable else "write"
            address = buffer_address(rings, step, memory, operand.copy, buffer, mode)
            yield "" if unnamed else buffer.name, buffer_type(buffer, readable), address

    def _need(self, work: Work, tensor: Tensor) -> None:
        """Ask for the alignment that a snippet's `load<n>` and `store<n>` of a tensor rely on."""
        pattern = rf"(?<![\w.]){tensor.name}\s*\.\s*(?:load|store)\s*<\s*([^>,]+)"
        for count in re.findall(pattern, NO_CODE.sub(" ", work.text or "")):
            try:
                elements = self.program.values.flat(parse(count.strip())).value
            except ExprError:
                elements = None
            # A number that only the compiler knows may be that of a whole piece.
            piece = LARGEST if elements is None else piece_bytes(int(elements), bits_of(tensor.dtype)) or 1
            self.kernel.need(tensor.name, piece, piece)

    def _memory(
        self, call: _Call, work: Work, name: str, copies: dict[int | None, list[tuple[str, str, str]]]
    ) -> None:
        wanted = f"{work.name}_{name}"
        if None in copies:
            if len(copies) > 1:
                raise Refused(f"`{work.name}` names a copy of `{name}` by its number and one without")
            type_, address = self._view_of(call, wanted, copies[None])
            call.add(f"const {type_}& {name}", f"{type_}{{{address}}}")
            return
        views = [
            (number, *self._view_of(call, f"{wanted}_{number}", buffers))
            for number, buffers in sorted((n, found) for n, found in copies.items() if n is not None)
        ]
        struct = self._struct(call, wanted, copies_fields([(number, type_) for number, type_, _ in views]))
        call.add(f"const {struct}& {name}", f"{struct}{{{', '.join(f'{{{a}}}' for _, _, a in views)}}}")

    def _view_of(self, call: _Call, wanted: str, buffers: list[tuple[str, str, str]]) -> tuple[str, str]:
        """Return the type of one copy of a resource, and what stands between the braces of a value of it."""
        if buffers[0][0] == "":
            return buffers[0][1], buffers[0][2]
        fields = " ".join(f"{type_} {member};" for member, type_, _ in buffers)
        return self._struct(call, wanted, fields), ", ".join(f"{{{address}}}" for _, _, address in buffers)

    def _struct(self, call: _Call, wanted: str, fields: str) -> str:
        """Return the name of a struct with these fields, declared ahead of the first function that takes
        one.
        """
        key = (identifier(wanted), fields)
        if key not in self.structs:
            self.structs[key] = self.kernel.names.free(key[0])
            call.structs.append(f"struct {self.structs[key]} {{ {fields} }};")
        return self.structs[key]

    def _registers(self, call: _Call, function: Function, name: str, readable: bool) -> None:
        found = self.program.registers[name]
        const = "const " if readable else ""
        if found.shape is not None:
            type_ = registers.type_of(registers.fragment(function, name))
            call.add(f"{const}{type_}& {name}", self.kernel.spelled[name])
            return
        own = function.register(name)
        if found.per_thread == 1:
            call.add(f"{const}register_of<{storage(found.dtype)}>& {name}", f"{own}[0]")
        else:
            call.add(f"{const}Registers<{storage(found.dtype)}, {function.held(name)}>& {name}", own)

    def _values(
        self, call: _Call, function: Function, step: Step, scope: Scope, work: Work, listed: frozenset[str]
    ) -> None:
        """Pass the names of the language that the text mentions and that are known at the call."""
        words = mentioned(work.text or "")
        declared = {name for name, _ in (*work.args, *work.returns)} | listed
        if "tile" in words and scope.tile:
            fields = {word.split(".")[1] for word in words if word.startswith("tile.")}
            function.uses_seq |= "seq" in fields
            call.add("const Tile& tile", "tile")
        for name in self._known(function, step, scope, work):
            if name not in words or name in declared:
                continue
            type_, text = self._value(function, step, scope, name)
            if name not in scope.spelled and function.flat(parse(name), step.env).value is not None:
                call.templates.append(f"auto {name}")
                call.values.append(text)
            else:
                call.add(f"{type_} {name}", text)
        for what, axes in (
            ("cluster", [a for a, _ in self.program.cluster]),
            ("block", "xyz"),
            ("grid", "xyz"),
        ):
            used = [axis for axis in axes if f"{what}.{axis}" in words]
            if used:
                struct = self._struct(call, f"{work.name}_{what}", f"int {', '.join(used)};")
                values = ", ".join(function.spell(f"{what}.{axis}", scope) for axis in used)
                call.add(f"const {struct}& {what}", f"{struct}{{{values}}}")

    def _known(self, function: Function, step: Step, scope: Scope, work: Work) -> Iterator[str]:
        program = self.program
        yield from program.dims
        yield from program.scalars
        yield "sms"
        for name, stage in program.let_stages.items():
            literal = program.lets[name].value is not None
            within = stage <= Stage.CTA or (stage == Stage.TILE and scope.tile) or stage == Stage.ITERATION
            if not literal and within and self._has_value(function, step, scope, program.lets[name]):
                yield name
        yield from (name for name in step.env if name != "threads")
        yield from (name for name in scope.spelled if "." not in name and name not in step.env)
        if scope.round is not None:
            yield from ("iter", "trips")
        yield from function.token_types

    def _has_value(self, function: Function, step: Step, scope: Scope, flat: Expr) -> bool:
        here = {
            "sms",
            *self.program.dims,
            *self.program.scalars,
            *self.program.tensors,
            *step.env,
            *scope.spelled,
        }
        if scope.round is not None:
            here |= {"iter", "trips"}
        return all(name in here or name.startswith(("block.", "grid.", "cluster.")) for name in flat.free)

    def _value(self, function: Function, step: Step, scope: Scope, name: str) -> tuple[str, str]:
        if name in self.program.scalars:
            parameter = self.kernel.scalar(name)
            return parameter.type, function.parameter(parameter)
        if name in function.token_types:
            return ARGS[function.token_types[name]], function.token(name)
        value = function.cpp(parse(name), step.env, scope)
        known = step.env.get(name)
        is_bool = value.is_bool or isinstance(known, bool)
        return "bool" if is_bool else "int" if value.bits == 32 else "i64", value.text

    def _constants(self, work: Work, listed: frozenset[str]) -> list[str]:
        """Return declarations for constants that have another name in the file than in the spec."""
        words, lines = mentioned(work.text or ""), []
        declared = {name for name, _ in (*work.args, *work.returns)} | listed
        for name in (*self.program.constants, *self.program.lets):
            if name not in words or name in declared:
                continue
            if name in self.program.lets and self.program.lets[name].value is None:
                continue
            spelled = self.kernel.constant(name)
            if spelled != name:
                lines.append(f"constexpr auto {name} = {spelled};")
        return lines

    def _arguments(
        self, call: _Call, function: Function, step: Step, scope: Scope, work: Work, model: Do
    ) -> None:
        for name, kind in work.args:
            if name not in model.with_:
                raise Refused(f"`{work.name}` is called without its argument `{name}`")
            value = function.cpp(model.with_[name], step.env, scope)
            self._hold(function, step, scope, work, name, kind, model.with_[name])
            if kind == "const":
                flat = function.flat(model.with_[name], step.env).value
                if flat is None:
                    raise Refused(f"`{name}` of `{work.name}` is not known when built")
                call.templates.append(f"auto {name}")
                text = function.build_text(model.with_[name], step.env, scope)
                call.values.append(f"({text})" if ">" in text else text)
            else:
                call.add(f"{ARGS[kind]} {name}", value.text)

    def _hold(
        self, function: Function, step: Step, scope: Scope, work: Work, name: str, kind: str, given: Expr
    ) -> None:
        """Note an argument that may be cut, where that follows from sizes and coordinates alone: of what
        works and tensors give, a range says nothing.
        """
        flat, most = function.flat(given, step.env), WIDTHS.get(kind)
        private = {*function.token_types, *self.program.tensors, *self.program.registers}
        if most is None or kind == "bool" or flat.free & private or not flat.free:
            return
        found = function.interval(given, step.env, scope)
        if found.lo < most.lo or found.hi > most.hi:
            route = (*step.route, "with", name)
            text = " ".join(given.text.split())
            self.kernel.narrowed.append(Narrowed(route, work.name, name, kind, text, found.lo, found.hi))

    def _tokens(self, call: _Call, function: Function, work: Work, model: Do) -> None:
        for i, (name, dtype) in enumerate(work.returns):
            target = model.out[i] if i < len(model.out) else "_"
            if target == "_":
                target = f"unused_{name}_{dtype}"
            function.token_types[target] = dtype
            call.add(f"{ARGS[dtype]}& {name}", function.token(target))

    # ---- the function --------------------------------------------------------------------------------------

    def _function(
        self, work: Work, call: _Call, templates: list[str], constants: list[str]
    ) -> SnippetFunction:
        key = (work.name, *templates, *call.parameters)
        if key not in self.functions:
            same = sum(other[0] == work.name for other in self.functions)
            name = (
                self.kernel.spelled[work.name]
                if not same
                else self.kernel.names.free(f"{work.name}_{same + 1}")
            )
            text = numbered((work.text or "").rstrip("\n"), work)
            lines: tuple[int, ...] = ()
            if self.document is not None and work.text_route[-1] == "cuda":
                count = text.count("\n") + 1
                lines = tuple(self.document.line_of(work.text_route, n) for n in range(1, count + 1))
            elif work.text_route[-1] == "file":
                lines = tuple(range(1, text.count("\n") + 2))
            self.functions[key] = SnippetFunction(
                name,
                ", ".join(templates),
                tuple(call.parameters),
                tuple(call.structs),
                tuple(constants),
                text,
                work.text_name,
                lines,
            )
        return self.functions[key]


def task_type(task: Task) -> str:
    """Return the type of a task's threads; tasks of one size and barrier share it."""
    return f"Task<{task.threads}, {task.barrier_id or 0}>"
