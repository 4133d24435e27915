"""Pairs of CTAs as they are emitted: who arrives where, counted in the text; no GPU here runs them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from itertools import product

import pytest

from tests.emit.kernels import cuda, document, plan, program_of
from tests.emit.test_tensor_memory import TEXT as ALONE
from tests.emit.test_tensor_memory import built, task, text_of
from tsc.emit.generated import not_generated
from tsc.prove.proof import prove
from tsc.prove.translate import translate

PAIR = (
    ALONE.replace("dims:", "  d: {dtype: f32, shape: [m, n]}\ndims:")
    .replace("tasks:", "  few: {kind: registers, dtype: f32, shape: [BM, 32]}\ntasks:")
    .replace(
        "{release: acc}]",
        "{tcgen05_ld: few, from: acc}, {release: acc}, "
        "{store: d, from: few, at: [tile.m * BM, tile.n * BN]}]",
    )
    .replace("resources:", "launch: {cluster: {m: 2, n: 1}, cta_group: 2}\nresources:")
    .replace("shape: [BN, BK]", "shape: [BN // 2, BK]")
    .replace("tile.n * BN, loop", "tile.n * BN + cluster.m % 2 * (BN // 2), loop")
    .replace("policy: static", "policy: clc")
)
SHARED = PAIR.replace("n: 1}, cta", "n: 2}, cta").replace("to: ab.a}", "to: ab.a, multicast: n}")
LONG = PAIR.replace("{m: 2, n: 1}", "{m: 4, n: 1}")
LOAD_B = "              - {tma_load: b, at: [tile.n * BN + cluster.m % 2 * (BN // 2), loop * BK], to: ab.b}\n"
SECOND = """\
  load_b:
    warps: 1
    schedule:
      - work_tile_loop: tiles
        body:
          - domain_loop: cdiv(k, BK)
            body:
              - acquire: ab
LOAD
              - commit: ab
