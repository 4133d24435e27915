// Fences between this thread's ordinary accesses and others'.
#pragma once

#include "types.cuh"

// Orders this thread's ordinary accesses to shared memory before later async-proxy accesses: TMA, bulk
// copies, wgmma.
DEVICE void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// The same for global memory: threads have written what a bulk copy or TMA reads next.
DEVICE void fence_proxy_async_global() { asm volatile("fence.proxy.async.global;" ::: "memory"); }

// Orders this thread's accesses as others of the CTA, or of the device, see them.
DEVICE void fence_cta() { asm volatile("fence.acq_rel.cta;" ::: "memory"); }
DEVICE void fence_gpu() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
