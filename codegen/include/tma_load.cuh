// Loads of tensor-map boxes into shared memory. One thread issues them.
#pragma once

#include "tma_map.cuh"

// Coordinates of the box's first element, that of the contiguous dimension first; they may be negative. What
// lies outside the tensor is filled, and its bytes are counted down at `barrier` all the same.
// NOTES: an H200 answers a contiguous coordinate that is no multiple of 16 bytes by an illegal-instruction
// fault.
template <int CACHE = CACHE_NORMAL, class... I>
DEVICE void tma_load(u32 to, const TensorMap& map, u32 barrier, I... coordinates) {
  const int at[] = {static_cast<int>(coordinates)...};
#define LOAD(DIMENSIONS, COORDINATES, ...)                                                               \
  asm volatile("cp.async.bulk.tensor." DIMENSIONS ".shared::cluster.global.mbarrier::complete_tx::bytes" \
               " [%0], [%1, " COORDINATES "], [%2];"                                                     \
               ::"r"(to), "l"(&map), "r"(barrier), "n"(0), "n"(0), __VA_ARGS__ : "memory")
#define LOAD_HINT(DIMENSIONS, COORDINATES, ...)                                                          \
  asm volatile("cp.async.bulk.tensor." DIMENSIONS ".shared::cluster.global.mbarrier::complete_tx::bytes" \
               ".L2::cache_hint [%0], [%1, " COORDINATES "], [%2], %3;"                                  \
               ::"r"(to), "l"(&map), "r"(barrier), "l"(bulk_policy(CACHE)), "n"(0), __VA_ARGS__ : "memory")
  if constexpr (CACHE == CACHE_NORMAL) {
    TMA_OF_RANK(sizeof...(I), LOAD);
  } else {
    TMA_OF_RANK(sizeof...(I), LOAD_HINT);
  }
#undef LOAD
#undef LOAD_HINT
}

// Writes to, and signals at, the same offsets in every CTA of `mask`.
template <int CACHE = CACHE_NORMAL, class... I>
DEVICE void tma_load_multicast(u32 to, const TensorMap& map, u32 barrier, u16 mask, I... coordinates) {
  const int at[] = {static_cast<int>(coordinates)...};
#define LOAD(DIMENSIONS, COORDINATES, ...)                                                               \
  asm volatile("cp.async.bulk.tensor." DIMENSIONS ".shared::cluster.global.mbarrier::complete_tx::bytes" \
               ".multicast::cluster [%0], [%1, " COORDINATES "], [%2], %3;"                              \
               ::"r"(to), "l"(&map), "r"(barrier), "h"(mask), "n"(0), __VA_ARGS__ : "memory")
#define LOAD_HINT(DIMENSIONS, COORDINATES, ...)                                                          \
  asm volatile("cp.async.bulk.tensor." DIMENSIONS ".shared::cluster.global.mbarrier::complete_tx::bytes" \
               ".multicast::cluster.L2::cache_hint [%0], [%1, " COORDINATES "], [%2], %3, %4;"           \
               ::"r"(to), "l"(&map), "r"(barrier), "h"(mask), "l"(bulk_policy(CACHE)), __VA_ARGS__ : "memory")
  if constexpr (CACHE == CACHE_NORMAL) {
    TMA_OF_RANK(sizeof...(I), LOAD);
  } else {
    TMA_OF_RANK(sizeof...(I), LOAD_HINT);
  }
#undef LOAD
#undef LOAD_HINT
}
