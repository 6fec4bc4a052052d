// SPDX-License-Identifier: Apache-2.0
// The key of a pattern on a device: sums of the mixed entries, which are the same in whatever order they are added.
#include "core/memory/context_device.hpp"
#include "spmv/plan/plan_cache.hpp"

namespace newel::detail {
namespace {

constexpr int threads = 256;
constexpr unsigned all_lanes = 0xffffffffu;

__device__ __forceinline__ unsigned long long mixed(unsigned long long z) {  // as on the host
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/// A thread takes every so many-th of the values, with their positions; sums[0] and sums[1] are of two functions that
/// have nothing to do with each other.
template <class V>
__global__ void __launch_bounds__(threads) sum_mixed(const V* values, Offset count, unsigned long long* sums) {
  unsigned long long first = 0, second = 0;
  for (Offset i = Offset{blockIdx.x} * threads + threadIdx.x; i < count; i += Offset{gridDim.x} * threads) {
    const auto position = static_cast<unsigned long long>(i), value = static_cast<unsigned long long>(values[i]);
    const unsigned long long place = mixed(position + 0x9e3779b97f4a7c15ull);
    first += mixed(place ^ value);
    second += mixed(place + 0xd1b54a32d192ed03ull * (value + 1));
  }
  for (int step = 16; step > 0; step /= 2) {
    first += __shfl_xor_sync(all_lanes, first, step);
    second += __shfl_xor_sync(all_lanes, second, step);
  }
  if (threadIdx.x % 32 != 0) return;
  atomicAdd(sums, first);
  atomicAdd(sums + 1, second);
}

template <class V>
void queue_sums(const Context<Space::device>& ctx, Span<const V, Space::device> values, unsigned long long* sums) {
  if (values.size == 0) return;
  sum_mixed<<<blocks_to_share(ctx, values.size, threads, 8), threads, 0, ctx.stream()>>>(values.data, values.size,
                                                                                         sums);
  NEWEL_CHECK_LAUNCH();
}

}  // namespace

void PlanKey::add(const Context<Space::device>& ctx, const Pattern<Space::device>& pattern) {
  add(static_cast<std::uint64_t>(pattern.rows));
  add(static_cast<std::uint64_t>(pattern.cols));
  add(static_cast<std::uint64_t>(pattern.col.size));
  Array<unsigned long long, Space::device> sums(ctx, 4);
  NEWEL_CHECK_CUDA(cudaMemsetAsync(sums.data(), 0, sums.bytes(), ctx.stream()));
  with_row_ptr(pattern, [&](auto row_ptr) { queue_sums(ctx, row_ptr, sums.data()); });
  queue_sums(ctx, pattern.col, sums.data() + 2);
  for (const unsigned long long sum : to_vector(ctx, sums.cspan())) add(static_cast<std::uint64_t>(sum));
}

PlanKey plan_key(const Context<Space::device>& ctx, const Pattern<Space::device>& pattern,
                 const FormatRequest& request) {
  PlanKey key = request_key(request);
  key.add(ctx, pattern);
  return key;
}

}  // namespace newel::detail
