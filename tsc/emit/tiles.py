"""The tiles of a queue as C++: how many there are, and where one is that has a number.

What is the same for all tiles is computed once, before the loop over them, and what they are divided by is
prepared, so that the loop has no division in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tsc.emit.function import Function
from tsc.emit.kernel import Kernel, storage
from tsc.emit.plan import Item, Statement
from tsc.emit.roles import warpgroup_registers
from tsc.emit.scope import Scope
from tsc.expr import Cpp, Expr, Interval, interval, parse, provably, substitute, to_cpp
from tsc.expr.tree import Binary, Choice, Ref, walk
from tsc.ops.lowering import Refused
from tsc.program.model import Program, Queue, Task, Tensor
from tsc.program.resolve import cluster_tiles
from tsc.spec.resources import Queue as QueueModel
from tsc.tiles.registry import BY_KIND, walk_of
from tsc.tiles.walk import Curve, Let, Walk, units

INT32 = 2**31 - 1
FRUGAL = 32  # registers: a task that has no more divides plainly, for what is prepared stays in registers
# Steps of a walk never pass the number of units. Where that fits 32 bits, so do they, and no step needs to be
# widened; these ranges say so to the printer.
_NARROW, _WIDE = Interval(0, 1023), Interval(0, 2**63 - 1)


@dataclass(frozen=True, slots=True)
class Decoder:
    """The tiles as a task has them: their declaration, their name, and the type of their numbers."""

    before: tuple[Item, ...]
    name: str
    type: str

    @property
    def count(self) -> str:
        """The C++ of how many numbers there are; not under `grid`, where nobody asks."""
        return f"{self.name}.count()"

    def at(self, number: str) -> str:
        """Return the C++ of the tile of a number."""
        return f"{self.name}.at({number})"


def declare_tiles(function: Function, scope: Scope) -> Decoder:
    """Declare the tiles of the program's queue in a task's function."""
    kernel = function.kernel
    program = kernel.program
    queue = program.queue
    assert queue is not None
    model = program.spec.resources[queue.name]
    axes = model.axes if isinstance(model, QueueModel) else {}
    shape = _Shape(program, queue)
    values: list[str] = []
    for axis in shape.axes:
        size = dict(program.cluster).get(axis, 1)
        extent = parse(f"cdiv({axes[axis].text}, {size})") if size > 1 else axes[axis]
        values.append(_cast(function.cpp(extent, {}, scope), shape.wide))
    for name in shape.walk.tables.values():
        table = program.tensors.get(name)
        if table is None or table.rank != 2:
            raise Refused(f"`{name}` is no table of tiles")
        _count_rows(kernel, queue, table)
        values.append(function.view(table))
    kernel.tile_fields |= {axis for axis, _ in queue.axes}
    own = kernel.spelled[queue.name]
    # The queue's own name is taken by the address of its answers, if there are any.
    name = function.names.free(f"{own}_order") if queue.dynamic else own
    frugal = bool(shape.divisors) and is_frugal(program, function.task)
    type_ = "TilesBy<PlainDivisor>" if frugal else "Tiles"
    made = Statement("tiles", {"type": type_, "name": name, "values": values})
    return Decoder((made,), name, "i64" if shape.wide else "u32")


def is_frugal(program: Program, task: Task) -> bool:
    """Whether a task has too few registers for divisions that are prepared."""
    groups = warpgroup_registers(program)
    return task.first_warp is not None and groups[task.first_warp // 4] <= FRUGAL


def tile_plan(kernel: Kernel, seq: bool) -> dict[str, Any] | None:
    """Return what the template prints: the coordinates of a tile, and the tiles by their numbers."""
    queue = kernel.program.queue
    if queue is None or not kernel.tile_fields:
        return None
    shape = _Shape(kernel.program, queue)
    order = BY_KIND[queue.order.kind]
    note = "; a unit is a cluster of tiles" if kernel.cluster_size > 1 else ""
    return {
        "frugal": bool(shape.divisors) and shape.divisor == "DIVISOR",
        "fields": [*(axis for axis, _ in queue.axes), *(["seq"] if seq else [])],
        "comment": f"{order.comment(queue.order)}{note}",
        "members": shape.members(kernel),
        "count": " * ".join(f"{axis}_units" for axis, _ in queue.axes) if shape.counted else "",
        "unit": "i64" if shape.wide else "u32",
        "number": shape.type,
        "steps": shape.steps(),
        "outside": [f"{it} < 0 || {it} >= {axis}_units" for it, axis in shape.walk.listed.items()],
        "axes": [{"name": axis, "value": shape.coordinate(kernel, axis)} for axis, _ in queue.axes],
    }


def tile_limits(program: Program) -> list[tuple[Expr, str]]:
    """Return what the loader has to see to, so that numbers and coordinates of tiles have their bits.

    Ragged clusters count whole. Nothing without a queue.
    """
    queue = program.queue
    if queue is None:
        return []
    clusters = dict(program.cluster)
    if not is_wide(program, queue):
        total = cluster_tiles(queue, clusters)
        total = f"{total} * {program.cluster_size}" if program.cluster_size > 1 else total
        limits = [(parse(f"{total} <= {INT32}"), f"there are at most {INT32:,} tiles")]
    else:
        limits = [
            (parse(f"align({extent.text}, {clusters.get(axis, 1)}) <= {INT32}"), f"`{axis}` ends below 2^31")
            for axis, extent in queue.axes
        ]
    # The product of two negative extents would pass for a number of tiles.
    limits += [
        (parse(f"({extent.text}) >= 0"), f"the extent of `{axis}` is not negative")
        for axis, extent in queue.axes
    ]
    return [(limit, why) for limit, why in limits if provably(limit, program.ranges) is not True]


def is_wide(program: Program, queue: Queue) -> bool:
    """Whether the units surely need more than 32 bits; else the loader holds their number below 2^31.

    Neither a grid nor a counter goes as far.
    """
    if queue.policy != "static":
        return False
    total = parse(cluster_tiles(queue, dict(program.cluster)))
    return interval(total, program.ranges).lo * program.cluster_size > INT32


class _Shape:
    """A queue's walk in C++: which of its steps are members, and what divides."""

    def __init__(self, program: Program, queue: Queue) -> None:
        self.program = program
        names = tuple(axis for axis, _ in queue.axes)
        self.walk: Walk = walk_of(queue.order, names)
        self.wide = is_wide(program, queue)
        self.type = "i64" if self.wide else "int"
        self.options = {name: self._option(option) for name, option in self.walk.options.items()}
        self.prepared = self.walk.prepared()
        late = [expr for step in self.walk.steps if not set(step.names) & self.prepared for expr in _of(step)]
        late += self.walk.coordinates.values()
        self.picked: set[str] = set()
        # One tile a CTA: to prepare a division would cost more than to divide.
        self.divisors = self._divisors(late) if queue.policy != "grid" else set[str]()
        self.divisor = "DIVISOR" if any(is_frugal(program, task) for task in program.tasks) else "Divisor"
        asked = {name for step in self.walk.steps for name in step.free}
        asked |= {name for expr in self.walk.coordinates.values() for name in expr.free}
        self.counted = queue.policy in ("static", "atomic")
        # Where nobody counts, some orders need not know how far their slowest axis goes.
        asked |= {units(axis) for axis in self.walk.listed.values()}
        self.axes = [axis for axis in names if self.counted or units(axis) in asked]

    def _option(self, option: Expr) -> Expr:
        """Put in a number known when built; where 32 bits count all units, more of them are all as well."""
        flat = self.program.values.flat(option)
        huge = flat.value is not None and flat.value > INT32 and not self.wide
        return parse(INT32) if huge else flat

    def _divisors(self, late: list[Expr]) -> set[str]:
        """Find the prepared names that late steps divide by, at first hand or as one of two."""
        rights = {
            node.right.name
            for expr in late
            for node in walk(expr.tree)
            if isinstance(node, Binary) and node.op in ("//", "%") and isinstance(node.right, Ref)
        }
        for step in self.walk.steps:
            if isinstance(step, Let) and step.name in rights - self.prepared:
                choice = step.value.tree
                if isinstance(choice, Choice):
                    rights |= {it.name for it in (choice.then, choice.other) if isinstance(it, Ref)}
                    self.picked.add(step.name)
        return rights - self.picked

    def members(self, kernel: Kernel) -> list[dict[str, str]]:
        """Return the members of the struct: what a task gives, then what follows from it."""
        given = [(f"{axis}_units", self._member_type(units(axis))) for axis in self.axes]
        given += [
            (name, _view(kernel, self.program.tensors[param])) for name, param in self.walk.tables.items()
        ]
        found = [{"type": type_, "name": name, "value": ""} for name, type_ in given]
        for step in self.walk.steps:
            if isinstance(step, Let) and step.name in self.prepared:
                value = f"{{{self.cpp(step.value).text}}}"
                found.append({"type": self._member_type(step.name), "name": step.name, "value": value})
        if kernel.cluster_size > 1:
            found.append({"type": "int", "name": "rank", "value": " = static_cast<int>(cluster_rank())"})
        return found

    def _member_type(self, name: str) -> str:
        return f"{self.divisor}<{self.type}>" if name in self.divisors else self.type

    def steps(self) -> list[dict[str, str]]:
        """Return what is computed for each tile."""
        found = []
        for step in self.walk.steps:
            if set(step.names) & self.prepared:
                continue
            if isinstance(step, Curve):
                arguments = ", ".join(self.cpp(expr).text for expr in (step.number, *step.extents))
                value = f"{step.function}({arguments})"
                found.append({"type": "auto", "name": f"[{', '.join(step.names)}]", "value": value})
            else:
                picked = step.name in self.picked and self.divisors
                type_ = f"{self.divisor}<{self.type}>&" if picked else self.type
                found.append({"type": type_, "name": step.name, "value": self.cpp(step.value).text})
        return found

    def coordinate(self, kernel: Kernel, axis: str) -> str:
        """Return a coordinate of this CTA's tile: that of the unit, and the rank within it."""
        value = self.cpp(self.walk.coordinates[axis])
        size, stride = kernel.axis(axis)
        if size == 1:
            return f"static_cast<int>({value.text})" if self.wide else value.text
        place = "rank" if stride == 1 else f"rank / {stride}"
        place = f"{place} % {size}" if stride * size < kernel.cluster_size else place
        text = f"{value.operand} * {size} + {place}"
        return f"static_cast<int>({text})" if self.wide else text

    def cpp(self, expr: Expr) -> Cpp:
        """Return an expression of the walk as C++."""
        own = substitute(expr, self.options)
        ranges = dict.fromkeys(own.free, _WIDE if self.wide else _NARROW)
        return to_cpp(own, _spelled, ranges, lambda name, args: f"{name}({', '.join(args)})")


