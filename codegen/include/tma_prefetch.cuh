// Prefetches of tensor-map boxes into L2. One thread issues them; nobody waits for them.
#pragma once

#include "tma_map.cuh"

// Coordinates as in tma_load. What lies outside the tensor is not fetched.
template <int CACHE = CACHE_NORMAL, class... I>
DEVICE void tma_prefetch(const TensorMap& map, I... coordinates) {
  const int at[] = {static_cast<int>(coordinates)...};
#define PREFETCH(DIMENSIONS, COORDINATES, ...)                                                      \
  asm volatile("cp.async.bulk.prefetch.tensor." DIMENSIONS ".L2.global.tile [%0, " COORDINATES "];" \
               ::"l"(&map), "n"(0), "n"(0), "n"(0), "n"(0), __VA_ARGS__ : "memory")
#define PREFETCH_HINT(DIMENSIONS, COORDINATES, ...)                                         \
  asm volatile("cp.async.bulk.prefetch.tensor." DIMENSIONS ".L2.global.tile.L2::cache_hint" \
               " [%0, " COORDINATES "], %1;"                                                \
               ::"l"(&map), "l"(bulk_policy(CACHE)), "n"(0), "n"(0), "n"(0), __VA_ARGS__ : "memory")
  if constexpr (CACHE == CACHE_NORMAL) {
    TMA_OF_RANK(sizeof...(I), PREFETCH);
  } else {
    TMA_OF_RANK(sizeof...(I), PREFETCH_HINT);
  }
#undef PREFETCH
#undef PREFETCH_HINT
}
