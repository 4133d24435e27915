// Barriers by which threads of one CTA hand what they have written to another CTA of the cluster.
#pragma once

#include "mbarrier.cuh"

// `barrier` comes from cluster_address(). Publishes what this thread has written, and what it has heard of.
// NOTES: ptxas makes a fence for the whole GPU of it, so that an arrival which only says that reads are over
// has none (mbarrier_arrive_cluster).
DEVICE void mbarrier_publish(u32 barrier) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Waits for a barrier at which other CTAs publish.
DEVICE bool mbarrier_try_receive(u32 barrier, u32 parity) {
  u32 done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;"
               " selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(barrier), "r"(parity)
               : "memory");
  return done != 0;
}
DEVICE void mbarrier_receive(u32 barrier, u32 parity) {
#ifdef WATCHDOG_NS
  const u64 start = global_nanoseconds();
#endif
  while (!mbarrier_try_receive(barrier, parity)) {
#ifdef WATCHDOG_NS
    if (global_nanoseconds() - start > WATCHDOG_NS) asm volatile("trap;");
#endif
  }
}
