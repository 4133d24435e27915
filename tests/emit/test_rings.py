"""What is derived about rings: cursors by the stages held, announced bytes, syncs and fences."""

from __future__ import annotations

import re

import pytest

from tests.emit.kernels import cuda, document, program_of, small
from tsc.emit.generated import not_generated
from tsc.source.route import show_route

RESOURCES = "  ring: {kind: smem, stages: 4, dtype: f32, shape: [64]}"
PARAMS = "params: {x: {dtype: f32, shape: [n, 64]}, y: {dtype: f32, shape: [n, 64]}}"
LOAD = """
  load:
    warps: 1
    schedule:
      - domain_loop: n
        body:
          - acquire: ring
          - {bulk_load: x, at: [loop, 0], to: ring}
          - commit: ring
"""
STORE = """
  store:
    warps: 1
    schedule:
      - domain_loop: n
        body:
          - wait: ring
          - {bulk_store: y, at: [loop, 0], from: ring}
          - store_wait: %d
          - {release: ring, keep: %d}
      - store_wait: 0
      - release: ring
"""


def text(tasks: str, resources: str = RESOURCES, rest: str = PARAMS) -> str:
    return cuda(document(small(tasks, resources, rest)), headers=False)


def task(printed: str, name: str) -> str:
    """The lines of one task's function."""
    return printed.split(f"// ---- task: {name} ")[1].split("\n// ---- ")[0]


def test_one_stage_at_a_time_needs_one_cursor() -> None:
    printed = task(text(LOAD + STORE % (0, 0)), "store")
    assert "Cursor<4> ring_read;" in printed
    assert "ring_release" not in printed
    assert "ring_held" not in printed
    # The release after the loop has nothing to give.
    assert printed.count("mbarrier_arrive(") == 1


def test_delayed_release_counts_what_is_held() -> None:
    printed = task(text(LOAD + STORE % (2, 2)), "store")
    assert "if (ring_held > 2) {" in printed
    assert "while (ring_held > 0) {" in printed


def test_a_known_number_of_stages_is_not_counted() -> None:
    tasks = (
        LOAD.replace("domain_loop: n", "domain_loop: 2")
        + """
  store:
    warps: 1
    schedule:
      - wait: ring
      - wait: ring
      - {release: ring, keep: 1}
      - release: ring
"""
    )
    printed = task(text(tasks, rest=PARAMS.replace("[n, 64]", "[2, 64]")), "store")
    assert "ring_held" not in printed
    assert printed.count("mbarrier_arrive(ring_empty + 8 * ring_release.stage);") == 2


TWO = "  ring: {kind: smem, stages: 2, buffers: {a: {dtype: f32, shape: [64]}, b: {dtype: f32, shape: [64]}}}"


def loads(first: str, second: str) -> str:
    return f"""
  load:
    warps: 1
    schedule:
      - domain_loop: n
        body:
          - acquire: ring
          - {first}
          - {second}
          - commit: ring
  use:
    warps: 1
    schedule:
      - domain_loop: n
        body:
          - wait: ring
          - release: ring
"""


A, B = "{bulk_load: x, at: [loop, 0], to: ring.a}", "{bulk_load: x, at: [loop, 0], to: ring.b}"


def test_the_bytes_of_a_bracket_are_announced_once() -> None:
    printed = task(text(loads(A, B), TWO), "load")
    assert printed.count("mbarrier_arrive_expect") == 1
    assert "mbarrier_arrive_expect(ring_full + 8 * ring_write.stage, 512);" in printed
    assert "mbarrier_arrive(" not in printed


def test_a_conditional_load_announces_its_own_bytes() -> None:
    printed = task(text(loads(A, f"when_true: loop % 2 == 0\n            body: [{B}]"), TWO), "load")
    assert "mbarrier_arrive_expect" not in printed
    assert printed.count("mbarrier_expect(ring_full + 8 * ring_write.stage, 256);") == 2
    assert printed.count("mbarrier_arrive(ring_full + 8 * ring_write.stage);") == 1


def test_bytes_known_at_run_time_are_announced_as_such() -> None:
    short = "{bulk_load: x, at: [loop, 0], to: ring.a, rows: loop % 16 * 4}"
    printed = task(text(loads(short, "{bulk_load: x, at: [loop, 0], to: ring.b, rows: 4}"), TWO), "load")
    assert "const u32 x_bytes = static_cast<u32>(loop % 16 * 4) * 4;" in printed
    assert "mbarrier_expect(ring_full + 8 * ring_write.stage, x_bytes);" in printed


