// Narrow floating-point formats: their bits from and to float, rounding to nearest even.
#pragma once

#include "types.cuh"

DEVICE constexpr float float_from_bits(u32 bits) { return __builtin_bit_cast(float, bits); }
DEVICE constexpr u32 bits_of_float(float x) { return __builtin_bit_cast(u32, x); }

// ---- in integers, for formats that the hardware does not convert, and for the host ------------

// A sign, `EXPONENT` and `MANTISSA` bits. `LARGEST` is the largest finite value without its sign.
template <int EXPONENT, int MANTISSA, u32 LARGEST> struct SmallFloat {
  enum : int { bias = (1 << (EXPONENT - 1)) - 1 };
  enum : u32 { sign_bit = 1u << (EXPONENT + MANTISSA), exponent_bits = ((1u << EXPONENT) - 1) << MANTISSA };

  // Beyond the largest: to `overflow`; not a number: to `nan`, which has no sign.
  static DEVICE constexpr u32 encode(float x, u32 overflow, u32 nan) {
    const u32 sign = (bits_of_float(x) >> 31) * sign_bit, magnitude = bits_of_float(x) & 0x7fffffff;
    if (magnitude > 0x7f800000) return nan;
    const int exponent = static_cast<int>(magnitude >> 23) - 127;
    const int below = 1 - bias - exponent;  // binary places that a subnormal result loses
    const int dropped = 23 - MANTISSA + (below > 0 ? below : 0);
    if (dropped > 24) return sign;  // less than half of the smallest subnormal
    // The mantissa's carry moves into the exponent, as it should.
    const u32 wide = below > 0 ? (magnitude & 0x7fffff) | 0x800000 : magnitude - ((127u - bias) << 23);
    const u32 rounded = (wide + (1u << (dropped - 1)) - 1 + (wide >> dropped & 1)) >> dropped;
    return sign | (rounded > LARGEST ? overflow : rounded);
  }

  static DEVICE constexpr float decode(u32 bits) {
    const u32 sign = bits & sign_bit ? 1u << 31 : 0, magnitude = bits & (sign_bit - 1);
    if (magnitude >> MANTISSA == 0) {  // magnitude * 2^(1 - bias - MANTISSA), exact
      const float unit = float_from_bits((127u + 1 - bias - MANTISSA) << 23);
      return float_from_bits(sign | bits_of_float(static_cast<float>(magnitude) * unit));
    }
    if (magnitude > LARGEST) {  // infinite or not a number
      const bool infinite = magnitude == exponent_bits;
      return float_from_bits(sign | (infinite ? 0x7f800000 : 0x7fffffff));
    }
    return float_from_bits(sign | ((magnitude << (23 - MANTISSA)) + ((127u - bias) << 23)));
  }
};

// ---- the formats ------------------------------------------------------------------------------

// Each has `encode` and `decode` for one value and `encode2` and `decode2` for two neighbours, the lower one
// first: that is what the conversion instructions take. Bits are the low ones of a word; `decode` ignores the
// others.

struct FormatBf16 {
  using Bits = u16;
  enum : int { bits = 16 };

#ifdef __CUDACC__
  static DEVICE u32 encode(float x) {
    u16 r;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(x));
    return r;
  }
  static DEVICE u32 encode2(float low, float high) {
    u32 r;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
  }
#else
  static constexpr u32 encode(float x) {
    const u32 word = bits_of_float(x);
    return (word & 0x7fffffff) > 0x7f800000 ? 0x7fff : (word + 0x7fff + (word >> 16 & 1)) >> 16;
  }
  static constexpr u32 encode2(float low, float high) { return encode(low) | encode(high) << 16; }
#endif
  static DEVICE constexpr float decode(u32 word) { return float_from_bits(word << 16); }
  static DEVICE void decode2(u32 word, float& low, float& high) {
    low = float_from_bits(word << 16);
    high = float_from_bits(word & 0xffff0000);
  }
};

struct FormatF16 {
  using Bits = u16;
  enum : int { bits = 16 };

#ifdef __CUDACC__
  static DEVICE u32 encode(float x) {
    u16 r;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(x));
    return r;
  }
  static DEVICE u32 encode2(float low, float high) {
    u32 r;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
  }
  static DEVICE float decode(u32 word) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(static_cast<u16>(word)));
    return x;
  }
