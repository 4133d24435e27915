// Loads and stores of global memory with cache hints.
#pragma once

#include "pieces.cuh"

// One instruction for each size. A hint has a part for L1, in the text, and one for L2, the policy operand.
#define LOAD_PIECE(QUALIFIERS, ...)                                                                       \
  if constexpr (BYTES == 1)                                                                               \
    asm volatile("ld.global" QUALIFIERS ".L2::cache_hint.u8 %0, [%1], %2;"                                \
                 : "=r"(piece.words[0]) : "l"(from), "l"(policy) __VA_ARGS__);                            \
  else if constexpr (BYTES == 2)                                                                          \
    asm volatile("ld.global" QUALIFIERS ".L2::cache_hint.u16 %0, [%1], %2;"                               \
                 : "=r"(piece.words[0]) : "l"(from), "l"(policy) __VA_ARGS__);                            \
  else if constexpr (BYTES == 4)                                                                          \
    asm volatile("ld.global" QUALIFIERS ".L2::cache_hint.u32 %0, [%1], %2;"                               \
                 : "=r"(piece.words[0]) : "l"(from), "l"(policy) __VA_ARGS__);                            \
  else if constexpr (BYTES == 8)                                                                          \
    asm volatile("ld.global" QUALIFIERS ".L2::cache_hint.v2.u32 {%0, %1}, [%2], %3;"                      \
                 : "=r"(piece.words[0]), "=r"(piece.words[1]) : "l"(from), "l"(policy) __VA_ARGS__);      \
  else                                                                                                    \
    asm volatile("ld.global" QUALIFIERS ".L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"              \
                 : "=r"(piece.words[0]), "=r"(piece.words[1]), "=r"(piece.words[2]), "=r"(piece.words[3]) \
                 : "l"(from), "l"(policy) __VA_ARGS__)

#define STORE_PIECE(QUALIFIERS)                                                                \
  if constexpr (BYTES == 1)                                                                    \
    asm volatile("st.global" QUALIFIERS ".L2::cache_hint.u8 [%0], %1, %2;"                     \
                 ::"l"(to), "r"(piece.words[0]), "l"(policy) : "memory");                      \
  else if constexpr (BYTES == 2)                                                               \
    asm volatile("st.global" QUALIFIERS ".L2::cache_hint.u16 [%0], %1, %2;"                    \
                 ::"l"(to), "r"(piece.words[0]), "l"(policy) : "memory");                      \
  else if constexpr (BYTES == 4)                                                               \
    asm volatile("st.global" QUALIFIERS ".L2::cache_hint.u32 [%0], %1, %2;"                    \
                 ::"l"(to), "r"(piece.words[0]), "l"(policy) : "memory");                      \
  else if constexpr (BYTES == 8)                                                               \
    asm volatile("st.global" QUALIFIERS ".L2::cache_hint.v2.u32 [%0], {%1, %2}, %3;"           \
                 ::"l"(to), "r"(piece.words[0]), "r"(piece.words[1]), "l"(policy) : "memory"); \
  else                                                                                         \
    asm volatile("st.global" QUALIFIERS ".L2::cache_hint.v4.u32 [%0], {%1, %2, %3, %4}, %5;"   \
                 ::"l"(to), "r"(piece.words[0]), "r"(piece.words[1]), "r"(piece.words[2]),     \
                 "r"(piece.words[3]), "l"(policy) : "memory")

// NOTES: a read-only load (ld.global.nc) clobbers nothing and lets ptxas move it over stores. It stays
// volatile, so that it cannot rise above a wait for the kernel before this one.
template <int BYTES, int CACHE> DEVICE Piece<BYTES> load_global(const void* from) {
  constexpr int hint = CACHE & 3;
  constexpr u64 policy = access_policy(hint);
  Piece<BYTES> piece;
  if constexpr (CACHE & CACHE_READ_ONLY) {
    if constexpr (hint == CACHE_NORMAL) { LOAD_PIECE(".nc"); }
    else if constexpr (hint == CACHE_EVICT_FIRST) { LOAD_PIECE(".nc.L1::evict_first"); }
    else if constexpr (hint == CACHE_EVICT_LAST) { LOAD_PIECE(".nc.L1::evict_last"); }
    else { LOAD_PIECE(".nc.L1::no_allocate"); }
  } else {
    if constexpr (hint == CACHE_NORMAL) piece = read_piece<BYTES>(from);
    else if constexpr (hint == CACHE_EVICT_FIRST) { LOAD_PIECE(".L1::evict_first", : "memory"); }
    else if constexpr (hint == CACHE_EVICT_LAST) { LOAD_PIECE(".L1::evict_last", : "memory"); }
    else { LOAD_PIECE(".L1::no_allocate", : "memory"); }
  }
  return piece;
}

template <int BYTES, int CACHE> DEVICE void store_global(void* to, const Piece<BYTES>& piece) {
  constexpr u64 policy = access_policy(CACHE);
  if constexpr (CACHE == CACHE_NORMAL) write_piece(to, piece);
  else if constexpr (CACHE == CACHE_EVICT_FIRST) { STORE_PIECE(".L1::evict_first"); }
  else if constexpr (CACHE == CACHE_EVICT_LAST) { STORE_PIECE(".L1::evict_last"); }
  else { STORE_PIECE(".L1::no_allocate"); }
}

#undef LOAD_PIECE
#undef STORE_PIECE
