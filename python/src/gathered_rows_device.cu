// SPDX-License-Identifier: Apache-2.0
// The rows of a batch in the memory of a device, gathered by a kernel.
#include <cuda_runtime.h>

#include <newel/core/cuda_interop.hpp>

#include "gathered_rows.hpp"

namespace newel::python {
namespace {

// A thread writes every entry that is a whole grid further. A null pointer stands for the numbers 0, 1, 2, ...
template <class T>
__global__ void gather_entries(const T* from, const Index* rows, const Index* entries, std::int64_t width,
                               std::int64_t size, T* to) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += step) {
    const std::int64_t row = i / width, entry = i - row * width;
    to[i] = from[(rows ? rows[row] : row) * width + (entries ? entries[entry] : entry)];
  }
}

}  // namespace

template <class T>
void gather_rows(const Context<Space::device>& ctx, Span<const T, Space::device> from,
                 Span<const Index, Space::device> rows, Span<const Index, Space::device> entries, std::int64_t width,
                 Span<T, Space::device> to) {
  if (to.size == 0) return;
  constexpr int threads = 256;
  const unsigned blocks = blocks_to_share(ctx, to.size, threads, 32);
  gather_entries<T><<<blocks, threads, 0, ctx.stream()>>>(from.data, rows.size > 0 ? rows.data : nullptr,
                                                          entries.size > 0 ? entries.data : nullptr, width, to.size,
                                                          to.data);
  check_cuda(cudaGetLastError(), "a kernel launch");
}

template void gather_rows(const Context<Space::device>&, Span<const float, Space::device>,
                          Span<const Index, Space::device>, Span<const Index, Space::device>, std::int64_t,
                          Span<float, Space::device>);
template void gather_rows(const Context<Space::device>&, Span<const double, Space::device>,
                          Span<const Index, Space::device>, Span<const Index, Space::device>, std::int64_t,
                          Span<double, Space::device>);

}  // namespace newel::python
