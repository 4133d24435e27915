"""Where threads wait or meet that move fragments from and to tensor memory: blocks that not all of them
enter, and columns that warpgroups share.
"""

from __future__ import annotations

import re

import pytest

from tests.emit.kernels import cuda, document
from tests.emit.test_tensor_moves import LD, RELEASE, USE, lines_of, order_of, spec


def order(*steps: str, split: str = "columns") -> list[str]:
    """What two warpgroups do with memory that no ring guards."""
    found = []
    for line in lines_of(*steps, warps=8, split=split):
        if match := re.match(r"tensor_(load|store)\w*\((\w+)|tcgen05_(\w+)\(|task\.(sync)\(", line):
            found.append(" ".join(part for part in match.groups() if part))
    return found[1:]


PUT, GET = "{tcgen05_st: aside, from: f, at: [0, %s]}", "{tcgen05_ld: g, from: aside, at: [0, %s]}"
MEETING = ["wait_st", "fence_before", "sync", "fence_after"]


@pytest.mark.parametrize("place", ["0", "32", "96"])
def test_what_a_warpgroup_has_stored_it_may_load(place: str) -> None:
    found = order("{zero: f}", PUT % place, GET % place, RELEASE)
    assert found[:3] == ["store f", "wait_st", "load g"]
    assert "sync" not in found


@pytest.mark.parametrize("place", ["16", "24", "8"])
def test_what_another_warpgroup_has_stored_is_loaded_behind_a_meeting(place: str) -> None:
    assert order("{zero: f}", PUT % "0", GET % place, RELEASE)[:6] == ["store f", *MEETING, "load g"]


def test_columns_apart_need_no_meeting() -> None:
    assert "sync" not in order("{zero: f}", PUT % "0", GET % "32", PUT % "64", RELEASE)


def test_a_place_that_is_not_known_may_be_another_warpgroups() -> None:
    loop = "for: 3\nas: j\nbody: [{tcgen05_st: aside, from: f, at: [0, j * 32]}]"
    found = order("{zero: f}", loop, GET % "0", RELEASE)
    load = found.index("load g")
    assert found[load - 4 : load] == MEETING


def test_what_is_loaded_is_stored_over_behind_a_meeting() -> None:
    found = order("{zero: f}", GET % "0", PUT % "16", RELEASE)
    assert found[:6] == ["load g", "wait_ld", "fence_before", "sync", "fence_after", "store f"]


def test_after_one_meeting_there_is_no_second_one() -> None:
    assert order("{zero: f}", PUT % "0", GET % "16", GET % "8", RELEASE).count("sync") == 1


def test_one_warpgroup_has_lanes_of_its_own() -> None:
    assert "sync" not in order_of("{zero: f}", PUT % "0", GET % "16", RELEASE)


def test_threads_wait_before_a_block_that_not_all_enter() -> None:
    guard = "when: thread < 64\nthen: [{do: twice}]"
    text = cuda(document(spec("{zero: f}", LD, guard, RELEASE)), headers=False)
    assert re.search(r"tcgen05_wait_ld\(\);\n\s*tensor_hold\(f\);\n\s*if \(task.thread < 64\) {", text)
    found = order_of("{zero: f}", LD, guard, RELEASE)
    assert found.count("wait_ld") == 1


def test_threads_that_do_not_part_wait_inside() -> None:
    found = order_of("{zero: f}", LD, "when: k > 64\nthen: [{do: twice}]", RELEASE)
    assert found[2:5] == ["load f", "wait_ld", "hold f"]
    text = cuda(
        document(spec("{zero: f}", LD, "when: k > 64\nthen: [{do: twice}]", USE, RELEASE)), headers=False
    )
    assert re.search(r"if \(k > 64\) {[^}]*tcgen05_wait_ld", text)
