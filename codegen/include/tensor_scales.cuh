// Scale factors into tensor memory (sm_100a). One thread issues it, in order with the products it asks for.
// Of a pair of CTAs its leader does, for both.
#pragma once

#include "tensor_memory.cuh"

// A block of 32 rows of 16 bytes, one after another, into 4 columns: each row into its lane of all four
// quarters. `from` is the lower word of its descriptor.
// NOTES: where `GROUP` is 2, each CTA's tensor memory receives what lies at `from` in its own shared memory.
template <int GROUP = 1> DEVICE void tcgen05_copy_scales(u32 to, u32 from) {
  if constexpr (GROUP == 1)
    asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(to),
                 "l"(matrix_words(0x00004008, from))
                 : "memory");
  else
    asm volatile("tcgen05.cp.cta_group::2.32x128b.warpx4 [%0], %1;" ::"r"(to),
                 "l"(matrix_words(0x00004008, from))
                 : "memory");
}
