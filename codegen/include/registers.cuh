// Private values of a thread, and their way from and to tensors and buffers.
#pragma once

#include "buffer.cuh"
#include "tensor.cuh"

template <class T, int N> struct Registers {
  enum : int { size = N };
  register_of<T> values[N];

  DEVICE register_of<T>& operator[](int i) { return values[i]; }
  DEVICE const register_of<T>& operator[](int i) const { return values[i]; }
};

template <class T, int N> DEVICE void zero_registers(Registers<T, N>& to) {
#pragma unroll
  for (int i = 0; i < N; ++i) to[i] = register_of<T>();
}

// Value by value, rounding to nearest even. By way of packed pairs, which one instruction converts.
template <class T, class S, int N>
DEVICE void convert_registers(Registers<T, N>& to, const Registers<S, N>& from) {
  constexpr int step = N % 2 == 0 ? 2 : 1;
  if constexpr (Element<T>::packed || Element<S>::packed) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const auto value = value_for<T>(from[i]);
      if constexpr (Element<T>::packed) to[i] = Element<T>::decode(Element<T>::encode(value));
      else to[i] = register_of<T>(value);
    }
  } else {
#pragma unroll
    for (int i = 0; i < N; i += step) {
      typename Element<S>::value wide[step];
      unpack<S>(pack<S, step * Element<S>::bits / 8>(from.values + i), wide);
      unpack<T>(pack<T, step * Element<T>::bits / 8>(wide), to.values + i);
    }
  }
}

// Each value becomes what a function from float to float makes of it.
template <class T, int N, class FUNCTION> DEVICE void map_registers(Registers<T, N>& r, FUNCTION function) {
#pragma unroll
  for (int i = 0; i < N; ++i) r[i] = register_of<T>(function(static_cast<float>(r[i])));
}

// ---- which of a thread's neighbours lie inside ------------------------------------------------

struct Range {
  int begin, end;
  DEVICE bool holds(int i) const { return begin <= i && i < end; }
};

// Of `N` neighbours along dimension `MAJOR` from the coordinates on. Unchecked: all.
template <bool CHECKED, int N, int MAJOR, class VIEW, class... I>
DEVICE Range range_inside(const VIEW& view, I... at) {
  if constexpr (!CHECKED || sizeof...(I) == 0) {
    return {0, N};
  } else {
    const i64 where[] = {static_cast<i64>(at)...};
    bool inside = true;
#pragma unroll
    for (int i = 0; i < static_cast<int>(sizeof...(I)); ++i)
      if (i != MAJOR) inside = inside && static_cast<u64>(where[i]) < static_cast<u64>(view.extent(i));
    const i64 first = where[MAJOR], left = inside ? view.extent(MAJOR) - first : 0;
    return {first < 0 ? static_cast<int>(first < -N ? N : -first) : 0,
            left < 0 ? 0 : static_cast<int>(left < N ? left : N)};
  }
}

// ---- tensors ----------------------------------------------------------------------------------

// CHECKED: what lies outside reads as 0 and is not written. ALIGNED: the address of the first element is a
// multiple of the piece that the values divide into (up to 16 bytes). Where all lie inside they then move in
// whole pieces.
template <bool CHECKED, bool ALIGNED, int CACHE = CACHE_NORMAL, class T, int N, class S, int RANK, int MAJOR,
          class... I>
DEVICE void load_registers(Registers<T, N>& to, const Tensor<S, RANK, MAJOR>& from, I... at) {
  using E = Element<S>;
  const Range range = range_inside<CHECKED, N, MAJOR>(from, at...);
  const bool whole = range.begin == 0 && range.end == N;
  constexpr bool pieces = ALIGNED && N * E::bits % 8 == 0;
  if (pieces && whole) {
    if constexpr (pieces) from.template load<N, CACHE>(to.values, at...);
  } else {
    const i64 first = from.offset(at...);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      to[i] = register_of<T>();
      if (!range.holds(i)) continue;
      if constexpr (E::packed) {
        const u32 byte = load_global<1, CACHE>(from.data + ((first + i) >> 1)).words[0];
        to[i] = as<register_of<T>>(E::decode(byte >> ((first + i) & 1) * 4));
      } else {
        unpack<S>(load_global<E::bits / 8, CACHE>(from.data + first + i), to.values + i);
      }
    }
  }
}

