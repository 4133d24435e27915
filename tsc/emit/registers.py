"""Fragments as variables of a task's function: their types, their declarations, and a warpgroup's share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsc.emit.fragments import declared_in
from tsc.emit.kernel import storage
from tsc.emit.plan import Statement
from tsc.ops.lowering import Refused
from tsc.program.fragments import Fragment, fragment_of

if TYPE_CHECKING:
    from tsc.emit.function import Function


def fragment(function: Function, name: str) -> Fragment:
    """Return how a fragment is shared out in the function's task, its variable declared."""
    found = fragment_of(function.program, function.task, name)
    if found is None:
        raise Refused(f"`{name}` is no fragment that `{function.task.label}` can share out among warpgroups")
    if name not in function.declared_fragments:
        function.declared_fragments.add(name)
        block = declared_in(function.program, function.task, name)
        first = f"({share(function, found)})" if found.warpgroups > 1 else ""
        fields = {"type": type_of(found), "name": function.kernel.spelled[name], "first": first}
        variable = Statement("fragment", fields)
        if block is None:
            function.prelude.registers[name] = variable
        else:
            function.of_blocks.setdefault(id(block), []).append(variable)
    return found


def type_of(found: Fragment) -> str:
    """Return the C++ type of a warpgroup's share."""
    split = ", true" if found.split == "columns" and found.warpgroups > 1 else ""
    if found.lanes:
        return f"LaneFragment<{storage(found.dtype)}, {found.columns}{split}>"
    return f"Fragment<{storage(found.dtype)}, {found.rows}, {found.columns}{split}>"


def warpgroup(function: Function, found: Fragment) -> str:
    """Return the C++ of this warpgroup's number in the task."""
    return f"{function.task_name()}.warp / 4" if found.warpgroups > 1 else "0"


def share(function: Function, found: Fragment) -> str:
    """Return the C++ of the row, or column, at which this warpgroup's share begins."""
    if found.warpgroups == 1:
        return "0"
    size = found.rows if found.split == "rows" else found.columns
    return f"{warpgroup(function, found)} * {size}"
