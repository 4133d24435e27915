// Integer names, DEVICE, shared-memory addresses, tensor maps and cache hints.
#pragma once

using i8 = signed char;
using u8 = unsigned char;
using i16 = short;
using u16 = unsigned short;
using i32 = int;
using u32 = unsigned int;
using i64 = long long;
using u64 = unsigned long long;

// The index arithmetic also compiles as plain C++, so that it can be tested where there is no GPU.
#ifdef __CUDACC__
#define DEVICE __device__ __forceinline__
#else
#define DEVICE inline
#endif

// The 128 opaque bytes of a CUtensorMap; passed as a __grid_constant__ parameter.
struct alignas(64) TensorMap {
  u64 opaque[16];
};

// Shared memory is a 32-bit address everywhere, so that a stage is one integer add.
#ifdef __CUDACC__
DEVICE u32 shared_address(const void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }

// An ordinary pointer: the compiler sees the address space through it and emits ld.shared and st.shared,
// which it may combine and order as it does any access.
template <class T> DEVICE T* shared_pointer(u32 address) {
  return reinterpret_cast<T*>(__cvta_shared_to_generic(address));
}
#endif

// ---- cache hints ------------------------------------------------------------------------------

// Constants of these headers are enumerators: a constexpr variable or member would become a variable of the
// cubin.
enum : int { CACHE_NORMAL = 0, CACHE_EVICT_FIRST = 1, CACHE_EVICT_LAST = 2, CACHE_NO_ALLOCATE = 3 };

// May be added to a hint of ordinary loads: nobody writes the tensor while the kernel runs. Such a load has
// no order with any store, so that the loads of an unrolled loop start before the stores of its first round.
enum : int { CACHE_READ_ONLY = 4 };

// L2 policies, as createpolicy would encode them. Bulk copies do not pass through L1, so that `no_allocate`
// can only mean that the bytes should be the first to leave L2.
DEVICE constexpr u64 bulk_policy(int cache) {
  return cache == CACHE_NORMAL       ? 0x1000000000000000
         : cache == CACHE_EVICT_LAST ? 0x14F0000000000000
                                     : 0x12F0000000000000;
}

// Ordinary accesses have a hint of their own for L1.
DEVICE constexpr u64 access_policy(int cache) {
  return cache == CACHE_NO_ALLOCATE ? bulk_policy(CACHE_NORMAL) : bulk_policy(cache);
}

// ---- types ------------------------------------------------------------------------------------

template <class A, class B> inline constexpr bool same_type = false;
template <class A> inline constexpr bool same_type<A, A> = true;

template <class T> struct RemoveConst {
  using type = T;
};
template <class T> struct RemoveConst<const T> {
  using type = T;
};
template <class T> using remove_const = typename RemoveConst<T>::type;
template <class T> inline constexpr bool is_const = !same_type<T, remove_const<T>>;

template <bool CONDITION, class A, class B> struct Choose {
  using type = A;
};
template <class A, class B> struct Choose<false, A, B> {
  using type = B;
};
template <bool CONDITION, class A, class B> using choose = typename Choose<CONDITION, A, B>::type;
