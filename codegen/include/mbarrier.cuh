// mbarriers: 64-bit counters in shared memory that complete a phase when all arrivals and bytes have come.
#pragma once

#include "types.cuh"

DEVICE void mbarrier_init(u32 barrier, u32 arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
// Makes initialised barriers visible to peers and to the async proxy.
DEVICE void mbarrier_init_fence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

// Ends a barrier's life, so that its bytes may be used for something else.
DEVICE void mbarrier_invalidate(u32 barrier) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

// ---- arrivals ---------------------------------------------------------------------------------

DEVICE void mbarrier_arrive(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
DEVICE void mbarrier_arrive(u32 barrier, u32 arrivals) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
// Arrives and announces bytes that async copies will count down.
DEVICE void mbarrier_arrive_expect(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               ::"r"(barrier), "r"(bytes) : "memory");
}
// Announces bytes without arriving. An arrival of the same phase must still be to come, or the phase may end
// early.
DEVICE void mbarrier_expect(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;"
               ::"r"(barrier), "r"(bytes) : "memory");
}
// Arrives once this thread's earlier cp.async copies have landed. `.noinc`: the arrival is one of those that
// the barrier was initialised with.
DEVICE void mbarrier_arrive_cp_async(u32 barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}
// `barrier` comes from cluster_address(); the own rank is a valid target too.
// NOTES: no `.release.cluster` here: ptxas turns it into a fence for the whole GPU (MEMBAR.ALL.GPU), once a
// stage. A release of a stage publishes no writes. It only says that reads are over.
DEVICE void mbarrier_arrive_cluster(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// The same with an announcement of bytes that async copies will count down there.
DEVICE void mbarrier_arrive_expect_cluster(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cluster.b64 _, [%0], %1;"
               ::"r"(barrier), "r"(bytes) : "memory");
}

// ---- waits ------------------------------------------------------------------------------------

// True when the phase of that parity is complete. False when a hardware-set time has passed; the caller asks
// again.
DEVICE bool mbarrier_try_wait(u32 barrier, u32 parity) {
  u32 done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(barrier), "r"(parity)
               : "memory");
  return done != 0;
}

// The same without waiting at all: a look at a phase that may be far off must not hold up what stands behind
// it.
DEVICE bool mbarrier_test_wait(u32 barrier, u32 parity) {
  u32 done;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;"
               " selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(barrier), "r"(parity)
               : "memory");
  return done != 0;
}

// WATCHDOG_NS turns a deadlock into a trap; leave it out of release builds.
#ifdef WATCHDOG_NS
// In one piece: before a trap in a loop of C++, ptxas waits for all wgmmas in flight (C7517).
DEVICE void mbarrier_wait(u32 barrier, u32 parity) {
  asm volatile(
      "{\n"
      ".reg .pred done, late;\n"
      ".reg .u64 start, now;\n"
      "mov.u64 start, %%globaltimer;\n"
      "AGAIN:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
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
DEVICE void mbarrier_wait(u32 barrier, u32 parity) {
  while (!mbarrier_try_wait(barrier, parity)) {
  }
}
#endif

// After an earlier look: `ready` is what mbarrier_test_wait said of the same phase.
DEVICE void mbarrier_wait(u32 barrier, u32 parity, bool ready) {
  if (!ready) mbarrier_wait(barrier, parity);
}
