// 8x8 blocks of 16-bit elements between fragments and shared memory.
#pragma once

#include "buffer.cuh"
#include "fragment.cuh"

DEVICE void stmatrix_x2(u32 to, u32 r0, u32 r1) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(to), "r"(r0), "r"(r1)
               : "memory");
}
DEVICE void stmatrix_x4(u32 to, u32 r0, u32 r1, u32 r2, u32 r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(r0), "r"(r1),
               "r"(r2), "r"(r3)
               : "memory");
}

// Each block transposed.
DEVICE void stmatrix_x2_trans(u32 to, u32 r0, u32 r1) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(to), "r"(r0), "r"(r1)
               : "memory");
}
DEVICE void stmatrix_x4_trans(u32 to, u32 r0, u32 r1, u32 r2, u32 r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(r0),
               "r"(r1), "r"(r2), "r"(r3)
               : "memory");
}

// Two neighbours of a fragment as one word of 16-bit elements of type T; `i` is even.
template <class T, class S, int ROWS, int COLUMNS, bool BY_COLUMNS>
DEVICE u32 pair_of(const Fragment<S, ROWS, COLUMNS, BY_COLUMNS>& f, int i) {
  if constexpr (same_type<T, S>) return f.words[i / 2];
  else return Element<T>::encode2(f[i], f[i + 1]);
}

// Where a lane's 16 bytes of the first instruction lie, from a buffer's start. Row and column of those of the
// others differ by constants alone, which leave the swizzle of the row in place.
template <int SWIZZLE, int ROWS, int COLUMNS> struct MatrixLane {
  enum : int {
    span = SWIZZLE == 0 ? 2 * COLUMNS : SWIZZLE,  // bytes of a row in memory
    atom = ROWS * span                            // from one column atom to the next
  };
  u32 own;

  DEVICE MatrixLane(u32 row, u32 byte)
      : own(byte / span * atom + row * span + (byte % span ^ swizzle_of_row<SWIZZLE>(row))) {}

  // `byte` more bytes along the row, a multiple of 32 unless the lane's own are whole atoms.
  DEVICE u32 at(int byte) const {
    if constexpr (SWIZZLE == 0) return own + byte;
    else return (own ^ byte % span) + byte / span * atom;
  }
};

// `COUNT_ROWS` by `COUNT` values from (ROW, COLUMN) of a warpgroup's share on, to (to_row, to_column) of a
// buffer, 16 columns an instruction: a lane gives the address of 16 bytes of row `lane % 16` and, in the
// upper half of the warp, of the 8 columns behind. `to_column` is a multiple of 16.
template <int ROW, int COLUMN, int COUNT_ROWS, int COUNT, class T, int SWIZZLE, int BUFFER_ROWS,
          int BUFFER_COLUMNS, class S, int ROWS, int COLUMNS, bool BY_COLUMNS>
DEVICE void store_matrix(const Buffer<T, SWIZZLE, BUFFER_ROWS, BUFFER_COLUMNS>& to,
                         const Fragment<S, ROWS, COLUMNS, BY_COLUMNS>& from, int to_row, int to_column) {
  static_assert(Element<T>::bits == 16, "stmatrix stores elements of 16 bits");
  static_assert(ROW % 64 == 0 && COUNT_ROWS % 64 == 0 && COLUMN % 8 == 0 && COUNT % 8 == 0,
                "stmatrix stores blocks of 64 rows and 8 columns");
  const u32 lane = threadIdx.x % 32;
  const MatrixLane<SWIZZLE, BUFFER_ROWS, BUFFER_COLUMNS> place(
      to_row + threadIdx.x % 128 / 32 * 16 + lane % 16, lane / 16 * 16);
#pragma unroll
  for (int block = 0; block < COUNT_ROWS / 64; ++block)
#pragma unroll
    for (int column = 0; column < COUNT; column += 16) {
      const int i = (ROW / 64 + block) * (COLUMNS / 2) + (COLUMN + column) / 2;
      const u32 at = to.address + place.at(2 * (to_column + column)) + block * 64 * place.span;
      const u32 upper = pair_of<T>(from, i), lower = pair_of<T>(from, i + 2);
      if (column + 16 <= COUNT)
        stmatrix_x4(at, upper, lower, pair_of<T>(from, i + 4), pair_of<T>(from, i + 6));
      else stmatrix_x2(at, upper, lower);
    }
}

// The same to a buffer that lies the other way: its rows are columns of the fragment. A lane gives the
// address of 8 rows of the fragment, of column `lane % 8` and, in the upper half of the warp, 8 columns
// further on. `to_column` counts rows of the fragment and is a multiple of 8.
template <int ROW, int COLUMN, int COUNT_ROWS, int COUNT, class T, int SWIZZLE, int BUFFER_ROWS,
          int BUFFER_COLUMNS, class S, int ROWS, int COLUMNS, bool BY_COLUMNS>