# ---- syncs inside a task -----------------------------------------------------------------------------------

SCRATCH = (
    "  scratch: {kind: smem, dtype: f32, shape: [64]}\n  v: {kind: registers, dtype: f32, per_thread: 1}"
)
OUT = "params: {y: {dtype: f32, shape: [64]}}"


def steps(*lines: str, loop: bool = False) -> str:
    body = "".join(f"\n{'  ' * loop}      - {line}" for line in lines)
    if loop:
        body = "\n      - for: 3\n        as: i\n        body:" + body.replace("\n        -", "\n          -")
    return f"\n  main:\n    warps: 2\n    schedule:{body}\n"


WRITE, READ = "{store: scratch, from: v, at: [thread]}", "{load: v, from: scratch, at: [63 - thread]}"


def kinds(printed: str) -> list[str]:
    """What stands in the task's function, a word a line."""
    words = {
        "store_registers": "write",
        "load_registers": "read",
        "task.sync": "sync",
        "fence_proxy_async()": "fence",
    }
    words |= {"bulk_store": "engine", "bulk_wait": "wait"}
    return [
        word
        for line in printed.splitlines()
        for key, word in words.items()
        if key in line and "//" not in line
    ]


def test_a_read_after_a_write_of_other_threads_waits_for_them() -> None:
    printed = task(text(steps("{zero: v}", WRITE, READ), SCRATCH, OUT), "main")
    assert kinds(printed) == ["write", "sync", "read"]


def test_in_a_loop_the_write_waits_for_the_reads_before_it() -> None:
    printed = task(text(steps("{zero: v}", WRITE, READ, loop=True), SCRATCH, OUT), "main")
    assert kinds(printed) == ["sync", "write", "sync", "read"]


def test_a_written_sync_is_not_doubled() -> None:
    printed = task(text(steps("{zero: v}", WRITE, "task_sync", READ), SCRATCH, OUT), "main")
    assert kinds(printed) == ["write", "sync", "read"]


def test_an_engine_reads_what_was_fenced_and_met() -> None:
    store = "{bulk_store: y, at: [0], from: scratch}"
    printed = task(text(steps("{zero: v}", WRITE, store, "{store_wait: 0}", WRITE), SCRATCH, OUT), "main")
    assert kinds(printed) == ["write", "fence", "sync", "engine", "wait", "sync", "write"]


def test_one_thread_needs_no_sync() -> None:
    assert "sync" not in task(text(LOAD + STORE % (0, 0)), "store")


STAGED = SCRATCH.replace("scratch: {kind: smem", "out: {kind: smem, stages: 3")


@pytest.mark.parametrize(("stages", "pending"), [(1, 0), (2, 1), (4, 3)])
def test_a_store_ring_waits_for_the_store_that_read_its_stage(stages: int, pending: int) -> None:
    resources = STAGED.replace("stages: 3", f"stages: {stages}")
    lines = (
        "acquire: out",
        "{zero: v}",
        "{store: out, from: v, at: [thread]}",
        "commit: out",
        "{bulk_store: y, at: [0], from: out}",
    )
    printed = task(text(steps(*lines, loop=True), resources, OUT), "main")
    assert f"bulk_wait_read<{pending}>" in printed
    assert kinds(printed) == ["wait", "sync", "write", "fence", "sync", "engine", "wait"]


def test_a_store_on_some_paths_only_is_not_counted_on() -> None:
    resources = STAGED
    lines = (
        "acquire: out",
        "{zero: v}",
        "{store: out, from: v, at: [thread]}",
        "commit: out",
        "{when_true: i > 1, body: [{bulk_store: y, at: [0], from: out}]}",
    )
    printed = task(text(steps(*lines, loop=True), resources, OUT), "main")
    assert "bulk_wait_read<0>();\n    task.sync();" in printed


def test_comments_carry_the_step_and_its_line() -> None:
    found = document(small(LOAD + STORE % (0, 0), RESOURCES, PARAMS))
    line = found.text[: found.text.index("- {bulk_load")].count("\n") + 1
    assert f"// {line}: bulk_load: x, at: [loop, 0], to: ring\n" in cuda(found, headers=False)


def test_threads_that_part_meet_before() -> None:
    guard = f"{{when_true: thread < 16, body: [{READ}]}}"
    printed = task(text(steps("{zero: v}", WRITE, guard), SCRATCH, OUT), "main")
    assert kinds(printed) == ["write", "sync", "read"]
    assert printed.index("task.sync()") < printed.index("if (task.thread < 16)")


