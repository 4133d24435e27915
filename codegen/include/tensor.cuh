// Views of tensors in global memory.
#pragma once

#include "global.cuh"
#include "nibbles.cuh"

// Extents and strides count elements; that of dimension `MAJOR` is 1 and not read. `Tensor<const T, ...>` can
// only be read. Offsets have 64 bits: a tensor may be larger than 2^31 elements.
template <class T, int RANK, int MAJOR = RANK - 1> struct Tensor {
  using element = Element<T>;
  using value = typename element::value;
  using storage = choose<is_const<T>, const typename element::storage, typename element::storage>;
  enum : int { rank = RANK, major = MAJOR };

  storage* data;
  i64 extents[RANK > 0 ? RANK : 1];
  i64 strides[RANK > 0 ? RANK : 1];

  // As one that is read alone, for works that list it so while others write it.
  template <class U>
  DEVICE operator Tensor<U, RANK, MAJOR>() const
    requires(!is_const<T> && same_type<U, const T>)
  {
    Tensor<U, RANK, MAJOR> same{data, {}, {}};
#pragma unroll
    for (int i = 0; i < RANK; ++i) {
      same.extents[i] = extents[i];
      same.strides[i] = strides[i];
    }
    return same;
  }

  template <class I> DEVICE i64 extent(I dimension) const { return extents[dimension]; }

  // In elements.
  template <class... I> DEVICE i64 offset(I... at) const {
    static_assert(sizeof...(I) == RANK, "a tensor takes as many coordinates as it has dimensions");
    i64 sum = 0;
    int dimension = 0;
    ((sum += dimension == MAJOR ? static_cast<i64>(at) : static_cast<i64>(at) * strides[dimension],
      ++dimension),
     ...);
    return sum;
  }

  // Of packed elements: the byte that holds it.
  template <class... I> DEVICE storage* ptr(I... at) const {
    if constexpr (element::packed) return data + (offset(at...) >> 1);
    else return data + offset(at...);
  }

  // Unchecked. Reading: the value. Writing: a reference that rounds what it is given.
  template <class... I> DEVICE decltype(auto) operator()(I... at) const {
    // The compiler names the caller of this function, and not that of what it calls.
    static_assert(sizeof...(I) == RANK, "a tensor takes as many coordinates as it has dimensions");
    if constexpr (sizeof...(I) != RANK) {
      return data[0];
    } else if constexpr (element::packed) {
      const i64 place = offset(at...);
      const u32 shift = static_cast<u32>(place & 1) * 4;
      if constexpr (is_const<T>) return element::decode(static_cast<u32>(data[place >> 1]) >> shift);
      else return Nibble<T>{data + (place >> 1), shift};
    } else {
      if constexpr (is_const<T>) return static_cast<value>(data[offset(at...)]);
      else return data[offset(at...)];
    }
  }

  template <class I>
  DEVICE decltype(auto) operator[](I at) const
    requires(RANK == 1)
  {
    return (*this)(at);
  }

  // The coordinates, then what to give outside of the tensor.
  template <class... A> DEVICE value at(A... arguments) const {
    static_assert(sizeof...(A) == RANK + 1, "`at` takes the coordinates and the value outside of the tensor");
    const i64 where[] = {static_cast<i64>(arguments)...};
    value result = {};
    ((result = static_cast<value>(arguments)), ...);  // the last one stays
    bool all = true;
    i64 place = 0;
#pragma unroll
    for (int i = 0; i < RANK; ++i) {
      all = all && static_cast<u64>(where[i]) < static_cast<u64>(extents[i]);
      place += i == MAJOR ? where[i] : where[i] * strides[i];
    }
    if (all) {
      if constexpr (element::packed)
        result = element::decode(static_cast<u32>(data[place >> 1]) >> (place & 1) * 4);
      else result = data[place];
    }
    return result;
  }

  // `N` neighbours along the contiguous dimension, from and to values in registers. Unchecked. They move in
  // pieces of the largest power of two up to 16 bytes that divides them, and the address is a multiple of a
  // piece.
  template <int N, int CACHE = CACHE_NORMAL, class D, class... I> DEVICE void load(D* to, I... at) const {
    constexpr int piece = piece_bytes<T, N>, per_piece = piece_elements<T, piece>;
    static_assert(N * element::bits % 8 == 0, "two packed elements share a byte and move together");
    const u8* from = reinterpret_cast<const u8*>(ptr(at...));
#pragma unroll
    for (int i = 0; i < N; i += per_piece, from += piece) unpack<T>(load_global<piece, CACHE>(from), to + i);
  }
  template <int N, int CACHE = CACHE_NORMAL, class D, class... I>
  DEVICE void store(const D* from, I... at) const {
    constexpr int piece = piece_bytes<T, N>, per_piece = piece_elements<T, piece>;
    static_assert(!is_const<T>, "the work that stores here lists the tensor in `writes` or `updates`");
    static_assert(N * element::bits % 8 == 0, "two packed elements share a byte and move together");
    u8* to = reinterpret_cast<u8*>(ptr(at...));
#pragma unroll
    for (int i = 0; i < N; i += per_piece, to += piece)
      store_global<piece, CACHE>(to, pack<T, piece>(from + i));
  }
};
