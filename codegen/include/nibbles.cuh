// One element of a pair that shares a byte.
#pragma once

#include "elements.cuh"

// What a writable view of packed elements gives: reads as a value, writes its own four bits only.
// NOTES: two threads may write the halves of one byte at the same time. Hence two atomic operations on the
// word, each of which leaves the bits of others alone; there is no narrower store than a byte.
template <class T> struct Nibble {
  u8* byte;
  u32 shift;  // 0 or 4

  using value = typename Element<T>::value;

  DEVICE operator value() const { return Element<T>::decode(static_cast<u32>(*byte) >> shift); }
  DEVICE const Nibble& operator=(value x) const {
    const u64 address = reinterpret_cast<u64>(byte);
    u32* const word = reinterpret_cast<u32*>(address & ~3ull);
    const u32 place = static_cast<u32>(address & 3) * 8 + shift;
    atomicAnd(word, ~(15u << place));
    atomicOr(word, Element<T>::encode(x) << place);
    return *this;
  }
  DEVICE const Nibble& operator=(const Nibble& other) const { return *this = static_cast<value>(other); }
  DEVICE const Nibble& operator+=(value x) const { return *this = *this + x; }
  DEVICE const Nibble& operator-=(value x) const { return *this = *this - x; }
  DEVICE const Nibble& operator*=(value x) const { return *this = *this * x; }
  DEVICE const Nibble& operator/=(value x) const { return *this = *this / x; }
};
