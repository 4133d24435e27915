// Element types of tensors and buffers: how they lie in memory and what a read of them gives.
#pragma once

#include "formats.cuh"

// A narrow float in memory. It reads as float and rounds to nearest even when it is written. The constructor
// is explicit, so that `condition ? b : 0.f` has one meaning, a float.
template <class FORMAT> struct Narrow {
  typename FORMAT::Bits bits;

  Narrow() = default;
  DEVICE explicit Narrow(float x) : bits(static_cast<typename FORMAT::Bits>(FORMAT::encode(x))) {}

  DEVICE operator float() const { return FORMAT::decode(bits); }
  DEVICE Narrow& operator=(float x) { return *this = Narrow(x); }
  DEVICE Narrow& operator+=(float x) { return *this = *this + x; }
  DEVICE Narrow& operator-=(float x) { return *this = *this - x; }
  DEVICE Narrow& operator*=(float x) { return *this = *this * x; }
  DEVICE Narrow& operator/=(float x) { return *this = *this / x; }
};

using bf16 = Narrow<FormatBf16>;
using f16 = Narrow<FormatF16>;
using tf32 = Narrow<FormatTf32>;
using e4m3 = Narrow<FormatE4m3>;
using e5m2 = Narrow<FormatE5m2>;

// Two to a byte, the lower half first. They have no address of their own, hence no size.
struct e2m1;
struct i4;
struct u4;

// ---- what a view needs to know of an element type ---------------------------------------------

// `value`: what a read gives. `storage`: what lies in memory, of packed elements a byte. `decode` takes the
// low `bits` of a word and ignores the others; `encode` leaves the others 0.
template <class T> struct Element {
  using value = T;
  using storage = T;
  enum : int { bits = 8 * sizeof(T) };
  enum : bool { packed = false };

  static DEVICE value decode(u32 word) {
    if constexpr (same_type<T, bool>) return (word & 0xff) != 0;
    else if constexpr (bits == 32) return __builtin_bit_cast(T, word);
    else return static_cast<T>(word);
  }
  static DEVICE u32 encode(value x) {
    if constexpr (bits == 32) return __builtin_bit_cast(u32, x);
    else return static_cast<u32>(x) & 0xff;
  }
};

template <class FORMAT> struct Element<Narrow<FORMAT>> : FORMAT {
  using value = float;
  using storage = Narrow<FORMAT>;
  enum : bool { packed = false };
};

template <> struct Element<e2m1> : FormatE2m1 {
  using value = float;
  using storage = u8;
  enum : bool { packed = true };
};

// NOTES: the shift back carries the sign.
template <> struct Element<i4> {
  using value = int;
  using storage = u8;
  enum : int { bits = 4 };
  enum : bool { packed = true };
  static DEVICE constexpr int decode(u32 word) { return static_cast<int>(word << 28) >> 28; }
  static DEVICE constexpr u32 encode(int x) { return static_cast<u32>(x) & 15; }
};
template <> struct Element<u4> {
  using value = int;
  using storage = u8;
  enum : int { bits = 4 };
  enum : bool { packed = true };
  static DEVICE constexpr int decode(u32 word) { return static_cast<int>(word & 15); }
  static DEVICE constexpr u32 encode(int x) { return static_cast<u32>(x) & 15; }
};

template <class T> struct Element<const T> : Element<T> {};

// What `N` values of a thread are kept in: packed elements unfold to their value type.
template <class T>
using register_of = choose<Element<T>::packed, typename Element<T>::value, typename Element<T>::storage>;

// ---- conversions ------------------------------------------------------------------------------

#ifdef __CUDACC__
DEVICE i64 rounded(float x) { return __float2ll_rn(x); }
#else
DEVICE i64 rounded(float x) { return static_cast<i64>(__builtin_rintf(x)); }
#endif

// A value for an element of type T. From float to an integer: the nearest, ties to even, within the range of
// T. From a wider integer: its low bits.
template <class T, class X> DEVICE typename Element<T>::value value_for(X x) {
  using V = typename Element<T>::value;
  constexpr bool from_float = same_type<decltype(+x), float> || same_type<decltype(+x), double>;
  if constexpr (same_type<V, float> || same_type<V, bool> || same_type<V, double> || !from_float) {
    return static_cast<V>(x);
  } else if constexpr (Element<T>::bits == 64) {
    return rounded(static_cast<float>(x));
  } else {
    constexpr bool has_sign = same_type<T, i4> || (static_cast<V>(-1) < V() && !same_type<T, u4>);
    constexpr i64 least = has_sign ? -(1ll << (Element<T>::bits - 1)) : 0,
                  most = least + (1ll << Element<T>::bits) - 1;
    const i64 nearest = rounded(static_cast<float>(x));
    return static_cast<V>(nearest < least ? least : nearest > most ? most : nearest);
  }
}
