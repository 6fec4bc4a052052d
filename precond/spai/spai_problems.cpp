// SPDX-License-Identifier: Apache-2.0
// The local problems of a matrix in both spaces.
#include "precond/spai/spai_problems.hpp"

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>
#include <newel/core/vector_ops.hpp>
#include <newel/precond/spai/spai_options.hpp>
#include "core/vectors/instantiate.hpp"
#include "precond/longest_rows.hpp"
#include "precond/spai/adaptive.hpp"
#include "precond/spai/entry_worth.hpp"
#include "precond/spai/local_problem.hpp"
#include "reorder/host_pattern.hpp"

namespace newel::detail {

template <class T, Space S>
SpaiProblems<T, S>::SpaiProblems(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                                 const PrecondOptions& options, SpaiPattern pattern, PhaseClock& clock)
    : rows_(a.rows) {
  if (a.rows != a.cols) throw InputError("a sparse approximate inverse needs a square matrix");
  const Context<Space::host> host = host_context(ctx);
  SpaiLayout layout;
  {
    const HostPattern of_a(ctx, a);
    const SourcedSparsity b = options.of<SpaiOptions>().side == PrecondSide::right
                                  ? transpose_of(host, of_a.view())
                                  : SourcedSparsity{copy_of(host, of_a.view()), {}};
    take_rows(ctx, a, b);
    layout = make_spai_layout(host, b.pattern.view(), wanted(ctx, b.pattern, order, options, pattern),
                              spai_limits(static_cast<double>(a.nnz()), a.rows));
  }
  row_ptr_ = make_array(ctx, layout.pattern.row_ptr.cspan());
  col_ = make_array(ctx, layout.pattern.col.cspan());
  val_ = Array<T, S>(ctx, col_.size());
  touched_ = make_array(ctx, layout.touched.cspan());
  residual_ = Array<double, S>(ctx, rows_);
  norm_ = Array<double, S>(ctx, 1);
  verdict_ = Array<SpaiVerdict, S>(ctx, 1);
  scratch_ = make_spai_scratch<T>(ctx, layout);
  limited_ = shortened_ + layout.limited;
  most_rows_ = layout.most_rows;
  most_columns_ = layout.most_columns;
  pattern_ = std::move(layout.pattern);
  clock.end("pattern");
  solve(ctx);
  clock.end("numeric");
}

// B with the values that `a` holds, and the way that later ones take.
template <class T, Space S>
void SpaiProblems<T, S>::take_rows(const Context<S>& ctx, const CsrView<T, S>& a, const SourcedSparsity& b) {
  b_row_ptr_ = make_array(ctx, b.pattern.row_ptr.cspan());
  b_col_ = make_array(ctx, b.pattern.col.cspan());
  b_val_ = Array<T, S>(ctx, a.nnz());
  if (b.source.empty()) {  // in A's own order
    copy<T>(ctx, a.val, b_val_.span());
    if (a.value_map != nullptr) b_source_ = copy_of(ctx, *a.value_map);
    return;
  }
  const Array<Offset, S> positions = make_array(ctx, b.source.cspan());
  ValueMap<S> own = make_value_map(ctx, positions.cspan(), a.nnz());
  gather<T, S>(ctx, a.val, own, b_val_.span());
  b_source_ = a.value_map == nullptr ? std::move(own) : make_value_map(ctx, positions.cspan(), a.nnz(), a.value_map);
}

template <class T, Space S>
Sparsity SpaiProblems<T, S>::wanted(const Context<S>& ctx, const Sparsity& b, const RowOrder<S>& order,
                                    const PrecondOptions& options, SpaiPattern pattern) {
  const Context<Space::host> host = host_context(ctx);
  if (pattern == SpaiPattern::diagonal) return diagonal_sparsity(host, b.rows);
  const PatternOptions& shape = options.of<PatternOptions>();
  const SpaiOptions& own = options.of<SpaiOptions>();
  if (shape.pattern != nullptr) {
    const GivenFold fold =
        options.of<SpaiOptions>().side == PrecondSide::right ? GivenFold::transposed : GivenFold::none;
    return given_sparsity(host, *shape.pattern, b.rows, to_vector(ctx, order.new_of_old.cspan()), fold);
  }
  if (own.adaptive == 0 && shape.drop == 0) return affordable(ctx, b, power_of(host, b.view(), own.power));
  const std::vector<T> values = to_vector(ctx, b_val_.cspan());
  if (own.adaptive > 0) return adaptive_sparsity<T>(host, b, values, own.adaptive);
  const CsrView<T, Space::host> view(b.rows, b.cols, b.row_ptr.cspan(), b.col.cspan(), values);
  return affordable(ctx, b, power_of(host, thresholded(host, view, shape.drop).view(), own.power));
}

// Without the columns of long rows that alone would reduce the residual e_j the least: the first step of Grote and
// Huckle.
template <class T, Space S>
Sparsity SpaiProblems<T, S>::affordable(const Context<S>& ctx, const Sparsity& b, Sparsity pattern) {
  const Offset most = most_of_row(short_row_of_spai, pattern);
  bool any = false;
  for (Index j = 0; j < pattern.rows; ++j) any = any || pattern.row_length(j) > most;
  if (!any) return pattern;
  const std::vector<T> values = to_vector(ctx, b_val_.cspan());
  const SpaiRows<T> rows{b.row_ptr.data(), b.col.data(), values.data()};
  const Context<Space::host> host = host_context(ctx);
  return without_long_rows(host, std::move(pattern), most, spai_entry_worth(host, rows, b.rows), &shortened_);
}

template <class T, Space S>
void SpaiProblems<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  gather<T, S>(ctx, values, b_source_, b_val_.span());
  solve(ctx);
}

