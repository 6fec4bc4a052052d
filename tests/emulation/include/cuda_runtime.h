// SPDX-License-Identifier: Apache-2.0
// What kernels see of CUDA. Types and declarations come from the toolkit's own C headers.
#pragma once

#include <cuda_runtime_api.h>
#include <math.h>
#include <vector_types.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#undef __host__
#undef __device__
#undef __global__
#undef __shared__
#undef __constant__
#undef __forceinline__
#undef __noinline__
#undef __launch_bounds__
#undef __maxnreg__
#undef __align__
#define __host__
#define __device__
#define __global__
#define __forceinline__ inline
#define __align__(n) alignas(n)
#define __launch_bounds__(...)
#define __maxnreg__(...)

namespace emu {

struct Block;
struct Warp;

/// What a running thread of a kernel is.
struct Thread {
  uint3 thread_idx, block_idx;
  dim3 block_dim, grid_dim;
  Block* block;
  Warp* warp;
  int lane;
};
extern Thread* current;  ///< null outside kernels; kernels of one device run one after the other

inline Thread& self() { return *current; }

/// Shared arrays: each has a number, and in each block an allocation of its own, which AddressSanitizer watches.
int new_shared_id();
void* static_shared(int id, std::size_t bytes);
template <class T>
inline T& shared(int id) {
  return *static_cast<T*>(static_shared(id, sizeof(T)));
}
void* dynamic_shared();

void launch_bound(unsigned most);
void syncthreads();
enum Kind { op_syncwarp, op_shfl, op_ballot };
/// Meets the lanes of `mask`; afterwards the value of every lane is in the table that is returned, 16 bytes each.
const unsigned char* meet_warp(unsigned mask, Kind kind, const void* value, std::size_t bytes, unsigned* present);
void spin();  ///< lets other threads run: before each relaxed load of what others write
[[noreturn]] void fault(const char* what);

struct Config {
  dim3 grid, block;
  std::size_t shared;
  cudaStream_t stream;
  Config(dim3 g, dim3 b, std::size_t s = 0, cudaStream_t q = nullptr) : grid(g), block(b), shared(s), stream(q) {}
};
void launch(const char* name, const Config& config, const void* key, std::function<void()> thread, bool cooperative);

template <class R, class... A>
const void* key(R (*f)(A...)) {
  return reinterpret_cast<const void*>(f);
}

template <class F, class... A>
void launch_kernel(const char* name, const Config& config, const void* kernel, F f, const A&... args) {
  // Arguments by value, as the device copies them; each thread gets its own copy.
  auto held = std::make_shared<std::tuple<std::decay_t<const A>...>>(args...);
  launch(
      name, config, kernel, [held, f] { std::apply(f, *held); }, false);
}

template <class... P, std::size_t... I>
std::function<void()> bound_call(void (*f)(P...), void** args, std::index_sequence<I...>) {
  auto held = std::make_shared<std::tuple<std::decay_t<P>...>>(*static_cast<std::decay_t<P>*>(args[I])...);
  return [held, f] { f(std::get<I>(*held)...); };
}
cudaError_t take_launch_error();

template <class T>
T bits_or_poison(const unsigned char* table, unsigned present, int lane) {
  T value;
  if (present >> lane & 1u)
    std::memcpy(&value, table + lane * 16, sizeof value);
  else
    std::memset(&value, 0xff, sizeof value);
  return value;
}

// What the PTX of our kernels does.
inline void st_v2(std::uint64_t* to, std::uint64_t low, std::uint64_t high) {
  // The pair is not written as one: others may see the first half alone.
  volatile std::uint64_t* at = to;
  at[0] = low;
  spin();
  at[1] = high;
}
template <class Word>
void st_v1(void* to, Word word) {
  *static_cast<volatile Word*>(to) = word;
}
inline void red_add(std::uint64_t* to, std::uint64_t word) { *static_cast<volatile std::uint64_t*>(to) += word; }
inline void ld_v2(const std::uint64_t* from, std::uint64_t& low, std::uint64_t& high) {
  spin();
  const volatile std::uint64_t* at = from;
  low = at[0];
  high = at[1];
}
template <class Word>
void ld_v1(const void* from, Word& word) {
  spin();
  word = *static_cast<const volatile Word*>(from);
}
template <class Word>
Word ld_volatile(const Word* from) {
  Word word;
  ld_v1(from, word);
  return word;
}

void pipeline_copy(void* to, const void* from, std::size_t bytes);
void pipeline_commit();
void pipeline_wait(unsigned prior);

}  // namespace emu

