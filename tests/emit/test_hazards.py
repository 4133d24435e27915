"""Syncs and fences that nobody writes: before arrivals, before engines, and in one task's own accesses."""

from __future__ import annotations

import re

import pytest

from tests.emit.kernels import cuda, document, plan, small

PARAMS = """
params:
  x: {dtype: f32, shape: [n, 1024]}
  y: {dtype: f32, shape: [n, 1024]}
work:
  fill:
    reads: [x]
    writes: [buf]
    cuda: for (int c = task.thread; c < 1024; c += task.threads) buf(c) = x(loop, c);
"""
PLAIN = "  buf: {kind: smem, dtype: f32, shape: [1024]}"
STORE = "{bulk_store: y, at: [loop, 0], from: buf}"
FENCE, SYNC, GLOBAL = "fence_proxy_async();", "task.sync();", "fence_proxy_async_global();"


def body(tasks: str, resources: str = PLAIN, name: str = "a", rest: str = PARAMS) -> list[str]:
    """The statements of a task, without indentation and comments."""
    text = cuda(document(small(tasks, resources, rest)), headers=False)
    found = re.search(rf"^DEVICE void {name}_task\(.*?^}}", text, re.M | re.S)
    assert found is not None
    return [line.strip() for line in found[0].splitlines() if line.strip()]


def loop(*steps: str, name: str = "a", warps: int = 4) -> str:
    lines = [f"  {name}:", f"    warps: {warps}", "    schedule:", "      - domain_loop: n", "        body:"]
    return "\n".join([*lines, *(f"          - {step}" for step in steps)]) + "\n"


def after(lines: list[str], comment: str) -> list[str]:
    """The statements of the step that a comment names."""
    start = next(i for i, line in enumerate(lines) if line.startswith("//") and comment in line) + 1
    end = next((i for i in range(start, len(lines)) if lines[i].startswith("//")), len(lines))
    return lines[start:end]


@pytest.mark.parametrize(
    ("kind", "before", "give", "other"),
    [
        ("signal", "acquire: s", "commit: s", ("wait: s", "release: s")),
        ("turn", "take: s", "pass: s", ("take: s", "pass: s")),
        ("barrier", "sync: s", "sync: s", ("sync: s", "sync: s")),
    ],
)
def test_what_a_store_reads_elsewhere_is_fenced_before_the_arrival(
    kind: str, before: str, give: str, other: tuple[str, str]
) -> None:
    tasks = loop(before, "do: fill", give)
    tasks += loop(other[0], STORE, "store_wait: 0", other[1], name="b", warps=1)
    lines = body(tasks, f"{PLAIN}\n  s: {{kind: {kind}}}")
    assert FENCE in lines
    at = lines.index(FENCE)
    assert lines[at - 1].startswith("//") and give in lines[at - 1]


def test_what_no_engine_touches_is_not_fenced() -> None:
    rest = PARAMS + "  use: {reads: [buf], writes: [y], cuda: 'y(loop, task.thread) = buf(task.thread);'}\n"
    tasks = loop("acquire: s", "do: fill", "commit: s")
    tasks += loop("wait: s", "do: use", "release: s", name="b")
    assert FENCE not in body(tasks, f"{PLAIN}\n  s: {{kind: signal}}", rest=rest)


RING = "  ring: {kind: smem, stages: 4, dtype: f32, shape: [1024]}"
UPDATE = PARAMS.replace("fill:", "upd:").replace("    reads: [x]\n", "")
UPDATE = UPDATE.replace("writes: [buf]", "updates: [ring]").replace("buf(c) = x(loop, c)", "ring(c) += 1.f")
LOAD = loop("acquire: ring", "{bulk_load: x, at: [loop, 0], to: ring}", "commit: ring", name="b", warps=1)


def test_a_stage_updated_after_a_release_is_fenced_before_the_next() -> None:
    tasks = loop("wait: ring", "{release: ring, keep: 1}", "do: upd") + "      - release: ring\n"
    lines = body(tasks + LOAD, RING, rest=UPDATE)
    assert FENCE in after(lines, "release: ring, keep: 1")
    assert lines.count(FENCE) == 2


def test_an_update_handed_over_by_a_signal_is_fenced_there() -> None:
    tasks = loop("wait: ring", "acquire: s", "do: upd", "commit: s", "release: ring")
    tasks += loop(
        "wait: s", "wait: ring", STORE.replace("buf", "ring"), "store_wait: 0", "release: ring", "release: s",
        name="c", warps=1,
    )  # fmt: skip
    lines = body(tasks + LOAD, f"{RING}\n  s: {{kind: signal, stages: 4}}", rest=UPDATE)
    assert after(lines, "commit: s")[0] == FENCE
    assert FENCE not in after(lines, "release: ring")


