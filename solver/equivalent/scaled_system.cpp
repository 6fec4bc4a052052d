// SPDX-License-Identifier: Apache-2.0
// Scaling and matching a system.
#include "solver/equivalent/scaled_system.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <newel/core/matrix_traits.hpp>
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
ScaledSystem<T, S>::ScaledSystem(const Context<S>& ctx, const CsrView<T, S>& a, const ScalingWish& wish,
                                 SystemOptions options)
    : EquivalentSystem<T, S>(ctx, a.rows), wish_(wish), options_(std::move(options)) {
  options_.solver.template of<ScalingOptions>() = {Use::off, Use::off};
  options_.solver.template of<GuessOptions>() = {};
  options_.canonicalise = false;
  symmetric_ = matrix_traits(ctx_, a).symmetric();
  permuted_ = Array<T, S>(ctx_, a.rows);
  make(a);
}

template <class T, Space S>
void ScaledSystem<T, S>::make(const CsrView<T, S>& a) {
  inner_.reset();  // it shows values of B
  info_ = {wish_.scale, false, wish_.reason};
  base_ = no_scaling(ctx_, a.rows);
  powers_ = no_scaling(ctx_, a.rows);
  column_of_row_ = {};
  row_of_column_ = {};
  if (wish_.match) match(a);
  take_pattern(a);
  take_values(a.val);
  tiny_ = rows_off_diagonal();
  this->set_inner(CsrView<T, S>(matrix_), options_of_inner());
}

