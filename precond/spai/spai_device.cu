// SPDX-License-Identifier: Apache-2.0
// SPAI's numeric phase on the device: problems of a size launched together, a block for each; the dense matrix in
// shared memory, or, where that is too small, in one of a bounded number of places in global memory.
#include <algorithm>
#include <limits>

#include "core/memory/context_device.hpp"
#include "core/memory/shared_memory_device.hpp"
#include "precond/spai/spai_problem_device.cuh"

namespace newel::detail {
namespace {

// 0.54 s on an H200 for 943,296 problems of up to 45 unknowns. The steps of shared memory are those at which one
// block more fits a multiprocessor of 227 KB.
struct SpaiTuning {
  struct Size {
    std::int64_t most_bytes;
    int threads;
  };
  static constexpr Size sizes[] = {{2 << 10, 32},   {4 << 10, 32},   {8 << 10, 64},
                                   {14 << 10, 64},  {28 << 10, 128}, {45 << 10, 128},
                                   {56 << 10, 128}, {74 << 10, 128}, {112 << 10, 256}};
  static constexpr int most_threads = 256;
  static constexpr std::int64_t places_bytes = std::int64_t{1} << 30;  ///< global memory for the largest problems
  static constexpr int places_per_multiprocessor = 2;                  ///< so few stay in the second-level cache
  static constexpr int diagonal_threads = 256;
};

// Problems order[first] .. order[first + count - 1], solved by blocks of so many threads.
struct SpaiClass {
  std::int64_t first = 0;
  Index count = 0;
  int threads = 0;
  std::int64_t buffer_bytes = 0;  ///< of the largest one
  unsigned places = 0;            ///< in global memory; 0: the problems live in shared memory
};

// A warp for each problem of one column.
template <class T>
__global__ void __launch_bounds__(SpaiTuning::diagonal_threads)
    spai_diagonal_kernel(const SpaiView<T> a, const Index* order, Index count) {
  const std::int64_t q = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  if (q < count) solve_diagonal(a, order[q], static_cast<int>(threadIdx.x % 32), false);
}

// A block for each problem, in its shared memory; or, with `in_global`, block b has place b of global memory and
// takes every (grid size)-th problem. One template, so that the compiler knows which memory a pointer means.
template <class T, bool in_global>
__global__ void __launch_bounds__(SpaiTuning::most_threads)
    spai_kernel(const SpaiView<T> a, const Index* order, Index count, char* places, std::int64_t buffer_bytes,
                T eps) {
  __shared__ T beta[2];
  __shared__ Index found;
  char* at;
  if constexpr (in_global) {
    at = places + blockIdx.x * buffer_bytes;
  } else {
    extern __shared__ double shared_buffers[];
    at = reinterpret_cast<char*>(shared_buffers);
  }
  for (Offset q = blockIdx.x; q < count; q += gridDim.x) {
    const Index j = order[q];
    const Offset begin = a.row_ptr[j];
    const Index m = a.touched[j], n = static_cast<Index>(a.row_ptr[j + 1] - begin);
    const SpaiBlockProblem<T> problem{a,
                                      SpaiBuffers<T>(at, m, n),
                                      j,
                                      m,
                                      n,
                                      begin,
                                      eps * T(m),
                                      beta,
                                      &found,
                                      static_cast<int>(threadIdx.x / 32),
                                      static_cast<int>(threadIdx.x % 32),
                                      static_cast<int>(blockDim.x / 32)};
    problem.solve();
    __syncthreads();
  }
}

}  // namespace

template <class T>
class SpaiScratch<T, Space::device> {
 public:
  SpaiScratch(const Context<Space::device>& ctx, const SpaiLayout& layout) {
    allow_shared_memory(ctx);
    const std::int64_t last = static_cast<std::int64_t>(std::size(SpaiTuning::sizes)) + 2;
    classes.resize(static_cast<std::size_t>(last) + 1);
    const Index n = layout.pattern.rows;
    for (Index j = 0; j < n; ++j) {
      SpaiClass& of = classes[class_of(layout, j)];
      ++of.count;
      of.buffer_bytes = std::max(of.buffer_bytes, buffer_bytes(layout, j));
    }
    for (std::size_t c = 1; c < classes.size(); ++c) classes[c].first = classes[c - 1].first + classes[c - 1].count;
    std::vector<std::int64_t> next;
    for (const SpaiClass& c : classes) next.push_back(c.first);
    std::vector<Index> by_class(static_cast<std::size_t>(n));
    for (Index j = 0; j < n; ++j) by_class[static_cast<std::size_t>(next[class_of(layout, j)]++)] = j;
    order = make_array(ctx, by_class);
    for (std::size_t c = 1; c < classes.size(); ++c) {
      classes[c].threads =
          c <= std::size(SpaiTuning::sizes) ? SpaiTuning::sizes[c - 1].threads : SpaiTuning::most_threads;
    }
    SpaiClass& largest = classes.back();
    if (largest.count == 0) return;
    const std::int64_t most = std::min<std::int64_t>(
        largest.count, std::int64_t{ctx.multiprocessors()} * SpaiTuning::places_per_multiprocessor);
    largest.places = static_cast<unsigned>(
        std::max<std::int64_t>(1, std::min(most, SpaiTuning::places_bytes / largest.buffer_bytes)));
    places = Array<double, Space::device>(ctx, largest.places * (largest.buffer_bytes / 8));
  }

