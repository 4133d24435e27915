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
#ifdef WATCHDOG_NS
// In one piece, as mbarrier_wait is.
DEVICE void mbarrier_receive(u32 barrier, u32 parity) {
  asm volatile(
      "{\n"
      ".reg .pred done, late;\n"
      ".reg .u64 start, now;\n"
      "mov.u64 start, %%globaltimer;\n"
      "AGAIN:\n"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
      "@done bra DONE;\n"
      "mov.u64 now, %%globaltimer;\n"
      "sub.u64 now, now, start;\n"
      "setp.gt.u64 late, now, %2;\n"
      "@late trap;\n"
      "bra AGAIN;\n"
      "DONE:\n"
      "}\n" ::"r"(barrier),
      "r"(parity), "n"(WATCHDOG_NS)
      : "memory");
}
#else
DEVICE void mbarrier_receive(u32 barrier, u32 parity) {
  while (!mbarrier_try_receive(barrier, parity)) {
  }
}
#endif
