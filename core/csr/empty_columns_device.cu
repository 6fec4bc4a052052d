// SPDX-License-Identifier: Apache-2.0
// Columns without entries on the device.
#include "core/memory/context_device.hpp"
#include "core/csr/empty_columns.hpp"

namespace newel::detail {
namespace {

constexpr int mark_threads = 256, mark_blocks = 8;

/// A thread takes every (grid size)-th entry.
__global__ void __launch_bounds__(mark_threads) mark_columns(const Index* col, Offset entries, char* marks) {
  const Offset stride = Offset{gridDim.x} * blockDim.x;
  for (Offset k = Offset{blockIdx.x} * blockDim.x + threadIdx.x; k < entries; k += stride) marks[col[k]] = 1;
}

}  // namespace

std::vector<Index> empty_columns(const Context<Space::device>& ctx, const Pattern<Space::device>& a) {
  if (a.cols == 0) return {};
  const auto& state = ctx.state();
  Array<char, Space::device> marks(ctx, a.cols);
  NEWEL_CHECK_CUDA(cudaMemsetAsync(marks.data(), 0, marks.bytes(), state.stream()));
  if (a.nnz() > 0) {
    const unsigned blocks = blocks_to_share(ctx, a.nnz(), mark_threads, mark_blocks);
    mark_columns<<<blocks, mark_threads, 0, state.stream()>>>(a.col.data, a.nnz(), marks.data());
    NEWEL_CHECK_LAUNCH();
  }
  return positions_of_zeros(to_vector(ctx, marks.cspan()));
}

}  // namespace newel::detail