def test_threads_meet_before_a_load_over_what_they_wrote() -> None:
    rest = PARAMS.replace("writes: [buf]", "writes: [ring]").replace("buf(c)", "ring(c)")
    load = "{bulk_load: x, at: [loop, 0], to: ring}"
    tasks = loop("acquire: ring", "do: fill", load, "commit: ring")
    tasks += loop("wait: ring", "release: ring", name="b", warps=1)
    assert after(body(tasks, RING, rest=rest), "bulk_load")[:2] == [FENCE, SYNC]


def test_a_sync_of_the_author_is_enough_with_a_fence_before_it() -> None:
    lines = body(loop("do: fill", "task_sync", STORE, "store_wait: 0"))
    assert after(lines, "task_sync") == [FENCE, SYNC]
    assert SYNC not in after(lines, "bulk_store")


V = "  v: {kind: registers, dtype: f32, per_thread: 8}"
WRITE = ("{load: v, from: x, at: [loop, thread * 8]}", "{store: y, from: v, at: [loop, thread * 8]}")


def test_a_load_of_what_threads_wrote_to_global_memory() -> None:
    load = "{bulk_load: y, at: [loop, 0], to: ring}"
    tasks = loop(*WRITE, "acquire: ring", load, "commit: ring")
    tasks += loop("wait: ring", "release: ring", name="b", warps=1)
    rest = UPDATE[: UPDATE.index("work:")]
    assert after(body(tasks, f"{RING}\n{V}", rest=rest), "bulk_load")[:2] == [GLOBAL, SYNC]


@pytest.mark.parametrize(("at", "syncs"), [("(127 - thread) * 8", 1), ("thread * 8", 0)])
def test_threads_meet_where_they_read_what_others_wrote_to_global_memory(at: str, syncs: int) -> None:
    tasks = loop(*WRITE, f"{{load: v, from: y, at: [loop, {at}]}}", WRITE[1])
    lines = body(tasks, V, rest=PARAMS[: PARAMS.index("work:")])
    assert lines.count(SYNC) == syncs


@pytest.mark.parametrize(
    ("write", "read", "syncs"),
    [
        ("thread * 8", "thread * 8", 0),
        ("512 + thread * 8", "512 + thread * 8", 0),
        ("thread * 8", "(63 - thread) * 8", 2),
        ("thread * 4", "thread * 4", 2),
        ("loop + thread * 8", "loop + thread * 8", 2),
    ],
)
def test_threads_do_not_meet_over_what_is_their_own(write: str, read: str, syncs: int) -> None:
    steps = (f"{{store: buf, from: v, at: ['{write}']}}", f"{{load: v, from: buf, at: ['{read}']}}")
    lines = body(
        loop("zero: v", *steps, WRITE[1], warps=2), f"{PLAIN}\n{V}", rest=PARAMS[: PARAMS.index("work:")]
    )
    assert lines.count(SYNC) == syncs


DRAIN = "bulk_wait_read<0>();"


@pytest.mark.parametrize(
    ("steps", "waits"), [(("do: fill", STORE), 1), (("do: fill", STORE, "store_wait: 0"), 1)]
)
def test_shared_memory_outlives_the_last_store(steps: tuple[str, ...], waits: int) -> None:
    tasks = loop("acquire: s", "do: fill", "commit: s")
    tasks += loop("wait: s", *steps[1:], "release: s", name="b", warps=1)
    lines = body(tasks, f"{PLAIN}\n  s: {{kind: signal}}", name="b")
    assert lines.count(DRAIN) == waits
    assert (lines[-2] == DRAIN) is (len(steps) == 2)


def test_plain_memory_is_not_written_while_a_store_reads_it() -> None:
    found = plan(small(loop("do: fill", STORE), PLAIN, PARAMS)).refusals
    assert [refusal.sentence for refusal in found] == [
        "`buf` is written while a store may still read it; `store_wait: 0` belongs before this"
    ]
    for steps in (
        ("do: fill", STORE, "store_wait: 0"),
        ("when: iter > 0\n            then: [store_wait: 0]", "do: fill", STORE),
    ):
        assert plan(small(loop(*steps), PLAIN, PARAMS)).refusals == ()


