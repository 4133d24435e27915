// Fragments from and to tensors and buffers by ordinary accesses of threads, cleared and converted.
#pragma once

#include "buffer.cuh"
#include "fragment.cuh"
#include "tensor.cuh"

// ---- values of a fragment as elements of another type -----------------------------------------

// `N` values in a row, from value `i` on, as elements of type T. Where a fragment packs `N` of them to a word
// or more, `i` is a multiple of `N`.
template <class T, int N, class FRAGMENT>
DEVICE Piece<N * Element<T>::bits / 8> values_as(const FRAGMENT& from, int i) {
  using S = typename FRAGMENT::type;
  using E = Element<S>;
  if constexpr (same_type<T, S> && (E::bits < 32 && N * E::bits <= 32)) {
    return {{from.words[i * E::bits / 32] >> i * E::bits % 32}};
  } else if constexpr (same_type<T, S> && E::bits < 32) {
    Piece<N * E::bits / 8> piece;
#pragma unroll
    for (int n = 0; n < N * E::bits / 32; ++n) piece.words[n] = from.words[i * E::bits / 32 + n];
    return piece;
  } else {
    typename E::value wide[N];
#pragma unroll
    for (int n = 0; n < N; ++n) wide[n] = from[i + n];
    return pack<T, N * Element<T>::bits / 8>(wide);
  }
}

// The other way: `N` values from elements of type S. Their word, where they do not fill it, has been set.
template <class S, int N, class FRAGMENT>
DEVICE void put_values(FRAGMENT& to, int i, const Piece<N * Element<S>::bits / 8>& piece) {
  using T = typename FRAGMENT::type;
  using E = Element<T>;
  Piece<N * E::bits / 8> own;
  if constexpr (same_type<T, S>) {
    own = piece;
  } else {
    typename Element<S>::value wide[N];
    unpack<S>(piece, wide);
    own = pack<T, N * E::bits / 8>(wide);
  }
  if constexpr (N * E::bits >= 32) {
#pragma unroll
    for (int n = 0; n < N * E::bits / 32; ++n)
      to.words[i * E::bits / 32 + n] =
          __builtin_bit_cast(typename FRAGMENT::word, own.words[n]);
  } else {
    constexpr u32 mask = (1u << N * E::bits) - 1;
    const int shift = i * E::bits % 32;
    u32& word = to.words[i * E::bits / 32];
    word = (word & ~(mask << shift)) | (own.words[0] & mask) << shift;
  }
}

// By instructions that stay where they are: cleared under a condition, a fragment would else be chosen value
// by value whether it holds or not, for as many instructions as it has words.
// Of its own type: a float that comes through an integer register has ptxas wait for products.
template <class WORD> DEVICE void clear_word(WORD& word) {
#ifdef __CUDACC__
  if constexpr (same_type<WORD, float>) {
    asm volatile("mov.f32 %0, 0f00000000;" : "=f"(word));
  } else {
    u32 zero;
    asm volatile("mov.b32 %0, 0;" : "=r"(zero));
    word = __builtin_bit_cast(WORD, zero);
  }
#else
  word = WORD();
#endif
}

template <class FRAGMENT> DEVICE void zero_fragment(FRAGMENT& to) {
  // Counted: a loop over addresses stays one where it is long, and puts the fragment into local memory.
#pragma unroll
  for (int i = 0; i < FRAGMENT::size / FRAGMENT::per_word; ++i) clear_word(to.words[i]);
}

// Value by value, rounding to nearest even. Both lie alike.
template <class TO, class FROM> DEVICE void convert_fragment(TO& to, const FROM& from) {
  using T = typename TO::type;
  using S = typename FROM::type;
  static_assert(int(TO::size) == int(FROM::size) && int(TO::slots) == int(FROM::slots),
                "values do not move between threads");
  constexpr int bits = Element<T>::bits, old = Element<S>::bits, step = 32 / (bits < old ? bits : old);
#pragma unroll
  for (int i = 0; i < from.size; i += step) {
    if constexpr (step == 4 && old == 32) put_values<T, 4>(to, i, values_as<T, 4>(from, i));
    else if constexpr (step == 4) put_values<S, 4>(to, i, values_as<S, 4>(from, i));
    else if constexpr (step == 2) put_values<T, 2>(to, i, values_as<T, 2>(from, i));
    else put_values<T, 1>(to, i, values_as<T, 1>(from, i));
  }
}

