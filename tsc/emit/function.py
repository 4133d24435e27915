"""A task's function under construction: the expressions in it, and what stands before its schedule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tsc.emit import ahead
from tsc.emit.kernel import Kernel, integer_type, storage
from tsc.emit.names import Names
from tsc.emit.plan import Item, Parameter, Prelude, Statement
from tsc.emit.ranges import WIDTHS
from tsc.emit.scope import Env, Scope
from tsc.expr import (
    Cpp,
    Expr,
    Interval,
    build,
    fold,
    interval,
    multiple_of,
    provably,
    settle,
    substitute,
    to_cpp,
)
from tsc.expr.tree import Call, Compare, Int, Ref, walk
from tsc.ops.lowering import Refused
from tsc.program.fragments import fragment_of
from tsc.program.model import Task, Tensor
from tsc.program.scope import Stage


class NotUniform(Exception):
    """Something differs between replicas in a way that one text with `replica` in it cannot say."""


class Function:
    """One task instance's function; `symbolic` leaves `replica` a name, for a text that all share."""

    def __init__(self, kernel: Kernel, task: Task, symbolic: bool) -> None:
        self.kernel, self.task, self.symbolic = kernel, task, symbolic
        self.program = kernel.program
        self.names = Names(kernel.names)
        self.prelude = Prelude()
        self.tile_lets: dict[str, Item] = {}
        self.declared_fragments: set[str] = set()
        self.of_blocks: dict[int, list[Item]] = {}  # declarations at the start of a block, by its identity
        self.used: dict[str, Parameter] = {}
        self.uses_tensor = self.uses_shared = self.uses_task = self.uses_leader = self.uses_seq = False
        self.loop_variables: dict[str, str] = {}
        self.spelled_lets: dict[str, str] = {}
        self.let_names: set[str] = set()
        self.token_types: dict[str, str] = {}
        self.waits_for_grid = any(step.verb == "pdl_wait" for step in task.steps())
        self.written_tensors = kernel.written

    # ---- replicas ------------------------------------------------------------------------------------------

    def vary(self, values: Sequence[int]) -> str:
        """Return a number that each replica has its own of; `values` are those of all, in order."""
        own = self.task.replica or 0
        if not self.symbolic or len(set(values)) == 1:
            return str(values[own])
        step = values[1] - values[0]
        if list(values) != [values[0] + step * i for i in range(len(values))]:
            raise NotUniform
        term = "replica" if step == 1 else f"{abs(step)} * replica" if step != -1 else "replica"
        if step < 0:
            return f"{values[0]} - {term}"
        return f"{values[0]} + {term}" if values[0] else term

    # ---- parameters and builtins ---------------------------------------------------------------------------

    def parameter(self, parameter: Parameter) -> str:
        """Note that the function takes a parameter of the kernel and return its name."""
        self.used[parameter.name] = parameter
        return parameter.name

    def parameters(self) -> tuple[Parameter, ...]:
        """Return the parameters it takes, in the kernel's order."""
        return tuple(parameter for parameter in self.kernel.parameters() if parameter.name in self.used)

    def builtin(self, key: str, type_: str, text: str) -> str:
        """Return a name for a value that the hardware gives, declared once."""
        known = self.spelled_lets.get(key)
        if known is None:
            known = self.spelled_lets[key] = self.names.free(key.replace(".", "_"))
            self.prelude.builtins[key] = Statement("constant", {"type": type_, "name": known, "value": text})
        return known

    def hoisted(self, type_: str, wanted: str, text: str) -> str:
        """Return a name for a value that holds throughout, from the task's places and threads."""
        key = f"{type_} {text}"
        if key not in self.spelled_lets:
            name = self.spelled_lets[key] = self.names.free(wanted)
            self.prelude.states[key] = Statement("constant", {"type": type_, "name": name, "value": text})
        return self.spelled_lets[key]

    def leader(self) -> str:
        """Return the predicate of the thread that issues for all, empty where one thread runs the task."""
        if self.task.single:
            return ""
        self.uses_task = self.uses_leader = True
        return "leader"

    def task_name(self) -> str:
        """Return the name of the task's threads."""
        self.uses_task = True
        return "task"

    def cluster_rank(self, axis: str) -> str:
        """Return this CTA's place along a cluster axis."""
        extent, stride = self.kernel.axis(axis)
        if extent == 1:
            return "0"
        text = "cluster_rank()" if stride == 1 else f"cluster_rank() / {stride}"
        if stride * extent < self.kernel.cluster_size:
            text = f"{text} % {extent}"
        return self.builtin(f"cluster.{axis}", "int", f"static_cast<int>({text})")

    # ---- expressions ---------------------------------------------------------------------------------------

    def ranges(self, env: Env, scope: Scope) -> dict[str, Interval]:
        """Return the ranges of all names at a place."""
        found = dict(scope.ranges)
        found.update({name: Interval(int(value), int(value)) for name, value in env.items()})
        found.update({name: WIDTHS[dtype] for name, dtype in self.token_types.items() if dtype in WIDTHS})
        if self.symbolic and self.task.replica is not None:
            found["replica"] = Interval(0, self.task.replicas - 1)
        return found

    def flat(self, expr: Expr, env: Env) -> Expr:
        """Return an expression without lets, constants and build-time names."""
        return self.program.values.flat(expr, env)

    def interval(self, expr: Expr, env: Env, scope: Scope) -> Interval:
        """Return bounds at a place."""
        return interval(self.flat(expr, env), self.ranges(env, scope))

    def multiple(self, expr: Expr, env: Env, scope: Scope) -> int:
        """Return a divisor at a place."""
        return multiple_of(self.flat(expr, env), {**self.kernel.multiples(), **scope.multiples})

    def proves(self, condition: Expr, env: Env, scope: Scope) -> bool:
        """Whether a condition surely holds at a place."""
        known = {**self.kernel.multiples(), **scope.multiples}
        return provably(self.flat(condition, env), self.ranges(env, scope), scope.facts, known) is True

    def resolved(self, expr: Expr, env: Env, scope: Scope) -> Expr:
        """Put in build-time names, and the lets that have no C++ name at this place."""
        inner: dict[str, Expr] = {}
        # Those that others are made from come first, so that however many there are, none asks for the next.
        lets = self._lets_of(expr)
        sure = ahead.lets_for_certain(self, expr) if lets else set()
        for name in lets:
            if not self.spells(name, scope if name in sure else scope.inside()):
                inner[name] = self._put_in(self.program.spec.let[name], inner, env, scope)
        return self._put_in(expr, inner, env, scope)

    def _put_in(self, expr: Expr, lets: Mapping[str, Expr], env: Env, scope: Scope) -> Expr:
        used: dict[str, Expr] = {}
        known: dict[str, int | bool] = {}
        for name in expr.free:
            if name in env and name not in scope.spelled and not (name == "replica" and self.symbolic):
                known[name] = env[name]
            elif name in lets:
                used[name] = lets[name]
        own = substitute(expr, used) if used else expr
        return fold(own, known) if known else own

    def _lets_of(self, expr: Expr) -> list[str]:
        """Return the lets in an expression and those that they are made from, these first."""
        lets, found, todo = self.program.lets, set[str](), [expr]
        while todo:
            new = {name for name in todo.pop().free if name in lets and name not in found}
            found |= new
            todo += [self.program.spec.let[name] for name in new if name not in self.spelled_lets]
        return [name for name in lets if name in found] if found else []

    def cpp(self, expr: Expr, env: Env, scope: Scope, *, reads_ahead: bool = True) -> Cpp:
        """Return an expression as C++; what it reads in each round alike is read before the loop."""
        own = settle(self.resolved(expr, env, scope), self.program.constants)
        self._count_extents(own)
        own = ahead.with_reads_ahead(self, own, scope) if reads_ahead else own
        ranges = self.ranges(env, scope) | (scope.ahead.ranges if scope.ahead is not None else {})
        for name in own.free:
            if name in self.program.constants:
                value = int(self.program.constants[name])
                ranges[name] = Interval(value, value)
            elif name in self.program.lets:
                ranges[name] = self.let_range(name)
        return to_cpp(own, lambda name: self.spell(name, scope), ranges, self.element)

    def let_range(self, name: str) -> Interval:
        """Return the range of a let that is a C++ name, which decides its type and how it is used."""
        return interval(self.program.lets[name], self.program.ranges)

    def _count_extents(self, expr: Expr) -> None:
        """Have the loader hold the extents below 2^31 over which `find` counts in 32 bits."""
        for node in walk(expr.tree) if "find" in expr.calls else ():
            if not (isinstance(node, Call) and node.function == "find" and isinstance(node.args[0], Ref)):
                continue
            tensor = self.program.tensors.get(node.args[0].name)
            if tensor is not None and tensor.rank == 1 and not self.kernel.bounds(tensor.shape[0]).fits_32:
                limit = build(Compare(("<=",), (tensor.shape[0].tree, Int(2**31 - 1))))
                self.kernel.asserts.setdefault(limit.text, f"`find` counts `{tensor.name}` in 32 bits")

    def text(self, expr: Expr, env: Env, scope: Scope) -> str:
        """Return the C++ text of an expression."""
        return self.cpp(expr, env, scope).text

    def build_text(self, expr: Expr, env: Env, scope: Scope) -> str:
        """Return a build-time value as C++: by its names where they are a constant expression, else as a
        number.
        """
        value = self.flat(expr, env).value
        if value is None:
            raise Refused(f"`{expr.text}` is not known when built")
        own = self.resolved(expr, env, scope)
        named = all(name in self.program.constants or name in self.program.lets for name in own.free)
        return self.text(expr, env, scope) if named and not own.calls else str(int(value))

    def spells(self, name: str, scope: Scope) -> bool:
        """Whether a let is a C++ name at a place; declares it where it can be one."""
        stage = self.program.let_stages.get(name, Stage.THREAD)
        flat = self.program.lets[name]
        if stage == Stage.BUILD:
            return flat.value is not None
        if name in self.spelled_lets:
            return True
        if (
            stage > Stage.TILE
            or "replica" in flat.free
            or any(n in flat.free for n in self.program.registers)
        ):
            return False
        level = "tile" if stage == Stage.TILE else "function"
        # A let that reads a tensor is made ahead only where the read would happen anyway, and happen as
        # early.
        reads = flat.indexed
        early = not self.waits_for_grid or all(
            self.program.tensors[n].constant for n in reads if n in self.program.tensors
        )
        fixed = not reads & self.written_tensors
        if reads and fixed and scope.certain == "round" and scope.ahead is not None:
            ahead.declare_let(self, name, scope, scope.ahead)
            return True
        if reads and not (early and fixed and scope.certain == level):
            return False
        self.declare_let(name, level, scope)
        return True

    def let_name(self, name: str) -> str:
        """Return the C++ name of a let; another one where the function has declared the let before."""
        own = self.kernel.spelled[name]
        spelled = self.names.free(own) if own in self.let_names else own
        self.let_names.add(spelled)
        return spelled

    def declare_let(self, name: str, level: str, scope: Scope) -> None:
        """Make a let a constant of the function or of the tile loop's body."""
        outer = Scope(
            scope.ranges,
            scope.multiples,
            (),
            scope.spelled,
            "tile" if level == "tile" else "function",
            level == "tile",
        )
        value = self.cpp(self.program.spec.let[name], {}, outer)
        spelled = self.spelled_lets[name] = self.let_name(name)
        type_ = "bool" if value.is_bool else integer_type(self.let_range(name))
        target = self.tile_lets if level == "tile" else self.prelude.lets
        target[name] = Statement("constant", {"type": type_, "name": spelled, "value": value.text})

    def spell(self, name: str, scope: Scope) -> str:
        """Return the C++ of a name at a place."""
        program = self.program
        if name in ("iter", "trips") and scope.round is not None:
            return scope.round.iteration() if name == "iter" else scope.round.number()
        if name in scope.spelled:
            self.uses_seq |= name == "tile.seq"
            return scope.spelled[name]
        if name in program.constants or (
            name in program.lets and program.let_stages.get(name) == Stage.BUILD
        ):
            return self.kernel.constant(name)
        if name in self.spelled_lets:
            return self.spelled_lets[name]
        if name in program.dims or name == "sms":
            return self.parameter(self.kernel.dim(name))
        if name in program.scalars:
            spelled = self.parameter(self.kernel.scalar(name))
            return f"i64({spelled})" if program.scalars[name].dtype == "u32" else spelled
        if name in program.tensors:
            return self.view(program.tensors[name])
        if name in self.token_types:
            return f"i64({self.token(name)})" if self.token_types[name] == "u32" else self.token(name)
        if name in program.registers:
            own = self.register(name)
            return f"i64({own}[0])" if program.registers[name].dtype == "u32" else f"{own}[0]"
        if name in ("thread", "warp", "lane"):
            return f"{self.task_name()}.{name}"
        if name.startswith(("block.", "grid.")):
            what, axis = name.split(".")
            return self.builtin(
                name, "int", f"static_cast<int>({what}{'Idx' if what == 'block' else 'Dim'}.{axis})"
            )
        if name.startswith("cluster."):
            return self.cluster_rank(name.split(".")[1])
        if name == "replica":
            return "replica"
        raise Refused(f"`{name}` has no value here")

    def element(self, name: str, args: Sequence[str]) -> str:
        """Return the C++ of a tensor's element."""
        tensor = self.program.tensors.get(name)
        if tensor is None:
            raise Refused(f"`{name}` is no tensor")
        text = f"{self.view(tensor)}({', '.join(args)})"
        return f"i64({text})" if tensor.dtype == "u32" else text

    # ---- storage -------------------------------------------------------------------------------------------

    def token(self, name: str) -> str:
        """Return the variable of a token."""
        key = f"token {name}"
        if key not in self.spelled_lets:
            self.spelled_lets[key] = self.names.free(name)
            type_ = storage(self.token_types[name])
            self.prelude.tokens[name] = Statement(
                "variable", {"type": type_, "name": self.spelled_lets[key], "value": ""}
            )
        return self.spelled_lets[key]

    def register(self, name: str) -> str:
        """Return the variable of a set of private values."""
        spelled = self.kernel.spelled[name]
        type_ = f"Registers<{storage(self.program.registers[name].dtype)}, {self.held(name)}>"
        self.prelude.registers[name] = Statement("variable", {"type": type_, "name": spelled, "value": ""})
        return spelled

    def held(self, name: str) -> int:
        """Return how many private values a thread has under a name."""
        found = self.program.registers[name]
        of = None if found.rows_of is None else fragment_of(self.program, self.task, found.rows_of)
        count = found.per_thread if of is None else of.slots
        if count is None:
            raise Refused(f"`{name}` is a fragment, which has no values that each thread could be asked for")
        return count

    def view(self, tensor: Tensor) -> str:
        """Return the view of a tensor."""
        spelled = self.kernel.spelled[tensor.name]
        if tensor.name in self.prelude.views:
            return spelled
        outer = Scope(self.program.ranges, {}, (), {})
        extents = [self.text(extent, {}, outer) for extent in self.kernel.shape(tensor)]
        strides = []
        for dim in range(tensor.rank):
            if dim == tensor.order[-1]:
                strides.append("1")
            elif tensor.packed:
                strides.append(self._packed_stride(tensor, dim, outer))
            else:
                strides.append(self.parameter(self.kernel.stride(tensor, dim)))
        data = self.parameter(self.kernel.pointer(tensor))
        major = "" if not tensor.rank or tensor.order[-1] == tensor.rank - 1 else f", {tensor.order[-1]}"
        type_ = f"Tensor<{self.element_type(tensor)}, {tensor.rank}{major}>"
        fields = {"type": type_, "name": spelled, "data": data, "extents": extents, "strides": strides}
        self.prelude.views[tensor.name] = Statement("tensor", fields)
        return spelled

    def element_type(self, tensor: Tensor) -> str:
        """Return the element type of a view: constant where no task writes the tensor."""
        return (
            storage(tensor.dtype) if tensor.name in self.kernel.written else f"const {storage(tensor.dtype)}"
        )

    def tensor_type(self, tensor: Tensor, readable: bool) -> str:
        """Return the type of a view that a work gets."""
        major = "" if not tensor.rank or tensor.order[-1] == tensor.rank - 1 else f", {tensor.order[-1]}"
        element = storage(tensor.dtype)
        return f"Tensor<{'const ' if readable else ''}{element}, {tensor.rank}{major}>"

    def _packed_stride(self, tensor: Tensor, dim: int, scope: Scope) -> str:
        faster = tensor.order[tensor.order.index(dim) + 1 :]
        texts: list[str] = []
        for other in faster:
            value = self.cpp(self.kernel.shape(tensor)[other], {}, scope)
            texts.append(value.operand if texts or len(faster) == 1 else value.widened().operand)
        return " * ".join(texts)
