// Tensor memory: its allocation, and the order between tensor cores and threads (sm_100a).
#pragma once

#include "types.cuh"

// All lanes of one warp; `GROUP` is 2 where pairs of CTAs multiply together, and then one warp of each CTA.
// The address of the first column appears at `slot` in shared memory. Waits while CTAs of the multiprocessor
// hold too many columns; the right to allocate is given up at once, so that nobody waits for more than that.
template <int COLUMNS, int GROUP = 1> DEVICE void tensor_allocate(u32 slot) {
  static_assert(COLUMNS >= 32 && COLUMNS <= 512 && (COLUMNS & COLUMNS - 1) == 0,
                "tensor memory is allocated in powers of two, 32 to 512 columns");
  if constexpr (GROUP == 1) {
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(slot), "n"(COLUMNS)
                 : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory");
  } else {
    asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(slot), "n"(COLUMNS)
                 : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;" ::: "memory");
  }
}
// All lanes of the warp that has allocated, when nothing works on these columns any more, in either CTA of a
// pair.
template <int COLUMNS, int GROUP = 1> DEVICE void tensor_free(u32 tensor) {
  if constexpr (GROUP == 1)
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(tensor), "n"(COLUMNS)
                 : "memory");
  else
    asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" ::"r"(tensor), "n"(COLUMNS)
                 : "memory");
}
// What the allocation has left at `slot`: lane in bits 16-31, column in bits 0-15.
DEVICE u32 tensor_address(u32 slot) { return *shared_pointer<const u32>(slot); }

// Behind a wait, before what the tensor core or tensor memory is asked to do because of it.
DEVICE void tcgen05_fence_after() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }
// Before an arrival that tells others of what this thread asked of tensor memory. A commit has it built in.
DEVICE void tcgen05_fence_before() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }

// Arrives once at a barrier when all that this thread has asked of the tensor core is complete.
template <int GROUP = 1> DEVICE void tcgen05_commit(u32 barrier) {
  if constexpr (GROUP == 1)
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier)
                 : "memory");
  else
    asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier)
                 : "memory");
}
// The same at the barrier in that place in each CTA of a cluster that `mask` names by rank.
template <int GROUP = 1> DEVICE void tcgen05_commit(u32 barrier, u32 mask) {
  if constexpr (GROUP == 1)
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64"
                 " [%0], %1;" ::"r"(barrier), "h"(static_cast<u16>(mask))
                 : "memory");
  else
    asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64"
                 " [%0], %1;" ::"r"(barrier), "h"(static_cast<u16>(mask))
                 : "memory");
}

// The descriptor of a matrix in shared memory from its two words; only the lower one changes. It has the
// address / 16, and 16 bits above it the bytes from one column atom to the next / 16, for MN-major alone.
DEVICE u64 matrix_words(u32 high, u32 low) { return (static_cast<u64>(high) << 32) | low; }