template <class T, Space S>
Slots<T, S> SpaiProblems<T, S>::slots(const Context<S>& ctx) {
  return {b_val_.span(), positions_of(ctx, b_source_, b_val_.size())};
}

template <class T, Space S>
void SpaiProblems<T, S>::solve(const Context<S>& ctx) {
  SpaiView<T> view;
  view.problems = rows_;
  view.b_row_ptr = b_row_ptr_.data();
  view.b_col = b_col_.data();
  view.b_val = b_val_.data();
  view.row_ptr = row_ptr_.data();
  view.col = col_.data();
  view.val = val_.data();
  view.touched = touched_.data();
  view.residual = residual_.data();
  view.verdict = verdict_.data();
  solve_spai(ctx, view, *scratch_);
  norm2<double, S>(ctx, residual_.cspan(), norm_.data());
  last_verdict_ = fetch(ctx, verdict_.data());
  last_norm_ = fetch(ctx, norm_.data());
}

template <class T, Space S>
void SpaiProblems<T, S>::describe(OperatorInfo& info) const {
  const auto entries = static_cast<double>(val_.size());
  info.figures = {{"density", b_col_.empty() ? 0.0 : entries / static_cast<double>(b_col_.size())},
                  {"residual norm", last_norm_},
                  {"worst local residual", last_verdict_.worst_residual},
                  {"diagonal fallbacks", static_cast<double>(last_verdict_.fallbacks)},
                  {"limited problems", static_cast<double>(limited_)},
                  {"most local rows", static_cast<double>(most_rows_)},
                  {"most local columns", static_cast<double>(most_columns_)}};
  info.bytes.emplace_back("rows of A", b_row_ptr_.bytes() + b_col_.bytes() + b_val_.bytes() + b_source_.bytes());
  info.bytes.emplace_back("solutions", row_ptr_.bytes() + col_.bytes() + val_.bytes() + touched_.bytes() +
                                           residual_.bytes() + norm_.bytes() + verdict_.bytes());
  info.bytes.emplace_back("local problems", bytes_of(*scratch_));
}

#define X(T, S) template class SpaiProblems<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
