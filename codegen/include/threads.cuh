// Threads: lanes and warps, named barriers, register counts, and the `task` that works see.
#pragma once

#include "types.cuh"

DEVICE u32 lane_index() { return threadIdx.x % 32; }

// Of the CTA. Uniform across the warp, and the compiler is told so: role branches and descriptors need that.
DEVICE u32 warp_index() { return __shfl_sync(0xffffffff, threadIdx.x / 32, 0); }

// True in one lane of the warp, always the same; all lanes meet here.
DEVICE bool elect_one() {
  u32 elected;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected));
  return elected != 0;
}

// All warps of a warpgroup.
template <int REGISTERS> DEVICE void registers_grow() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}
template <int REGISTERS> DEVICE void registers_shrink() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

DEVICE void named_barrier_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
DEVICE void named_barrier_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// Meets as `named_barrier_sync` does, and tells all of them whether the value was true in any.
DEVICE bool named_barrier_any(int id, int threads, bool value) {
  u32 any;
  asm volatile("{ .reg .pred p, q; setp.ne.u32 q, %3, 0; bar.red.or.pred p, %1, %2, q;"
               " selp.u32 %0, 1, 0, p; }"
               : "=r"(any)
               : "r"(id), "r"(threads), "r"(static_cast<u32>(value))
               : "memory");
  return any != 0;
}

// ---- the task ---------------------------------------------------------------------------------

// `THREADS` threads from warp `first_warp` of the CTA on, which meet at named barrier `BARRIER`.
template <int THREADS, int BARRIER> struct Task {
  static_assert(THREADS > 0 && THREADS % 32 == 0, "a task is made of whole warps");
  enum : int { threads = THREADS, warps = THREADS / 32 };
  int thread, warp, lane;

  DEVICE explicit Task(int first_warp)
      : thread(static_cast<int>(threadIdx.x) - 32 * first_warp),
        warp(warps == 1 ? 0 : static_cast<int>(warp_index()) - first_warp),
        lane(static_cast<int>(lane_index())) {}

  // All threads of the task; their earlier accesses to memory are seen after it.
  DEVICE void sync() const {
    if constexpr (warps == 1) __syncwarp();
    else named_barrier_sync(BARRIER, THREADS);
  }

  // Whether the value is true in any thread; all come, and their earlier accesses are seen after it.
  DEVICE bool any(bool value) const {
    if constexpr (warps == 1) {
      const bool found = __any_sync(0xffffffff, value);
      __syncwarp();
      return found;
    } else {
      return named_barrier_any(BARRIER, THREADS, value);
    }
  }

  // True in one thread, always the same, which is what bulk copies need: their groups belong to a thread.
  DEVICE bool leader() const { return warp == 0 && elect_one(); }

  // Over the 32 lanes of the warp; every lane gets the result. `+value` makes a float of a narrower one.
  template <class V> DEVICE auto warp_sum(V value) const {
    auto sum = +value;
#pragma unroll
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
    return sum;
  }
  template <class V> DEVICE auto warp_max(V value) const {
    auto top = +value;
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
      const auto other = __shfl_xor_sync(0xffffffff, top, step);
      if constexpr (same_type<decltype(top), float>) top = fmaxf(top, other);
      else top = top < other ? other : top;
    }
    return top;
  }
};