// Each value becomes what a function from float to float makes of it.
template <class FRAGMENT, class FUNCTION> DEVICE void map_fragment(FRAGMENT& f, FUNCTION function) {
  using T = typename FRAGMENT::type;
  constexpr int step = 32 / Element<T>::bits;
#pragma unroll
  for (int i = 0; i < f.size; i += step) {
    float x[step];
#pragma unroll
    for (int n = 0; n < step; ++n) x[n] = function(static_cast<float>(f[i + n]));
    put_values<T, step>(f, i, pack<T, 4>(x));
  }
}

// ---- tensors ----------------------------------------------------------------------------------

DEVICE constexpr i64 every_row() { return 1ll << 62; }

// So many rows or columns of a tile lie inside, if it ends inside or begins so far before the end.
DEVICE int clipped_extent(i64 left) {
  constexpr i64 most = 1 << 24;
  return static_cast<int>(left < 0 ? 0 : left < most ? left : most);
}

// An address in global memory as it is from here on. Else the compiler finds it anew for each value that is
// stored under a condition, with more instructions than the store.
template <class T> DEVICE T* pinned_address(T* address) {
#ifdef __CUDACC__
  u64 place = __cvta_generic_to_global(address);
  asm volatile("" : "+l"(place));
  return static_cast<T*>(__cvta_global_to_generic(place));
#else
  return address;
#endif
}

// Visits a thread's values and their addresses in the last two dimensions of a tensor, from the coordinates
// on: two neighbours at a time where the contiguous dimension is the last one and address and pitch of the
// rows allow it, else one by one. CHECKED: 0, all lie inside; 1, some may lie behind the end; 2, or before
// the beginning. `count`: only so many leading rows lie inside.
template <int CHECKED, class T, int RANK, int MAJOR, class FRAGMENT, class VISIT, class... I>
DEVICE void each_fragment_value(const Tensor<T, RANK, MAJOR>& tensor, const FRAGMENT& f, i64 count,
                                VISIT visit, I... at) {
  constexpr int R = RANK - 2, C = RANK - 1, bytes = sizeof(typename Element<T>::storage);
  const i64 where[] = {static_cast<i64>(at)...};
  const i64 pitch = MAJOR == R ? 1 : tensor.strides[R], step = MAJOR == C ? 1 : tensor.strides[C];
  const int row = f.row(0), column = f.col(0);
  auto* const first = tensor.ptr(at...);
  auto* const own = first + row * pitch + column * step;

  int rows = 0, columns = 0, row_begin = 0, column_begin = 0;
  bool whole_pairs = true;
  if constexpr (CHECKED > 0) {
    bool inside = true;
#pragma unroll
    for (int i = 0; i < R; ++i)
      inside = inside && static_cast<u64>(where[i]) < static_cast<u64>(tensor.extent(i));
    const i64 left = tensor.extent(R) - where[R];
    rows = inside ? clipped_extent(count < left ? count : left) - row : 0;
    columns = clipped_extent(tensor.extent(C) - where[C]);
    whole_pairs = columns % 2 == 0 || columns >= column / 8 * 8 + FRAGMENT::columns;
    columns -= column;
    if constexpr (CHECKED > 1) {
      row_begin = clipped_extent(-where[R]) - row;
      column_begin = clipped_extent(-where[C]);
      whole_pairs = whole_pairs && column_begin % 2 == 0;
      column_begin -= column;
    }
  }
  const auto holds = [&](int r, int c) {
    if constexpr (CHECKED == 0) return true;
    else if constexpr (CHECKED == 1) return r < rows && c < columns;
    else return r < rows && c < columns && r >= row_begin && c >= column_begin;
  };
  constexpr int slots = FRAGMENT::slots, groups = FRAGMENT::columns / 8;
  if constexpr (MAJOR == C) {
    constexpr u32 pair = 2 * bytes;
    const u32 unaligned = static_cast<u32>(reinterpret_cast<u64>(first)) | static_cast<u32>(pitch) * bytes;
    const auto line_by_line = [&]<int N>() {
#pragma unroll
      for (int slot = 0; slot < slots; ++slot) {
        const int r = slot / 2 * 64 + slot % 2 * 8;
        auto* const line = pinned_address(own + r * pitch);
#pragma unroll
        for (int j = 0; j < groups; ++j)
#pragma unroll
          for (int n = 0; n < 2; n += N)
            visit.template operator()<N>(line + 8 * j + n,
                                         slot / 2 * FRAGMENT::of_block + 4 * j + slot % 2 * 2 + n,
                                         holds(r, 8 * j + n));
      }
    };
    if (unaligned % pair == 0 && whole_pairs) line_by_line.template operator()<2>();
    else line_by_line.template operator()<1>();
  } else {
#pragma unroll
    for (int j = 0; j < groups; ++j)
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        auto* const line = pinned_address(own + (8 * j + n) * step);
#pragma unroll
        for (int slot = 0; slot < slots; ++slot) {
          const int r = slot / 2 * 64 + slot % 2 * 8;
          visit.template operator()<1>(line + r * pitch,
                                       slot / 2 * FRAGMENT::of_block + 4 * j + slot % 2 * 2 + n,
                                       holds(r, 8 * j + n));
        }
      }
  }
}

