// Fragments that lie as tensor memory does: each thread of a warpgroup has a row of its own.
#pragma once

#include "fragment_moves.cuh"

// 128 rows by `COLUMNS` values: thread t of the warpgroup has row t, value i is column i (PTX ISA, tcgen05.ld
// .32x32b). Values narrower than 32 bits are packed, the first in the low bits, as columns of tensor memory
// hold them.
template <class T, int COLUMNS, bool BY_COLUMNS = false> struct LaneFragment {
  static_assert(COLUMNS % 8 == 0, "a fragment is made of groups of 8 columns");
  using type = T;
  enum : int {
    rows = 128,
    columns = COLUMNS,
    size = COLUMNS,
    slots = 1,
    per_word = 32 / Element<T>::bits
  };
  static_assert(Element<T>::bits >= 8 && Element<T>::bits <= 32, "a fragment has elements of 8 to 32 bits");
  enum : bool { packed = per_word > 1 };
  using word = choose<packed, u32, register_of<T>>;

  word words[size / per_word];
  int first;  // row, or column, of the task's tile where the warpgroup's share begins

  DEVICE explicit LaneFragment(int first = 0) : first(first) {}

  DEVICE decltype(auto) operator[](int i) {
    if constexpr (packed)
      return FragmentPart<T>{words[i / per_word], static_cast<u32>(i % per_word * Element<T>::bits)};
    else return (words[i]);
  }
  DEVICE decltype(auto) operator[](int i) const {
    if constexpr (packed) return Element<T>::decode(words[i / per_word] >> i % per_word * Element<T>::bits);
    else return (words[i]);
  }

  // Where the value lies in the task's tile.
  DEVICE int row(int) const { return (BY_COLUMNS ? 0 : first) + static_cast<int>(threadIdx.x % 128); }
  DEVICE int col(int i) const { return (BY_COLUMNS ? first : 0) + i; }
  // The thread has one row.
  static DEVICE constexpr int slot(int) { return 0; }

  // A row lies in one thread, which has the result already, where no other warpgroup has further columns.
  template <class V> static DEVICE V row_sum(V value) {
    static_assert(!BY_COLUMNS || sizeof(V) == 0, "warpgroups share this fragment's rows: each has its part");
    return value;
  }
  template <class V> static DEVICE V row_max(V value) {
    static_assert(!BY_COLUMNS || sizeof(V) == 0, "warpgroups share this fragment's rows: each has its part");
    return value;
  }
};

// ---- tensors ----------------------------------------------------------------------------------

// Visits a thread's row and its addresses in the last two dimensions of a tensor, from the coordinates on:
// 16 bytes at a time, or 4, where the contiguous dimension is the last one and address and pitch of the rows
// allow it, else one by one. CHECKED and `count` as for the other fragments.
template <int CHECKED, class T, int RANK, int MAJOR, class S, int COLUMNS, bool BY_COLUMNS, class VISIT,
          class... I>
DEVICE void each_fragment_value(const Tensor<T, RANK, MAJOR>& tensor,
                                const LaneFragment<S, COLUMNS, BY_COLUMNS>& f, i64 count, VISIT visit,
                                I... at) {
  constexpr int R = RANK - 2, C = RANK - 1, bytes = sizeof(typename Element<T>::storage);
  const i64 where[] = {static_cast<i64>(at)...};
  const i64 pitch = MAJOR == R ? 1 : tensor.strides[R], step = MAJOR == C ? 1 : tensor.strides[C];
  const int row = f.row(0), column = f.col(0);
  auto* const first = tensor.ptr(at...) + column * step;
  auto* const own = pinned_address(first + row * pitch);

  bool counts = true;
  int begin = 0, end = COLUMNS;
  if constexpr (CHECKED > 0) {
#pragma unroll
    for (int i = 0; i < R; ++i)
      counts = counts && static_cast<u64>(where[i]) < static_cast<u64>(tensor.extent(i));
    const i64 left = tensor.extent(R) - where[R];
    counts = counts && row < clipped_extent(count < left ? count : left);
    end = clipped_extent(tensor.extent(C) - where[C]) - column;
    if constexpr (CHECKED > 1) {
      counts = counts && row >= clipped_extent(-where[R]);
      begin = clipped_extent(-where[C]) - column;
    }
  }
  const auto holds = [&](int c) {
    if constexpr (CHECKED == 0) return true;
    else if constexpr (CHECKED == 1) return counts && c < end;
    else return counts && c < end && c >= begin;
  };
  const auto row_by = [&]<int N>() {
#pragma unroll
    for (int c = 0; c < COLUMNS; c += N) visit.template operator()<N>(own + c, c, holds(c));
  };
  if constexpr (MAJOR == C) {
    constexpr int wide = largest_piece(COLUMNS * bytes) / bytes, word = bytes < 4 ? 4 / bytes : 1;
    const u32 unaligned = static_cast<u32>(reinterpret_cast<u64>(first)) | static_cast<u32>(pitch) * bytes;
    const auto whole = [&](int n) {
      if (unaligned % (n * bytes) != 0) return false;
      if constexpr (CHECKED == 0) return true;
      else return (end % n == 0 || end >= COLUMNS) && (begin % n == 0 || begin <= 0);
    };
    if (whole(wide)) row_by.template operator()<wide>();
    else if (word > 1 && whole(word)) row_by.template operator()<word>();
    else row_by.template operator()<1>();
  } else {
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) visit.template operator()<1>(own + c * step, c, holds(c));
  }
}