"""
# Two tasks fill one ring, or a ring each, which are given back together.
FUSED = SHARED.replace(LOAD_B, "").replace("  mma:\n", SECOND.replace("LOAD\n", LOAD_B) + "  mma:\n")
MERGED = FUSED.replace(
    FUSED[FUSED.index("  ab:\n") : FUSED.index("  acc: ")],
    "  a_ring: {kind: smem, stages: STAGES, dtype: bf16, shape: [BM, BK]}\n"
    "  b_ring: {kind: smem, stages: STAGES, dtype: bf16, shape: [BN // 2, BK]}\n"
    "  ab: {kind: merge, of: [a_ring, b_ring]}\n",
)
for side in ("a", "b"):
    place = MERGED.index("acquire: ab")
    MERGED = MERGED[:place] + MERGED[place:].replace(": ab\n", f": {side}_ring\n", 2)
MERGED = MERGED.replace("ab.a", "a_ring").replace("ab.b", "b_ring")
MERGED = MERGED.replace("- wait: ab\n", "- wait: a_ring\n              - wait: b_ring\n")
# Threads round what they load, four warps in each CTA; they copy it, a warp in each, beside a load by TMA.
ROUNDED = (
    MERGED.replace("  a: {dtype: bf16, shape: [m, k]}", "  a: {dtype: f32, shape: [m, k]}")
    .replace(
        "tasks:\n",
        "work:\n"
        "  round:\n"
        "    reads: [a]\n"
        "    writes: [a_ring]\n"
        "    cuda: |\n"
        "      const int row = tile.m * BM + task.thread;\n"
        "      for (int c = 0; c < BK; ++c) a_ring(task.thread, c) = a.at(row, loop * BK + c, 0.f);\n"
        "tasks:\n",
    )
    .replace("  load:\n    warps: 1", "  load:\n    warps: 4")
    .replace("{tma_load: a, at: [tile.m * BM, loop * BK], to: a_ring, multicast: n}", "do: round")
)
COPIED = PAIR.replace("{tma_load: b,", "{cp_async: b,")
SPECS = {
    "pair": (PAIR, 2),
    "shared": (SHARED, 4),
    "long": (LONG, 4),
    "fused": (FUSED, 4),
    "merged": (MERGED, 4),
    "rounded": (ROUNDED, 4),
    "copied": (COPIED, 2),
}
STAGE = 128 * 64 * 2 + 128 * 64 * 2  # bytes of a CTA: its rows of `a`, half of the rows of `b`


# ---- arrivals, counted in the text -------------------------------------------------------------------------


def value(text: str, expression: str, rank: int) -> int:
    """A number of the text in one CTA: its constants are looked up where they are declared."""
    for _ in range(20):
        expression = expression.replace("cluster_rank()", str(rank)).replace("static_cast<int>", "")
        names = [name for name in re.findall(r"\b[a-z_]\w*\b", expression) if name != "u"]
        if not names:
            break
        found = re.search(rf"const (?:u32|int|bool) {names[0]} = ([^;]+);", text)
        assert found is not None, names[0]
        expression = re.sub(rf"\b{names[0]}\b", f"({found.group(1)})", expression)
    return int(eval(re.sub(r"(\d)u\b", r"\1", expression).replace("/", "//")))  # numbers and signs


def inits(text: str) -> dict[str, int]:
    """What each row of barriers is set up for."""
    return {
        name.lower(): int(count)
        for name, count in re.findall(r"mbarrier_init\(shared \+ (\w+)(?: \+ 8 \* i)?, (\d+)\);", text)
    }


def tasks(text: str) -> dict[str, tuple[str, bool]]:
    """The code of each task, and whether the leader alone runs it."""
    kernel = text[text.rindex("__global__") :]
    led = set(
        re.findall(r"\(cluster_rank\(\) & 1\) == 0\) \{\s+(?:if \(elect_one\(\)\) )?(\w+)_task\(", kernel)
    )
    found = re.findall(r"DEVICE void (\w+)_task\([^{]*\{\n(.*?)\n\}\n", text, re.S)
    return {name: (code, name in led) for name, code in found}


def arrivals(text: str, ctas: int) -> Counter[tuple[str, int]]:
    """Who arrives at a stage's barrier in one phase: of each CTA, added up where it goes to.

    Each step stands in the text once, and does its arrival once a stage.
    """
    found: Counter[tuple[str, int]] = Counter()
    for (code, led), rank in product(tasks(text).values(), range(ctas)):
        if led and rank % 2:
            continue
        threads = re.search(r"Task<(\d+)", code)
        warps = int(threads.group(1)) // 32 if threads is not None else 1
        for barrier, mask in re.findall(r"tcgen05_commit(?:<2>)?\((\w+) \+ [^,;]+?(?:, ([^;]+))?\);", code):
            reached = value(code, mask, rank) if mask else 1 << rank
            found.update((barrier, cta) for cta in range(ctas) if reached >> cta & 1)
        for barrier in re.findall(r"mbarrier_arrive\((\w+) \+", code):
            found[barrier, rank] += warps
        for guard, barrier in re.findall(r"(if \(leads\) )?mbarrier_arrive_expect\((\w+) \+", code):
            found[barrier, rank] += not guard or rank % 2 == 0
        for by_warp, leader in re.findall(
            r"(if \(task\.lane == 0\) )?mbarrier_(?:arrive_cluster|publish)\((\w+_leader) \+", code
        ):
            place = re.search(rf"{leader} = cluster_address\((\w+), ([^;]+)\);", code)
            assert place is not None
            found[place.group(1), value(code, place.group(2), rank)] += warps if by_warp else 32 * warps
        for barrier, to in re.findall(r"arrive_cluster\(cluster_address\((\w+) \+ .*?, (\d)\)\)", code):
            found[barrier, int(to)] += warps
        if "if (first_cta) request_tile" in code and rank == 0:
            found.update(("tiles_full", cta) for cta in range(ctas))
    return found


def waits(text: str, ctas: int) -> set[tuple[str, int]]:
    """The barriers that somebody waits at, in each CTA where somebody does."""
    found = set()
    for (code, led), rank in product(tasks(text).values(), range(ctas)):
        for first, barrier in re.findall(r"(if \(first_cta\) )?mbarrier_(?:wait|receive)\((\w+) \+", code):
            if not (led and rank % 2) and not (first and rank):
                found.add((barrier, rank))
    return found


@pytest.mark.parametrize(("spec", "ctas"), SPECS.values(), ids=SPECS)
def test_as_many_arrive_as_a_barrier_is_set_up_for(spec: str, ctas: int) -> None:
    text = text_of(spec)
    count, come = inits(text), arrivals(text, ctas)
    places = waits(text, ctas)
    assert {place: come[place] for place in places} == {place: count[place[0]] for place in places}
    assert {place for place in come if come[place]} <= places


def test_the_counts_of_a_pair_by_hand() -> None:
    come = arrivals(text_of(PAIR), 2)
    assert +come == {
        ("ab_full", 0): 1,  # the leader announces the bytes of both
        ("ab_empty", 0): 1,  # one commit to both
        ("ab_empty", 1): 1,
        ("acc_full", 0): 1,  # one commit to both
        ("acc_full", 1): 1,
        ("acc_empty", 0): 8,  # four warps of both
        ("tiles_full", 0): 1,  # the answer comes to both
        ("tiles_full", 1): 1,
        ("tiles_empty", 0): 2 * (4 + 1 + 1) + 1,  # `mma` takes it in the leader alone
    }


def test_the_counts_of_two_pairs_that_share_a_by_hand() -> None:
    come = arrivals(text_of(SHARED), 4)
    assert [come["ab_full", cta] for cta in range(4)] == [1, 0, 1, 0]
    # `a` of each CTA goes to both pairs: both have to have read before it comes again.
    assert [come["ab_empty", cta] for cta in range(4)] == [2, 2, 2, 2]
    assert [come["acc_full", cta] for cta in range(4)] == [1, 1, 1, 1]
    assert [come["acc_empty", cta] for cta in range(4)] == [8, 0, 8, 0]
    assert [come["tiles_empty", cta] for cta in range(4)] == [4 * (4 + 1 + 1) + 2, 0, 0, 0]


@pytest.mark.parametrize("spec", [PAIR, SHARED, LONG], ids=["pair", "shared", "long"])
def test_the_leader_expects_the_bytes_of_both(spec: str) -> None:
    load = task(text_of(spec), "load")
    assert re.findall(r"if \(leads\) mbarrier_arrive_expect\(ab_full .*?, (\d+)\);", load) == [str(2 * STAGE)]
    assert load.count("mbarrier_arrive_expect") == 1
    assert program_of(document(spec)).pipelines["ab", 0].tx_bytes == 2 * STAGE


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (
            "tcgen05_commit<2>(ab_empty + 8 * ab_read.stage, 1)",
            "tcgen05_commit<2>(ab_empty + 8 * ab_read.stage, 3)",
        ),
        ("mbarrier_init(shared + ACC_EMPTY + 8 * i, 4)", "mbarrier_init(shared + ACC_EMPTY + 8 * i, 8)"),
        ("      mbarrier_arrive_expect(", "      if (leads) mbarrier_arrive_expect("),
        ("cluster_address(acc_empty, 1)", "cluster_address(acc_empty, 0)"),
    ],
)
def test_the_count_sees_what_misses_the_peer(wrong: str, right: str) -> None:
    text = text_of(PAIR)
    assert text.count(right) == 1
    text = text.replace(right, wrong)
    count, come, places = inits(text), arrivals(text, 2), waits(text, 2)
    strangers = {place for place in come if come[place]} - places
    assert strangers or any(come[place] != count[place[0]] for place in places)


# ---- the rest of the protocol ------------------------------------------------------------------------------


def test_the_text(golden: Callable[..., None]) -> None:
    golden(text_of(PAIR), ".cu")


def test_the_leader_alone_multiplies() -> None:
    text = text_of(PAIR)
    assert re.search(r"if \(\(cluster_rank\(\) & 1\) == 0\) \{\s+if \(elect_one\(\)\) mma_task\(", text)
    assert text.count("(cluster_rank() & 1) == 0") == 2  # and announces
    assert "mma_m256n256k16_f32_bf16_pair(" in task(text, "mma")


def test_loads_of_a_pair_are_of_its_kind_and_others_are_not() -> None:
    load = task(text_of(PAIR), "load")
    assert len(re.findall(r"tma_load_pair\(", load)) == 2 and "tma_load(" not in load
    shared = task(text_of(SHARED), "load")
    assert len(re.findall(r"tma_load_pair_multicast\(", shared)) == 1
    assert len(re.findall(r"tma_load_pair\(", shared)) == 1
    assert "tma_load_pair" not in text_of(ALONE)


def ends_well(text: str) -> bool:
    """Whether all of both CTAs meet between the tasks and the end of tensor memory."""
    tail = text[text.rindex("_task(") :]
    order = [
        tail.find(word)
        for word in ("tcgen05_fence_before()", "cluster_sync()", "tensor_free<512, 2>(tensor)")
    ]
    return -1 < order[0] < order[1] < order[2]


def test_tensor_memory_is_given_back_when_both_are_done() -> None:
    text = text_of(PAIR)
    assert text.count("tensor_allocate<512, 2>(") == text.count("tensor_free<512, 2>(") == 1
    assert ends_well(text)
    start = text[text.index("tensor_allocate<512, 2>") : text.index("tensor_address(shared")]
    assert start.index("cluster_sync_relaxed()") < start.index("__syncthreads()")


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace("  cluster_sync();\n", "  __syncthreads();\n"),
        lambda text: text.replace("  cluster_sync();\n", ""),
        lambda text: text.replace("  cluster_sync();\n", "").replace(
            "(tensor);\n  }\n", "(tensor);\n  }\n  cluster_sync();\n"
        ),
    ],
)
def test_before_the_peer_is_done_would_be_seen(edit: Callable[[str], str]) -> None:
    assert not ends_well(edit(text_of(PAIR)))


def test_nobody_leaves_while_a_peer_may_still_arrive() -> None:
    text = text_of(PAIR)
    for name, barrier in (("load", "ab_empty"), ("mma", "acc_empty")):
        assert task(text, name).rindex(f"mbarrier_wait({barrier}") > task(text, name).index(
            "Peers' last arrivals"
        )


# ---- what is proved is what is counted ---------------------------------------------------------------------


@pytest.mark.parametrize(("spec", "ctas"), SPECS.values(), ids=SPECS)
def test_the_proof_has_the_same_counts(spec: str, ctas: int) -> None:
    program = program_of(document(spec))
    found = translate(program)
    assert prove(found.system).outcome == "proved"
    text = text_of(spec)
    count, places = inits(text), waits(text, ctas)
    for barrier, source in zip(found.system.barriers, found.barriers, strict=True):
        name = f"{source.owner}_{source.side}"
        if (name, source.cta) not in places:
            continue
        known = count[name]
        if f"mbarrier_arrive_expect({name}" in text:
            # There the bytes of another CTA are an arrival of its own, whoever announces them: of the
            # neighbour and, of what pairs share, of all.
            shares = "multicast" in spec and source.owner != "b_ring"
            known += (ctas if shares else 2) - 1 + (1 if spec == FUSED else 0)
        assert barrier.count == known, barrier


def test_threads_of_both_publish_at_the_leader() -> None:
    text = text_of(ROUNDED)
    load = task(text, "load")
    # What they wrote is there for the tensor cores of both before the leader hears of it.
    order = [
        load.index(word) for word in ("fence_proxy_async()", "__syncwarp()", "mbarrier_publish(a_ring_leader")
    ]
    assert order == sorted(order)
    assert "mbarrier_receive(a_ring_full" in task(text, "mma") and "mbarrier_wait(b_ring_full" in task(
        text, "mma"
    )
    assert inits(text)["a_ring_full"] == 2 * 4


def test_what_threads_copy_is_there_before_the_leader_hears_of_it() -> None:
    text = text_of(COPIED)
    load = task(text, "load")
    words = ("cp_async_wait_all()", "fence_proxy_async()", "mbarrier_publish(ab_leader")
    order = [load.index(word) for word in words]
    assert order == sorted(order) and "arrive_cp_async" not in load
    # The leader announces the bytes of both and arrives with its threads, as the other CTA's do.
    assert f"if (leads) mbarrier_expect(ab_full + 8 * ab_write.stage, {STAGE});" in load
    assert inits(text)["ab_full"] == 2 * 32


@pytest.mark.parametrize("spec", [ROUNDED, COPIED], ids=["rounded", "copied"])
def test_it_compiles(spec: str) -> None:
    ptx = built(spec).ptx
    assert "mbarrier.arrive.release.cluster.shared::cluster.b64" in ptx
    assert "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64" in ptx


# ---- what is not generated ---------------------------------------------------------------------------------


COMMIT = "commit: ab\n"
ONCE = "when: k > 64\n                then: ["
SCATTERED = "do not all stand beside their `acquire` and `commit`"


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        ((LOAD_B.lstrip(" -"), ONCE + LOAD_B.strip(" -\n") + "]\n"), SCATTERED),
        ((COMMIT, ONCE + "{" + COMMIT.strip() + "}]\n"), SCATTERED),
    ],
    ids=["loaded now and then", "committed now and then"],
)
def test_what_is_refused(edit: tuple[str, str], sentence: str) -> None:
    text = PAIR.replace(*edit)
    assert text != PAIR
    assert any(sentence in one for _, one in not_generated(program_of(document(text))))


def test_bytes_that_no_map_describes_cannot_tell_the_leader() -> None:
    text = PAIR.replace("{tma_load: b,", "{bulk_load: b,")
    (said, *_) = [one for _, one in not_generated(program_of(document(text))) if "bulk" in one]
    assert "tells no other CTA" in said


def test_pairs_lie_along_x_where_there_is_no_queue() -> None:
    text = """\
tsc: 1
kernel: fill
target: sm_100a
params: {y: {dtype: i32, shape: [n]}}
launch: {grid: [4, 2], cluster: {AXES}, cta_group: 2}
resources: {v: {kind: registers, dtype: i32, per_thread: 1}}
tasks:
  fill:
    warps: 1
    schedule: [{zero: v}, {store: y, from: v, at: [thread]}]
"""
    assert plan(text.replace("AXES", "x: 2, y: 2")).refusals == ()
    (refusal,) = plan(text.replace("AXES", "y: 2, x: 2")).refusals
    assert refusal.route == ("launch", "cta_group") and "along `x`" in refusal.sentence


def test_without_pairs_nothing_changes() -> None:
    text = cuda(document(ALONE), headers=False)
    assert "<2>" not in text and "512, 2>" not in text and "cluster_" not in text