template <class T, Space S>
void ScaledSystem<T, S>::match(const CsrView<T, S>& a) {
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
void ScaledSystem<T, S>::take_pattern(const CsrView<T, S>& a) {
  matrix_.rows = matrix_.cols = a.rows;
  matrix_.val = Array<T, S>(ctx_, a.nnz());
  if (column_of_row_.empty()) {
    Csr<T, S> same = make_csr<T, S, S>(ctx_, a);
    matrix_.row_ptr = std::move(same.row_ptr);
    matrix_.col = std::move(same.col);
    source_ = {};
    return;
  }
  std::vector<Index> as_they_are(static_cast<std::size_t>(a.rows));
  for (std::size_t i = 0; i < as_they_are.size(); ++i) as_they_are[i] = static_cast<Index>(i);
  const Array<Index, S> rows = make_array(ctx_, as_they_are);
  PermutedPattern<S> p = permute_pattern(ctx_, Pattern<S>(a), rows.cspan(), row_of_column_.cspan());
  matrix_.row_ptr = std::move(p.row_ptr);
  matrix_.col = std::move(p.col);
  source_ = make_value_map(ctx_, p.source.cspan(), a.nnz());
}

// Large entries on the diagonal are what incomplete factors need, and a matrix that had none there rarely converges
// with less.
template <class T, Space S>
SystemOptions ScaledSystem<T, S>::options_of_inner() const {
  SystemOptions options = options_;
  const std::vector<const PrecondMethod*> general = automatic_preconditioners(AutoPrecond::general);
  const bool choose = info_.matched && !symmetric_ && same_name(options.precond.name, "auto");
  if (choose && !general.empty()) options.precond.name = general.back()->name;  // the strongest
  return options;
}

// Rows that another matching might serve better.
template <class T, Space S>
Index ScaledSystem<T, S>::rows_off_diagonal() const {
  if (!info_.matched || symmetric_) return 0;
  return rows_with_tiny_diagonal(ctx_, CsrView<T, S>(matrix_), tiny_bits);
}

template <class T, Space S>
Equilibration ScaledSystem<T, S>::equilibration() const {
  return symmetric_ ? Equilibration::symmetric : Equilibration::means;
}

template <class T, Space S>
void ScaledSystem<T, S>::take_values(Span<const T, S> values) {
  if (source_.identity()) {
    copy<T>(ctx_, values, matrix_.val.span());
  } else {
    gather<T, S>(ctx_, values, source_, matrix_.val.span());
  }
  if (!wish_.scale) return;
  const CsrView<T, S> view(matrix_);
  ScalePowers<S> by_rows = no_scaling(ctx_, matrix_.rows);
  equilibrate(ctx_, view, Equilibration::rows, by_rows);
  row_only_ = std::move(by_rows.row);
  powers_ = no_scaling(ctx_, matrix_.rows);
  equilibrate(ctx_, view, equilibration(), powers_);
  if (info_.matched) {
    add_powers(ctx_, base_, powers_);
    equilibrate(ctx_, view, symmetric_ ? Equilibration::symmetric : Equilibration::largest, powers_);
  }
  scale_values(ctx_, view, powers_, matrix_.val.span());
  const std::vector<std::int32_t> rows = to_vector(ctx_, powers_.row.cspan());
  if (rows.empty()) return;
  info_.least_power = *std::min_element(rows.begin(), rows.end());
  info_.most_power = *std::max_element(rows.begin(), rows.end());
}

template <class T, Space S>
void ScaledSystem<T, S>::refresh(const CsrView<T, S>& a, RefreshScope scope) {
  take_values(a.val);
  if (rows_off_diagonal() > tiny_) return make(a);
  inner_->refresh(matrix_.val.cspan(), scope);
}

template <class T, Space S>
int ScaledSystem<T, S>::carry_rhs(Span<const T, S> v, Span<T, S> c) {
  const int exponent = greatest_exponent(ctx_, powers_.row.cspan(), v);
  const int shift = exponent == no_exponent ? 0 : exponent;
  scale_vector(ctx_, powers_.row.cspan(), 1, -shift, v, c);
  return shift;
}

template <class T, Space S>
void ScaledSystem<T, S>::carry_guess(int shift, Span<const T, S> x, Span<T, S> y) {
  Span<const T, S> in_order = x;
  if (!column_of_row_.empty()) {
    gather<T, S>(ctx_, x, column_of_row_.cspan(), work_.span());
    in_order = work_.cspan();
  }
  scale_vector(ctx_, powers_.column.cspan(), -1, -shift, in_order, y);
  const auto is_finite = [&](Span<const T, S> v) { return all_finite<T, S>(ctx_, v, scratch_.data()); };
  // A guess that leaves the range here is far from any solution; what is no number is refused with its name.
  if (!is_finite(Span<const T, S>(y)) && is_finite(x)) fill<T, S>(ctx_, T(0), y);
}

template <class T, Space S>
void ScaledSystem<T, S>::carry_back(int shift, Span<const T, S>, Span<const T, S> y, Span<T, S> x) {
  if (column_of_row_.empty()) return scale_vector(ctx_, powers_.column.cspan(), 1, shift, y, x);
  scale_vector(ctx_, powers_.column.cspan(), 1, shift, y, permuted_.span());
  gather<T, S>(ctx_, permuted_.cspan(), row_of_column_.cspan(), x);
}

template <class T, Space S>
double ScaledSystem<T, S>::row_norm(ResidualUnits& units, Span<const T, S> v, bool of_rhs) {
  if (!wish_.scale) return 0;
  if (of_rhs) {
    const int exponent = greatest_exponent(ctx_, row_only_.cspan(), v);
    units.row_shift = exponent == no_exponent ? 0 : exponent;
  }
  scale_vector(ctx_, row_only_.cspan(), 1, -units.row_shift, v, work_.span());
  return this->norm_of(work_.cspan());
}

template <class T, Space S>
SystemInfo ScaledSystem<T, S>::info() const {
  SystemInfo info = this->inner().info();
  info.scaling = info_;
  return info;
}

template <class T, Space S>
SystemDecision ScaledSystem<T, S>::decision() const {
  SystemDecision decision = this->inner().decision();
  decision.scaled = info_.scaled;
  decision.matched = info_.matched;
  return decision;
}

#define X(T, S) template class ScaledSystem<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
