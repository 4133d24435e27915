"""The queue in the generated text: who asks, who takes, and what a skipped tile leaves."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.emit.kernels import NAMES, cuda, document, document_of, plan, program_of
from tsc.emit import manifest
from tsc.emit.assemble import plan_kernel
from tsc.program.model import Program
from tsc.toolchain.build import compile_source

COPY = (Path(__file__).parents[2] / "specs/copy/tma.tsc.yaml").read_text(encoding="utf-8")


def copy(policy: str, launch: str = "", queue: str = "") -> str:
    """The shipped copy with tiles that reach its CTAs in another way."""
    text = COPY.replace("policy: grid", f"policy: {policy}{queue}").replace(
        "launch: {", f"launch: {{{launch}"
    )
    return text.replace("sm_90a", "sm_100a") if policy == "clc" else text


def text_of(spec: str, **options: bool) -> str:
    return cuda(document(spec), headers=False, **options)


def function(text: str, name: str) -> str:
    """The body of a device function."""
    found = re.search(rf"^DEVICE void {name}\(.*?^}}$", text, re.S | re.M)
    assert found is not None, name
    return found[0]


def arrivals(spec: str, sanitize: bool = False) -> dict[str, int]:
    found = plan_kernel(program_of(document(spec)), sanitize=sanitize)
    return {one.name: one.arrivals for one in found.barriers}


# ---- from one policy to another ----------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["grid", "static", "atomic"])
@pytest.mark.parametrize("launch", ["", "cluster: {m: 2}, "])
def test_one_word_changes_the_policy(policy: str, launch: str) -> None:
    spec = copy(policy, launch)
    assert plan(spec).refusals == ()
    assert compile_source(cuda(document(spec)), {}, "sm_90a").diagnostics == ()


def test_data_tasks_do_the_same_under_all_policies() -> None:
    bodies = set()
    for policy in ("grid", "static", "atomic", "clc"):
        body = function(text_of(copy(policy)), "store_task")
        steps = body[body.index("for (int loop") : body.index("while (ring_held")]
        bodies.add(re.sub(r"^ +", "", steps, flags=re.M))
    assert len(bodies) == 1


def test_only_dynamic_queues_have_answers() -> None:
    for policy in ("grid", "static"):
        found = plan(copy(policy))
        assert [region.name for region in found.regions] == ["ring", "ring.full", "ring.empty"]
        assert found.threads == 64
    found = plan(copy("atomic", queue=", stages: 3"))
    assert [(r.name, r.bytes, r.stages) for r in found.regions if r.name.startswith("tiles")] == [
        ("tiles", 48, 3),
        ("tiles.full", 24, 3),
        ("tiles.empty", 24, 3),
    ]
    assert found.threads == 96 and found.tasks[-1].name == "tiles_fetch_task"


# ---- by a counter ------------------------------------------------------------------------------------------


def test_one_thread_asks_and_every_task_takes() -> None:
    text = text_of(copy("atomic"))
    fetch = function(text, "tiles_fetch_task")
    assert re.search(r"next_unit\(tiles_counter, \w+\.count\(\), gridDim\.x\)", fetch)
    assert fetch.index("tiles_empty + 8 * tiles_write.stage, tiles_write.phase ^ 1") < fetch.index(
        "write_answer"
    )
    for name in ("load_task", "store_task"):
        body = function(text, name)
        assert "counter" not in body
        order = [body.index(word) for word in ("tiles_full +", "read_answer(", "mbarrier_arrive(tiles_empty")]
        assert order == sorted(order)
    assert arrivals(copy("atomic")) | {"tiles.full": 1, "tiles.empty": 3} == arrivals(copy("atomic"))


def test_each_warp_of_a_task_gives_an_answer_back() -> None:
    spec = document_of("queue_atomic").text
    assert arrivals(spec)["tiles.empty"] == 6
    assert arrivals(spec, sanitize=True)["tiles.empty"] == 4 * 32 + 2
    assert "if (task.lane == 0) mbarrier_arrive(tiles_empty" in function(text_of(spec), "use_task")


def test_the_counter_is_the_loaders() -> None:
    found = manifest(program_of(document(copy("atomic"))))
    assert {"kind": "counter", "queue": "tiles"} in found["arguments"]
    assert found["queue"] == {"name": "tiles", "policy": "atomic", "stages": 2}
    assert not any(
        one["kind"] == "counter" for one in manifest(program_of(document(copy("static"))))["arguments"]
    )


def test_a_launch_that_starts_early_does_not_count_early() -> None:
    text = text_of(document_of("queue_cluster").text)
    fetch = function(text, "fetch_task")
    assert fetch.index("grid_dependency_wait();") < fetch.index("for (int unit")
    assert "grid_dependency_wait" not in text_of(copy("atomic"))


def test_the_first_cta_of_a_cluster_asks_for_all() -> None:
    spec = copy("atomic", "cluster: {m: 4}, ")
    text = text_of(spec)
    fetch = function(text, "tiles_fetch_task")
    assert fetch.count("if (first_cta)") == 2 and "send_answer<4>(" in fetch
    assert "gridDim.x / 4" in fetch and "cdiv(m_tiles, 4)" in fetch
    assert "mbarrier_arrive_cluster(cluster_address(tiles_empty" in function(text, "store_task")
    assert arrivals(spec)["tiles.empty"] == 12
    assert "cluster_sync();" in text  # nobody leaves while others may still arrive


# ---- by the hardware ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("launch", "multicast"), [("", False), ("cluster: {m: 2}, ", True)])
def test_the_hardware_is_asked_by_its_own_instructions(launch: str, multicast: bool) -> None:
    from tsc.toolchain.nvrtc import compile_cuda

    text = cuda(document(copy("clc", launch)))
    built = compile_source(text, {}, "sm_100a")
    assert built.diagnostics == () and built.usage.spill_stores == 0
    assert compile_cuda(text, arch="sm_100a").cubin
    asked = re.findall(r"clusterlaunchcontrol\.try_cancel[^\"]*", text)
    assert asked
    fetch = function(text, "tiles_fetch_task")
    assert f"request_tile<{2 if multicast else 1}>" in fetch
    # One request a round, and no further round after an answer that grants nothing.
    assert fetch.count("request_tile") == 1 and "unit >= 0" in fetch


def test_an_answer_of_the_hardware_is_fenced_before_it_is_given_back() -> None:
    body = function(text_of(copy("clc")), "load_task")
    order = [
        body.index(word) for word in ("granted_unit(", "fence_proxy_async()", "mbarrier_arrive(tiles_empty")
    ]
    assert order == sorted(order)


def test_the_hardware_has_a_cta_for_each_tile() -> None:
    assert manifest(program_of(document(copy("clc"))))["grid"][0] == "cdiv(m, 16)"


# ---- strides and tiles that are left out -------------------------------------------------------------------


def test_a_stride_of_the_specs_own() -> None:
    text = text_of(document_of("queue_stride").text)
    assert "unit += static_cast<u32>(step))" in function(text, "main_task")
    found = manifest(program_of(document_of("queue_stride")))
    assert [one["expr"] for one in found["asserts"][:2]] == ["(step) >= 1", "(step) <= 2147483647"]


@pytest.mark.parametrize("stride", [0, -3, 2**31])
def test_a_stride_that_goes_nowhere_is_refused(stride: int) -> None:
    spec = document_of("queue_stride").text.replace("stride: step", f"stride: {stride}")
    (refusal,) = plan(spec).refusals
    assert refusal.sentence == f"a stride of {stride:,} never comes to the next tile"


def test_who_leaves_a_tile_out_still_takes_its_answer() -> None:
    text = text_of(document_of("queue_atomic").text)
    for name in ("load_task", "use_task"):
        body = function(text, name)
        skipped = body[body.index("if (tile.i % 5 == 3)") : body.index("continue;")]
        assert [
            word in skipped for word in ("mbarrier_wait(tiles_full", "read_answer", "tiles_read.advance")
        ] == [True] * 3
    assert "continue" not in function(text, "tiles_fetch_task")


@pytest.mark.parametrize("policy", ["grid", "static", "atomic"])
def test_a_queue_that_leaves_tiles_out_compiles(policy: str) -> None:
    spec = copy(policy, queue=", skip_if: tile.m % 3 == 0")
    assert compile_source(cuda(document(spec)), {}, "sm_90a").diagnostics == ()


# ---- the scheduler's own steps where nothing is asked for --------------------------------------------------


def test_steps_of_a_queue_by_number_print_nothing() -> None:
    spec = document_of("queue_cluster").text.replace("policy: atomic", "policy: static")
    text = text_of(spec)
    assert "tiles_full" not in text and "next_unit" not in text
    head = r"for \(u32 unit = blockIdx\.x / 2; unit < \w+\.count\(\); unit \+= gridDim\.x / 2\)"
    assert re.search(head, text)
    found: Program = program_of(document(spec))
    assert found.queue is not None and found.queue.answers is None


# ---- every case under every policy -------------------------------------------------------------------------

WITH_QUEUES = [name for name in NAMES if "kind: queue" in document_of(name).text]


@pytest.mark.parametrize("policy", ["grid", "static", "atomic", "clc"])
@pytest.mark.parametrize("name", WITH_QUEUES)
def test_every_case_is_generated_under_every_policy(name: str, policy: str) -> None:
    text = re.sub(r"policy: \w+", f"policy: {policy}", document_of(name).text)
    text = text if policy == "static" else text.replace(", stride: step", "")
    text = text.replace("sm_90a", "sm_100a") if policy == "clc" else text
    assert plan(text).refusals == ()
    printed = text_of(text)
    assert ("read_answer(" in printed, "granted_unit(" in printed) == (policy == "atomic", policy == "clc")


@pytest.mark.parametrize("name", ["queue_atomic", "queue_cluster"])
def test_for_a_race_checker_they_compile(name: str) -> None:
    text = cuda(document_of(name), sanitize=True)
    assert compile_source(text, {}, "sm_90a").diagnostics == ()
