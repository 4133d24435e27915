"""Pairs of CTAs whose tensor cores work together: the even CTA leads, and its odd neighbour follows.

The leader's barriers stand for both. There the bytes that the tensor cores read are counted, whichever of the
two loads them, and there both give back what the tensor cores fill. What the tensor cores hand over or give
back, they tell both CTAs.
"""

from __future__ import annotations

from collections.abc import Iterable

from tsc.emit.function import Function
from tsc.emit.operands import fillers_mask
from tsc.emit.plan import Compound, Item, Statement
from tsc.emit.roles import LEADS
from tsc.ops.lowering import Refused
from tsc.program.multicast import Shared

SCATTERED = "loads for a pair that do not all stand beside their `acquire` and `commit` are not generated yet"


def announced_to_leader(function: Function, barrier: str, size: int | None, arrives: bool) -> list[Item]:
    """Return the announcement of what both CTAs load, by the leader's thread and for both; `size` is that of
    one CTA, absent where only the run knows it. Without `arrives` the arrival comes with the commit.

    What the other CTA loads may come first. It is of the same phase: both wait for one commit before they
    load again, and the leader's arrival is still to come.
    """
    if size is None:
        raise Refused(SCATTERED)
    announce = Statement("arrive_expect" if arrives else "expect", {"barrier": barrier, "bytes": 2 * size})
    if function.task.ctas == "leader":
        return [announce]
    return [Compound("if", {"condition": function.builtin("leads", "bool", LEADS)}, (announce,))]


def leader_barriers(function: Function, barriers: str, label: str) -> str:
    """Return the C++ of the leader's barriers that correspond to own ones."""
    rank = "0" if function.kernel.cluster_size == 2 else "cluster_rank() & ~1u"
    return function.hoisted("u32", f"{label}_leader", f"cluster_address({barriers}, {rank})")


def mask(function: Function, loads: Iterable[Shared]) -> str:
    """Return the C++ of the CTAs that hear of what the tensor cores did: both of the pair and, of a stage
    that several CTAs fill, all that do.
    """
    kernel = function.kernel
    if function.task.ctas != "leader":
        raise Refused("products of a pair in both of its CTAs are not generated: its leader issues them")
    if kernel.cluster_size == 2:
        return "3"
    along = kernel.rank_order()[0][0]
    beside = tuple(one for one in loads if one.axis == along and not one.sent)
    others = tuple(one for one in loads if one not in beside and kernel.axis(one.axis)[0] > 1)
    if others:
        # The neighbour has the same place along these axes, so that the next ranks fill its stages.
        own = function.hoisted("u32", "fillers", fillers_mask(function, others))
        text = function.hoisted("u32", "pair_fillers", f"{own} | {own} << 1")
    else:
        text = function.hoisted("u32", "pair", "3u << cluster_rank()")
    if beside and kernel.axis(along)[0] > 2:
        text = function.hoisted("u32", "row_fillers", f"{text} | {fillers_mask(function, beside)}")
    return text