def test_the_stage_of_a_store_ring_is_the_one_committed() -> None:
    rest = PARAMS.replace("buf", "ring")
    store = STORE.replace("buf", "ring")
    wrong = (
        "acquire: ring",
        "do: fill",
        "commit: ring",
        "acquire: ring",
        store,
        "do: fill",
        "commit: ring",
        store,
    )
    found = plan(small(loop(*wrong), RING, rest)).refusals
    assert len(found) == 1 and "acquired last is not committed" in found[0].sentence
    assert plan(small(loop("acquire: ring", "do: fill", "commit: ring", store), RING, rest)).refusals == ()


def test_a_task_that_fills_and_reads_a_ring_updates_the_stage_it_waited_for() -> None:
    copy = "{cp_async: x, at: [loop, 0], to: ring}"
    tasks = loop("acquire: ring", copy, "commit: ring", "wait: ring", "do: upd", "release: ring")
    lines = body(tasks, RING, rest=UPDATE)
    assert "ring_read.stage" in after(lines, "do: upd")[0]
    assert "ring_write.stage" in after(lines, "cp_async")[0]


BESIDE = """
params: {x: {dtype: f32, shape: [n, 1024]}, y: {dtype: f32, shape: [n, 1024]}}
work:
  fill: {writes: [buf], cuda: 'buf(task.thread) = 1.f;'}
  use: {reads: [buf, ring], writes: [y], cuda: 'y(loop, task.thread) = buf(0) + ring(0);'}
"""


def test_what_is_written_beside_a_load_is_behind_the_wait_and_before_the_arrival() -> None:
    load = "{bulk_load: x, at: [loop, 0], to: ring}"
    use = loop("wait: ring", "do: use", "release: ring", name="b")
    before = loop("acquire: ring", "do: fill", load, "commit: ring") + use
    lines = body(before, f"{RING}\n{PLAIN}", rest=BESIDE)
    assert after(lines, "do: fill")[0] == SYNC
    assert after(lines, "bulk_load")[0] == SYNC
    late = loop("acquire: ring", load, "do: fill", "commit: ring") + use
    found = plan(small(late, f"{RING}\n{PLAIN}", BESIDE)).refusals
    assert len(found) == 1 and "belongs before the load" in found[0].sentence


@pytest.mark.parametrize("warps", [4, 1])
def test_tasks_of_different_sizes_do_not_release_by_turns(warps: int) -> None:
    skip = "{skip: ring, count: 1}"
    when = "when: loop % 2 == {}\n            then: [wait: ring, do: use, release: ring]"
    other = f"\n            else: [{skip}]"
    rest = BESIDE.replace("reads: [buf, ring]", "reads: [ring]").replace("buf(0) + ", "")
    rest = "\n".join(line for line in rest.splitlines() if "fill:" not in line)
    tasks = loop(when.format(0) + other) + loop(when.format(1) + other, name="c", warps=warps) + LOAD
    ring = RING.replace("shape: [1024]", "shape: [1024], released_by: one")
    sentences = [refusal.sentence for refusal in plan(small(tasks, ring, rest)).refusals]
    wanted = "tasks of different sizes that release `ring` by turns are not generated yet"
    assert sentences == ([] if warps == 4 else [wanted])


@pytest.mark.parametrize(("count", "forgets"), [(1, True), (0, False)])
def test_a_look_is_forgotten_when_its_stage_is_passed_over(count: int, forgets: bool) -> None:
    ring = RING.replace("shape: [1024]", "shape: [1024], released_by: one")
    skip = f"{{skip: ring, count: {count}}}"
    tasks = loop("try_wait: ring", skip, "wait: ring", "release: ring") + LOAD
    lines = body(tasks, ring, rest=BESIDE[: BESIDE.index("work:")])
    assert ("ring_read_ready = false;" in after(lines, "skip: ring")) is forgets


@pytest.mark.parametrize(("skips", "forgets"), [(True, True), (False, False)])
def test_a_look_is_forgotten_where_a_turn_is_waited_for(skips: bool, forgets: bool) -> None:
    # What the other had not waited for when this one looked is complete once the turn comes: the stage that
    # was looked at may have had one fill less than it seemed.
    others = ["{skip: ring, count: 1}"] if skips else []
    first = loop("try_wait: ring", "take: turns", "wait: ring", "release: ring", "pass: turns", *others)
    second = loop("take: turns", *others, "wait: ring", "release: ring", "pass: turns", name="c")
    shared = ", released_by: one" if skips else ""
    ring = RING.replace("shape: [1024]", f"shape: [1024]{shared}") + "\n  turns: {kind: turn}"
    lines = body(first + second + LOAD, ring, rest=BESIDE[: BESIDE.index("work:")])
    assert ("ring_read_ready = false;" in after(lines, "take: turns")) is forgets


