// Between tensor memory and fragments (sm_100a): order and completion. The instructions themselves are
// emitted with the kernel, since their text depends on how much they move.
#pragma once

#include "types.cuh"

// What an address in tensor memory has for the lanes of this warp: lanes count in the upper 16 bits.
DEVICE u32 tensor_lanes() { return (threadIdx.x & 96) << 16; }

// Until all loads of this warp have written their registers, all its stores their columns.
DEVICE void tcgen05_wait_ld() { asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory"); }
DEVICE void tcgen05_wait_st() { asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory"); }

// Keeps the compiler from moving accesses to registers ahead of the wait for what is loaded into them.
// NOTES: by index, as wgmma_hold does.
DEVICE void tensor_hold(float& x) { asm volatile("" : "+f"(x)::"memory"); }
DEVICE void tensor_hold(int& x) { asm volatile("" : "+r"(x)::"memory"); }
DEVICE void tensor_hold(u32& x) { asm volatile("" : "+r"(x)::"memory"); }
template <class WORD> DEVICE void tensor_hold_word(WORD& x) {
  if constexpr (requires { x.bits; }) tensor_hold(x.bits);
  else tensor_hold(x);
}
template <class FRAGMENT> DEVICE void tensor_hold(FRAGMENT& f)
  requires requires { f.words; }
{
#pragma unroll
  for (int i = 0; i < FRAGMENT::size / FRAGMENT::per_word; ++i) tensor_hold_word(f.words[i]);
}
