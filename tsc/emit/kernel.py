"""What the tasks of a kernel share while they are lowered: names, constants, parameters, maps, needs and
refusals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import gcd

from tsc.emit.names import Names, identifier, shout
from tsc.emit.places import Sharing
from tsc.emit.plan import Constant, Narrowed, Parameter, Refusal
from tsc.expr import Expr, Interval, interval, multiple_of, parse, provably, to_cpp
from tsc.model import Reference
from tsc.ops.base import Engine
from tsc.ops.lowering import MapKey
from tsc.program.accesses import touches
from tsc.program.model import Memory, Operand, Program, RingUse, Task, Tensor
from tsc.program.storage import BITS
from tsc.program.tree import Step
from tsc.source.route import Route

# Element types in C++; the others are called as in the spec.
STORAGE = {"f32": "float", "i4": "i4", "u4": "u4"}
VALUES = {"i32": "i32", "u32": "u32", "i64": "i64", "f32": "float", "bool": "bool", "i8": "i8", "u8": "u8"}
INTEGERS = frozenset(("bool", "i8", "u8", "i32", "u32", "i64"))


def storage(dtype: str) -> str:
    """Return the C++ type of an element in memory."""
    return STORAGE.get(dtype, dtype)


def bits_of(dtype: str) -> int:
    """Return the bits of an element."""
    return BITS[dtype]


class Kernel:
    """Collects what the kernel's text needs; one for a run of the generator."""

    def __init__(self, program: Program, sanitize: bool = False) -> None:
        """With `sanitize` every thread arrives at barriers by itself."""
        self.program = program
        self.sanitize = sanitize
        self.names = Names(taken=(program.kernel,))
        spec = program.spec
        declared: Iterable[str] = (
            *spec.constants,
            *program.dims,
            *spec.params,
            *spec.workspace,
            *spec.let,
            *spec.resources,
            *spec.work,
            *spec.tasks,
        )
        self.spelled = {name: self.names.free(name) for name in dict.fromkeys(declared)}
        self.refusals: list[Refusal] = []
        self.narrowed: list[Narrowed] = []
        self.asserts: dict[str, str] = {}
        self.asserted: list[Expr] = []  # those of them that are bounds of dims
        self.needs: dict[str, tuple[int, int]] = {}  # tensor -> bytes of its address, of its strides
        self.maps: dict[MapKey, int] = {}  # to its number among the maps of its tensor
        self.used_constants: set[str] = set()
        self._parameters: dict[tuple[str, ...], Parameter] = {}
        self.layout: dict[str, Constant] = {}
        self.tile_fields: set[str] = set()
        self.devices: dict[str, tuple[str, str]] = {}  # device functions of operations: name and text
        self.written = frozenset(
            touch.operand.name
            for task in program.tasks
            for step in task.steps()
            for touch in touches(step, program.meanings, program.works, task.name, task.replica)
            if touch.writes and touch.operand is not None and touch.operand.kind == "tensor"
        )
        self.sharing = Sharing(program)

    # ---- refusals ------------------------------------------------------------------------------------------

    def refuse(self, route: Route, sentence: str, rule: str = "not-generated", help: str = "") -> None:
        """Note what cannot be lowered; once a place and sentence."""
        refusal = Refusal(route, sentence, rule, help)
        if refusal not in self.refusals:
            self.refusals.append(refusal)

    # ---- the program ---------------------------------------------------------------------------------------

    def meaning(self, reference: Reference, task: Task, step: Step) -> Operand | None:
        """Return what a reference means in a step of a task."""
        return self.program.meanings.meaning(reference, task.name, task.replica, step.env, step.route)

    def siblings(self, task: Task) -> tuple[Task, ...]:
        """Return the replicas of a task, itself included, in order."""
        return tuple(other for other in self.program.tasks if other.name == task.name)

    def use(self, task: Task, ring: str, copy: int) -> RingUse | None:
        """Return what a task does with a ring copy."""
        return next(
            (u for u in self.program.uses if (u.task, u.ring, u.copy) == (task.label, ring, copy)), None
        )

    def engines(self, ring: str, copy: int) -> tuple[frozenset[str], frozenset[str]]:
        """Return the engines by which all tasks together read and write a ring copy."""
        uses = [use for use in self.program.uses if use.ring == ring and use.copy == copy]
        reads: frozenset[str] = frozenset().union(*(use.engine_reads for use in uses))
        return reads, frozenset().union(*(use.engine_writes for use in uses))

    def shape(self, tensor: Tensor) -> tuple[Expr, ...]:
        """Return a tensor's extents as the spec writes them; lets have no name where views stand."""
        spec, program = self.program.spec, self.program
        shape = (
            spec.workspace[tensor.name].shape if tensor.workspace else spec.params[tensor.name].shape or ()
        )
        return tuple(
            program.values.flat(extent, {}) if any(name in program.lets for name in extent.free) else extent
            for extent in shape
        )

    @property
    def cluster_size(self) -> int:
        """CTAs of a cluster."""
        return self.program.cluster_size

    @property
    def group(self) -> int:
        """CTAs whose tensor cores work together: 2 in pairs, else 1."""
        return self.program.spec.launch.cta_group

    def paired(self, rings: Iterable[str], copy: int) -> bool:
        """Whether the tensor cores of a pair of CTAs read or fill some rings."""
        core = Engine.TCGEN05.value
        return self.group == 2 and any(core in a | b for a, b in (self.engines(one, copy) for one in rings))

    def filled_by_threads_of_both(self, ring: str, copy: int) -> bool:
        """Whether threads of both CTAs of a pair fill what its tensor cores read."""
        reads, writes = self.engines(ring, copy)
        core = Engine.TCGEN05.value
        return self.group == 2 and core in reads and not writes <= {core, Engine.TMA.value}

    def reaches(self, ring: str, copy: int) -> bool:
        """Whether other CTAs arrive at the barriers of a ring, too."""
        pipeline = self.program.pipelines.get((ring, copy))
        shared = pipeline is not None and any(self.axis(axis)[0] > 1 for axis in pipeline.multicast)
        return shared or (pipeline is not None and not pipeline.store_ring and self.paired((ring,), copy))

    @property
    def remote(self) -> bool:
        """Whether CTAs touch each other's shared memory."""
        return self.parted or any(self.reaches(*key) for key in self.program.pipelines)

    @property
    def parted(self) -> bool:
        """Whether the CTAs of a cluster meet before they end: they hear of tiles from another one, or a pair
        of them has tensor memory together, which neither gives back while the other's is in use.
        """
        queue = self.program.queue
        answers = self.cluster_size > 1 and queue is not None and queue.dynamic
        return answers or self.group == 2

    def axis(self, name: str) -> tuple[int, int]:
        """Return the CTAs along a cluster axis and the distance of their ranks."""
        stride = 1
        for axis, extent in self.rank_order():
            if axis == name:
                return extent, stride
            stride *= extent
        return 1, 1

    def rank_order(self) -> tuple[tuple[str, int], ...]:
        """Return the cluster axes, the one along which ranks run fastest first."""
        if self.program.queue is None:
            return tuple(sorted(self.program.cluster))
        return self.program.cluster

    # ---- names known when built ----------------------------------------------------------------------------

    def constant(self, name: str) -> str:
        """Return the C++ name of a constant or of a let of build-time names, which the file then declares."""
        self.used_constants.add(name)
        return self.spelled[name]

    def constants(self) -> tuple[Constant, ...]:
        """Return the declarations of what was used, in the order of the spec."""
        spec, made = self.program.spec, []
        for name in (*spec.constants, *spec.let):
            if name not in self.used_constants:
                continue
            value = spec.constants[name] if name in spec.constants else self.program.lets[name].value
            if value is None:
                continue
            comment = " ".join(spec.let[name].text.split()) if name in spec.let else ""
            made.append(constant_of(self.spelled[name], value, comment))
        return tuple(made)

    def place(self, key: str, value: int) -> str:
        """Return the C++ name of a number of the shared-memory layout, which the file then declares."""
        if key not in self.layout:
            self.layout[key] = Constant("u32", self.names.free(shout(identifier(key))), str(value))
        return self.layout[key].name

    def device(self, wanted: str, text: Callable[[str], str]) -> str:
        """Return the name of a device function that an operation needs, put into the file once."""
        if wanted not in self.devices:
            name = self.names.free(wanted)
            self.devices[wanted] = (name, text(name))
        return self.devices[wanted][0]

    # ---- parameters ----------------------------------------------------------------------------------------

    def parameter(self, *key: str, type_: str, wanted: str, argument: Mapping[str, object]) -> Parameter:
        """Return the kernel's parameter for a key, made at its first use."""
        if key not in self._parameters:
            name = self.spelled.get(wanted) or self.names.free(wanted)
            self._parameters[key] = Parameter(type_, name, argument)
        return self._parameters[key]

    def parameters(self) -> tuple[Parameter, ...]:
        """Return all parameters: maps, pointers and strides, the queue's counter, sizes, scalars."""
        order = {"tensor_map": 0, "pointer": 1, "stride": 1, "value": 2, "scalar": 3}
        tensors, names = list(self.program.tensors), [*self.program.dims, "sms", *self.program.scalars]

        def rank(item: tuple[tuple[str, ...], Parameter]) -> tuple[int, int, int]:
            key, parameter = item
            kind = str(parameter.argument["kind"])
            if kind == "tensor_map":
                return 0, tensors.index(key[1]), int(key[2])
            if kind == "counter":
                return 1, len(tensors), 0
            if kind in ("pointer", "stride"):
                return order[kind], tensors.index(key[1]), int(key[2]) + 1 if kind == "stride" else 0
            return order[kind], names.index(key[1]) if key[1] in names else len(names), 0

        return tuple(parameter for _, parameter in sorted(self._parameters.items(), key=rank))

    def dim(self, name: str) -> Parameter:
        """Return the parameter of a dim, or of `sms`."""
        type_ = integer_type(self.program.ranges[name])
        argument = {"kind": "value", "expr": name, "type": "i64" if type_ == "i64" else "i32"}
        return self.parameter("value", name, type_=type_, wanted=name, argument=argument)

    def scalar(self, name: str) -> Parameter:
        """Return the parameter of a scalar param."""
        dtype = self.program.scalars[name].dtype
        known = {"f32": "float", "i32": "int", "tf32": "float"}
        kinds = {"i8": "i32", "u8": "i32", "tf32": "f32"}
        type_ = known.get(dtype, "int" if dtype in ("i8", "u8") else dtype)
        argument = {"kind": "scalar", "param": name, "type": kinds.get(dtype, dtype)}
        return self.parameter("scalar", name, type_=type_, wanted=name, argument=argument)

    def pointer(self, tensor: Tensor) -> Parameter:
        """Return the parameter of a tensor's address."""
        element = "u8" if bits_of(tensor.dtype) < 8 else storage(tensor.dtype)
        type_ = f"{element}*" if tensor.name in self.written else f"const {element}*"
        argument = {"kind": "pointer", "tensor": tensor.name}
        return self.parameter(
            "pointer", tensor.name, type_=type_, wanted=f"{tensor.name}_data", argument=argument
        )

    def stride(self, tensor: Tensor, dim: int) -> Parameter:
        """Return the parameter of a tensor's stride along a dimension, in elements."""
        argument = {"kind": "stride", "tensor": tensor.name, "dim": dim, "type": "i64"}
        wanted = f"{tensor.name}_stride_{dim}"
        return self.parameter("stride", tensor.name, str(dim), type_="i64", wanted=wanted, argument=argument)

    def counter(self, queue: str) -> Parameter:
        """Return the parameter of a queue's counter, which the loader owns."""
        argument = {"kind": "counter", "queue": queue}
        return self.parameter("counter", type_="u32*", wanted=f"{queue}_counter", argument=argument)

    def tensor_map(self, key: MapKey) -> Parameter:
        """Return the parameter of a tensor map; its index in the manifest follows from the order of
        parameters.
        """
        if key not in self.maps:
            self.maps[key] = sum(other.tensor == key.tensor for other in self.maps)
        number = self.maps[key]
        wanted = f"{key.tensor}_map" + (f"_{number + 1}" if number else "")
        return self.parameter(
            "map",
            key.tensor,
            str(number),
            type_="TensorMap",
            wanted=wanted,
            argument={"kind": "tensor_map", "map": key},
        )

    def ordered_maps(self) -> tuple[MapKey, ...]:
        """Return the tensor maps in the order of their parameters."""
        found = (parameter.argument["map"] for parameter in self.parameters() if parameter.grid_constant)
        return tuple(key for key in found if isinstance(key, MapKey))

    # ---- what the loader must check ------------------------------------------------------------------------

    def need(self, name: str, align: int, stride: int) -> None:
        """Ask for an address and strides in multiples of so many bytes."""
        old = self.needs.get(name, (1, 1))
        self.needs[name] = (max(old[0], align), max(old[1], stride))
        tensor = self.program.tensors[name]
        if tensor.workspace and tensor.rank > 1:
            self.need_rows(tensor, stride)

    def need_rows(self, tensor: Tensor, stride: int) -> None:
        """Assert that rows of a workspace, which has no gaps, begin at multiples of so many bytes."""
        self.assert_rows(tensor, stride, f"the rows of `{tensor.name}` are multiples of {stride} bytes")

    def assert_rows(self, tensor: Tensor, size: int, what: str) -> bool:
        """Assert that rows are multiples of so many bytes; whether that may hold at a launch."""
        elements = max(1, size * 8 // bits_of(tensor.dtype))
        inner = tensor.shape[tensor.order[-1]]
        if multiple_of(inner, self.multiples()) % elements == 0:
            return True
        extent = inner.text if inner.text in self.program.dims else f"({inner.text})"
        whole = f"{extent} % {elements} == 0"
        self.asserts.setdefault(whole, what)
        return provably(parse(whole), self.program.ranges, ()) is not False

    def multiples(self) -> dict[str, int]:
        """Return what sizes are promised to be multiples of."""
        return {name: dim.multiple_of for name, dim in self.program.dims.items()}

    def assert_multiple(self, expr: Expr, factor: int, known: Mapping[str, int], what: str) -> bool:
        """Find the fewest dims whose being multiples makes an expression one; they become assertions."""
        if multiple_of(expr, known) % factor == 0:
            return True
        dims = [name for name in self.program.dims if name in expr.free]
        assumed = {name: _lcm(self.program.dims[name].multiple_of, factor) for name in dims}
        if multiple_of(expr, {**known, **assumed}) % factor:
            return False
        for name in dims:
            fewer = {other: value for other, value in assumed.items() if other != name}
            if multiple_of(expr, {**known, **fewer}) % factor == 0:
                assumed = fewer
        for name in assumed:
            self.asserts.setdefault(
                f"{name} % {factor} == 0", f"{what} needs `{name}` to be a multiple of {factor}"
            )
        return True

    def assert_bound(self, holds: Callable[[Expr], bool], what: str) -> bool:
        """Find a dim that only has to stay below some bound for a condition to hold; the loader asserts it.

        `holds` says whether it does where another condition holds. The bound is as large as 2^31 less a power
        of two can be.
        """
        for name, dim in self.program.dims.items():
            if not holds(parse(f"{name} <= {max(1, dim.interval.lo)}")):
                continue
            for bits in range(31):
                bound = parse(f"{name} <= {2**31 - 2**bits}")
                if holds(bound):
                    self.asserts.setdefault(bound.text, f"{what} needs `{name}` to be so small")
                    self.asserted.append(bound)
                    return True
        return False

    # ---- sizes ---------------------------------------------------------------------------------------------

    def bounds(self, expr: Expr) -> Interval:
        """Return the bounds of an expression that is known at launch."""
        return interval(expr, self.program.ranges)

    def first_byte(self, memory: Memory, copy: int) -> int:
        """Return the first byte of a copy of a shared-memory resource."""
        return (memory.offset or 0) + copy * memory.copy_bytes


def integer_type(range_: Interval) -> str:
    """Return the C++ type of a name with a range: that which `to_cpp` takes it to have where it is used."""
    return "int" if range_.fits_32 else "i64"


def _lcm(a: int, b: int) -> int:
    return a * b // gcd(a, b)


def constant_of(name: str, value: int | bool, comment: str = "") -> Constant:
    """Return the declaration of a number or bool."""
    if isinstance(value, bool):
        return Constant("bool", name, "true" if value else "false", comment)
    return Constant(integer_type(Interval(value, value)), name, to_cpp(parse(value), str, {}).text, comment)