// The first `count` values at most.
template <bool CHECKED, bool ALIGNED, int CACHE = CACHE_NORMAL, class T, int N, class S, int RANK, int MAJOR,
          class COUNT, class... I>
DEVICE void store_registers_leading(const Tensor<T, RANK, MAJOR>& to, const Registers<S, N>& from,
                                    COUNT count, I... at) {
  using E = Element<T>;
  Range range = range_inside<CHECKED, N, MAJOR>(to, at...);
  range.end = count < range.end ? static_cast<int>(count) : range.end;
  const bool whole = range.begin == 0 && range.end == N;
  constexpr bool pieces = ALIGNED && N * E::bits % 8 == 0;
  if (pieces && whole) {
    if constexpr (pieces) to.template store<N, CACHE>(from.values, at...);
  } else {
    const i64 first = to.offset(at...);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      if (!range.holds(i)) continue;
      if constexpr (E::packed)
        Nibble<T>{to.data + (first + i >> 1), static_cast<u32>(first + i & 1) * 4} = value_for<T>(from[i]);
      else store_global<E::bits / 8, CACHE>(to.data + first + i, pack<T, E::bits / 8>(from.values + i));
    }
  }
}

template <bool CHECKED, bool ALIGNED, int CACHE = CACHE_NORMAL, class T, int N, class S, int RANK, int MAJOR,
          class... I>
DEVICE void store_registers(const Tensor<T, RANK, MAJOR>& to, const Registers<S, N>& from, I... at) {
  store_registers_leading<CHECKED, ALIGNED, CACHE>(to, from, N, at...);
}

// ---- buffers ----------------------------------------------------------------------------------

template <bool CHECKED, bool ALIGNED, class T, int N, class S, int SWIZZLE, int... EXTENTS, class... I>
DEVICE void load_registers(Registers<T, N>& to, const Buffer<S, SWIZZLE, EXTENTS...>& from, I... at) {
  const Range range = range_inside<CHECKED, N, sizeof...(I) - 1>(from, at...);
  const bool whole = range.begin == 0 && range.end == N;
  constexpr bool pieces = ALIGNED && N * Element<S>::bits % 8 == 0;
  if (pieces && whole) {
    if constexpr (pieces) from.template load<N>(to.values, at...);
  } else {
    auto place = Buffer<S, SWIZZLE, EXTENTS...>::layout::place(at...);
#pragma unroll
    for (int i = 0; i < N; ++i, ++place.column) {
      to[i] = register_of<T>();
      if (range.holds(i))
        to[i] = as<register_of<T>>(static_cast<typename Element<S>::value>(from.element_at(place)));
    }
  }
}

template <bool CHECKED, bool ALIGNED, class T, int N, class S, int SWIZZLE, int... EXTENTS, class COUNT,
          class... I>
DEVICE void store_registers_leading(const Buffer<T, SWIZZLE, EXTENTS...>& to, const Registers<S, N>& from,
                                    COUNT count, I... at) {
  Range range = range_inside<CHECKED, N, sizeof...(I) - 1>(to, at...);
  range.end = count < range.end ? static_cast<int>(count) : range.end;
  const bool whole = range.begin == 0 && range.end == N;
  constexpr bool pieces = ALIGNED && N * Element<T>::bits % 8 == 0;
  if (pieces && whole) {
    if constexpr (pieces) to.template store<N>(from.values, at...);
  } else {
    auto place = Buffer<T, SWIZZLE, EXTENTS...>::layout::place(at...);
#pragma unroll
    for (int i = 0; i < N; ++i, ++place.column)
      if (range.holds(i)) to.element_at(place) = value_for<T>(from[i]);
  }
}

template <bool CHECKED, bool ALIGNED, class T, int N, class S, int SWIZZLE, int... EXTENTS, class... I>
DEVICE void store_registers(const Buffer<T, SWIZZLE, EXTENTS...>& to, const Registers<S, N>& from, I... at) {
  store_registers_leading<CHECKED, ALIGNED>(to, from, N, at...);
}
