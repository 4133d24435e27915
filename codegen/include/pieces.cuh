// Pieces of 1 to 16 bytes that one instruction moves, and the elements in them.
#pragma once

#include "elements.cuh"

// Smaller pieces than a word lie in its low bits.
template <int BYTES> struct alignas(BYTES) Piece {
  u32 words[BYTES / 4];
};
template <> struct Piece<1> {
  u32 words[1];
};
template <> struct Piece<2> {
  u32 words[1];
};

// The largest power of two, up to 16, that divides a number of bytes.
DEVICE constexpr int largest_piece(int bytes) {
  const int power = bytes & -bytes;
  return power < 16 ? power : 16;
}

// Bytes of the pieces that `count` neighbours are moved in, and the elements in one.
template <class T, int COUNT> inline constexpr int piece_bytes = largest_piece(COUNT * Element<T>::bits / 8);
template <class T, int BYTES> inline constexpr int piece_elements = BYTES * 8 / Element<T>::bits;

// ---- elements ---------------------------------------------------------------------------------

template <class D, class V> DEVICE D as(V value) { return static_cast<D>(value_for<D>(value)); }

// `D` is float, an integer type or a storage type; equal types are moved bit by bit.
template <class T, int BYTES, class D> DEVICE void unpack(const Piece<BYTES>& piece, D* to) {
  using E = Element<T>;
  constexpr int count = piece_elements<T, BYTES>, per_word = 32 / E::bits;
  if constexpr (E::bits == 64) {
#pragma unroll
    for (int i = 0; i < count; ++i)
      to[i] = as<D>(static_cast<i64>(static_cast<u64>(piece.words[2 * i + 1]) << 32 | piece.words[2 * i]));
  } else {
    constexpr bool pairs = requires(float x) { E::decode2(u32(), x, x); } && count % 2 == 0 &&
                           !same_type<D, typename E::storage>;
#pragma unroll
    for (int i = 0; i < count; i += pairs ? 2 : 1) {
      const u32 word = piece.words[i / per_word] >> (i % per_word * E::bits);
      if constexpr (pairs) {
        float low, high;
        E::decode2(word, low, high);
        to[i] = as<D>(low);
        to[i + 1] = as<D>(high);
      } else if constexpr (requires { to->bits; } && same_type<D, typename E::storage>) {
        to[i].bits = static_cast<decltype(D::bits)>(word);
      } else {
        to[i] = as<D>(E::decode(word));
      }
    }
  }
}

template <class T, int BYTES, class D> DEVICE Piece<BYTES> pack(const D* from) {
  using E = Element<T>;
  constexpr int count = piece_elements<T, BYTES>, per_word = 32 / E::bits;
  Piece<BYTES> piece = {};
  if constexpr (E::bits == 64) {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const u64 bits = static_cast<u64>(value_for<T>(from[i]));
      piece.words[2 * i] = static_cast<u32>(bits);
      piece.words[2 * i + 1] = static_cast<u32>(bits >> 32);
    }
  } else {
    constexpr bool pairs =
        requires { E::encode2(0.f, 0.f); } && count % 2 == 0 && !same_type<D, typename E::storage>;
#pragma unroll
    for (int i = 0; i < count; i += pairs ? 2 : 1) {
      u32 bits;
      if constexpr (pairs) bits = E::encode2(value_for<T>(from[i]), value_for<T>(from[i + 1]));
      else if constexpr (requires { from->bits; } && same_type<D, typename E::storage>) bits = from[i].bits;
      else bits = E::encode(value_for<T>(from[i]));
      piece.words[i / per_word] |= bits << (i % per_word * E::bits);
    }
  }
  return piece;
}

// ---- memory -----------------------------------------------------------------------------------

// Through an ordinary pointer, in whatever address space. The address is a multiple of BYTES.
template <int BYTES> DEVICE Piece<BYTES> read_piece(const void* from) {
  if constexpr (BYTES == 1) return {*static_cast<const u8*>(from)};
  else if constexpr (BYTES == 2) return {*static_cast<const u16*>(from)};
  else return *static_cast<const Piece<BYTES>*>(from);
}
template <int BYTES> DEVICE void write_piece(void* to, const Piece<BYTES>& piece) {
  if constexpr (BYTES == 1) *static_cast<u8*>(to) = static_cast<u8>(piece.words[0]);
  else if constexpr (BYTES == 2) *static_cast<u16*>(to) = static_cast<u16>(piece.words[0]);
  else *static_cast<Piece<BYTES>*>(to) = piece;
}
