// Threads of one cluster as fibers on the CPU, and the instructions that barriers are made of. All others do
// nothing. What breaks a barrier's promise ends the program with a line that begins with `fault:`.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

namespace host {

using u32 = unsigned;
using u64 = unsigned long long;

struct Index {
  u32 x = 0, y = 0, z = 0;
};

struct Barrier {
  u32 count = 0, pending = 0, phase = 0;
  long long bytes = 0, most = 0;
};

struct Meeting {
  u32 come = 0, round = 0;
  bool any = false, last_any = false;
};

struct Fiber {
  ucontext_t context;
  std::vector<char> stack;
  Index thread, block;
  u32 rank = 0, warp = 0, lane = 0;
  bool done = false;
  const char* waits = "";
  u32 where = 0;
};

inline std::vector<Fiber> fibers;
inline Fiber* current = nullptr;
inline ucontext_t scheduler;
inline Index grid, block_size;
inline u32 ctas = 1, units = 1, next_unit = 1;
inline std::map<u32, Barrier> barriers;
inline std::map<u64, Meeting> named;
inline Meeting cluster;
inline std::vector<std::vector<unsigned char>> memory;
inline u64 values[512][32];
inline bool moved = false;
inline long long arrivals = 0, phases = 0;

[[noreturn]] inline void fault(const char* what, u32 address) {
  printf("fault: %s at %u of CTA %u\n", what, address & 0xffffff, address >> 24);
  fflush(stdout);
  _Exit(0);
}

inline Barrier& at(u32 address) {
  auto found = barriers.find(address);
  if (found == barriers.end()) fault("no barrier", address);
  return found->second;
}
inline void pass(u32 address, Barrier& barrier) {
  if (barrier.pending || barrier.bytes) return;
  barrier.pending = barrier.count;
  ++barrier.phase;
  ++phases;
  moved = true;
}
inline void arrive(u32 address, u32 count = 1) {
  Barrier& barrier = at(address);
  if (count > barrier.pending) fault("more arrivals than the barrier counts", address);
  barrier.pending -= count;
  arrivals += count;
  moved = true;
  pass(address, barrier);
}
inline void expect(u32 address, u32 bytes) {
  at(address).bytes += bytes;
}
inline void complete(u32 address, u32 bytes) {
  Barrier& barrier = at(address);
  barrier.bytes -= bytes;
  moved = true;
  pass(address, barrier);
}
inline u32 in_cta(u32 address, u32 rank) { return rank << 24 | (address & 0xffffff); }

// Until `ready` holds, other fibers run.
template <class READY> void block(const char* what, u32 where, READY ready) {
  while (!ready()) {
    current->waits = what, current->where = where;
    swapcontext(&current->context, &scheduler);
  }
  current->waits = "";
  moved = true;
}

inline bool meet(u64 key, u32 threads, bool value = false) {
  Meeting& meeting = named[key];
  const u32 round = meeting.round;
  meeting.any = meeting.any || value;
  if (++meeting.come == threads) {
    meeting.come = 0, ++meeting.round, meeting.last_any = meeting.any, meeting.any = false;
  }
  block("a meeting", static_cast<u32>(key), [&] { return meeting.round != round; });
  return meeting.last_any;
}
inline u64 key_of(u32 kind, u32 id) { return static_cast<u64>(kind) << 56 | static_cast<u64>(current->rank) << 32 | id; }
inline void warp_meets() { meet(key_of(1, current->warp), 32); }
inline void cta_meets() { meet(key_of(2, 0), block_size.x); }

template <class T> T shuffle(T value, u32 lane) {
  static_assert(sizeof(T) <= 8);
  u64* slots = values[current->rank * 32 + current->warp];
  memcpy(&slots[current->lane], &value, sizeof(T));
  warp_meets();
  T got;
  memcpy(&got, &slots[lane % 32], sizeof(T));
  warp_meets();
  return got;
}

struct Out {
  void* place;
  u32 bytes;
  bool fresh;
  void set(u64 value) const { memcpy(place, &value, bytes); }
};
template <class T> Out out(T& place, bool fresh) { return {&place, sizeof(T), fresh}; }
template <class T> u64 in(const T& value) {
  if constexpr (sizeof(T) <= 8) {
    u64 bits = 0;
    memcpy(&bits, &value, sizeof(T));
    return bits;
  } else {
    return 0;
  }
}

inline void ptx(const char* text, std::initializer_list<Out> outs, std::initializer_list<u64> ins) {
  const auto has = [&](const char* part) { return strstr(text, part) != nullptr; };
  const u64* a = ins.begin();
  const Out* o = outs.begin();
  for (const Out& one : outs)
    if (one.fresh) one.set(0);
  const auto each = [&](u64 mask, auto act) {
    for (u32 rank = 0; rank < ctas; ++rank)
      if (mask >> rank & 1) act(rank);
  };
  const u32 first = ins.size() ? static_cast<u32>(a[0]) : 0;
  if (has("fence.") || has("prefetch")) return;
  if (has("mbarrier.init")) {
    if (barriers.count(first)) fault("a second initialisation", first);
    barriers[first] = {static_cast<u32>(a[1]), static_cast<u32>(a[1])};
  } else if (has("mbarrier.inval")) {
    barriers.erase(first);
  } else if (has("cp.async.mbarrier.arrive.noinc")) {
    arrive(first);
  } else if (has("mbarrier.arrive.expect_tx")) {
    expect(first, a[1]);
    arrive(first);
  } else if (has("mbarrier.expect_tx")) {
    expect(first, a[1]);
  } else if (has("mbarrier.arrive.shared") || has("mbarrier.arrive.release")) {
    arrive(first, ins.size() > 1 ? a[1] : 1);
  } else if (has("mbarrier.try_wait.parity") || has("mbarrier.test_wait.parity")) {
    const auto done = [&] { return (at(first).phase & 1) != a[1]; };
    if (has("try_wait")) block("a barrier", first, done);
    o->set(done());
  } else if (has("cp.async.bulk.tensor") && has("shared::cluster.global")) {
    const u32 bytes = *reinterpret_cast<const u64*>(a[1]), barrier = a[2];
    if (has("multicast")) {
      each(a[3], [&](u32 rank) { complete(in_cta(barrier, has("cta_group::2") ? rank & ~1u : rank), bytes); });
    } else {
      complete(barrier, bytes);
    }
  } else if (has("cp.async.bulk.shared::cluster.global")) {
    if (has("multicast")) each(a[4], [&](u32 rank) { complete(in_cta(a[3], rank), a[2]); });
    else complete(a[3], a[2]);
  } else if (has("cp.async.bulk.shared::cluster.shared::cta")) {
    complete(a[3], a[2]);
  } else if (has("tcgen05.commit")) {
    if (has("multicast")) each(a[1], [&](u32 rank) { arrive(in_cta(first, rank)); });
    else arrive(first);
  } else if (has("clusterlaunchcontrol.try_cancel")) {
    const int given = next_unit < units ? static_cast<int>(next_unit++ * ctas) : -1;
    each(has("multicast") ? ~0ull : 1ull << current->rank, [&](u32 rank) {
      memcpy(&memory[rank][first & 0xffffff], &given, 4);
      complete(in_cta(a[1], rank), 16);
    });
  } else if (has("clusterlaunchcontrol.query_cancel")) {
    int given;
    memcpy(&given, &memory[current->rank][first & 0xffffff], 4);
    o[0].set(given >= 0), o[1].set(given >= 0 ? given : 0);
  } else if (has("ld.shared.s32")) {
    u32 value;
    memcpy(&value, &memory[current->rank][first & 0xffffff], 4);
    o->set(value);
  } else if (has("st.shared.s32")) {
    memcpy(&memory[current->rank][first & 0xffffff], &a[1], 4);
  } else if (has("st.async")) {
    memcpy(&memory[first >> 24][first & 0xffffff], &a[1], 4);
    complete(a[2], 4);
  } else if (has(".global.inc.u32")) {
    u32* counter = reinterpret_cast<u32*>(a[0]);
    o->set(*counter);
    *counter = *counter >= a[1] ? 0 : *counter + 1;
  } else if (has("bar.red.or.pred")) {
    o->set(meet(key_of(3, first), a[1], a[2]));
  } else if (has("barrier.cluster.arrive")) {
    if (++cluster.come == ctas * block_size.x) cluster.come = 0, ++cluster.round;
    current->where = cluster.come ? cluster.round : cluster.round - 1;
    moved = true;
  } else if (has("barrier.cluster.wait")) {
    const u32 round = current->where;
    block("the cluster", 0, [&] { return cluster.round != round; });
  } else if (has("bar.sync")) {
    meet(key_of(3, first), a[1]);
  } else if (has("bar.arrive")) {
    Meeting& meeting = named[key_of(3, first)];
    if (++meeting.come == a[1]) meeting.come = 0, ++meeting.round;
    moved = true;
  } else if (has("elect.sync")) {
    o->set(current->lane == 0);
  } else if (has("cluster_ctarank")) {
    o->set(current->rank);
  } else if (has("mapa")) {
    o->set(in_cta(first, a[1]));
  } else if (has("trap")) {
    fault("a trap", 0);
  } else if (has("mbarrier") || has("clusterlaunchcontrol")) {
    printf("fault: unknown %s\n", text), fflush(stdout), _Exit(0);
  }
}

inline std::function<void()> body;
inline void enter() {
  body();
  current->done = true;
  swapcontext(&current->context, &scheduler);
}

// Runs all threads of the first cluster to their end, and looks at what is left of the barriers.
inline void run(u32 cluster_ctas, u32 threads, u32 given_units, std::function<void()> kernel) {
  ctas = cluster_ctas, units = given_units, block_size = {threads, 1, 1}, body = kernel;
  grid = {ctas, 1, 1};
  memory.assign(ctas, std::vector<unsigned char>(1 << 18));
  fibers.resize(ctas * threads);
  for (u32 i = 0; i < fibers.size(); ++i) {
    Fiber& fiber = fibers[i];
    fiber.rank = i / threads, fiber.thread.x = i % threads, fiber.block.x = fiber.rank;
    fiber.warp = fiber.thread.x / 32, fiber.lane = fiber.thread.x % 32;
    fiber.stack.resize(1 << 16);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.data();
    fiber.context.uc_stack.ss_size = fiber.stack.size();
    makecontext(&fiber.context, enter, 0);
  }
  for (bool left = true; left;) {
    left = moved = false;
    for (Fiber& fiber : fibers) {
      if (fiber.done) continue;
      left = true, current = &fiber;
      swapcontext(&scheduler, &fiber.context);
      moved = moved || fiber.done;
    }
    if (left && !moved)
      for (Fiber& fiber : fibers)
        if (!fiber.done) fault((std::string("a thread waits without end for ") + fiber.waits).c_str(), fiber.where);
  }
  for (auto& [address, barrier] : barriers) {
    if (barrier.pending != barrier.count) fault("arrivals of an unfinished phase", address);
    if (barrier.bytes) fault("bytes of an unfinished phase", address);
  }
  long long unused = 0;
  for (auto& [address, barrier] : barriers) unused += barrier.phase == 0;
  printf("done: %zu barriers, %lld phases, %lld arrivals, %lld unused\n", barriers.size(), phases, arrivals, unused);
}

}  // namespace host

