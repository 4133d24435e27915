// Groups of bulk copies out of shared memory (tma_store, tma_reduce, bulk_store). They belong to the thread
// that issues them, so that one thread has to issue, commit and wait.
#pragma once

#include "types.cuh"

DEVICE void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Until at most `PENDING` of this thread's groups still read shared memory.
template <int PENDING> DEVICE void bulk_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(PENDING) : "memory");
}
// Until at most `PENDING` of this thread's groups have not been written.
template <int PENDING> DEVICE void bulk_wait() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(PENDING) : "memory");
}
