// Integer functions of the expression language: floor semantics, i32 and i64 mixed, all constexpr.
#pragma once

#include "types.cuh"

// The wider of two integer types; what an operator makes of them.
template <class A, class B> using wider = decltype(A() + B());

// Rounds towards minus infinity, as Python does; C++ rounds towards zero.
template <class A, class B> DEVICE constexpr wider<A, B> floor_div(A a, B b) {
  const wider<A, B> quotient = a / b;
  return quotient - ((a % b != 0) && ((a < 0) != (b < 0)));
}

// Has the sign of `b`.
template <class A, class B> DEVICE constexpr wider<A, B> floor_mod(A a, B b) {
  const wider<A, B> rest = a % b;
  return rest != 0 && ((rest < 0) != (b < 0)) ? rest + b : rest;
}

// Rounds towards plus infinity. Not (a + b - 1) / b, which overflows near the end of the range.
template <class A, class B> DEVICE constexpr wider<A, B> cdiv(A a, B b) {
  const wider<A, B> quotient = a / b;
  return quotient + ((a % b != 0) && ((a < 0) == (b < 0)));
}

template <class A, class B> DEVICE constexpr wider<A, B> align_up(A a, B b) { return cdiv(a, b) * b; }

// NOTES: NVRTC declares min, max and abs of equal widths itself, without constexpr, and lets nobody redeclare
// them. These three mean the same at build and at run time.
template <class A, class B> DEVICE constexpr wider<A, B> smaller(A a, B b) { return b < a ? b : a; }
template <class A, class B> DEVICE constexpr wider<A, B> larger(A a, B b) { return a < b ? b : a; }
template <class A> DEVICE constexpr wider<A, A> magnitude(A a) { return a < 0 ? -a : a; }

// The widths that NVRTC leaves ambiguous, and on the host all.
DEVICE constexpr i64 min(i32 a, i64 b) { return smaller(a, b); }
DEVICE constexpr i64 min(i64 a, i32 b) { return smaller(a, b); }
DEVICE constexpr i64 max(i32 a, i64 b) { return larger(a, b); }
DEVICE constexpr i64 max(i64 a, i32 b) { return larger(a, b); }
#ifndef __CUDACC__
template <class A> constexpr A min(A a, A b) { return smaller(a, b); }
template <class A> constexpr A max(A a, A b) { return larger(a, b); }
template <class A> constexpr A abs(A a) { return magnitude(a); }
#endif

// The largest g in [0, count) with offsets[g] <= i, by bisection; -1 if there is none. `offsets`, a pointer
// or a view of rank 1, ascends.
template <class OFFSETS, class COUNT, class I>
DEVICE constexpr COUNT find(const OFFSETS& offsets, COUNT count, I i) {
  COUNT below = 0, above = count;
  while (below < above) {
    const COUNT middle = below + (above - below) / 2;
    bool starts_before;
    if constexpr (requires { offsets(middle); }) starts_before = static_cast<i64>(offsets(middle)) <= i;
    else starts_before = static_cast<i64>(offsets[middle]) <= i;
    if (starts_before) below = middle + 1;
    else above = middle;
  }
  return below - 1;
}

// Over a whole view of rank 1, whose extent the loader holds below 2^31.
template <class VIEW, class I> DEVICE int find(const VIEW& offsets, I i) {
  return find(offsets, static_cast<int>(offsets.extent(0)), i);
}
