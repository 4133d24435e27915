// cp.async: copies of 4, 8 or 16 bytes a thread from global to shared memory, past the registers.
#pragma once

#include "buffer.cuh"
#include "tensor.cuh"
#include "threads.cuh"

// The first `valid` bytes are copied and the rest of BYTES is set to 0; with 0 valid bytes nothing is read.
// Both addresses are multiples of BYTES.
// NOTES: .cg goes past L1, and exists for 16 bytes only; the smaller ones stay in L1, where neighbours share
// a line.
template <int BYTES, int CACHE = CACHE_NORMAL>
DEVICE void cp_async(u32 to, const void* from, u32 valid = BYTES) {
  static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "cp.async copies 4, 8 or 16 bytes");
  constexpr int hint = CACHE & 3;  // nothing reads through registers here, so CACHE_READ_ONLY changes nothing
  if constexpr (hint == CACHE_NORMAL) {
    if constexpr (BYTES == 16)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                   ::"r"(to), "l"(from), "r"(valid) : "memory");
    else
      asm volatile("cp.async.ca.shared.global [%0], [%1], %3, %2;"
                   ::"r"(to), "l"(from), "r"(valid), "n"(BYTES) : "memory");
  } else {
    if constexpr (BYTES == 16)
      asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2, %3;"
                   ::"r"(to), "l"(from), "r"(valid), "l"(bulk_policy(hint)) : "memory");
    else
      asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], %4, %2, %3;"
                   ::"r"(to), "l"(from), "r"(valid), "l"(bulk_policy(hint)), "n"(BYTES) : "memory");
  }
}

DEVICE void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Until at most `PENDING` of this thread's groups have not landed.
template <int PENDING> DEVICE void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}
// Until all of this thread's copies have landed, committed or not.
DEVICE void cp_async_wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// ---- tiles ------------------------------------------------------------------------------------

// All threads of the task copy the box of the tensor at `at` that has the buffer's extents, in pieces of
// `PIECE` bytes a thread; a buffer of lower rank covers the last dimensions. Neighbouring threads take
// neighbouring pieces of a row. CHECKED: what lies outside the tensor becomes 0. The first column, the rows'
// distance and the tensor's address are multiples of a piece. It only issues: mbarrier_arrive_cp_async or
// cp_async_wait follow.
template <int PIECE, bool CHECKED, int CACHE = CACHE_NORMAL, class TASK, class T, int SWIZZLE, int... EXTENTS,
          class S, int RANK, int MAJOR, class... I>
DEVICE void cp_async_tile(const TASK& task, const Buffer<T, SWIZZLE, EXTENTS...>& to,
                          const Tensor<S, RANK, MAJOR>& from, I... at) {
  using layout = typename Buffer<T, SWIZZLE, EXTENTS...>::layout;
  constexpr int per_piece = piece_elements<T, PIECE>, skipped = RANK - layout::rank;
  static_assert(same_type<remove_const<T>, remove_const<S>>, "cp.async changes no element type");
  static_assert(MAJOR == RANK - 1, "the last dimension is the contiguous one");
  static_assert(skipped >= 0 && sizeof...(I) == RANK, "the buffer covers the last dimensions of the tensor");
  static_assert(layout::columns % per_piece == 0, "the last dimension is a multiple of a piece");

  const i64 where[] = {static_cast<i64>(at)...};
  constexpr int row_pieces = layout::columns / per_piece, pieces = layout::rows * row_pieces;
  i64 base = where[RANK - 1];
  bool inside = true;
#pragma unroll
  for (int i = 0; i < RANK - 1; ++i) {
    base += where[i] * from.strides[i];
    if (CHECKED && i < skipped)
      inside = inside && static_cast<u64>(where[i]) < static_cast<u64>(from.extents[i]);
  }

  // Where whole rows fall to the task at once, a thread keeps its column.
  constexpr int threads = TASK::threads, rounds = (pieces + threads - 1) / threads;
  constexpr bool same_column = threads % row_pieces == 0;
#pragma unroll 8
  for (int round = 0; round < rounds; ++round) {
    const int piece = round * threads + task.thread;
    if (pieces % threads != 0 && piece >= pieces) break;
    const int row =
        same_column ? task.thread / row_pieces + round * (threads / row_pieces) : piece / row_pieces;
    const int column = (same_column ? task.thread : piece) % row_pieces * per_piece;
    i64 offset = base + column;
    bool row_inside = inside;
    int rest = row;
#pragma unroll
    for (int i = RANK - 2; i >= skipped; --i) {  // the row's coordinates, fastest first
      const int index = i == skipped ? rest : rest % layout::extent(i - skipped);
      rest /= layout::extent(i - skipped);
      offset += index * from.strides[i];
      if constexpr (CHECKED)
        row_inside = row_inside && static_cast<u64>(where[i] + index) < static_cast<u64>(from.extents[i]);
    }
    const u32 target = to.address + layout::byte({static_cast<u32>(row), static_cast<u32>(column)});
    if constexpr (CHECKED) {
      const i64 first = where[RANK - 1] + column, left = from.extents[RANK - 1] - first;
      int elements = left < per_piece ? static_cast<int>(left) : per_piece;
      if (!row_inside || first < 0 || left < 0) elements = 0;
      // Nothing is read for 0 bytes, but the address should be one of the tensor all the same.
      const i64 byte = elements > 0 ? offset * Element<T>::bits / 8 : 0;
      const u32 valid = static_cast<u32>(elements * Element<T>::bits + 7) / 8;
      cp_async<PIECE, CACHE>(target, reinterpret_cast<const u8*>(from.data) + byte, valid);
    } else {
      cp_async<PIECE, CACHE>(target, reinterpret_cast<const u8*>(from.data) + offset * Element<T>::bits / 8);
    }
  }
}
