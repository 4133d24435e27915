"""TSC170 to TSC189: the roles of tasks on rings, and what is written against what is derived."""

from __future__ import annotations

from types import ModuleType

from tsc.rules.roles import (
    expectation_not_met,
    graph_mismatch,
    half_of_a_pair,
    halves_do_not_join,
    leader_without_pair,
    operand_of_wrong_kind,
    pairs_without_cluster,
    peers_not_counted,
    pipeline_mismatch,
    product_outside_leader,
    ring_without_consumer,
    ring_without_producer,
    same_part_in_both,
    scales_of_half,
    shared_store_ring,
    stage_never_read,
    task_lists_mismatch,
    turn_of_one,
)

RULES: tuple[ModuleType, ...] = (
    ring_without_producer,
    ring_without_consumer,
    stage_never_read,
    graph_mismatch,
    task_lists_mismatch,
    pipeline_mismatch,
    expectation_not_met,
    peers_not_counted,
    operand_of_wrong_kind,
    shared_store_ring,
    turn_of_one,
    leader_without_pair,
    product_outside_leader,
    pairs_without_cluster,
    half_of_a_pair,
    same_part_in_both,
    halves_do_not_join,
    scales_of_half,
)