// The first `count` rows at most; what lies outside of the tensor is not written.
template <int CHECKED, int CACHE = CACHE_NORMAL, class T, int RANK, int MAJOR, class FRAGMENT, class... I>
DEVICE void store_fragment_leading(const Tensor<T, RANK, MAJOR>& to, const FRAGMENT& from, i64 count,
                                   I... at) {
  each_fragment_value<CHECKED>(
      to, from, count,
      [&]<int N>(void* address, int i, bool inside) {
        if (inside) store_global<N * Element<T>::bits / 8, CACHE>(address, values_as<T, N>(from, i));
      },
      at...);
}

template <int CHECKED, int CACHE = CACHE_NORMAL, class T, int RANK, int MAJOR, class FRAGMENT, class... I>
DEVICE void store_fragment(const Tensor<T, RANK, MAJOR>& to, const FRAGMENT& from, I... at) {
  store_fragment_leading<CHECKED, CACHE>(to, from, every_row(), at...);
}

// What lies outside of the tensor reads as 0.
template <int CHECKED, int CACHE = CACHE_NORMAL, class T, int RANK, int MAJOR, class FRAGMENT, class... I>
DEVICE void load_fragment(FRAGMENT& to, const Tensor<T, RANK, MAJOR>& from, I... at) {
  using S = remove_const<T>;
  if constexpr (FRAGMENT::packed) {  // since what is put there alone leaves the rest of a word as it is
#pragma unroll
    for (int i = 0; i < FRAGMENT::size / FRAGMENT::per_word; ++i) to.words[i] = 0;
  }
  each_fragment_value<CHECKED>(
      from, to, every_row(),
      [&]<int N>(const void* address, int i, bool inside) {
        Piece<N * Element<S>::bits / 8> piece = {};
        if (inside) piece = load_global<N * Element<S>::bits / 8, CACHE>(address);
        put_values<S, N>(to, i, piece);
      },
      at...);
}

// ---- buffers ----------------------------------------------------------------------------------

