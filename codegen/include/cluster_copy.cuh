// Copies between the shared memories of a cluster. One thread issues them.
#pragma once

#include "types.cuh"

// `to` and `barrier` come from cluster_address(), of one CTA. Counts `bytes` down there: whoever waits for
// that barrier knows that they have come, and the sender does not.
DEVICE void cluster_copy(u32 to, u32 from, u32 bytes, u32 barrier) {
  asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(to), "r"(from), "r"(bytes), "r"(barrier) : "memory");
}