// Set whenever a thread continues.
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

inline void __syncthreads() { emu::syncthreads(); }
inline void __syncwarp(unsigned mask = 0xffffffffu) {
  unsigned present;
  emu::meet_warp(mask, emu::op_syncwarp, nullptr, 0, &present);
}
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}

template <class T>
inline T __shfl_sync(unsigned mask, T value, int from) {
  static_assert(sizeof(T) <= 16);
  unsigned present;
  const unsigned char* table = emu::meet_warp(mask, emu::op_shfl, &value, sizeof value, &present);
  return emu::bits_or_poison<T>(table, present, from & 31);
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int bits) {
  unsigned present;
  const int lane = emu::self().lane;
  const unsigned char* table = emu::meet_warp(mask, emu::op_shfl, &value, sizeof value, &present);
  const int from = lane ^ bits;
  return from > 31 ? value : emu::bits_or_poison<T>(table, present, from);
}
namespace emu {
// mma.m8n8k4 in double: lane 4 i + k has A(i, k), lane 4 j + k has B(k, j), lane 4 i + j / 2 gets D(i, j).
inline void multiply_in_warp(double a, double b, double& even, double& odd) {
  const int lane = self().lane, i = lane / 4, j = 2 * (lane % 4);
  even = odd = 0;
  for (int k = 0; k < 4; ++k) {
    const double of_a = __shfl_sync(0xffffffffu, a, 4 * i + k);
    even += of_a * __shfl_sync(0xffffffffu, b, 4 * j + k);
    odd += of_a * __shfl_sync(0xffffffffu, b, 4 * (j + 1) + k);
  }
}
}  // namespace emu

template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta) {
  unsigned present;
  const int lane = emu::self().lane;
  const unsigned char* table = emu::meet_warp(mask, emu::op_shfl, &value, sizeof value, &present);
  const int from = lane + static_cast<int>(delta);
  return from > 31 ? value : emu::bits_or_poison<T>(table, present, from);
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta) {
  unsigned present;
  const int lane = emu::self().lane;
  const unsigned char* table = emu::meet_warp(mask, emu::op_shfl, &value, sizeof value, &present);
  const int from = lane - static_cast<int>(delta);
  return from < 0 ? value : emu::bits_or_poison<T>(table, present, from);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  const unsigned char mine = predicate != 0;
  unsigned present, votes = 0;
  const unsigned char* table = emu::meet_warp(mask, emu::op_ballot, &mine, 1, &present);
  for (int lane = 0; lane < 32; ++lane) {
    if ((present >> lane & 1u) && table[lane * 16]) votes |= 1u << lane;
  }
  return votes;
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, !predicate) == 0; }
inline unsigned __activemask() { return 0xffffffffu; }

template <class T>
inline T __ldg(const T* p) {
  return *p;
}
template <class T>
inline T __ldcs(const T* p) {
  return *p;
}
template <class T>
inline T __ldcg(const T* p) {
  return *p;
}
template <class T>
inline T __ldcv(const T* p) {
  return *static_cast<const volatile T*>(p);
}
template <class T>
inline void __stcs(T* p, T v) {
  *p = v;
}
template <class T>
inline void __stcg(T* p, T v) {
  *p = v;
}

inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) * b) >> 32);
}
inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline std::size_t __cvta_generic_to_shared(const void* p) { return reinterpret_cast<std::size_t>(p); }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __clz(int v) { return v == 0 ? 32 : __builtin_clz(static_cast<unsigned>(v)); }
template <class To, class From>
inline To emu_bits(From v) {
  static_assert(sizeof(To) == sizeof(From));
  To r;
  std::memcpy(&r, &v, sizeof r);
  return r;
}
inline long long __double_as_longlong(double v) { return emu_bits<long long>(v); }
inline double __longlong_as_double(long long v) { return emu_bits<double>(v); }
inline int __float_as_int(float v) { return emu_bits<int>(v); }
inline float __int_as_float(int v) { return emu_bits<float>(v); }
inline unsigned __float_as_uint(float v) { return emu_bits<unsigned>(v); }
inline float __uint_as_float(unsigned v) { return emu_bits<float>(v); }

