// Views of shared-memory buffers.
#pragma once

#include "layout.cuh"
#include "nibbles.cuh"
#include "pieces.cuh"

// The number of a copy, by which a snippet names one of several.
template <int NUMBER> struct CopyNumber {};

// A buffer of static extents at a shared-memory address. `Buffer<const T, ...>` can only be read. Coordinates
// are not checked. A column that load, store and the raw accesses begin at is a multiple of what one piece
// holds: the largest power of two up to 16 bytes that divides them.
template <class T, int SWIZZLE, int... EXTENTS> struct Buffer {
  using layout = Layout<remove_const<T>, SWIZZLE, EXTENTS...>;
  using element = Element<T>;
  using value = typename element::value;
  using storage = typename element::storage;
  enum : int { rank = layout::rank, bytes = layout::bytes };

  u32 address;

  template <class I> static DEVICE constexpr int extent(I dimension) { return layout::extent(dimension); }

  // Reading: the value. Writing: a reference that rounds what it is given.
  template <class... I> DEVICE decltype(auto) operator()(I... at) const {
    return element_at(layout::place(at...));
  }

  DEVICE decltype(auto) element_at(typename layout::Place place) const {
    const u32 from = address + layout::byte(place);
    if constexpr (element::packed) {
      if constexpr (is_const<T>)
        return element::decode(static_cast<u32>(*shared_pointer<u8>(from)) >> layout::bit(place));
      else return Nibble<T>{shared_pointer<u8>(from), layout::bit(place)};
    } else {
      if constexpr (is_const<T>) return static_cast<value>(*shared_pointer<T>(from));
      else return *shared_pointer<T>(from);
    }
  }

  // `N` neighbours along the last dimension, from and to values in registers.
  template <int N, class D, class... I> DEVICE void load(D* to, I... at) const {
    constexpr int piece = piece_bytes<T, N>, per_piece = piece_elements<T, piece>;
    static_assert(N * element::bits % 8 == 0, "two packed elements share a byte and move together");
    auto place = layout::place(at...);
#pragma unroll
    for (int i = 0; i < N; i += per_piece, place.column += per_piece)
      unpack<T>(read_piece<piece>(shared_pointer<u8>(address + layout::byte(place))), to + i);
  }
  template <int N, class D, class... I> DEVICE void store(const D* from, I... at) const {
    constexpr int piece = piece_bytes<T, N>, per_piece = piece_elements<T, piece>;
    static_assert(!is_const<T>, "the work that stores here lists the buffer in `writes` or `updates`");
    static_assert(N * element::bits % 8 == 0, "two packed elements share a byte and move together");
    auto place = layout::place(at...);
#pragma unroll
    for (int i = 0; i < N; i += per_piece, place.column += per_piece)
      write_piece(shared_pointer<u8>(address + layout::byte(place)), pack<T, piece>(from + i));
  }

  // 4, 8 or 16 bytes as they are, from the given element on.
  template <class V, class... I> DEVICE V load_bits(I... at) const {
    static_assert(sizeof(V) == 4 || sizeof(V) == 8 || sizeof(V) == 16, "raw accesses have 4, 8 or 16 bytes");
    return __builtin_bit_cast(
        V, read_piece<sizeof(V)>(shared_pointer<u8>(address + layout::byte(layout::place(at...)))));
  }
  template <class V, class... I> DEVICE void store_bits(V bits, I... at) const {
    static_assert(!is_const<T>, "the work that stores here lists the buffer in `writes` or `updates`");
    static_assert(sizeof(V) == 4 || sizeof(V) == 8 || sizeof(V) == 16, "raw accesses have 4, 8 or 16 bytes");
    write_piece(shared_pointer<u8>(address + layout::byte(layout::place(at...))),
                __builtin_bit_cast(Piece<sizeof(V)>, bits));
  }

  DEVICE auto ptr() const {
    static_assert(SWIZZLE == 0, "a swizzled buffer has no order of its own: use load_bits and store_bits");
    if constexpr (is_const<T>) return shared_pointer<const storage>(address);
    else return shared_pointer<storage>(address);
  }
};