#define __device__
#define __global__
#define __forceinline__ inline
#define __align__(n)
#define __grid_constant__
#define __shared__
#define __restrict__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define threadIdx (host::current->thread)
#define blockIdx (host::current->block)
#define gridDim (host::grid)
#define blockDim (host::block_size)
#define __syncwarp(...) host::warp_meets()
#define __syncthreads() host::cta_meets()
#define __shfl_sync(mask, value, from, ...) host::shuffle(value, from)
#define __shfl_xor_sync(mask, value, apart, ...) host::shuffle(value, host::current->lane ^ (apart))
template <class V> inline bool any_of_warp(V value) {
  bool found = false;
  for (unsigned lane = 0; lane < 32; ++lane) found = host::shuffle(static_cast<bool>(value), lane) || found;
  return found;
}
#define __any_sync(mask, value) any_of_warp(value)
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
#define __cvta_generic_to_shared(p) (static_cast<unsigned long long>(host::current->rank) << 24)
#define __cvta_shared_to_generic(a) (&host::memory[(a) >> 24][(a) & 0xffffff])
#define __cvta_generic_to_global(p) reinterpret_cast<unsigned long long>(p)
#define __cvta_global_to_generic(a) reinterpret_cast<void*>(a)
template <class A, class B> constexpr auto min(A a, B b) { return a < b ? a : b; }
template <class A, class B> constexpr auto max(A a, B b) { return a < b ? b : a; }
inline float __uint_as_float(unsigned bits) { float f; memcpy(&f, &bits, 4); return f; }
inline unsigned __float_as_uint(float f) { unsigned bits; memcpy(&bits, &f, 4); return bits; }
inline long long __float2ll_rn(float f) { return llrintf(f); }
template <class T> T __ldg(const T* p) { return *p; }
inline float rsqrtf(float f) { return 1 / sqrtf(f); }