def test_in_a_loop_that_threads_leave_apart_they_cannot_meet() -> None:
    tasks = steps("{zero: v}", f"{{for: thread, as: i, body: [{WRITE}, {READ}]}}")
    ((route, sentence),) = not_generated(program_of(document(small(tasks, SCRATCH, OUT))))
    assert show_route(route) == "tasks.main.schedule[1]"
    assert sentence == "threads that take different ways here would have to meet inside"


def test_a_look_is_answered_where_another_barrier_speaks_for_its_stage() -> None:
    resources = RESOURCES + "\n" + RESOURCES.replace("ring:", "beside:")
    mid = """
  mid:
    warps: 1
    schedule:
      - domain_loop: n
        body:
          - {wait: ring, observe: true}
          - acquire: beside
          - {bulk_load: x, at: [loop, 0], to: beside}
          - commit: beside
  both:
    warps: 1
    schedule:
      - domain_loop: n
        body:
          - try_wait: ring
          - wait: beside
          - {wait: ring, by: beside}
          - {release: ring}
          - {release: beside}
"""
    lines = [line.strip() for line in task(text(LOAD + mid, resources), "both").splitlines()]
    at = next(i for i, line in enumerate(lines) if "by: beside" in line)
    # Else the next wait would take this answer for one about its own stage.
    assert lines[at + 1] == "ring_read_ready = false;"


# ---- lanes, groups, store rings ----------------------------------------------------------------------------


@pytest.mark.parametrize(("stages", "first"), [(4, "{replica}"), (2, "{replica}"), (1, "{replica}")])
def test_a_lane_begins_at_its_own_stage_and_steps_over_the_others(stages: int, first: str) -> None:
    resources = RESOURCES.replace("stages: 4", f"stages: {stages}, interleave: {{consumer: 2}}")
    tasks = LOAD + STORE.replace("warps: 1", "warps: 1\n    replicas: 2").replace(
        "domain_loop: n", "domain_loop: n\n        start: replica\n        step: 2"
    ) % (0, 0)
    printed = text(tasks, resources)
    # With one stage the second lane begins in the other phase.
    assert f"Cursor<{stages}> ring_read = {first};" in printed
    assert "ring_read.skip<2>();" in printed
    assert "ring_write.advance();" in printed


def test_lanes_beyond_the_stages_begin_in_a_later_phase() -> None:
    resources = RESOURCES.replace("stages: 4", "stages: 2, interleave: {consumer: 4}")
    tasks = LOAD + STORE.replace("warps: 1", "warps: 1\n    replicas: 4").replace(
        "domain_loop: n", "domain_loop: n\n        start: replica\n        step: 4"
    ) % (0, 0)
    printed = text(tasks, resources)
    firsts = [line.strip() for line in printed.splitlines() if "ring_read = " in line or "ring_read;" in line]
    assert firsts == [
        "Cursor<2> ring_read = {0, 0};",
        "Cursor<2> ring_read = {1, 0};",
        "Cursor<2> ring_read = {0, 1};",
        "Cursor<2> ring_read = {1, 1};",
    ]


def deep(stages: int, keep: int, *between: str) -> str:
    lines = [
        *("acquire: out", "{store: out, from: v, at: [thread]}", f"{{commit: out, keep: {keep}}}"),
        *("{bulk_store: y, at: [0], from: out}", *between),
    ]
    body = "".join(f"\n          - {line}" for line in lines)
    head = "\n  main:\n    warps: 2\n    schedule:\n      - {zero: v}"
    ahead = "\n      - acquire: out" * keep
    loop = f"\n      - for: 9\n        as: i\n        body:{body}"
    tail = "\n      - commit: out\n" if keep else "\n"
    return task(
        text(head + ahead + loop + tail, STAGED.replace("stages: 3", f"stages: {stages}"), OUT), "main"
    )


@pytest.mark.parametrize(
    ("stages", "keep", "pending"), [(4, 0, 3), (4, 1, 2), (4, 2, 1), (4, 3, 0), (2, 1, 0)]
)
def test_stages_that_are_held_are_no_room_for_pending_stores(stages: int, keep: int, pending: int) -> None:
    loop = deep(stages, keep).split("for (int i")[1]
    assert re.findall(r"bulk_wait_read<(\d+)>", loop)[0] == str(pending)


def test_stores_read_the_stage_committed_last_and_threads_write_the_one_acquired_last() -> None:
    printed = deep(3, 1)
    assert "bulk_store(y.ptr(0), out + out_read_stage * OUT_STAGE" in printed
    assert "Buffer<float, 0, 64>{out + out_write_stage * OUT_STAGE}" in printed