  std::vector<SpaiClass> classes;  ///< of one column; by size; up to all of shared memory; in global memory
  Array<Index, Space::device> order;
  Array<double, Space::device> places;

 private:
  void allow_shared_memory(const Context<Space::device>& ctx) {
    shared_bytes_ = static_cast<std::int64_t>(allow_all_shared_memory(ctx, spai_kernel<T, false>));
  }

  static Index columns(const SpaiLayout& layout, Index j) { return static_cast<Index>(layout.pattern.row_length(j)); }
  static std::int64_t buffer_bytes(const SpaiLayout& layout, Index j) {
    return SpaiBuffers<T>::bytes(layout.touched[j], columns(layout, j));
  }
  std::size_t class_of(const SpaiLayout& layout, Index j) const {
    if (columns(layout, j) == 1) return 0;
    const std::int64_t bytes = buffer_bytes(layout, j);
    if (bytes > shared_bytes_) return std::size(SpaiTuning::sizes) + 2;
    std::size_t c = 0;
    while (c < std::size(SpaiTuning::sizes) && bytes > SpaiTuning::sizes[c].most_bytes) ++c;
    return c + 1;
  }

  std::int64_t shared_bytes_ = 0;
};

template <class T>
SpaiScratchPtr<T, Space::device> make_spai_scratch(const Context<Space::device>& ctx, const SpaiLayout& layout) {
  return std::make_shared<SpaiScratch<T, Space::device>>(ctx, layout);
}

template <class T>
std::size_t bytes_of(const SpaiScratch<T, Space::device>& scratch) {
  return scratch.order.bytes() + scratch.places.bytes();
}

template <class T>
void solve_spai(const Context<Space::device>& ctx, const SpaiView<T>& a, SpaiScratch<T, Space::device>& scratch) {
  const cudaStream_t stream = ctx.state().stream();
  NEWEL_CHECK_CUDA(cudaMemsetAsync(a.verdict, 0, sizeof(SpaiVerdict), stream));
  const Index* const order = scratch.order.data();
  // The largest first: they take the longest.
  for (std::size_t c = scratch.classes.size(); c-- > 1;) {
    const SpaiClass& of = scratch.classes[c];
    if (of.count == 0) continue;
    const T eps = std::numeric_limits<T>::epsilon();
    if (of.places > 0) {
      char* const places = reinterpret_cast<char*>(scratch.places.data());
      spai_kernel<T, true>
          <<<of.places, of.threads, 0, stream>>>(a, order + of.first, of.count, places, of.buffer_bytes, eps);
    } else {
      spai_kernel<T, false>
          <<<static_cast<unsigned>(of.count), of.threads, static_cast<std::size_t>(of.buffer_bytes), stream>>>(
              a, order + of.first, of.count, nullptr, 0, eps);
    }
    NEWEL_CHECK_LAUNCH();
  }
  const SpaiClass& single = scratch.classes.front();
  if (single.count == 0) return;
  constexpr Index warps = SpaiTuning::diagonal_threads / 32;
  spai_diagonal_kernel<T>
      <<<static_cast<unsigned>((single.count + warps - 1) / warps), SpaiTuning::diagonal_threads, 0, stream>>>(
          a, order + single.first, single.count);
  NEWEL_CHECK_LAUNCH();
}

#define X(T)                                                                                                        \
  template SpaiScratchPtr<T, Space::device> make_spai_scratch<T>(const Context<Space::device>&, const SpaiLayout&); \
  template std::size_t bytes_of(const SpaiScratch<T, Space::device>&);                                              \
  template void solve_spai(const Context<Space::device>&, const SpaiView<T>&, SpaiScratch<T, Space::device>&);
X(double)
X(float)
#undef X

}  // namespace newel::detail
