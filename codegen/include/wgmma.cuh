// wgmma: order and completion of matrix products, and the descriptors of their operands (sm_90a). The
// instructions themselves are emitted with the kernel, since their text depends on the shape.
#pragma once

#include "types.cuh"

// A matrix in shared memory as TMA writes it with a swizzle of `SPAN` bytes: column atoms of `SPAN` bytes,
// all rows of an atom together. Bits 0-13: address; 16-29 and 32-45: leading and stride byte offset; all in
// units of 16 bytes; 62-63: swizzle (PTX ISA, wgmma: matrix descriptor). Only the low word changes from one
// part of the matrix to the next.
// K-major: the stride is that of 8 rows, the leading one is not looked at. MN-major: the leading offset is
// `ATOM` bytes, from one atom to the next along M or N, the stride that of 8 values of k.
template <int SPAN, int ATOM = 0> DEVICE u64 matrix_descriptor(u32 address) {
  static_assert(SPAN == 32 || SPAN == 64 || SPAN == 128, "a matrix of wgmma is swizzled");
  constexpr u32 swizzle = SPAN == 128 ? 1 : SPAN == 64 ? 2 : 3;
  constexpr u32 high = swizzle << 30 | 8 * SPAN >> 4, leading = ATOM == 0 ? 1 : ATOM >> 4;
  return static_cast<u64>(high) << 32 | leading << 16 | address >> 4;
}

// Before the first product, and again when threads have written accumulators or operand registers since.
DEVICE void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEVICE void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Until at most `PENDING` of the youngest groups run.
template <int PENDING> DEVICE void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}
// Keeps the compiler from moving accesses to registers ahead of the wait that completes what works on them.
// NOTES: by index, since NVRTC 13.5 unrolls a range-based loop so late that the fragment has gone to local
// memory by then.
DEVICE void wgmma_hold(float& x) { asm volatile("" : "+f"(x)::"memory"); }
DEVICE void wgmma_hold(u32& x) { asm volatile("" : "+r"(x)::"memory"); }
template <class FRAGMENT> DEVICE void wgmma_hold(FRAGMENT& f) {
#pragma unroll
  for (int i = 0; i < FRAGMENT::size / FRAGMENT::per_word; ++i) wgmma_hold(f.words[i]);
}