OVER = """
params: {x: {dtype: f32, shape: [n, 1024]}, y: {dtype: f32, shape: [n, 1024]}}
work:
  use: {reads: [ring], writes: [y], cuda: 'y(loop, task.thread) = ring(task.thread);'}
  put: {writes: [low], cuda: 'low(task.thread) = 1.f;'}
  get: {reads: [low], writes: [y], cuda: 'y(loop, task.thread) = low(127 - task.thread);'}
"""
ONE = RING.replace("stages: 4", "stages: 1")


def over(
    *steps: str, low: str = "over: ring", warps: int = 4, rest: str = OVER, tail: str = LOAD
) -> list[str]:
    """The statements of a task that uses a ring, which `tail` fills, and something on its bytes."""
    resources = f"{ONE}\n  low: {{kind: smem, dtype: f32, shape: [256], {low}}}\n  s: {{kind: signal}}"
    given = "  c: {warps: 1, schedule: [{domain_loop: n, body: [{wait: s}, {release: s}]}]}\n"
    tail += given if any("commit: s" in step for step in steps) else ""
    return body(loop(*steps, warps=warps) + tail, resources, rest=rest)


def test_threads_meet_between_a_stage_and_what_lies_over_it() -> None:
    lines = over("wait: ring", "do: use", "do: put", "do: get", "release: ring")
    assert after(lines, "do: use")[0] != SYNC
    assert after(lines, "do: put")[0] == SYNC
    assert after(lines, "do: get")[0] == SYNC
    other = over("wait: ring", "do: get", "do: use", "release: ring", low="align: 16")
    assert SYNC not in other


def test_what_lies_over_a_loaded_stage_is_fenced_before_its_release() -> None:
    steps = ("wait: ring", "do: use", "do: put", "release: ring")
    assert after(over(*steps), "release: ring")[0] == FENCE
    assert FENCE not in over(*steps, low="align: 16")
    # Nobody but this task's own threads touches the bytes by an engine.
    threads = loop("acquire: ring", "commit: ring", name="b", warps=1)
    assert FENCE not in over(*steps, tail=threads)


def test_what_lies_over_a_loaded_stage_is_fenced_before_any_arrival() -> None:
    steps = ("wait: ring", "acquire: s", "do: put", "commit: s", "release: ring")
    assert after(over(*steps), "commit: s")[0] == FENCE


def test_a_wait_for_a_fill_settles_what_lay_over_the_stage() -> None:
    lines = over("wait: ring", "do: use", "do: put", "release: ring")
    assert lines.count(SYNC) == 1
    # Without a fill from elsewhere nothing has come between.
    rest = OVER.replace("put: {", "fill: {writes: [ring], cuda: 'ring(task.thread) = 1.f;'}\n  put: {")
    own = ("acquire: ring", "do: fill", "commit: ring", "wait: ring", "do: use", "do: put", "release: ring")
    assert after(over(*own, rest=rest, tail=""), "do: fill")[0] == SYNC


def test_threads_meet_before_a_load_over_what_they_read() -> None:
    load = "{bulk_load: x, at: [loop, 0], to: ring}"
    tail = loop("wait: ring", "release: ring", name="b", warps=1)
    steps = ("do: put", "do: get", "acquire: ring", load, "commit: ring")
    assert after(over(*steps, tail=tail), "bulk_load")[:2] == [FENCE, SYNC]
    assert after(over(*steps, tail=tail, low="align: 16"), "bulk_load")[0] != SYNC


def test_the_leader_gives_a_stage_back_when_all_are_done_with_what_lies_over_it() -> None:
    store = STORE.replace("buf", "ring")
    steps = ("wait: ring", store, "store_wait: 0", "do: put", "release: ring")
    assert after(over(*steps), "release: ring")[:2] == [FENCE, SYNC]
    assert SYNC not in after(over(*steps, low="align: 16"), "release: ring")


def test_a_store_may_still_read_what_another_name_has() -> None:
    resources = f"{PLAIN}\n  low: {{kind: smem, dtype: f32, shape: [256], over: buf}}"
    put = "  put: {updates: [low], cuda: 'low(task.thread) = 1.f;'}\n"
    found = plan(small(loop("do: fill", STORE, "do: put"), resources, PARAMS + put)).refusals
    assert found and all("while a store may still read it" in refusal.sentence for refusal in found)
    safe = loop("do: fill", STORE, "store_wait: 0", "do: put")
    assert plan(small(safe, resources, PARAMS + put)).refusals == ()


