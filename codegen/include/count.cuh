// Counting in: tasks of all CTAs learn which of them comes last, and that one sees what the others wrote.
#pragma once

#include "bulk_group.cuh"
#include "fences.cuh"
#include "tensor.cuh"
#include "threads.cuh"

// The counter at these coordinates; with `CHECKED` null where they are outside of the tensor.
template <bool CHECKED, class T, int RANK, int MAJOR, class... I>
DEVICE u32* counter_at(const Tensor<T, RANK, MAJOR>& counters, I... at) {
  static_assert(sizeof(T) == 4, "counters have 32 bits");
  bool inside = true;
  if constexpr (CHECKED) {
    int dimension = 0;
    ((inside = inside && static_cast<u64>(at) < static_cast<u64>(counters.extents[dimension++])), ...);
  }
  return inside ? reinterpret_cast<u32*>(counters.ptr(at...)) : nullptr;
}

// Adds one to the counter; true in the `COUNT`-th, which leaves it at 0, as it was found. Releases what this
// thread knows of and acquires what those before released.
template <u32 COUNT> DEVICE bool comes_last(u32* counter) {
  u32 before;
  asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(counter), "n"(COUNT - 1)
               : "memory");
  return before == COUNT - 1;
}

// All threads of the task come; one of them counts, for what all have written, and all hear of it. A null
// counter is none: nothing is counted and nobody is last. `STORES`: bulk copies that the leader issued write
// to global memory. `LOADS`: bulk copies read what others wrote.
template <u32 COUNT, bool STORES, bool LOADS, class TASK>
DEVICE bool count_in(const TASK& task, u32* counter) {
  const bool leader = task.leader();
  if constexpr (STORES) {
    if (leader) {
      bulk_wait<0>();
      fence_proxy_async_global();
    }
  }
  // The thread that counts has seen after it what the others wrote, so that its release is one of that.
  task.sync();
  const bool last = task.any(leader && counter != nullptr && comes_last<COUNT>(counter));
  if constexpr (LOADS) fence_proxy_async_global();
  return last;
}