DEVICE void store_matrix_transposed(const Buffer<T, SWIZZLE, BUFFER_ROWS, BUFFER_COLUMNS>& to,
                                    const Fragment<S, ROWS, COLUMNS, BY_COLUMNS>& from, int to_row,
                                    int to_column) {
  static_assert(Element<T>::bits == 16, "stmatrix stores elements of 16 bits");
  static_assert(ROW % 64 == 0 && COUNT_ROWS % 64 == 0 && COLUMN % 8 == 0 && COUNT % 8 == 0,
                "stmatrix stores blocks of 64 rows and 8 columns");
  const u32 lane = threadIdx.x % 32;
#pragma unroll
  for (int block = 0; block < COUNT_ROWS / 64; ++block) {
    const MatrixLane<SWIZZLE, BUFFER_ROWS, BUFFER_COLUMNS> place(
        to_row + lane / 16 * 8 + lane % 8,
        2 * (to_column + block * 64 + threadIdx.x % 128 / 32 * 16 + lane / 8 % 2 * 8));
#pragma unroll
    for (int column = 0; column < COUNT; column += 16) {
      const int i = (ROW / 64 + block) * (COLUMNS / 2) + (COLUMN + column) / 2;
      const u32 at = to.address + place.own + column * place.span;
      const u32 upper = pair_of<T>(from, i), lower = pair_of<T>(from, i + 2);
      if (column + 16 <= COUNT)
        stmatrix_x4_trans(at, upper, lower, pair_of<T>(from, i + 4), pair_of<T>(from, i + 6));
      else stmatrix_x2_trans(at, upper, lower);
    }
  }
}

// ---- the other way ----------------------------------------------------------------------------

DEVICE void ldmatrix_x2(u32 from, u32& r0, u32& r1) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(r0), "=r"(r1)
               : "r"(from)
               : "memory");
}
DEVICE void ldmatrix_x4(u32 from, u32& r0, u32& r1, u32& r2, u32& r3) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
               : "r"(from)
               : "memory");
}
DEVICE void ldmatrix_x2_trans(u32 from, u32& r0, u32& r1) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(r0), "=r"(r1)
               : "r"(from)
               : "memory");
}
DEVICE void ldmatrix_x4_trans(u32 from, u32& r0, u32& r1, u32& r2, u32& r3) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
               : "r"(from)
               : "memory");
}

// What store_matrix stores, from there: parts, places and addresses are the same.
template <int ROW, int COLUMN, int COUNT_ROWS, int COUNT, class T, int SWIZZLE, int BUFFER_ROWS,
          int BUFFER_COLUMNS, class S, int ROWS, int COLUMNS, bool BY_COLUMNS>
DEVICE void load_matrix(Fragment<S, ROWS, COLUMNS, BY_COLUMNS>& to,
                        const Buffer<T, SWIZZLE, BUFFER_ROWS, BUFFER_COLUMNS>& from, int from_row,
                        int from_column) {
  static_assert(same_type<remove_const<T>, S> && Element<S>::bits == 16, "ldmatrix loads 16-bit elements");
  const u32 lane = threadIdx.x % 32;
  const MatrixLane<SWIZZLE, BUFFER_ROWS, BUFFER_COLUMNS> place(
      from_row + threadIdx.x % 128 / 32 * 16 + lane % 16, lane / 16 * 16);
#pragma unroll
  for (int block = 0; block < COUNT_ROWS / 64; ++block)
#pragma unroll
    for (int column = 0; column < COUNT; column += 16) {
      u32* const words = to.words + (ROW / 64 + block) * (COLUMNS / 4) + (COLUMN + column) / 4;
      const u32 at = from.address + place.at(2 * (from_column + column)) + block * 64 * place.span;
      if (column + 16 <= COUNT) ldmatrix_x4(at, words[0], words[1], words[2], words[3]);
      else ldmatrix_x2(at, words[0], words[1]);
    }
}

template <int ROW, int COLUMN, int COUNT_ROWS, int COUNT, class T, int SWIZZLE, int BUFFER_ROWS,
          int BUFFER_COLUMNS, class S, int ROWS, int COLUMNS, bool BY_COLUMNS>
DEVICE void load_matrix_transposed(Fragment<S, ROWS, COLUMNS, BY_COLUMNS>& to,
                                   const Buffer<T, SWIZZLE, BUFFER_ROWS, BUFFER_COLUMNS>& from, int from_row,
                                   int from_column) {
  static_assert(same_type<remove_const<T>, S> && Element<S>::bits == 16, "ldmatrix loads 16-bit elements");
  const u32 lane = threadIdx.x % 32;
#pragma unroll
  for (int block = 0; block < COUNT_ROWS / 64; ++block) {
    const MatrixLane<SWIZZLE, BUFFER_ROWS, BUFFER_COLUMNS> place(
        from_row + lane / 16 * 8 + lane % 8,
        2 * (from_column + block * 64 + threadIdx.x % 128 / 32 * 16 + lane / 8 % 2 * 8));
#pragma unroll
    for (int column = 0; column < COUNT; column += 16) {
      u32* const words = to.words + (ROW / 64 + block) * (COLUMNS / 4) + (COLUMN + column) / 4;
      const u32 at = from.address + place.own + column * place.span;
      if (column + 16 <= COUNT) ldmatrix_x4_trans(at, words[0], words[1], words[2], words[3]);
      else ldmatrix_x2_trans(at, words[0], words[1]);
    }
  }
}
