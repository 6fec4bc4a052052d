// SPDX-License-Identifier: Apache-2.0
// Sliced ELL, block CSR and coordinates.
#include "cusparse_arrays.hpp"

#include <algorithm>

#include <newel/core/parallel.hpp>

namespace newel::bench {
namespace {

// counts[k + 1] to offsets.
void add_up(Array<Offset, Space::host>& first) {
  first[0] = 0;
  for (std::int64_t k = 1; k < first.size(); ++k) first[k] += first[k - 1];
}

}  // namespace

CusparseArrays make_sell_arrays(const Context<Space::host>& ctx, const Pattern<Space::host>& a, Index slice) {
  const Index slices = a.rows / slice + (a.rows % slice == 0 ? 0 : 1);
  CusparseArrays result;
  result.first = Array<Offset, Space::host>(ctx, Offset{slices} + 1);
  parallel_for(ctx, slices, [&](Index s) {
    Offset width = 0;
    for (Index i = s * slice; i < std::min<Offset>(a.rows, Offset{s} * slice + slice); ++i) {
      width = std::max(width, a.row_begin(i + 1) - a.row_begin(i));
    }
    result.first[s + 1] = width * slice;
  });
  add_up(result.first);
  result.col = Array<Index, Space::host>(ctx, result.first[slices]);
  result.source = Array<Offset, Space::host>(ctx, result.first[slices]);
  parallel_blocks(ctx, slices, 64, [&](Index s) {
    std::fill(&result.col[result.first[s]], &result.col[result.first[s]] + (result.first[s + 1] - result.first[s]),
              Index{-1});
    std::fill(&result.source[result.first[s]],
              &result.source[result.first[s]] + (result.first[s + 1] - result.first[s]), Offset{-1});
    for (Index i = s * slice; i < std::min<Offset>(a.rows, Offset{s} * slice + slice); ++i) {
      Offset slot = result.first[s] + (i - s * slice);
      for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k, slot += slice) {
        result.col[slot] = a.col[k];
        result.source[slot] = k;
      }
    }
  });
  return result;
}

CusparseArrays make_bsr_arrays(const Context<Space::host>& ctx, const Pattern<Space::host>& a, Index block) {
  const Index block_rows = a.rows / block;
  CusparseArrays result;
  result.first = Array<Offset, Space::host>(ctx, Offset{block_rows} + 1);
  for (Index i = 0; i <= block_rows; ++i) result.first[i] = a.row_begin(i * block) / (Offset{block} * block);
  result.col = Array<Index, Space::host>(ctx, result.first[block_rows]);
  result.source = Array<Offset, Space::host>(ctx, a.nnz());
  parallel_for(ctx, block_rows, [&](Index i) {
    const Offset blocks = result.first[i + 1] - result.first[i];
    for (Offset b = 0; b < blocks; ++b) {
      const Offset to = result.first[i] + b;
      result.col[to] = a.col[a.row_begin(i * block) + b * block] / block;
      for (Index r = 0; r < block; ++r) {
        for (Index c = 0; c < block; ++c) {
          result.source[(to * block + r) * block + c] = a.row_begin(i * block + r) + b * block + c;
        }
      }
    }
  });
  return result;
}

Array<Index, Space::host> make_coo_rows(const Context<Space::host>& ctx, Span<const Offset, Space::host> row_ptr) {
  const auto rows = static_cast<Index>(row_ptr.size - 1);
  Array<Index, Space::host> result(ctx, row_ptr[rows]);
  parallel_for(ctx, rows,
               [&](Index i) { std::fill(result.begin() + row_ptr[i], result.begin() + row_ptr[i + 1], i); });
  return result;
}

}  // namespace newel::bench
