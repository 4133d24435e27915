// A number to divide by again and again: each division is a multiplication and a comparison.
#pragma once

#include "types.cuh"

// The upper half of a product.
DEVICE u32 upper_half(u32 a, u32 b) { return static_cast<u32>(static_cast<u64>(a) * b >> 32); }
#ifdef __CUDACC__
DEVICE u64 upper_half(u64 a, u64 b) { return __umul64hi(a, b); }
#else
DEVICE u64 upper_half(u64 a, u64 b) { return static_cast<u64>(static_cast<unsigned __int128>(a) * b >> 64); }
#endif

// NOTES: for w bits, 0 <= n < 2^(w-1) and r = floor((2^w - 1) / d), the number n * r / 2^w is at most n / d
// and more than n / d - 1, so that its whole part is the quotient or one less. The remainder tells which.
template <class I> struct Divisor {
  using Unsigned = choose<sizeof(I) == 4, u32, u64>;

  I value;
  Unsigned reciprocal;

  // 0 divides nothing: where there are no tiles, nobody asks.
  DEVICE Divisor(I divisor)
      : value(divisor), reciprocal(~Unsigned(0) / static_cast<Unsigned>(divisor > 0 ? divisor : 1)) {}
  DEVICE operator I() const { return value; }

  DEVICE I low_quotient(I n) const {
    return static_cast<I>(upper_half(static_cast<Unsigned>(n), reciprocal));
  }
};

template <class I> DEVICE I operator/(I n, const Divisor<I>& d) {
  const I quotient = d.low_quotient(n);
  return quotient + (n - quotient * d.value >= d.value);
}

template <class I> DEVICE I operator%(I n, const Divisor<I>& d) {
  const I rest = n - d.low_quotient(n) * d.value;
  return rest >= d.value ? rest - d.value : rest;
}

// The same without preparation, where registers are scarcer than instructions.
template <class I> struct PlainDivisor {
  using Unsigned = choose<sizeof(I) == 4, u32, u64>;

  I value;

  DEVICE PlainDivisor(I divisor) : value(divisor) {}
  DEVICE operator I() const { return value; }
};

template <class I> DEVICE I operator/(I n, const PlainDivisor<I>& d) {
  using Unsigned = typename PlainDivisor<I>::Unsigned;
  return static_cast<I>(static_cast<Unsigned>(n) / static_cast<Unsigned>(d.value));
}
template <class I> DEVICE I operator%(I n, const PlainDivisor<I>& d) { return n - n / d * d.value; }