// Atomics: one thread of the host runs all of them, and switches only where they wait.
#define EMU_ATOMICS(T)             \
  inline T atomicAdd(T* p, T v) {  \
    const T o = *p;                \
    *p = static_cast<T>(o + v);    \
    return o;                      \
  }                                \
  inline T atomicMin(T* p, T v) {  \
    const T o = *p;                \
    if (v < o) *p = v;             \
    return o;                      \
  }                                \
  inline T atomicMax(T* p, T v) {  \
    const T o = *p;                \
    if (v > o) *p = v;             \
    return o;                      \
  }                                \
  inline T atomicExch(T* p, T v) { \
    const T o = *p;                \
    *p = v;                        \
    return o;                      \
  }
EMU_ATOMICS(int)
EMU_ATOMICS(unsigned)
EMU_ATOMICS(unsigned long long)
EMU_ATOMICS(float)
EMU_ATOMICS(double)
#undef EMU_ATOMICS
#define EMU_CAS(T)                            \
  inline T atomicCAS(T* p, T expected, T v) { \
    const T o = *p;                           \
    if (o == expected) *p = v;                \
    return o;                                 \
  }
EMU_CAS(unsigned short)
EMU_CAS(int)
EMU_CAS(unsigned)
EMU_CAS(unsigned long long)
#undef EMU_CAS
#define EMU_INT_ATOMICS(T)        \
  inline T atomicOr(T* p, T v) {  \
    const T o = *p;               \
    *p = o | v;                   \
    return o;                     \
  }                               \
  inline T atomicAnd(T* p, T v) { \
    const T o = *p;               \
    *p = o & v;                   \
    return o;                     \
  }
EMU_INT_ATOMICS(int)
EMU_INT_ATOMICS(unsigned)
EMU_INT_ATOMICS(unsigned long long)
#undef EMU_INT_ATOMICS

#define EMU_MINMAX(T)                              \
  inline T min(T a, T b) { return b < a ? b : a; } \
  inline T max(T a, T b) { return a < b ? b : a; }
EMU_MINMAX(int)
EMU_MINMAX(unsigned)
EMU_MINMAX(long)
EMU_MINMAX(unsigned long)
EMU_MINMAX(long long)
EMU_MINMAX(unsigned long long)
EMU_MINMAX(float)
EMU_MINMAX(double)
inline unsigned min(unsigned a, int b) { return min(a, static_cast<unsigned>(b)); }
inline unsigned min(int a, unsigned b) { return min(static_cast<unsigned>(a), b); }
inline unsigned max(unsigned a, int b) { return max(a, static_cast<unsigned>(b)); }
inline unsigned max(int a, unsigned b) { return max(static_cast<unsigned>(a), b); }
#undef EMU_MINMAX

// The templates of the toolkit's C++ interface.
template <class T>
cudaError_t cudaMallocHost(T** p, std::size_t bytes) {
  void* at = nullptr;
  const cudaError_t status = cudaMallocHost(&at, bytes);
  *p = static_cast<T*>(at);
  return status;
}
template <class T>
cudaError_t cudaMalloc(T** p, std::size_t bytes) {
  void* at = nullptr;
  const cudaError_t status = cudaMalloc(&at, bytes);
  *p = static_cast<T*>(at);
  return status;
}
template <class R, class... A>
cudaError_t cudaFuncSetAttribute(R (*f)(A...), cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute(emu::key(f), attribute, value);
}
template <class R, class... A>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, R (*f)(A...)) {
  return cudaFuncGetAttributes(attributes, emu::key(f));
}
template <class R, class... A>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, R (*f)(A...), int threads,
                                                          std::size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, emu::key(f), threads, shared);
}
template <class... P>
cudaError_t cudaLaunchCooperativeKernel(void (*f)(P...), dim3 grid, dim3 block, void** args, std::size_t shared = 0,
                                        cudaStream_t stream = nullptr) {
  emu::launch("cooperative", emu::Config(grid, block, shared, stream), emu::key(f),
              emu::bound_call(f, args, std::index_sequence_for<P...>()), true);
  return emu::take_launch_error();
}
/// Attributes are accepted, and kernels run one after the other as always.
template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* c, void (*f)(P...), A... arguments) {
  const std::tuple<std::decay_t<P>...> given(arguments...);
  emu::launch(
      "extended", emu::Config(c->gridDim, c->blockDim, c->dynamicSmemBytes, c->stream), emu::key(f),
      [f, given] { std::apply(f, given); }, false);
  return emu::take_launch_error();
}
