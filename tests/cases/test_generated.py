"""What nobody writes in a spec is in the code: counts, syncs, fences, barriers at both ends, phases."""

from __future__ import annotations

import re

import pytest

from tests.cases.harness import CASES, ROOT
from tests.emit.kernels import cuda, document, program_of
from tsc.program.model import Program
from tsc.source.document import Document

FENCE, SYNC, INIT_FENCE = "fence_proxy_async();", "task.sync();", "mbarrier_init_fence();"


def spec(name: str) -> Document:
    return document((ROOT / CASES / f"{name}.tsc.yaml").read_text("utf-8"))


def program(name: str) -> Program:
    return program_of(spec(name))


def lines(found: Document, task: str = "") -> list[str]:
    """The statements of one task's function, or of the entry point, without indentation."""
    text = cuda(found, headers=False)
    head = rf"^DEVICE void {task}_task\(" if task else '^extern "C" __global__'
    body = re.search(head + r".*?^}", text, re.M | re.S)
    assert body is not None
    return [line.strip() for line in body[0].splitlines() if line.strip()]


def before(found: list[str], start: str) -> list[str]:
    """What stands between a statement and the step before the one that it belongs to."""
    at = next(i for i, line in enumerate(found) if line.startswith(start))
    step = max(i for i in range(at) if found[i].startswith("//"))
    return found[step + 1 : at]


# ---- counts and rounds ------------------------------------------------------------------------------------


@pytest.mark.parametrize("rounds", [0, 1, 2, 3, 4])
def test_any_number_of_rounds_goes_one_way(rounds: int) -> None:
    name = "5_one_iteration/good"
    text = spec(name).text.replace("ROUNDS: 1", f"ROUNDS: {rounds}")
    assert f"ROUNDS: {rounds}," in text
    found = document(text)
    load = lines(found, "load")
    # One arrival announces the bytes and is the only one: full counts one arrival a phase.
    assert [line for line in load if "mbarrier_arrive" in line] == [
        "mbarrier_arrive_expect(ring_full + 8 * ring_write.stage, 512);"
    ]
    assert program_of(found).pipelines["ring", 0].full_arrivals == 1
    assert load == lines(spec(name), "load")


def test_every_warp_that_reads_arrives() -> None:
    name = "9_leader_speaks_too_early/good"
    mma = lines(spec(name), "mma")
    assert before(mma, "if (task.lane == 0) mbarrier_arrive(") == ["__syncwarp();"]
    assert program(name).pipelines["ring", 0].empty_arrivals == 4


def test_stage_and_phase_run_on_from_tile_to_tile() -> None:
    for task, cursor in (("mma", "ring_read"), ("load", "ring_write")):
        found = lines(spec("12_guarded_rounds_and_tiles/good"), task)
        made, tiles = (
            found.index(f"Cursor<3> {cursor};"),
            next(i for i, it in enumerate(found) if "unit <" in it),
        )
        assert made < tiles
        guard, advance = found.index("if (loop < USED) {"), found.index(f"{cursor}.advance();")
        assert tiles < guard < advance
        assert found[advance + 1] == "}"
        assert sum(cursor in line and "=" in line and "mbarrier" not in line for line in found) == 0


# ---- both ends of a CTA -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "sync"),
    [
        ("14_barriers_are_initialised_once/good", "__syncthreads();"),
        ("28_peers_reach_a_cta_that_ends/good", "cluster_sync_relaxed();"),
    ],
)
def test_barriers_are_ready_before_the_first_role(name: str, sync: str) -> None:
    found = lines(spec(name))
    last = max(i for i, line in enumerate(found) if "mbarrier_init(" in line)
    role = next(i for i, line in enumerate(found) if "_task(" in line)
    assert last < found.index(INIT_FENCE) < found.index(sync) < role
    for task in program(name).tasks:
        assert not any("mbarrier_init" in line for line in lines(spec(name), task.name))


@pytest.mark.parametrize("name", ["good", "good_one_tile"])
def test_peers_have_arrived_before_a_cta_ends(name: str) -> None:
    found = spec(f"28_peers_reach_a_cta_that_ends/{name}")
    assert lines(found, "load")[-5:] == [
        "for (int stage = 0; stage < 2; ++stage) {",
        "mbarrier_wait(ring_empty + 8 * ring_write.stage, ring_write.phase ^ 1);",
        "ring_write.advance();",
        "}",
        "}",
    ]
    assert "return;" not in cuda(found, headers=False)


# ---- syncs and fences -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "32_fence_on_the_path_without_rounds/good",
        "33_written_by_threads_stored_by_an_engine/good",
        "33_written_by_threads_stored_by_an_engine/good_ring",
    ],
)
def test_a_store_is_fenced_on_every_path(name: str) -> None:
    found = lines(spec(name), "epilogue")
    store = next(i for i, line in enumerate(found) if line.startswith("bulk_store("))
    fence, sync = (max(i for i in range(store) if found[i] == it) for it in (FENCE, SYNC))
    assert fence < sync < store
    # No brace closes between them: whatever path leads to the store has passed both.
    assert not any(line.startswith("}") for line in found[fence:store])


def test_both_ways_of_an_epilogue_meet_first() -> None:
    found = lines(spec("46_both_ways_of_an_epilogue/good"), "epilogue")
    fences = before(found, "if (leader) {")
    assert fences[0] == FENCE and fences[-1] == SYNC
    assert before(found, "copy(") == [SYNC]


def test_lanes_meet_before_one_arrives() -> None:
    found = lines(spec("48_one_lane_speaks_for_all/good"), "prepare")
    assert before(found, "if (task.lane == 0) mbarrier_arrive(w_full)") == ["__syncwarp();"]


# ---- addresses --------------------------------------------------------------------------------------------


def test_elements_are_addressed_with_64_bits() -> None:
    text = cuda(spec("71_offsets_beyond_32_bits/good"), headers=False)
    assert "i64 y_stride_0" in text


@pytest.mark.parametrize("name", ["good", "good_align"])
def test_a_swizzled_ring_lies_at_its_multiple(name: str) -> None:
    memories = program(f"83_swizzle_and_alignment/{name}").memories
    ring = memories["ring"]
    assert ring.buffers[0].swizzle == 128
    assert ring.offset is not None and ring.offset % 1024 == 0 and ring.stage_bytes % 1024 == 0
    assert "__align__(1024)" in cuda(spec(f"83_swizzle_and_alignment/{name}"), headers=False)
