// Loads of tensor-map boxes that the tensor cores of a pair of CTAs read (sm_100a). One thread of each CTA
// issues its own.
#pragma once

#include "tma_map.cuh"

// The same place in the leader of the pair: bit 24 of an address tells the odd CTA from the even one.
DEVICE u32 leader_address(u32 address) { return address & 0xFEFFFFFFu; }

// As tma_load(), signalled at the barrier of that offset in the leader, which waits for what both CTAs load.
template <int CACHE = CACHE_NORMAL, class... I>
DEVICE void tma_load_pair(u32 to, const TensorMap& map, u32 barrier, I... coordinates) {
  const int at[] = {static_cast<int>(coordinates)...};
  const u32 leads = leader_address(barrier);
#define LOAD(DIMENSIONS, COORDINATES, ...)                                                                 \
  asm volatile("cp.async.bulk.tensor." DIMENSIONS                                                          \
               ".cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes"                         \
               " [%0], [%1, " COORDINATES "], [%2];"                                                       \
               ::"r"(to), "l"(&map), "r"(leads), "n"(0), "n"(0), __VA_ARGS__ : "memory")
#define LOAD_HINT(DIMENSIONS, COORDINATES, ...)                                                            \
  asm volatile("cp.async.bulk.tensor." DIMENSIONS                                                          \
               ".cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes"                         \
               ".L2::cache_hint [%0], [%1, " COORDINATES "], [%2], %3;"                                    \
               ::"r"(to), "l"(&map), "r"(leads), "l"(bulk_policy(CACHE)), "n"(0), __VA_ARGS__ : "memory")
  if constexpr (CACHE == CACHE_NORMAL) {
    TMA_OF_RANK(sizeof...(I), LOAD);
  } else {
    TMA_OF_RANK(sizeof...(I), LOAD_HINT);
  }
#undef LOAD
#undef LOAD_HINT
}

// Writes to the same offset in every CTA of `mask`, and signals for each at the leader of that CTA's pair.
template <int CACHE = CACHE_NORMAL, class... I>
DEVICE void tma_load_pair_multicast(u32 to, const TensorMap& map, u32 barrier, u16 mask, I... coordinates) {
  const int at[] = {static_cast<int>(coordinates)...};
  const u32 leads = leader_address(barrier);
#define LOAD(DIMENSIONS, COORDINATES, ...)                                                                 \
  asm volatile("cp.async.bulk.tensor." DIMENSIONS                                                          \
               ".cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes"                         \
               ".multicast::cluster [%0], [%1, " COORDINATES "], [%2], %3;"                                \
               ::"r"(to), "l"(&map), "r"(leads), "h"(mask), "n"(0), __VA_ARGS__ : "memory")
#define LOAD_HINT(DIMENSIONS, COORDINATES, ...)                                                            \
  asm volatile("cp.async.bulk.tensor." DIMENSIONS                                                          \
               ".cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes"                         \
               ".multicast::cluster.L2::cache_hint [%0], [%1, " COORDINATES "], [%2], %3, %4;"             \
               ::"r"(to), "l"(&map), "r"(leads), "h"(mask), "l"(bulk_policy(CACHE)), __VA_ARGS__ : "memory")
  if constexpr (CACHE == CACHE_NORMAL) {
    TMA_OF_RANK(sizeof...(I), LOAD);
  } else {
    TMA_OF_RANK(sizeof...(I), LOAD_HINT);
  }
#undef LOAD
#undef LOAD_HINT
}
