"""The operations of the language, one line each."""

from __future__ import annotations

from tsc.ops import (
    activate,
    bulk_load,
    bulk_store,
    cluster_copy,
    convert,
    count_in,
    cp_async,
    ldmatrix,
    load,
    stmatrix,
    store,
    store_wait,
    tcgen05_cp,
    tcgen05_ld,
    tcgen05_mma,
    tcgen05_st,
    tma_load,
    tma_prefetch,
    tma_reduce,
    tma_store,
    wgmma,
    wgmma_wait,
    zero,
)
from tsc.ops.base import Operation

OPERATIONS: tuple[Operation, ...] = (
    tma_load.OP,
    tma_store.OP,
    tma_reduce.OP,
    tma_prefetch.OP,
    bulk_load.OP,
    bulk_store.OP,
    cluster_copy.OP,
    store_wait.OP,
    cp_async.OP,
    load.OP,
    store.OP,
    zero.OP,
    convert.OP,
    activate.OP,
    stmatrix.OP,
    ldmatrix.OP,
    wgmma.OP,
    wgmma_wait.OP,
    tcgen05_mma.OP,
    tcgen05_ld.OP,
    tcgen05_st.OP,
    tcgen05_cp.OP,
    count_in.OP,
)

BY_VERB: dict[str, Operation] = {operation.verb: operation for operation in OPERATIONS}