def test_a_store_ring_of_one_stage_has_no_store_left_once_acquired() -> None:
    rest = PARAMS.replace("buf", "ring") + "  put: {updates: [low], cuda: 'low(task.thread) = 1.f;'}\n"
    steps = ("acquire: ring", "do: put", "do: fill", "commit: ring", STORE.replace("buf", "ring"))
    low = "\n  low: {kind: smem, dtype: f32, shape: [256], over: ring}"
    assert plan(small(loop(*steps), ONE + low, rest)).refusals == ()
    found = plan(small(loop(*steps), RING + low, rest)).refusals
    assert found and all("while a store may still read it" in refusal.sentence for refusal in found)


@pytest.mark.parametrize("low", ["over: ring", "align: 16"])
def test_copies_by_cp_async_are_fenced_where_loads_lie_over_them(low: str) -> None:
    rest = OVER[: OVER.index("work:")]
    resources = f"{ONE}\n  low: {{kind: smem, stages: 1, dtype: f32, shape: [1024], {low}}}"
    tasks = loop("acquire: ring", "{cp_async: x, at: [loop, 0], to: ring}", "commit: ring")
    tasks += loop("wait: ring", "release: ring", name="b", warps=1)
    tasks += loop("acquire: low", "{bulk_load: x, at: [loop, 0], to: low}", "commit: low", name="c", warps=1)
    tasks += loop("wait: low", "release: low", name="d", warps=1)
    commit = after(body(tasks, resources, rest=rest), "commit: ring")
    assert (FENCE in commit) is (low == "over: ring")
    assert any("mbarrier_arrive" in line for line in commit)


TILES = """
params: {x: {dtype: f32, shape: [n, 1024]}, y: {dtype: f32, shape: [n, 1024]}}
work:
  fill: {writes: [buf], cuda: 'buf(task.thread) = tile.row;'}
  upd: {updates: [ring], writes: [y], cuda: 'y(tile.row, task.thread) = ring(task.thread) += 1.f;'}
"""
QUEUE = "\n  tiles: {kind: queue, policy: static, axes: {row: n}}"


def tiles(*steps: str, name: str = "a", warps: int = 4, after: str = "") -> str:
    body = "".join(f"          - {step}\n" for step in steps)
    last = f"      - {after}\n" if after else ""
    head = f"  {name}:\n    warps: {warps}\n    schedule:\n      - work_tile_loop: tiles\n        body:\n"
    return head + body + last


def test_the_steps_of_a_queue_that_print_nothing_hold_no_fence() -> None:
    store = "{bulk_store: y, at: [tile.row, 0], from: buf}"
    steps = ("when: tile.seq > 0\n            then: [" + store + ", store_wait: 0]", "do: fill")
    text = small(tiles(*steps), PLAIN + QUEUE, TILES, "")
    lines = [line.strip() for line in cuda(document(text), headers=False).splitlines()]
    at = next(i for i, line in enumerate(lines) if "bulk_store: y" in line)
    assert lines[at + 1 : at + 3] == [FENCE, SYNC]


def test_what_is_updated_after_a_release_is_fenced_in_the_next_tile() -> None:
    use = tiles("wait: ring", "{release: ring, keep: 1}", "do: upd", after="release: ring")
    load = "{bulk_load: x, at: [tile.row, 0], to: ring}"
    tasks = use + tiles("acquire: ring", load, "commit: ring", name="b", warps=1)
    text = cuda(document(small(tasks, RING + QUEUE, TILES, "")), headers=False)
    lines = [line.strip() for line in text[: text.index("// ---- task: b")].splitlines() if line.strip()]
    assert after(lines, "release: ring, keep: 1")[0] == FENCE
    assert lines.count(FENCE) == 2


@pytest.mark.parametrize("other", ["bulk_load", "cp_async"])
def test_copies_by_cp_async_are_fenced_where_loads_fill_the_same_stage_later(other: str) -> None:
    copy = "{{{}: x, at: [loop, 0], to: ring}}"
    guard = f"when: loop % 3 == 0\n            then: [{copy.format('cp_async')}]"
    tasks = loop("acquire: ring", f"{guard}\n            else: [{copy.format(other)}]", "commit: ring")
    tasks += loop("wait: ring", "release: ring", name="b", warps=1)
    lines = after(body(tasks, RING, rest=OVER[: OVER.index("work:")]), "commit: ring")
    assert (FENCE in lines) is (other == "bulk_load")
