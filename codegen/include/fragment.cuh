// Fragments: a warpgroup's share of a tile in registers, laid out as wgmma lays out accumulators.
#pragma once

#include "elements.cuh"

// A value that shares a 32-bit word with others. It reads as what the element gives and rounds to nearest
// even when it is written; where `i` is known when built, that is one move of bytes.
template <class T> struct FragmentPart {
  using value = typename Element<T>::value;
  u32& word;
  u32 shift;

  DEVICE operator value() const { return Element<T>::decode(word >> shift); }
  DEVICE FragmentPart& operator=(value x) {
    constexpr u32 mask = (1u << Element<T>::bits) - 1;
    word = (word & ~(mask << shift)) | (Element<T>::encode(x) & mask) << shift;
    return *this;
  }
  DEVICE FragmentPart& operator=(const FragmentPart& other) { return *this = static_cast<value>(other); }
  DEVICE FragmentPart& operator+=(value x) { return *this = *this + x; }
  DEVICE FragmentPart& operator-=(value x) { return *this = *this - x; }
  DEVICE FragmentPart& operator*=(value x) { return *this = *this * x; }
  DEVICE FragmentPart& operator/=(value x) { return *this = *this / x; }
};

// `ROWS` by `COLUMNS` values, 64 rows a block. In a block thread `32 w + l` of the warpgroup holds, for each
// group of 8 columns, four values: rows 16 w + l / 4 and 8 below it, of each two neighbours, columns
// 2 (l % 4) and one further (PTX ISA, wgmma: register fragment D). Values narrower than 32 bits are packed,
// the first in the low bits: for 16-bit types that is operand A of wgmma, too.
template <class T, int ROWS, int COLUMNS, bool BY_COLUMNS = false> struct Fragment {
  static_assert(ROWS % 64 == 0 && COLUMNS % 8 == 0, "a fragment is made of blocks of 64 rows and 8 columns");
  using type = T;
  enum : int {
    rows = ROWS,
    columns = COLUMNS,
    size = ROWS * COLUMNS / 128,
    of_block = COLUMNS / 2,
    slots = ROWS / 32,
    per_word = 32 / Element<T>::bits,
    words_of_block = of_block / per_word
  };
  static_assert(Element<T>::bits >= 8 && Element<T>::bits <= 32, "a fragment has elements of 8 to 32 bits");
  enum : bool { packed = per_word > 1 };
  using word = choose<packed, u32, register_of<T>>;

  word words[size / per_word];
  int first;  // row, or column, of the task's tile where the warpgroup's share begins

  DEVICE explicit Fragment(int first = 0) : first(first) {}

  DEVICE decltype(auto) operator[](int i) {
    if constexpr (packed)
      return FragmentPart<T>{words[i / per_word], static_cast<u32>(i % per_word * Element<T>::bits)};
    else return (words[i]);
  }
  DEVICE decltype(auto) operator[](int i) const {
    if constexpr (packed) return Element<T>::decode(words[i / per_word] >> i % per_word * Element<T>::bits);
    else return (words[i]);
  }

  // Words of one block of 64 rows: an operand or the result of one instruction.
  DEVICE word* block(int i) { return words + i * words_of_block; }
  DEVICE const word* block(int i) const { return words + i * words_of_block; }

  // Where the value lies in the task's tile.
  DEVICE int row(int i) const {
    return (BY_COLUMNS ? 0 : first) + i / of_block * 64 + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4 +
           i / 2 % 2 * 8;
  }
  DEVICE int col(int i) const {
    return (BY_COLUMNS ? first : 0) + i % of_block / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
  }
  // Which of the thread's rows the value belongs to.
  static DEVICE constexpr int slot(int i) { return i / of_block * 2 + i / 2 % 2; }

  // Over the four threads that share a row; each of them gets the result. They are all that have a part of it
  // where no other warpgroup has further columns.
  template <class V> static DEVICE V row_sum(V value) {
    static_assert(!BY_COLUMNS || sizeof(V) == 0, "warpgroups share this fragment's rows: each has its part");
    value += __shfl_xor_sync(0xffffffff, value, 1);
    return value + __shfl_xor_sync(0xffffffff, value, 2);
  }
  template <class V> static DEVICE V row_max(V value) {
    static_assert(!BY_COLUMNS || sizeof(V) == 0, "warpgroups share this fragment's rows: each has its part");
    value = larger_of(value, __shfl_xor_sync(0xffffffff, value, 1));
    return larger_of(value, __shfl_xor_sync(0xffffffff, value, 2));
  }

 private:
  static DEVICE float larger_of(float a, float b) { return fmaxf(a, b); }
  static DEVICE int larger_of(int a, int b) { return a < b ? b : a; }
};
