// A task's place in a ring of stages.
#pragma once

#include "types.cuh"

// `phase` is the parity that the task's next wait on a full barrier expects. A producer waits on empty
// barriers with `phase ^ 1`: before the first round that is the phase before the barrier's initial one, which
// counts as complete.
template <int STAGES> struct Cursor {
  u32 stage = 0, phase = 0;

  DEVICE constexpr void advance() {
    if (++stage == STAGES) {
      stage = 0;
      phase ^= 1;
    }
  }

  // Passes over `stages` >= 0 stages at once.
  template <class N> DEVICE constexpr void skip(N stages) {
    const auto reached = stage + static_cast<choose<sizeof(N) == 8, u64, u32>>(stages);
    phase ^= static_cast<u32>(reached / STAGES & 1);
    stage = static_cast<u32>(reached % STAGES);
  }
  // A number known at build: no division while it stays below one round.
  template <int COUNT> DEVICE constexpr void skip() {
    stage += COUNT % STAGES;
    phase ^= COUNT / STAGES & 1;
    if (stage >= STAGES) {
      stage -= STAGES;
      phase ^= 1;
    }
  }
};

// One stage: it is always the current one, and only the phase turns.
template <> struct Cursor<1> {
  enum : u32 { stage = 0 };
  u32 phase = 0;

  DEVICE constexpr void advance() { phase ^= 1; }
  template <class N> DEVICE constexpr void skip(N stages) { phase ^= static_cast<u32>(stages & 1); }
  template <int COUNT> DEVICE constexpr void skip() { phase ^= COUNT & 1; }
};
