"""Every case of the list by its number, and what was done about it: specs, tests elsewhere, or why not."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """One case: its folder here, tests that hold it (`file::function` under tests/), and a remark."""

    what: str
    folder: str = ""
    tests: tuple[str, ...] = ()
    why: str = ""


# The list has no case of these numbers.
# fmt: off
NOT_LISTED = frozenset((
    4, 7, 8, 13, 18, 20, 23, 24, 26, 29, 34, 36, 38, 40, 43, 45, 47, 51, 52, 53, 56, 59, 61, 65, 66, 69, 74,
    76, 80, 82, 84, 86, 88, 91, 95, 97, 100, 105, 107, 109, 111,
))
# fmt: on

LATER = "a feature that comes later: "
LAUNCH = "a matter of the loader, at launch"

OWN = "cases/test_generated.py::"
HAZARDS, RINGS, KERNELS = "emit/test_hazards.py::", "emit/test_rings.py::", "emit/test_kernels.py::"
CALL, REFUSALS = "runtime/test_call.py::", "runtime/test_refusals.py::"

ORDERS = "tiles/test_orders.py::test_each_tile_is_taken_once_by_ragged_clusters_too"

INDEX: dict[int, Entry] = {
    1: Entry("one arrival counted for two consumers", "1_one_count_for_two_consumers"),
    2: Entry("consumers of the peer CTA not counted", "2_consumers_of_the_peer_cta"),
    3: Entry("one side passes over an empty tile", "3_empty_tile_on_one_side"),
    5: Entry(
        "a pipeline of one iteration", "5_one_iteration", (OWN + "test_any_number_of_rounds_goes_one_way",)
    ),
    6: Entry("a release behind what comes later", "6_release_behind_what_comes_later"),
    9: Entry(
        "a leader releases before its warps have looked",
        "9_leader_speaks_too_early",
        (OWN + "test_every_warp_that_reads_arrives",),
    ),
    10: Entry("a guard missing in one of three roles", "10_guard_missing_in_one_role"),
    11: Entry("bounds that differ for one tile", "11_bounds_that_differ"),
    12: Entry(
        "phases counted from zero for each tile",
        "12_guarded_rounds_and_tiles",
        (
            OWN + "test_stage_and_phase_run_on_from_tile_to_tile",
            "codegen/test_ring.py::test_cursor_counts_like_an_integer",
        ),
    ),
    14: Entry("barriers initialised in a loop", "14_barriers_are_initialised_once"),
    15: Entry(
        "no sync between init and first use",
        "15_nobody_leaves_out_the_prologue",
        (OWN + "test_barriers_are_ready_before_the_first_role",),
    ),
    16: Entry(
        "bytes announced for a load that is left out",
        "16_load_under_a_condition",
        (RINGS + "test_a_conditional_load_announces_its_own_bytes",),
    ),
    17: Entry("fewer bytes announced than a box has", "17_fewer_bytes_than_the_box"),
    19: Entry("one of two rings never released", "19_one_of_two_rings_never_released"),
    21: Entry("a CTA-wide sync in one role", "21_sync_of_all_threads_in_one_role"),
    22: Entry("a cluster barrier in one role", "22_cluster_barrier_in_one_role"),
    25: Entry("registers for a wider layout", "25_registers_for_a_wider_layout"),
    27: Entry("register counts out of range", "27_register_counts"),
    28: Entry(
        "a CTA that ends while peers reach it",
        "28_peers_reach_a_cta_that_ends",
        (OWN + "test_peers_have_arrived_before_a_cta_ends",),
    ),
    30: Entry("the last answer of a scheduler", "30_last_answer_of_the_scheduler"),
    31: Entry("tensor memory of a pair", "31_tensor_memory_of_a_pair"),
    32: Entry(
        "a fence on some paths only",
        "32_fence_on_the_path_without_rounds",
        (OWN + "test_a_store_is_fenced_on_every_path",),
    ),
    33: Entry(
        "threads write, an engine stores, nothing between",
        "33_written_by_threads_stored_by_an_engine",
        (
            OWN + "test_a_store_is_fenced_on_every_path",
            RINGS + "test_an_engine_reads_what_was_fenced_and_met",
        ),
    ),
    35: Entry(
        "a store may still read the stage",
        "35_store_that_still_reads_the_stage",
        (RINGS + "test_a_store_ring_waits_for_the_store_that_read_its_stage",),
    ),
    37: Entry("an overlay used after the release", "37_overlay_used_after_its_release"),
    39: Entry("a release before the product has read", "39_release_before_the_product_has_read"),
    41: Entry("an operand of the peer CTA", "41_operand_of_the_peer_cta"),
    42: Entry("tensor memory not waited for", "42_tensor_memory_is_waited_for"),
    44: Entry("barriers under data", "44_barriers_are_no_storage"),
    46: Entry(
        "the other way of an epilogue has no sync",
        "46_both_ways_of_an_epilogue",
        (OWN + "test_both_ways_of_an_epilogue_meet_first",),
    ),
    48: Entry(
        "one lane speaks for all", "48_one_lane_speaks_for_all", (OWN + "test_lanes_meet_before_one_arrives",)
    ),
    49: Entry("an operand without a pipeline", "49_operand_without_a_pipeline"),
    50: Entry("read, then filled by the engine", "50_read_then_filled_again_by_the_engine"),
    54: Entry("the last band of a grouped order", "54_tile_orders", (ORDERS,)),
    55: Entry("a group beyond the grid", "54_tile_orders", (ORDERS,)),
    57: Entry(
        "a ragged cluster",
        "57_ragged_cluster",
        (
            "program/test_grid.py::test_one_cta_a_tile",
            "emit/test_widths.py::test_ragged_clusters_count_whole_and_find_counts_in_32_bits",
        ),
    ),
    58: Entry("a cluster across two groups", "58_cluster_across_two_groups"),
    60: Entry(
        "a group without rows",
        tests=(
            CALL + "test_nothing_is_launched_for_a_grid_of_zero",
            CALL + "test_nothing_is_launched_for_an_extent_of_zero",
        ),
        why=LAUNCH,
    ),
    62: Entry(
        "the first tile twice", "54_tile_orders", ("emit/test_on_gpu.py::test_it_computes_what_it_says",)
    ),
    63: Entry("an answer given back before it is read", "63_answer_given_back_before_it_is_read"),
    64: Entry("an answer for every CTA", "64_answer_for_every_cta"),
    67: Entry(
        "CTAs that wait for each other", why="the language has no step that waits for another CTA's work"
    ),
    68: Entry("stream-K", "68_split_work"),
    70: Entry("a number of multiprocessors in the spec", "70_number_of_multiprocessors"),
    71: Entry(
        "offsets of 32 bits",
        "71_offsets_beyond_32_bits",
        (
            OWN + "test_elements_are_addressed_with_64_bits",
            "emit/test_widths.py::test_what_no_bound_of_a_dim_settles_is_refused",
        ),
    ),
    72: Entry("no wait for the kernel before", "72_no_wait_for_the_kernel_before"),
    73: Entry("the tile list is read before the wait", "73_tile_list_read_too_early"),
    75: Entry(
        "the launch attribute without a wait",
        "75_attribute_without_a_wait",
        ("emit/test_manifest.py::test_a_kernel_that_waits_for_the_one_before_says_so",),
    ),
    77: Entry("nothing lets the next kernel start", "77_nobody_lets_the_next_kernel_start"),
    78: Entry(
        "a row pitch of no 16 bytes",
        "78_row_pitch",
        ("runtime/test_maps.py::test_what_no_map_can_hold_is_refused",),
    ),
    79: Entry("a box wider than its swizzle", "79_box_wider_than_its_swizzle"),
    81: Entry("a box over 256, and its bytes", "81_box_larger_than_a_dimension_may_be"),
    83: Entry(
        "a swizzle on a base of 128 bytes",
        "83_swizzle_and_alignment",
        (OWN + "test_a_swizzled_ring_lies_at_its_multiple",),
    ),
    85: Entry(
        "descriptors misaligned on the host",
        tests=(CALL + "test_a_tensor_map_lies_at_a_multiple_of_its_size",),
        why=LAUNCH,
    ),
    87: Entry(
        "a descriptor rewritten in flight",
        why="a tensor map is encoded before the launch, and no step changes it",
    ),
    89: Entry(
        "a global address that is misaligned", tests=(REFUSALS + "test_a_mistake_is_refused",), why=LAUNCH
    ),
    90: Entry("the suffix of the architecture", "90_suffix_of_the_target"),
    92: Entry(
        "an invalid option, and not which",
        tests=("toolchain/test_nvrtc.py::test_an_unknown_target_is_said_with_the_known_ones",),
        why="a matter of the toolchain",
    ),
    93: Entry(
        "headers", tests=(KERNELS + "test_it_compiles_without_a_word",), why="a matter of the toolchain"
    ),
    94: Entry(
        "PTX newer than the driver",
        tests=("cli/test_build.py::test_cubin_is_written_and_described",),
        why="a matter of the toolchain",
    ),
    96: Entry(
        "a cluster of sixteen",
        "96_cluster_of_sixteen",
        ("runtime/test_devices.py::test_large_clusters_are_allowed",),
    ),
    98: Entry("the name of the kernel", "98_name_of_the_kernel"),
    99: Entry(
        "errors that point into no file of the user",
        tests=(
            "emit/test_text.py::test_an_error_in_a_snippet_is_placed_in_the_spec",
            "toolchain/test_diagnose.py::test_errors_of_a_snippet_are_at_their_tokens",
        ),
        why="a matter of the toolchain",
    ),
    101: Entry(
        "scalars of the wrong width",
        tests=(REFUSALS + "test_a_value_that_does_not_fit_its_type_is_refused",),
        why=LAUNCH,
    ),
    102: Entry("a key twice", "102_key_twice"),
    103: Entry("on, off, y and N", "103_words_that_are_booleans_elsewhere"),
    104: Entry("numbers without a point", "104_numbers_without_a_point"),
    106: Entry("merge keys", "106_merge_keys"),
    108: Entry("unknown keys", "108_unknown_key"),
    110: Entry("an error without its place", "110_unknown_step"),
    112: Entry("the version left out", "112_version_left_out"),
    113: Entry(
        "a static check",
        tests=("cases/test_cases.py::test_it_is_refused_for_its_cause_or_proved",),
        why="what all of this is for",
    ),
    114: Entry(
        "a dynamic check",
        tests=(KERNELS + "test_for_a_race_checker_every_thread_arrives",),
        why=LATER + "builds that count",
    ),
    115: Entry(
        "a limit of time on waits",
        tests=("codegen/test_headers.py::test_watchdog_traps_only_where_it_is_asked_for",),
        why="a debug build",
    ),
    116: Entry(
        "print the state of barriers",
        tests=("emit/test_generated.py::test_a_feature_is_refused_at_its_place",),
        why=LATER + "`debug.trace`",
    ),
    117: Entry("a timeline of the kernel", why=LATER + "`debug.trace`"),
    118: Entry(
        "draw the schedule",
        tests=("report/test_reports.py::test_table", "report/test_reports.py::test_graph_as_mermaid"),
        why="a report",
    ),
    119: Entry(
        "a cache on disk",
        tests=("toolchain/test_build.py::test_a_second_build_comes_from_the_cache",),
        why="a matter of the toolchain",
    ),
    120: Entry(
        "load without a framework",
        tests=("runtime/test_import.py::test_loading_needs_the_bindings_alone",),
        why=LAUNCH,
    ),
    121: Entry(
        "an artifact that describes itself",
        tests=("artifact/test_manifest.py::test_a_cubin_gives_its_manifest_back",),
        why="a matter of the artifact",
    ),
    122: Entry(
        "drop what cannot fit before compiling",
        tests=("rules/test_specs.py::test_bad_spec_breaks_its_rule_alone",),
        why=LATER + "`tune`; the rules of capacity are there",
    ),
    123: Entry(
        "a schedule apart from the body",
        tests=("docs/test_language.py::test_a_whole_spec_is_silent_and_generated",),
        why="the language itself",
    ),
    124: Entry(
        "look into the binary",
        tests=("artifact/test_inspect.py::test_text_is_readable",),
        why="a matter of the artifact",
    ),
    125: Entry("stored tiles for a further task", "125_stored_tiles_for_a_further_task"),
    126: Entry("launch attributes by name", tests=(CALL + "test_a_launch_carries_the_manifest",), why=LAUNCH),
}
