"""What the good specs compute, as PyTorch says it: arguments, and the outputs after a call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

Arguments = Sequence[Any]
Outputs = dict[int, Any]
"""Expected tensors by the position of the argument."""

Run = Callable[[Any], Iterator[tuple[Arguments, Outputs]]]

SIZES = (0, 1, 2, 3, 4, 7, 100)
OLD = 7.0
"""What the outputs hold before."""


def _x(torch: Any, *shape: int, dtype: str = "float32") -> Any:
    made = torch.randn(
        *shape, device="cuda", generator=torch.Generator(device="cuda").manual_seed(sum(shape))
    )
    return made.to(getattr(torch, dtype))


def _old(torch: Any, *shape: int, dtype: str = "float32") -> Any:
    return torch.full(shape, OLD, device="cuda", dtype=getattr(torch, dtype))


def _i32(torch: Any, values: Sequence[int]) -> Any:
    return torch.tensor(list(values), device="cuda", dtype=torch.int32)


def _copies(width: int, dtype: str = "float32", sizes: Sequence[int] = SIZES) -> Run:
    def run(torch: Any) -> Iterator[tuple[Arguments, Outputs]]:
        for rows in sizes:
            x = _x(torch, rows, width, dtype=dtype)
            yield (x, _old(torch, rows, width, dtype=dtype)), {1: x}

    return run


def _index(width: int) -> Run:
    """Every row holds its number."""

    def run(torch: Any) -> Iterator[tuple[Arguments, Outputs]]:
        for rows in SIZES:
            row = torch.arange(rows, device="cuda", dtype=torch.float32)[:, None].expand(rows, width)
            yield (_old(torch, rows, width),), {0: row}

    return run


def _counts(torch: Any, rows: int) -> list[int]:
    return [(row * 5 + 3) % 4 for row in range(rows)]


def _one_round(torch: Any) -> Iterator[tuple[Arguments, Outputs]]:
    x = _x(torch, 1, 128)
    yield (x, _old(torch, 1, 128)), {1: x}


def _products(torch: Any) -> Iterator[tuple[Arguments, Outputs]]:
    for m, n, k in ((1, 1, 8), (100, 200, 200), (700, 130, 64)):
        a, b = _x(torch, m, k, dtype="bfloat16"), _x(torch, n, k, dtype="bfloat16")
        yield (a, b, _old(torch, m, n)), {2: a.float() @ b.float().T}


def _empty_tiles(torch: Any) -> Iterator[tuple[Arguments, Outputs]]:
    for rows in SIZES:
        counts = _counts(torch, rows)
        y = _old(torch, rows, 128)
        expected = y.clone()
        for row, count in enumerate(counts):
            if count > 0:
                expected[row] = row
        yield (_i32(torch, counts), y), {1: expected}


def _sums(torch: Any) -> Iterator[tuple[Arguments, Outputs]]:
    for rows in (4, 4):
        q, k = _x(torch, rows, 128), _x(torch, rows, 128)
        yield (q, k, _old(torch, rows, 128)), {2: q + k}


def _attention(torch: Any) -> Iterator[tuple[Arguments, Outputs]]:
    for rows in SIZES:
        counts, keys = _counts(torch, rows), _x(torch, 4, 128)
        q, y = _x(torch, rows, 128), _old(torch, rows, 256)
        expected = y.clone()
        for row, count in enumerate(counts):
            if count > 0:
                expected[row] = (q[row] * keys[:count]).sum(0).repeat(2)
        yield (_i32(torch, counts), q, keys, y), {3: expected}


def _blocks(count: Callable[[int], int]) -> Run:
    def run(torch: Any) -> Iterator[tuple[Arguments, Outputs]]:
        for rows in SIZES:
            blocks, keys = [row % 5 + 65536 * (row % 3) for row in range(rows)], _x(torch, 300, 128)
            if count(3) != 3:
                blocks = [row % 5 for row in range(rows)]
            sums = [keys[: count(one % 65536)].sum(0) for one in blocks]
            expected = torch.stack(sums) if rows else _old(torch, 0, 128)
            yield (_i32(torch, blocks), keys, _old(torch, rows, 128)), {2: expected}

    return run


def _first_two(torch: Any) -> Iterator[tuple[Arguments, Outputs]]:
    for rows in (*SIZES, 1000):
        x = _x(torch, rows, 4, 128)
        yield (x, _old(torch, rows, 2, 128)), {1: x[:, :2]}


def _needed(torch: Any) -> Iterator[tuple[Arguments, Outputs]]:
    for rows in SIZES:
        need = _counts(torch, rows)
        x, y = _x(torch, rows, 4096), _old(torch, rows, 4096)
        expected = torch.where(_i32(torch, need)[:, None] > 0, x, y)
        yield (_i32(torch, need), x, y), {2: expected}


def _added(torch: Any) -> Iterator[tuple[Arguments, Outputs]]:
    for rows in SIZES:
        a, b = _x(torch, rows, 128), _x(torch, rows, 128)
        yield (a, b, _old(torch, rows, 128)), {2: a + b}


def _flipped(torch: Any) -> Iterator[tuple[Arguments, Outputs]]:
    for rows in SIZES:
        x = _x(torch, rows, 128)
        yield (x, _old(torch, rows, 128)), {1: x.flip(1)}


def _corners(m: int | None, n: int | None) -> Run:
    """The first column of each tile has the product of the first columns."""

    def run(torch: Any) -> Iterator[tuple[Arguments, Outputs]]:
        for rows, columns in ((m, n),) if m is not None else ((320, 192), (1, 1), (65, 300)):
            a, b = _x(torch, rows, 64, dtype="bfloat16"), _x(torch, columns, 64, dtype="bfloat16")
            y = _old(torch, rows, columns)
            expected = y.clone()
            expected[:, ::64] = a[:, :1].float() * b[::64, 0].float()
            yield ((a, b, y), {2: expected}) if m is not None else ((a, y, b), {1: expected})

    return run


def _summed(torch: Any) -> Iterator[tuple[Arguments, Outputs]]:
    for n in SIZES:
        x = _x(torch, n, 128)
        y = _old(torch, 128)
        yield (x, y), {1: x.sum(0) if n else y.clone()}  # nothing is launched for no elements


def _patterns(torch: Any) -> Iterator[tuple[Arguments, Outputs]]:
    for m in (0, 1, 31, 32, 33, 10_000):
        element = torch.arange(m * 128, device="cuda").view(m, 128) % 4096
        yield (_old(torch, m, 128),), {0: element.float()}


def _rounds(torch: Any) -> Iterator[tuple[Arguments, Outputs]]:
    for n in SIZES:
        total = float(sum(range(n)))
        yield (_old(torch, 2, 128), n), {0: torch.full((2, 128), total, device="cuda")}


def _listed(torch: Any) -> Iterator[tuple[Arguments, Outputs]]:
    for m in (1, 64, 1000):
        tiles = -(-m // 64)
        x = _x(torch, m, 64, dtype="bfloat16")
        order = _i32(torch, range(tiles)).flip(0)[:, None].contiguous()
        yield (order, x, _old(torch, m, 64, dtype="bfloat16")), {2: x}


def _stored(torch: Any) -> Iterator[tuple[Arguments, Outputs]]:
    for rows in (*SIZES, 5000):
        row = torch.arange(rows, device="cuda", dtype=torch.float32)[:, None].expand(rows, 128)
        yield (_old(torch, rows, 128), _old(torch, rows, 128)), {0: row, 1: row}


ROWS = (1, 64, 100, 1000)

RUNS: dict[str, Run] = {
    "1_one_count_for_two_consumers/good": _copies(64),
    "2_consumers_of_the_peer_cta/good": _products,
    "3_empty_tile_on_one_side/good": _empty_tiles,
    "3_empty_tile_on_one_side/good_spelt_otherwise": _empty_tiles,
    "5_one_iteration/good": _one_round,
    "5_one_iteration/good_any": _copies(128),
    "6_release_behind_what_comes_later/good": _sums,
    "6_release_behind_what_comes_later/good_one_loop": _sums,
    "9_leader_speaks_too_early/good": _copies(128),
    "10_guard_missing_in_one_role/good": _attention,
    "11_bounds_that_differ/good": _blocks(lambda count: count),
    "11_bounds_that_differ/good_spelt_otherwise": _blocks(lambda count: count + 1),
    "12_guarded_rounds_and_tiles/good": _first_two,
    "14_barriers_are_initialised_once/good": _copies(128),
    "16_load_under_a_condition/good": _needed,
    "17_fewer_bytes_than_the_box/good": _copies(16, "bfloat16", ROWS),
    "19_one_of_two_rings_never_released/good": _added,
    "19_one_of_two_rings_never_released/good_merged": _added,
    "21_sync_of_all_threads_in_one_role/good": _flipped,
    "21_sync_of_all_threads_in_one_role/good_derived": _flipped,
    "28_peers_reach_a_cta_that_ends/good": _corners(None, None),
    "28_peers_reach_a_cta_that_ends/good_one_tile": _corners(None, None),
    "32_fence_on_the_path_without_rounds/good": _summed,
    "33_written_by_threads_stored_by_an_engine/good": _index(128),
    "33_written_by_threads_stored_by_an_engine/good_ring": _index(128),
    "35_store_that_still_reads_the_stage/good": _copies(128),
    "35_store_that_still_reads_the_stage/good_one_later": _copies(128),
    "35_store_that_still_reads_the_stage/good_one_task": _copies(128),
    "37_overlay_used_after_its_release/good": _copies(128),
    "46_both_ways_of_an_epilogue/good": _patterns,
    "48_one_lane_speaks_for_all/good": _index(32),
    "49_operand_without_a_pipeline/good": _rounds,
    "49_operand_without_a_pipeline/good_arrive": _rounds,
    "49_operand_without_a_pipeline/good_ring": _rounds,
    "50_read_then_filled_again_by_the_engine/good": _copies(128),
    "57_ragged_cluster/good": _corners(320, 192),
    "70_number_of_multiprocessors/good": _copies(200, "bfloat16", ROWS),
    "72_no_wait_for_the_kernel_before/good": _copies(128),
    "72_no_wait_for_the_kernel_before/good_constant": _copies(128),
    "77_nobody_lets_the_next_kernel_start/good": _copies(128),
    "78_row_pitch/good": _copies(252, "float32", ROWS),
    "79_box_wider_than_its_swizzle/good": _copies(48, "float16", ROWS),
    "81_box_larger_than_a_dimension_may_be/good": _copies(64, "bfloat16", ROWS),
    "83_swizzle_and_alignment/good": _copies(64, "bfloat16", ROWS),
    "106_merge_keys/good": _copies(128),
    "125_stored_tiles_for_a_further_task/good": _stored,
}