// Visits the values of a part of a warpgroup's share, `COUNT_ROWS` by `COUNT` from (ROW, COLUMN) on, and
// where they lie from (to_row, to_column) of a buffer on; TRANSPOSED: of one whose rows are columns of the
// fragment. ALIGNED: `to_column` and the columns of the buffer are multiples of 8. Rows from `limit` on do
// not count.
template <class FRAGMENT, int ROW, int COLUMN, int COUNT_ROWS, int COUNT, bool TRANSPOSED, bool ALIGNED,
          class T, int SWIZZLE, int BUFFER_ROWS, int BUFFER_COLUMNS, class VISIT>
DEVICE void each_part_value(const Buffer<T, SWIZZLE, BUFFER_ROWS, BUFFER_COLUMNS>& buffer, int to_row,
                            int to_column, int limit, VISIT visit) {
  using layout = Layout<remove_const<T>, SWIZZLE, BUFFER_ROWS, BUFFER_COLUMNS>;
  constexpr int bits = Element<T>::bits;
  const int row = to_row + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  // Eight rows or eight columns further on the swizzle of a row is the same: only constants are added.
  constexpr u32 span = SWIZZLE == 0 ? BUFFER_COLUMNS * bits / 8 : SWIZZLE, atom = BUFFER_ROWS * span;
  const u32 own = row * span + (column * bits / 8 ^ swizzle_of_row<SWIZZLE>(row));
#pragma unroll
  for (int slot = 0; slot < COUNT_ROWS / 32; ++slot) {
    const int r = slot / 2 * 64 + slot % 2 * 8;
#pragma unroll
    for (int j = 0; j < COUNT / 8; ++j) {
      const int i = (ROW / 64 + slot / 2) * FRAGMENT::of_block + (COLUMN / 8 + j) * 4 + slot % 2 * 2;
      if constexpr (ALIGNED && !TRANSPOSED) {
        const u32 byte = (to_column + 8 * j) * bits / 8;
        const u32 place = SWIZZLE == 0 ? own + byte : (own ^ byte % span) + byte / span * atom;
        visit.template operator()<2>(buffer.address + place + r * span, i, row + r < limit);
      } else {
#pragma unroll
        for (int n = 0; n < 2; ++n) {
          const int c = to_column + 8 * j + column + n;
          const u32 place = TRANSPOSED ? layout::byte(layout::place(c, row + r))
                                       : layout::byte(layout::place(row + r, c));
          visit.template operator()<1>(buffer.address + place, i + n, row + r < limit);
        }
      }
    }
  }
}

template <int ROW, int COLUMN, int COUNT_ROWS, int COUNT, bool TRANSPOSED, bool ALIGNED, class T,
          int SWIZZLE, int BUFFER_ROWS, int BUFFER_COLUMNS, class FRAGMENT>
DEVICE void store_part(const Buffer<T, SWIZZLE, BUFFER_ROWS, BUFFER_COLUMNS>& to, const FRAGMENT& from,
                       int to_row, int to_column, int limit = 0x7fffffff) {
  each_part_value<FRAGMENT, ROW, COLUMN, COUNT_ROWS, COUNT, TRANSPOSED, ALIGNED>(
      to, to_row, to_column, limit, [&]<int N>(u32 address, int i, bool inside) {
        if (inside) write_piece(shared_pointer<u8>(address), values_as<T, N>(from, i));
      });
}

template <int ROW, int COLUMN, int COUNT_ROWS, int COUNT, bool TRANSPOSED, bool ALIGNED, class T,
          int SWIZZLE, int BUFFER_ROWS, int BUFFER_COLUMNS, class FRAGMENT>
DEVICE void load_part(FRAGMENT& to, const Buffer<T, SWIZZLE, BUFFER_ROWS, BUFFER_COLUMNS>& from, int to_row,
                      int to_column) {
  using S = remove_const<T>;
  each_part_value<FRAGMENT, ROW, COLUMN, COUNT_ROWS, COUNT, TRANSPOSED, ALIGNED>(
      from, to_row, to_column, 0x7fffffff, [&]<int N>(u32 address, int i, bool) {
        put_values<S, N>(to, i, read_piece<N * Element<S>::bits / 8>(shared_pointer<u8>(address)));
      });
}