def _spelled(name: str) -> str:
    group, _, axis = name.partition(".")
    return f"{axis}_{group}" if axis else name


def _of(step: Let | Curve) -> tuple[Expr, ...]:
    return (step.value,) if isinstance(step, Let) else (step.number, *step.extents)


def _cast(value: Cpp, wide: bool) -> str:
    if wide:
        return value.widened().text
    return value.text if value.bits == 32 else f"static_cast<int>({value.text})"


def _view(kernel: Kernel, tensor: Tensor) -> str:
    const = "" if tensor.name in kernel.written else "const "
    major = "" if tensor.order[-1] == tensor.rank - 1 else f", {tensor.order[-1]}"
    return f"Tensor<{const}{storage(tensor.dtype)}, {tensor.rank}{major}>"


def _count_rows(kernel: Kernel, queue: Queue, table: Tensor) -> None:
    """Have the loader see to it that a table has a row for each unit, and no more."""
    rows, program = table.shape[0], kernel.program
    agree = parse(f"({rows.text}) == {cluster_tiles(queue, dict(program.cluster))}")
    if provably(agree, program.ranges) is not True:
        unit = "cluster of tiles" if kernel.cluster_size > 1 else "tile"
        kernel.asserts.setdefault(agree.text, f"`{table.name}` has a row for each {unit}")


__all__ = ["Decoder", "declare_tiles", "is_wide", "tile_limits", "tile_plan"]
