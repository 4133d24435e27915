// The queue under `clc`: cluster launch control (sm_100) takes over clusters that have not started.
#pragma once

#include "cluster.cuh"
#include "mbarrier.cuh"

// Asks for a cluster that has not started; the answer of 16 bytes comes to every CTA of this one. Done by one
// thread of the cluster, and never again after an answer that grants nothing.
template <u32 CTAS> DEVICE void request_tile(u32 answer, u32 full) {
  if constexpr (CTAS == 1) {
    mbarrier_arrive_expect(full, 16);
    asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
                 ".b128 [%0], [%1];" ::"r"(answer), "r"(full)
                 : "memory");
  } else {
    for (u32 rank = 0; rank < CTAS; ++rank) mbarrier_arrive_expect_cluster(cluster_address(full, rank), 16);
    asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
                 ".multicast::cluster::all.b128 [%0], [%1];" ::"r"(answer), "r"(full)
                 : "memory");
  }
}

// The number of the cluster that an answer grants, -1 if it grants none.
DEVICE int granted_unit(u32 answer, u32 ctas) {
  u32 granted, first;
  asm volatile("{\n"
               "  .reg .b128 given;\n"
               "  .reg .pred some;\n"
               "  ld.shared.b128 given, [%2];\n"
               "  clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 some, given;\n"
               "  selp.u32 %0, 1, 0, some;\n"
               "  mov.u32 %1, 0;\n"
               "  @some clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %1, given;\n"
               "}"
               : "=r"(granted), "=r"(first)
               : "r"(answer)
               : "memory");
  return granted ? static_cast<int>(first / ctas) : -1;
}
