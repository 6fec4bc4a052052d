// SPDX-License-Identifier: Apache-2.0
/// Matrices of a hierarchy on their way into operators: in the precision and space of the cycle. Internal.
#pragma once

#include <vector>

#include <purlin/core/parallel.hpp>
#include <purlin/precond/amg/block_csr.hpp>

namespace purlin::detail {

/// The values of a level's matrix with a 1 on the diagonal of rows of zeros, which SPAI and FSAI need.
inline std::vector<double> regular_values(const HostContext& ctx, const BlockCsr& a) {
  std::vector<double> values(a.val.begin(), a.val.end());
  parallel_for(ctx, a.pattern.rows, [&](Index i) {
    const Offset at = diagonal_at(a.pattern, i);
    for (int r = 0; r < a.row_block && at >= 0; ++r) {
      double& entry = values[static_cast<std::size_t>(at * a.block_size() + r * (a.col_block + 1))];
      if (entry == 0) entry = 1;
    }
  });
  return values;
}

/// A matrix of the hierarchy in precision T and space S.
template <class T, Space S>
struct PlacedCsr {
  PlacedCsr(const Context<S>& ctx, const ScalarPattern& pattern, Span<const double, Space::host> values)
      : rows(pattern.rows), cols(pattern.cols) {
    const HostContext& host = host_context(ctx);
    Array<T, Space::host> ordered(host, pattern.source.size());
    parallel_for(host, ordered.size(), [&](Offset k) { ordered[k] = static_cast<T>(values[pattern.source[k]]); });
    row_ptr = make_array(ctx, pattern.row_ptr.cspan());
    col = make_array(ctx, pattern.col.cspan());
    val = make_array(ctx, ordered.cspan());
    const auto source = make_array(ctx, pattern.source.cspan());
    map = make_value_map(ctx, source.cspan(), values.size);
  }
  CsrView<T, S> view() const {
    CsrView<T, S> a(rows, cols, row_ptr.cspan(), col.cspan(), val.cspan());
    a.value_map = &map;
    return a;
  }

  Index rows, cols;
  Array<Offset, S> row_ptr;
  Array<Index, S> col;
  Array<T, S> val;
  ValueMap<S> map;
};

/// All entries of an n x n matrix, row by row.
inline ScalarPattern dense_pattern(const HostContext& ctx, Index n) {
  ScalarPattern dense;
  dense.rows = dense.cols = n;
  dense.row_ptr = Array<Offset, Space::host>(ctx, Offset{n} + 1);
  dense.col = Array<Index, Space::host>(ctx, Offset{n} * n);
  dense.source = Array<Offset, Space::host>(ctx, Offset{n} * n);
  for (Index i = 0; i <= n; ++i) dense.row_ptr[i] = Offset{i} * n;
  for (Offset k = 0; k < dense.col.size(); ++k) {
    dense.col[k] = static_cast<Index>(k % n);
    dense.source[k] = k;
  }
  return dense;
}

}  // namespace purlin::detail
