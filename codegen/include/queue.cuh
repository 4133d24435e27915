// The queue under `atomic`: tiles by a counter that all clusters share, and answers in shared memory.
#pragma once

#include "cluster.cuh"
#include "mbarrier.cuh"

// The number of the next cluster of tiles, -1 once there are no more. Each cluster has the tiles of its own
// number first, and asks until it gets -1; so the counter is asked `units` times in all, and the last one
// leaves it at 0, as it was found.
DEVICE int next_unit(u32* counter, u32 units, u32 clusters) {
  u32 taken;
  asm volatile("atom.relaxed.gpu.global.inc.u32 %0, [%1], %2;"
               : "=r"(taken)
               : "l"(counter), "r"(units - 1)
               : "memory");
  return taken < units - clusters ? static_cast<int>(clusters + taken) : -1;
}

// ---- answers ----------------------------------------------------------------------------------

DEVICE int read_answer(u32 answer) {
  int unit;
  asm volatile("ld.shared.s32 %0, [%1];" : "=r"(unit) : "r"(answer) : "memory");
  return unit;
}
DEVICE void write_answer(u32 answer, int unit) {
  asm volatile("st.shared.s32 [%0], %1;" ::"r"(answer), "r"(unit) : "memory");
}

// To all CTAs of the cluster, with the arrival at each one's barrier that announces the bytes.
template <u32 CTAS> DEVICE void send_answer(u32 answer, u32 full, int unit) {
  for (u32 rank = 0; rank < CTAS; ++rank) {
    const u32 barrier = cluster_address(full, rank);
    mbarrier_arrive_expect_cluster(barrier, 4);
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.s32 [%0], %1, [%2];"
                 ::"r"(cluster_address(answer, rank)), "r"(unit), "r"(barrier)
                 : "memory");
  }
}