#else
  static constexpr u32 encode(float x) { return SmallFloat<5, 10, 0x7bff>::encode(x, 0x7c00, 0x7fff); }
  static constexpr u32 encode2(float low, float high) { return encode(low) | encode(high) << 16; }
  static constexpr float decode(u32 word) { return SmallFloat<5, 10, 0x7bff>::decode(word & 0xffff); }
#endif
  static DEVICE void decode2(u32 word, float& low, float& high) {
    low = decode(word);
    high = decode(word >> 16);
  }
};

// Four exponent bits, no infinities. Beyond 448: 448.
struct FormatE4m3 {
  using Bits = u8;
  enum : int { bits = 8 };

#ifdef __CUDACC__
  static DEVICE u32 encode2(float low, float high) {
    u16 r;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(high), "f"(low));
    return r;
  }
  static DEVICE void decode2(u32 word, float& low, float& high) {
    u32 halves;  // every e4m3 is an f16, too
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(static_cast<u16>(word)));
    FormatF16::decode2(halves, low, high);
  }
#else
  static constexpr u32 encode2(float low, float high) {
    using Small = SmallFloat<4, 3, 0x7e>;
    return Small::encode(low, 0x7e, 0x7f) | Small::encode(high, 0x7e, 0x7f) << 8;
  }
  static constexpr void decode2(u32 word, float& low, float& high) {
    low = SmallFloat<4, 3, 0x7e>::decode(word & 0xff);
    high = SmallFloat<4, 3, 0x7e>::decode(word >> 8 & 0xff);
  }
#endif
  static DEVICE u32 encode(float x) { return encode2(x, 0.f); }
  static DEVICE float decode(u32 word) {
    float low, high;
    decode2(word, low, high);
    return low;
  }
};

// The upper half of an f16. Beyond 57344, infinity included: 57344.
struct FormatE5m2 {
  using Bits = u8;
  enum : int { bits = 8 };

#ifdef __CUDACC__
  static DEVICE u32 encode2(float low, float high) {
    u16 r;
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(r) : "f"(high), "f"(low));
    return r;
  }
#else
  static constexpr u32 encode2(float low, float high) {
    using Small = SmallFloat<5, 2, 0x7b>;
    return Small::encode(low, 0x7b, 0x7f) | Small::encode(high, 0x7b, 0x7f) << 8;
  }
#endif
  static DEVICE u32 encode(float x) { return encode2(x, 0.f); }
  static DEVICE float decode(u32 word) { return FormatF16::decode(word << 8); }
  static DEVICE void decode2(u32 word, float& low, float& high) {
    low = FormatF16::decode(word << 8);
    high = FormatF16::decode(word & 0xff00);
  }
};

// Two to a byte: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives. Beyond 6, or not a number: 6.
// NOTES: only sm_100 and later convert it.
struct FormatE2m1 {
  enum : int { bits = 4 };

  static DEVICE constexpr u32 encode(float x) { return SmallFloat<2, 1, 7>::encode(x, 7, 7); }
  static DEVICE constexpr float decode(u32 word) { return SmallFloat<2, 1, 7>::decode(word & 15); }
  static DEVICE constexpr u32 encode2(float low, float high) { return encode(low) | encode(high) << 4; }
  static DEVICE constexpr void decode2(u32 word, float& low, float& high) {
    low = decode(word);
    high = decode(word >> 4);
  }
};

// A float whose last 13 mantissa bits the tensor cores ignore: reading takes all of it, writing clears them.
struct FormatTf32 {
  using Bits = u32;
  enum : int { bits = 32 };

#ifdef __CUDACC__
  static DEVICE u32 encode(float x) {
    u32 r;
    asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
    return r;
  }
#else
  static constexpr u32 encode(float x) {
    const u32 word = bits_of_float(x);
    return (word & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : (word + 0xfff + (word >> 13 & 1)) & ~0x1fffu;
  }
#endif
  static DEVICE constexpr float decode(u32 word) { return float_from_bits(word); }
};
