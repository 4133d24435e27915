// Stores and reductions of tensor-map boxes from shared memory. One thread issues them, and ends each group
// with bulk_commit.
#pragma once

#include "bulk_group.cuh"
#include "tma_map.cuh"

// Coordinates as in tma_load, but none is negative. What lies past the tensor's end is not written, but along
// the contiguous dimension for the last 16 bytes that begin inside: those are written whole.
// NOTES: an H200 answers a store by an illegal-instruction fault where a coordinate is negative, or where the
// contiguous one is no multiple of 16 bytes. Loads take the former, but not the latter.
template <int CACHE = CACHE_NORMAL, class... I>
DEVICE void tma_store(const TensorMap& map, u32 from, I... coordinates) {
  const int at[] = {static_cast<int>(coordinates)...};
#define STORE(DIMENSIONS, COORDINATES, ...)                                        \
  asm volatile("cp.async.bulk.tensor." DIMENSIONS ".global.shared::cta.bulk_group" \
               " [%0, " COORDINATES "], [%1];"                                     \
               ::"l"(&map), "r"(from), "n"(0), "n"(0), "n"(0), __VA_ARGS__ : "memory")
#define STORE_HINT(DIMENSIONS, COORDINATES, ...)                                                  \
  asm volatile("cp.async.bulk.tensor." DIMENSIONS ".global.shared::cta.bulk_group.L2::cache_hint" \
               " [%0, " COORDINATES "], [%1], %2;"                                                \
               ::"l"(&map), "r"(from), "l"(bulk_policy(CACHE)), "n"(0), "n"(0), __VA_ARGS__ : "memory")
  if constexpr (CACHE == CACHE_NORMAL) {
    TMA_OF_RANK(sizeof...(I), STORE);
  } else {
    TMA_OF_RANK(sizeof...(I), STORE_HINT);
  }
#undef STORE
#undef STORE_HINT
}

enum : int { REDUCE_ADD = 0, REDUCE_MIN = 1, REDUCE_MAX = 2 };

// Atomic for each element, in the tensor map's element type; sums of several CTAs come in no fixed order.
// NOTES: minimum and maximum are for integers, f16 and bf16; with f32 they fault.
template <int OPERATION, int CACHE = CACHE_NORMAL, class... I>
DEVICE void tma_reduce(const TensorMap& map, u32 from, I... coordinates) {
  static_assert(REDUCE_ADD <= OPERATION && OPERATION <= REDUCE_MAX,
                "a reduction adds or takes the minimum or maximum");
  const int at[] = {static_cast<int>(coordinates)...};
#define REDUCE(OPERATION_TEXT, DIMENSIONS, COORDINATES, ...)                                   \
  asm volatile("cp.reduce.async.bulk.tensor." DIMENSIONS ".global.shared::cta." OPERATION_TEXT \
               ".bulk_group.L2::cache_hint [%0, " COORDINATES "], [%1], %2;"                   \
               ::"l"(&map), "r"(from), "l"(bulk_policy(CACHE)), "n"(0), "n"(0), __VA_ARGS__ : "memory")
#define ADD(...) REDUCE("add", __VA_ARGS__)
#define MIN(...) REDUCE("min", __VA_ARGS__)
#define MAX(...) REDUCE("max", __VA_ARGS__)
  if constexpr (OPERATION == REDUCE_ADD) {
    TMA_OF_RANK(sizeof...(I), ADD);
  } else if constexpr (OPERATION == REDUCE_MIN) {
    TMA_OF_RANK(sizeof...(I), MIN);
  } else {
    TMA_OF_RANK(sizeof...(I), MAX);
  }
#undef REDUCE
#undef ADD
#undef MIN
#undef MAX
}
