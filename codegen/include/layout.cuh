// Where the elements of a shared-memory buffer lie: row-major, or in swizzled column atoms as TMA writes
// them.
#pragma once

#include "elements.cuh"

// A row of `SPAN` bytes in a swizzled pattern: which 16-byte chunks trade places is a matter of the row
// alone. On the shared-memory address this is: bits 4-6 ^= bits 7-9 (128), 4-5 ^= 7-8 (64), 4 ^= 7 (32). It
// needs a buffer that starts on a pattern: at a multiple of 1024, 512, 256 bytes.
template <int SPAN> DEVICE constexpr u32 swizzle_of_row(u32 row) {
  if constexpr (SPAN == 0) return 0;
  else return ((row * SPAN >> 7) & (SPAN / 16 - 1)) << 4;
}

// Of a buffer without dimensions, which holds one element: 1.
template <class... E> DEVICE constexpr int last_extent(E... extents) {
  int last = 1;
  ((last = extents), ...);
  return last;
}

// A buffer of `EXTENTS` elements of type T, the last dimension contiguous. With a swizzle, a last dimension
// wider than its span is cut into atoms of `SWIZZLE` bytes; all rows of an atom lie together, as TMA writes
// one box after another.
template <class T, int SWIZZLE, int... EXTENTS> struct Layout {
  static_assert(SWIZZLE == 0 || SWIZZLE == 32 || SWIZZLE == 64 || SWIZZLE == 128,
                "a swizzle is 0, 32, 64 or 128 bytes");
  static_assert(((EXTENTS > 0) && ...), "a buffer has at least one element in each dimension");

  enum : int {
    rank = sizeof...(EXTENTS),
    element_bits = Element<T>::bits,
    elements = (EXTENTS * ... * 1),
    columns = last_extent(EXTENTS...),
    rows = elements / columns,
    row_bits = columns * element_bits,
    bytes = (rows * row_bits + 7) / 8
  };

  static DEVICE constexpr int extent(int dimension) {
    int found = 1, index = 0;
    ((found = index++ == dimension ? EXTENTS : found), ...);
    return found;
  }
  static_assert(SWIZZLE == 0 || row_bits % (8 * SWIZZLE) == 0,
                "the last dimension is a multiple of the swizzle span");

  // Row and column of the coordinates.
  struct Place {
    u32 row, column;
  };
  template <class... I> static DEVICE constexpr Place place(I... at) {
    static_assert(sizeof...(I) == rank, "a buffer takes as many coordinates as it has dimensions");
    u32 linear = 0, column = 0;
    int dimension = 0;
    ((linear = dimension == rank - 1 ? linear : linear * extent(dimension) + static_cast<u32>(at),
      column = static_cast<u32>(at), ++dimension),
     ...);
    return {linear, column};
  }

  // Byte of an element, from the buffer's start. `bit` is where it begins in that byte.
  static DEVICE constexpr u32 byte(Place at) {
    if constexpr (SWIZZLE == 0) {
      if constexpr (element_bits < 8) return (at.row * columns + at.column) * element_bits / 8;
      else return (at.row * columns + at.column) * (element_bits / 8);
    } else {
      constexpr u32 span = SWIZZLE * 8 / element_bits;  // elements of an atom's row
      const u32 row = at.column / span * rows + at.row;
      const u32 inside = at.column % span * element_bits / 8;
      return row * SWIZZLE + (inside ^ swizzle_of_row<SWIZZLE>(row));
    }
  }
  static DEVICE constexpr u32 bit(Place at) {
    if constexpr (element_bits >= 8) return 0;
    else return (SWIZZLE == 0 ? at.row * columns + at.column : at.column) * element_bits % 8;
  }
};
