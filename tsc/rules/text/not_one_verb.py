"""An entry of a schedule does not have exactly one verb.

What it does
    A step or node is a mapping with one key that is a verb, its options beside it, or one of the
    words `pdl_wait`, `pdl_launch` and `task_sync`. The verbs: loops `work_tile_loop domain_loop for`;
    conditions `first_iter last_iter every when_true when_false when skippable`; build `repeat if`;
    rings and queues `acquire commit wait release try_acquire try_wait skip get_and_advance_work_tile
    fetch_work_tile`; order `take pass sync arrive`; works `do`; copies `tma_load tma_store tma_reduce
    tma_prefetch bulk_load bulk_store cluster_copy store_wait cp_async load store`; registers and
    tensor cores `zero convert activate stmatrix ldmatrix wgmma wgmma_wait tcgen05_mma tcgen05_ld
    tcgen05_st tcgen05_cp`; counting `count_in`.

Why is this bad
    The order of the steps is the meaning of a schedule, and the keys of a mapping have none.

Example
    - {wait: ab, release: ab}

Use instead
    - wait: ab
    - release: ab
"""

from __future__ import annotations

from tsc.diagnostics.model import Rule, Severity

RULE = Rule("TSC017", "not-one-verb", Severity.ERROR, "an entry of a schedule without a single verb")
