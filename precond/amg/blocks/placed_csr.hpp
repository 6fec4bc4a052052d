// SPDX-License-Identifier: Apache-2.0
/// Matrices of a hierarchy on their way into operators: in the precision and space of the cycle. Internal.
#pragma once

#include <vector>

#include <newel/core/parallel.hpp>
#include <newel/core/vector_ops.hpp>
#include "precond/amg/blocks/block_csr.hpp"

namespace newel::detail {

/// What stages hand to each other, in either space.
template <class T>
Span<T, Space::host> span_of(std::vector<T>& values) {
  return values;
}
template <class T>
Span<const T, Space::host> span_of(const std::vector<T>& values) {
  return values;
}
template <class T, Space S>
Span<T, S> span_of(Array<T, S>& values) {
  return values.span();
}
template <class T, Space S>
Span<const T, S> span_of(const Array<T, S>& values) {
  return values.cspan();
}

/// The values of a level's matrix with a 1 on the diagonal of rows of zeros, which SPAI and FSAI need.
inline std::vector<double> regular_values(const HostContext& ctx, const HostBlockCsr& a) {
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

Array<double, Space::device> regular_values(const DeviceContext& ctx, const BlockCsr<Space::device>& a);

/// A matrix of the hierarchy in precision T and space S.
template <class T, Space S>
struct PlacedCsr {
  PlacedCsr(const Context<S>& ctx, const ScalarPattern<S>& pattern, Span<const double, S> values)
      : rows(pattern.rows),
        cols(pattern.cols),
        row_ptr(make_array(ctx, pattern.row_ptr.cspan())),
        col(make_array(ctx, pattern.col.cspan())),
        val(ctx, pattern.source.size()),
        map(make_value_map(ctx, pattern.source.cspan(), values.size)) {
    if constexpr (std::is_same_v<T, double>) {
      gather(ctx, values, map, val.span());
    } else {
      Array<double, S> ordered(ctx, val.size());
      gather(ctx, values, map, ordered.span());
      convert(ctx, ordered.cspan(), val.span());
    }
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

/// Values of the hierarchy in precision T: themselves in double.
template <class T, Space S>
class ConvertedValues {
 public:
  /// Valid until the next call. Allocates where there are more values than in any call before.
  Span<const T, S> of(const Context<S>& ctx, Span<const double, S> values) {
    if constexpr (std::is_same_v<T, double>) {
      return values;
    } else {
      if (memory_.size() < values.size) memory_ = Array<T, S>(ctx, values.size);
      const Span<T, S> converted = memory_.span().subspan(0, values.size);
      convert(ctx, values, converted);
      return converted;
    }
  }
  std::uint64_t bytes() const { return memory_.bytes(); }

 private:
  Array<T, S> memory_;
};

/// All entries of an n x n matrix, row by row.
inline ScalarPattern<Space::host> dense_pattern(const HostContext& ctx, Index n) {
  ScalarPattern<Space::host> dense;
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

}  // namespace newel::detail
