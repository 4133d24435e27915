// Clusters and programmatic dependent launch.
#pragma once

#include "types.cuh"

DEVICE u32 cluster_rank() {
  u32 rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// The address of the same shared-memory location in another CTA of the cluster.
DEVICE u32 cluster_address(u32 address, u32 rank) {
  u32 remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(rank));
  return remote;
}

// All threads of all CTAs. Relaxed: whoever has something to publish fences before it, and the initialised
// barriers have their own fence.
// NOTES: the default, `.release`, costs a MEMBAR.ALL.GPU.
DEVICE void cluster_arrive_relaxed() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
DEVICE void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
DEVICE void cluster_sync_relaxed() {
  cluster_arrive_relaxed();
  cluster_wait();
}

// Before the end, where peers may still touch this CTA's shared memory: publishes and sees everything.
DEVICE void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  cluster_wait();
}

// ---- programmatic dependent launch ------------------------------------------------------------

// Until the kernels before this one have finished and what they wrote can be seen.
DEVICE void grid_dependency_wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
// The next kernel's CTAs may start once every CTA of this one has come here or has ended.
DEVICE void grid_dependents_launch() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
