// What all TMA instructions share: the tensor map, and their text for 1 to 5 dimensions.
#pragma once

#include "types.cuh"

// Fetches the map itself, once, ahead of its first use.
DEVICE void tma_prefetch_map(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// The number of dimensions and the list of coordinates are part of an instruction's text.
// INSTRUCTION(DIMENSIONS, COORDINATES, operands...) makes the statement; its own operands come first and are
// five.
#define TMA_OF_RANK(RANK, INSTRUCTION)                                                              \
  static_assert(1 <= (RANK) && (RANK) <= 5, "a tensor map has 1 to 5 dimensions");                  \
  if constexpr ((RANK) == 1) INSTRUCTION("1d", "{%5}", "r"(at[0]));                                 \
  if constexpr ((RANK) == 2) INSTRUCTION("2d", "{%5, %6}", "r"(at[0]), "r"(at[1]));                 \
  if constexpr ((RANK) == 3) INSTRUCTION("3d", "{%5, %6, %7}", "r"(at[0]), "r"(at[1]), "r"(at[2])); \
  if constexpr ((RANK) == 4)                                                                        \
    INSTRUCTION("4d", "{%5, %6, %7, %8}", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]));          \
  if constexpr ((RANK) == 5)                                                                        \
    INSTRUCTION("5d", "{%5, %6, %7, %8, %9}", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]))
