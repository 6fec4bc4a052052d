// SPDX-License-Identifier: Apache-2.0
/// The matrix that ELL-WARP's README draws, and how its tests build layouts.
#pragma once

#include "spmv/ell_warp/ell_warp_layout.hpp"

#include "tests/support.hpp"

namespace newel::testing {

/// A matrix by the columns of its rows; the value of entry k is k + 1.
inline HostCsr matrix_of_columns(Index cols, const std::vector<std::vector<Index>>& rows) {
  HostCsr a;
  a.rows = static_cast<Index>(rows.size());
  a.cols = cols;
  for (const auto& row : rows) {
    for (const Index j : row) {
      a.col.push_back(j);
      a.val.push_back(static_cast<double>(a.val.size()) + 1);
    }
    a.row_ptr.push_back(a.nnz());
  }
  return a;
}

/// 12 x 12, row lengths 2 1 4 1 3 2 1 6 2 0 3 1. Sorted: rows 7 2 4 10, 0 5 8 1, 3 6 11 9.
inline HostCsr drawn_matrix() {
  return matrix_of_columns(
      12,
      {{0, 3}, {1}, {0, 2, 5, 9}, {3}, {4, 7, 10}, {5, 6}, {6}, {0, 2, 4, 6, 7, 11}, {1, 8}, {}, {3, 9, 10}, {11}});
}

inline CsrView<double, Space::host> view_of(const HostCsr& a) {
  return {a.rows, a.cols, Span<const Offset, Space::host>(a.row_ptr.data(), Offset{a.rows} + 1),
          Span<const Index, Space::host>(a.col.data(), a.nnz()),
          Span<const double, Space::host>(a.val.data(), a.nnz())};
}

template <class V>
std::vector<V> values_of(const Array<V, Space::host>& array) {
  return {array.begin(), array.end()};
}

/// A layout with the sequence that it was made from.
struct SequencedLayout {
  detail::RowSequence sequence;
  detail::EllWarpLayout layout;
};

/// Rows sorted among `window` neighbours, as K1 and K2 take them.
inline SequencedLayout sorted_layout(const Context<Space::host>& ctx, const HostCsr& a,
                                     const detail::EllWarpRules& rules, Index window) {
  const Pattern<Space::host> pattern(view_of(a));
  SequencedLayout made;
  made.sequence =
      detail::sorted_sequence(ctx, pattern, detail::given_sequence(ctx, pattern, rules.longest_warp_row), window);
  made.layout = detail::make_ell_warp_layout(ctx, pattern, made.sequence, rules);
  return made;
}

/// Rows as they come, as the r and rs variants take them.
inline SequencedLayout given_layout(const Context<Space::host>& ctx, const HostCsr& a,
                                    const detail::EllWarpRules& rules, const std::vector<Index>& old_of_new = {}) {
  const Pattern<Space::host> pattern(view_of(a));
  SequencedLayout made;
  made.sequence = detail::given_sequence(ctx, pattern, rules.longest_warp_row);
  made.layout = detail::make_ell_warp_layout(ctx, pattern, made.sequence, rules,
                                             {old_of_new.data(), static_cast<std::int64_t>(old_of_new.size())});
  return made;
}

inline detail::EllWarpRules rules_of(Index width, Index threshold = detail::no_threshold) {
  detail::EllWarpRules rules;
  rules.width = width;
  rules.threshold = threshold;
  return rules;
}

}  // namespace newel::testing
