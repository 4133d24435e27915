// Bulk copies of one contiguous piece: addresses and sizes are multiples of 16 bytes. One thread issues them.
#pragma once

#include "bulk_group.cuh"
#include "types.cuh"

// NOTES: a size of 0 issues nothing; the instruction's own behaviour for it is not specified.

// Counts `bytes` down at `barrier`.
template <int CACHE = CACHE_NORMAL> DEVICE void bulk_load(u32 to, const void* from, u32 bytes, u32 barrier) {
  if (bytes == 0) return;
  if constexpr (CACHE == CACHE_NORMAL)
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(to), "l"(from), "r"(bytes), "r"(barrier) : "memory");
  else
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
                 " [%0], [%1], %2, [%3], %4;"
                 ::"r"(to), "l"(from), "r"(bytes), "r"(barrier), "l"(bulk_policy(CACHE)) : "memory");
}

// Writes to, and signals at, the same offsets in every CTA of `mask`.
template <int CACHE = CACHE_NORMAL>
DEVICE void bulk_load_multicast(u32 to, const void* from, u32 bytes, u32 barrier, u16 mask) {
  if (bytes == 0) return;
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
               ".L2::cache_hint [%0], [%1], %2, [%3], %4, %5;"
               ::"r"(to), "l"(from), "r"(bytes), "r"(barrier), "h"(mask), "l"(bulk_policy(CACHE)) : "memory");
}

template <int CACHE = CACHE_NORMAL> DEVICE void bulk_store(void* to, u32 from, u32 bytes) {
  if (bytes == 0) return;
  if constexpr (CACHE == CACHE_NORMAL)
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 ::"l"(to), "r"(from), "r"(bytes) : "memory");
  else
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;"
                 ::"l"(to), "r"(from), "r"(bytes), "l"(bulk_policy(CACHE)) : "memory");
}

DEVICE void bulk_prefetch(const void* from, u32 bytes) {
  if (bytes == 0) return;
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
}
