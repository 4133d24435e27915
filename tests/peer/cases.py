"""The cases of a peer's checks: small schedules, with what its checks and the hardware make of them.

A case has a spec in the folder of its list, called by its name, or by the name given here where one spec
serves several cases. A spec `<case>.<what>.tsc.yaml` is a neighbour: the right one beside the wrong one, or
the nearest that can be written where the case cannot.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Shared:
    """The spec that serves a case, and the constants and dims that make it that case."""

    spec: str
    given: dict[str, int] = field(default_factory=dict)


_TRIPS = (1, 2, 4, 8, 16, 32, 64)

# Right schedules, accepted there too. Each is also checked as it stands, which is for every trip count.
GOOD: dict[str, Shared] = {
    "copy_unpiped": Shared("copy_unpiped"),
    **{f"tma_copy_s{n}": Shared("tma_copy", {"STAGES": n, "m": 8 * 64}) for n in range(2, 9)},
    **{f"gemm_chain_k{k}": Shared("gemm_chain", {"k": 64 * k}) for k in _TRIPS},
    **{f"gemm_ab_k{k}": Shared("gemm_ab", {"k": 64 * k}) for k in _TRIPS},
    **{f"gemm_ab_merge_k{k}": Shared("gemm_ab_merge", {"k": 64 * k}) for k in _TRIPS},
    **{f"fmha6_k{k}": Shared("fmha6", {"s": 64 * k}) for k in (1, 2)},
    "persistent_static": Shared("persistent_static", {"k": 64 * 4}),
    "persistent_clc": Shared("persistent_clc", {"k": 64 * 4}),
    "persistent_ab_static": Shared("persistent_ab_static", {"k": 64 * 2}),
    "pdl_wait_launch": Shared("pdl_wait_launch"),
    "skip_if": Shared("skip_if"),
    "first_last_guards": Shared("first_last_guards"),
    "every_2": Shared("every_2"),
    "when_true_same_key": Shared("when_true_same_key"),
    "ping_pong": Shared("ping_pong"),
    "split_consumer_k4_s2": Shared("split_consumer", {"rows": 4}),
    "interleave_domain_lanes": Shared("interleave_domain_lanes"),
    "interleave_warp_lanes": Shared("interleave_warp_lanes"),
    "alias_safe": Shared("alias_safe"),
    "group_merge": Shared("group_merge"),
    "group_fork": Shared("group_fork"),
    "group_fused_merge": Shared("group_fused_merge"),
    "value_route": Shared("value_route"),
    "warn_head_and_loop": Shared("warn_head_and_loop"),
    "request_response_16": Shared("request_response_16"),
}

# Wrong schedules, rejected there too; some are right with us, or cannot be written, and their specs say why.
BAD = [
    "alias_unsafe", "control_cap_race_small", "bad_zero_step", "bad_no_domain", "bad_two_domain_loops",
    "bad_nested_domain_loops", "bad_role", "bad_role_undeclared", "bad_empty_graph", "bad_graph_unknown",
    "bad_graph_unbacked_edge", "bad_graph_missing_resource", "bad_declared_unused",
    "bad_work_before_acquire", "bad_work_after_commit", "bad_read_before_wait", "bad_read_after_release",
    "bad_no_brackets", "bad_try_after_acquire", "bad_missing_release", "bad_missing_commit",
    "bad_unbalanced_commits", "bad_unbalanced_waits", "bad_wq_some_tasks", "bad_wq_head", "bad_wq_loop",
    "bad_wq_order", "bad_wq_twice", "bad_wq_none", "bad_wq_two_queues", "bad_clc_no_scheduler",
    "bad_dma_release_early", "bad_deadlock_cross_wait", "bad_deadlock_stage_shortage", "bad_race_alias",
    "bad_pdl_launch_edge", "bad_pdl_launch_first", "bad_pdl_wait_late", "bad_pdl_no_wait",
    "bad_skip_one_sided", "bad_count_consumer", "bad_count_producer", "bad_count_async", "bad_count_umma",
    "bad_tma_multi_warp", "bad_leader_bytes", "bad_lane_stages", "bad_lane_users", "bad_cta_layout",
    "bad_work_label", "bad_smem_capacity", "bad_tmem_capacity", "bad_route_stale", "bad_route_none",
    "bad_route_literal", "bad_route_missing", "bad_route_backwards", "bad_ping_pong_unpiped",
    "bad_ping_pong_mma", "bad_split_signal_unused", "bad_skip_not_callable", "bad_skip_arity",
    "bad_skip_domain_outside", "bad_skip_wq_inside", "bad_guard_after_loop", "bad_reg_mismatch",
    "bad_reg_uncovered", "bad_reg_budget", "bad_group_stages", "bad_group_fork_sizes",
    "bad_group_fork_member_commit", "bad_group_fused_member_wait", "bad_group_bare_member",
    "bad_when_other_key", "bad_when_one_side",
]  # fmt: skip

# Wrong on the hardware, and accepted there.
WRONGLY_ACCEPTED = [
    "fn_dynamic_trips_differ", "fn_dynamic_zero_trip", "fn_domain_probe_one_tile",
    "fn_two_consumers_uneven", "fn_read_after_release_masked", "fn_read_without_wait_on_false",
    "fn_pdl_wait_guarded_late", "fn_unpiped_shared_race", "fn_warps_overlap", "fn_tma_zero_bytes",
    "fn_two_mma_consumers", "fn_mma_two_warps", "fn_cta_gate_never_true", "fn_skip_predicates_differ",
    "fn_double_wait_one_stage", "fn_missing_edge_hides_dma", "fn_aux_work_untracked", "fn_too_many_warps",
    "fn_opaque_layout_counts", "fn_same_task_async_alias", "fn_proxy_signals_first", "fn_cap_hides_race",
]  # fmt: skip

# Right on the hardware, and rejected there.
WRONGLY_REJECTED = [
    "fp_two_mma_consumers_sized_2", "fp_dynamic_prologue", "fp_opposite_keys", "fp_pdl_no_predecessor",
    "fp_warp_lanes_half_each", "fp_fmha_kv_ring_unlabelled", "fp_split_consumer_k16",
]  # fmt: skip

# Wrong in ways that it does not look at: cases of our own.
UNCHECKED = [
    "warps_with_a_gap", "phase_bit_of_an_observer", "phase_bit_of_lanes", "two_loads_of_one_stage",
    "groups_behind", "accumulator_still_written", "third_tile", "length_of_a_tile", "barrier_run_ahead",
    "barrier_one_way", "barrier_missed", "read_is_not_written", "scratch_of_two_tiles", "token_of_two_sizes",
]  # fmt: skip

SECTIONS: dict[str, dict[str, Shared]] = {
    "good": GOOD,
    "bad": {case: Shared(case) for case in BAD},
    "wrongly_accepted": {case: Shared(case) for case in WRONGLY_ACCEPTED},
    "wrongly_rejected": {case: Shared(case) for case in WRONGLY_REJECTED},
    "unchecked": {case: Shared(case) for case in UNCHECKED},
}
