// SPDX-License-Identifier: Apache-2.0
// Scaling and matching a matrix.
#include "solver/equivalent/scaled_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "reorder/permute_pattern.hpp"
#include "reorder/scaling/product_matching.hpp"

namespace newel::detail {
namespace {

// A diagonal entry so many bits below the largest of its row is tiny.
constexpr int tiny_bits = 10;
// Of the entries as `powers` scale them, which a value may be too large or too small for.
template <class T>
ProductMatching matching_of(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a,
                            const ScalePowers<Space::host>& powers) {
  EntrySizes sizes = entry_sizes(a);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
      sizes.log2[static_cast<std::size_t>(k)] += powers.row[i] + powers.column[a.col[k]];
    }
  }
  return product_matching(ctx, sizes);
}
template <class T>
ProductMatching matching_of(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a,
                            const ScalePowers<Space::device>& powers) {
  const Context<Space::host>& host = host_context(ctx);
  const Csr<T, Space::host> there = make_host_csr(host, ctx, a);
  const auto on_host = [&](const Array<std::int32_t, Space::device>& of) {
    return make_array(host, to_vector(ctx, of.cspan()));
  };
  return matching_of(host, CsrView<T, Space::host>(there), {on_host(powers.row), on_host(powers.column)});
}

std::int32_t whole_power(double log2) { return static_cast<std::int32_t>(std::lround(log2)); }

template <Space S>
ScalePowers<S> no_scaling(const Context<S>& ctx, Index n) {
  const std::vector<std::int32_t> zeros(static_cast<std::size_t>(n), 0);
  return {make_array(ctx, zeros), make_array(ctx, zeros)};
}

}  // namespace

template <class T, Space S>
void ScaledMatrix<T, S>::make(const CsrView<T, S>& a) {
  info_ = {wish_.scale, false, wish_.reason};
  base_ = no_scaling(ctx_, a.rows);
  powers_ = no_scaling(ctx_, a.rows);
  column_of_row_ = {};
  row_of_column_ = {};
  if (wish_.match) match(a);
  take_pattern(a);
  take_values(a.val);
  tiny_ = rows_off_diagonal();
}

template <class T, Space S>
void ScaledMatrix<T, S>::match(const CsrView<T, S>& a) {
  ScalePowers<S> equilibrated = no_scaling(ctx_, a.rows);
  equilibrate(ctx_, a, equilibration(), equilibrated);
  const ProductMatching m = matching_of(ctx_, a, equilibrated);
  if (!m.perfect()) {
    info_.reason += (info_.reason.empty() ? "" : "; ") + std::string("not matched, since at most ") +
                    std::to_string(m.matched) + " rows can be paired with different columns";
    return;
  }
  info_.matched = true;
  const auto n = static_cast<std::size_t>(a.rows);
  std::vector<std::int32_t> row(n), column(n);
  std::vector<Index> row_of_column(n);
  bool in_place = true;
  for (std::size_t i = 0; i < n; ++i) {
    const auto j = static_cast<std::size_t>(m.column_of_row[i]);
    row_of_column[j] = static_cast<Index>(i);
    in_place = in_place && i == j;
    row[i] = whole_power(symmetric_ ? (m.row_log2[i] + m.column_log2[i]) / 2 : m.row_log2[i]);
    column[i] = symmetric_ ? row[i] : whole_power(m.column_log2[j]);
  }
  if (wish_.scale) base_ = {make_array(ctx_, row), make_array(ctx_, column)};
  if (symmetric_ || in_place) return;
  column_of_row_ = make_array(ctx_, m.column_of_row);
  row_of_column_ = make_array(ctx_, row_of_column);
}

template <class T, Space S>
void ScaledMatrix<T, S>::take_pattern(const CsrView<T, S>& a) {
  B_.rows = B_.cols = a.rows;
  B_.val = Array<T, S>(ctx_, a.nnz());
  if (column_of_row_.empty()) {
    Csr<T, S> same = make_csr<T, S, S>(ctx_, a);
    B_.row_ptr = std::move(same.row_ptr);
    B_.col = std::move(same.col);
    source_ = {};
    return;
  }
  std::vector<Index> as_they_are(static_cast<std::size_t>(a.rows));
  for (std::size_t i = 0; i < as_they_are.size(); ++i) as_they_are[i] = static_cast<Index>(i);
  const Array<Index, S> rows = make_array(ctx_, as_they_are);
  PermutedPattern<S> p = permute_pattern(ctx_, Pattern<S>(a), rows.cspan(), row_of_column_.cspan());
  B_.row_ptr = std::move(p.row_ptr);
  B_.col = std::move(p.col);
  source_ = make_value_map(ctx_, p.source.cspan(), a.nnz());
}

// Rows that another matching might serve better.
template <class T, Space S>
Index ScaledMatrix<T, S>::rows_off_diagonal() const {
  if (!info_.matched || symmetric_) return 0;
  return rows_with_tiny_diagonal(ctx_, CsrView<T, S>(B_), tiny_bits);
}

template <class T, Space S>
Equilibration ScaledMatrix<T, S>::equilibration() const {
  return symmetric_ ? Equilibration::symmetric : Equilibration::means;
}

template <class T, Space S>
void ScaledMatrix<T, S>::take_values(Span<const T, S> values) {
  if (source_.identity()) {
    copy<T>(ctx_, values, B_.val.span());
  } else {
    gather<T, S>(ctx_, values, source_, B_.val.span());
  }
  if (!wish_.scale) return;
  const CsrView<T, S> view(B_);
  ScalePowers<S> by_rows = no_scaling(ctx_, B_.rows);
  equilibrate(ctx_, view, Equilibration::rows, by_rows);
  row_only_ = std::move(by_rows.row);
  powers_ = no_scaling(ctx_, B_.rows);
  equilibrate(ctx_, view, equilibration(), powers_);
  if (info_.matched) {
    add_powers(ctx_, base_, powers_);
    equilibrate(ctx_, view, symmetric_ ? Equilibration::symmetric : Equilibration::largest, powers_);
  }
  scale_values(ctx_, view, powers_, B_.val.span());
  const std::vector<std::int32_t> rows = to_vector(ctx_, powers_.row.cspan());
  if (rows.empty()) return;
  info_.least_power = *std::min_element(rows.begin(), rows.end());
  info_.most_power = *std::max_element(rows.begin(), rows.end());
}

#define X(T, S) template class ScaledMatrix<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