// ---- buffers ----------------------------------------------------------------------------------

// Visits the values of a part of a warpgroup's share, `COUNT_ROWS` by `COUNT` from (ROW, COLUMN) on, and
// where they lie from (to_row, to_column) of a buffer on; TRANSPOSED: of one whose rows are columns of the
// fragment. TOGETHER values at a time, which divides `to_column` and the columns of the buffer. Rows from
// `limit` on do not count.
// Eight threads of a warp that move 16 bytes each of one column are in as many banks where the buffer is
// swizzled, whatever its span: the swizzle takes the chunk from the row. In plain rows of 128 bytes and more
// they would all be in the same.
template <int ROW, int COLUMN, int COUNT_ROWS, int COUNT, bool TRANSPOSED, int TOGETHER, class T, int SWIZZLE,
          int BUFFER_ROWS, int BUFFER_COLUMNS, class VISIT>
DEVICE void each_lane_value(const Buffer<T, SWIZZLE, BUFFER_ROWS, BUFFER_COLUMNS>& buffer, int to_row,
                            int to_column, int limit, VISIT visit) {
  using layout = Layout<remove_const<T>, SWIZZLE, BUFFER_ROWS, BUFFER_COLUMNS>;
  constexpr int bits = Element<T>::bits;
  const int place = static_cast<int>(threadIdx.x % 128) - ROW, row = to_row + place;
  const bool counts = (COUNT_ROWS == 128 || (place >= 0 && place < COUNT_ROWS)) && row < limit;
  if constexpr (!TRANSPOSED) {
    constexpr u32 span = SWIZZLE == 0 ? BUFFER_COLUMNS * bits / 8 : SWIZZLE, atom = BUFFER_ROWS * span;
    const u32 own = buffer.address + row * span, turned = swizzle_of_row<SWIZZLE>(row);
#pragma unroll
    for (int c = 0; c < COUNT; c += TOGETHER) {
      const u32 byte = (to_column + c) * bits / 8;
      const u32 inside = SWIZZLE == 0 ? byte : (byte % span ^ turned) + byte / span * atom;
      visit.template operator()<TOGETHER>(own + inside, COLUMN + c, counts);
    }
  } else {
#pragma unroll
    for (int c = 0; c < COUNT; ++c)
      visit.template operator()<1>(buffer.address + layout::byte(layout::place(to_column + c, row)),
                                   COLUMN + c, counts);
  }
}

template <int ROW, int COLUMN, int COUNT_ROWS, int COUNT, bool TRANSPOSED, int TOGETHER, class T, int SWIZZLE,
          int BUFFER_ROWS, int BUFFER_COLUMNS, class FRAGMENT>
DEVICE void store_lanes(const Buffer<T, SWIZZLE, BUFFER_ROWS, BUFFER_COLUMNS>& to, const FRAGMENT& from,
                        int to_row, int to_column, int limit = 0x7fffffff) {
  each_lane_value<ROW, COLUMN, COUNT_ROWS, COUNT, TRANSPOSED, TOGETHER>(
      to, to_row, to_column, limit, [&]<int N>(u32 address, int i, bool inside) {
        if (inside) write_piece(shared_pointer<u8>(address), values_as<T, N>(from, i));
      });
}

template <int ROW, int COLUMN, int COUNT_ROWS, int COUNT, bool TRANSPOSED, int TOGETHER, class T, int SWIZZLE,
          int BUFFER_ROWS, int BUFFER_COLUMNS, class FRAGMENT>
DEVICE void load_lanes(FRAGMENT& to, const Buffer<T, SWIZZLE, BUFFER_ROWS, BUFFER_COLUMNS>& from, int to_row,
                       int to_column) {
  using S = remove_const<T>;
  each_lane_value<ROW, COLUMN, COUNT_ROWS, COUNT, TRANSPOSED, TOGETHER>(
      from, to_row, to_column, 0x7fffffff, [&]<int N>(u32 address, int i, bool inside) {
        constexpr int bytes = N * Element<S>::bits / 8;
        if (inside) put_values<S, N>(to, i, read_piece<bytes>(shared_pointer<u8>(address)));
      });
}
