// SPDX-License-Identifier: Apache-2.0
// Tries block sizes from the largest; a size is given up at its first row that does not fit.
#include <algorithm>
#include <atomic>

#include <newel/core/matrix_traits.hpp>
#include <newel/core/parallel.hpp>

namespace newel {
namespace {

// Rows first .. first + b - 1 have one pattern, made of aligned runs of b columns.
bool is_block_row(const Pattern<Space::host>& a, Index first, Index b) {
  const Index* begin = a.col.data + a.row_begin(first);
  const Index* end = a.col.data + a.row_begin(first + 1);
  if ((end - begin) % b != 0) return false;
  for (const Index* run = begin; run != end; run += b) {
    if (*run % b != 0) return false;
    for (Index k = 1; k < b; ++k) {
      if (run[k] != *run + k) return false;
    }
  }
  for (Index i = first + 1; i < first + b; ++i) {
    const Index* other = a.col.data + a.row_begin(i);
    if (a.col.data + a.row_begin(i + 1) - other != end - begin || !std::equal(begin, end, other)) return false;
  }
  return true;
}

bool has_blocks(const Context<Space::host>& ctx, const Pattern<Space::host>& a, Index b) {
  std::atomic<bool> all{true};
  parallel_blocks(ctx, a.rows / b, 512, [&](Index i) {
    if (all.load(std::memory_order_relaxed) && !is_block_row(a, i * b, b)) all = false;
  });
  return all;
}

}  // namespace

Index node_block_size(const Context<Space::host>& ctx, const Pattern<Space::host>& a, Index largest_block) {
  if (a.nnz() == 0) return 1;
  for (Index b = largest_block; b > 1; --b) {
    if (a.rows % b == 0 && a.cols % b == 0 && has_blocks(ctx, a, b)) return b;
  }
  return 1;
}

}  // namespace newel
