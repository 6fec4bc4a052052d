// SPDX-License-Identifier: Apache-2.0
// SPAI on ranks: the local problems of a rank, and M from their solutions.
#include "distributed/precond/rank_spai.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include <newel/precond/spai/spai_options.hpp>
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "distributed/precond/rank_sparsity.hpp"
#include "distributed/rows/values_in_space.hpp"
#include "precond/spai/entry_worth.hpp"
#include "spmv/plan/phase_clock.hpp"

namespace newel::detail {
namespace {

bool from_right(const PrecondOptions& options) { return options.of<SpaiOptions>().side == PrecondSide::right; }

}  // namespace

template <class T>
RankSpaiProblems<T>::RankSpaiProblems(const Context<Space::host>& ctx, const RankMatrix<T>& a,
                                      const PrecondOptions& options, SpaiPattern pattern)
    : verdict_(ctx, 1) {
  const bool diagonal = pattern == SpaiPattern::diagonal;
  const int reach = diagonal ? 0 : options.of<SpaiOptions>().power;
  if (from_right(options)) {
    transpose_ = std::make_unique<RankTranspose<T>>(ctx, a.first_rows, a.rows.row_ptr, a.rows.col);
    b_val_ = Array<T, Space::host>(ctx, transpose_->entries());
    transpose_->values(a.rows.val, b_val_.span());
    const RankPattern b = transpose_->take_pattern();
    near_.emplace(ctx, a.first_rows, b.with(b_val_.cspan()), reach);
  } else {
    near_.emplace(ctx, a.first_rows, a.rows, reach);
  }
  const CsrView<T, Space::host> b = near_->view();
  double entries = static_cast<double>(a.rows.col.size);
  sum_over_ranks(ctx, &entries, 1);
  const double mean = entries / static_cast<double>(std::max<std::int64_t>(all_rows(ctx, 0), 1));
  layout_ = make_spai_layout(ctx, b, diagonal ? diagonal_sparsity(ctx, b.rows) : wanted(ctx, options),
                             spai_limits(mean, 1));
  limited_ += layout_.limited;
  val_ = Array<T, Space::host>(ctx, layout_.pattern.nnz());
  residual_ = Array<double, Space::host>(ctx, b.rows);
  scratch_ = make_spai_scratch<T>(ctx, layout_);
  solve(ctx);
}

// The problems of other ranks' rows have their diagonal entry alone, and are not solved.
template <class T>
Sparsity RankSpaiProblems<T>::wanted(const Context<Space::host>& ctx, const PrecondOptions& options) {
  const CsrView<T, Space::host> b = near_->view();
  const double drop = options.of<PatternOptions>().drop;
  const int power = options.of<SpaiOptions>().power;
  const Sparsity whole = drop > 0 ? power_of(ctx, thresholded(ctx, b, drop).view(), power) : power_of(ctx, b, power);
  const SpaiRows<T> rows{b.row_ptr64.data, b.col.data, b.val.data};
  return without_long_rows_on_ranks(ctx, *near_, only_own(ctx, *near_, whole, OtherRows::diagonal), short_row_of_spai,
                                    spai_entry_worth(ctx, rows, b.rows), &limited_);
}

template <class T>
void RankSpaiProblems<T>::refresh(const Context<Space::host>& ctx, Span<const T, Space::host> values) {
  if (transpose_ != nullptr) {
    transpose_->values(values, b_val_.span());
    values = b_val_.cspan();
  }
  near_->refresh(values);
  solve(ctx);
}

template <class T>
void RankSpaiProblems<T>::solve(const Context<Space::host>& ctx) {
  const CsrView<T, Space::host> b = near_->view();
  SpaiView<T> view;
  view.problems = b.rows;
  view.b_row_ptr = b.row_ptr64.data;
  view.b_col = b.col.data;
  view.b_val = b.val.data;
  view.row_ptr = layout_.pattern.row_ptr.data();
  view.col = layout_.pattern.col.data();
  view.val = val_.data();
  view.touched = layout_.touched.data();
  view.residual = residual_.data();
  view.verdict = verdict_.data();
  solve_spai_rows(ctx, view, near_->own_begin(), near_->own_rows(), *scratch_);
}

template <class T>
RankPattern RankSpaiProblems<T>::pattern() const {
  return in_whole(*near_, layout_.pattern.row_ptr.cspan(), layout_.pattern.col.cspan());
}

template <class T>
Span<const T, Space::host> RankSpaiProblems<T>::values() const {
  const Offset begin = layout_.pattern.row_ptr[near_->own_begin()],
               end = layout_.pattern.row_ptr[near_->own_begin() + near_->own_rows()];
  return val_.cspan().subspan(begin, end - begin);
}

template <class T>
void RankSpaiProblems<T>::describe(const Context<Space::host>& ctx, OperatorInfo& info) const {
  const Index begin = near_->own_begin(), end = begin + near_->own_rows();
  const CsrView<T, Space::host> b = near_->view();
  double sums[] = {0, static_cast<double>(values().size), static_cast<double>(b.row_begin(end) - b.row_begin(begin)),
                   static_cast<double>(verdict_[0].fallbacks)};
  double limited = limited_, most[] = {verdict_[0].worst_residual, static_cast<double>(layout_.most_rows),
                                       static_cast<double>(layout_.most_columns)};
  for (Index j = begin; j < end; ++j) sums[0] += residual_[j] * residual_[j];
  sum_over_ranks(ctx, sums, 4);
  sum_over_ranks(ctx, &limited, 1);
  max_over_ranks(ctx, most, 3);
  info.figures = {{"density", sums[2] == 0 ? 0.0 : sums[1] / sums[2]},
                  {"residual norm", std::sqrt(sums[0])},
                  {"worst local residual", most[0]},
                  {"diagonal fallbacks", sums[3]},
                  {"limited problems", limited},
                  {"most local rows", most[1]},
                  {"most local columns", most[2]}};
  info.bytes.emplace_back("rows of A",
                          near_->bytes() + b_val_.bytes() + (transpose_ == nullptr ? 0 : transpose_->bytes()));
  info.bytes.emplace_back("solutions", layout_.pattern.row_ptr.bytes() + layout_.pattern.col.bytes() + val_.bytes() +
                                           layout_.touched.bytes() + residual_.bytes() + verdict_.bytes());
  info.bytes.emplace_back("local problems", bytes_of(*scratch_));
}

template <class T, Space S>
RankSpai<T, S>::RankSpai(const Context<S>& of_rank, const RankMatrix<T>& a, const PrecondOptions& options)
    : symmetric_(options.symmetric),
      right_(from_right(options)),
      problems_(host_context(of_rank), a, options, SpaiPattern::as_options_say) {
  const Context<Space::host>& ctx = host_context(of_rank);
  PhaseClock clock;
  RankPattern pattern = problems_.pattern();
  if (symmetric_) {
    const RankPattern transposed = take_transpose(ctx, a, pattern);
    pattern = take_union(ctx, pattern, transposed);
  } else if (right_) {
    pattern = take_transpose(ctx, a, pattern);
  }
  matrix_ = std::make_unique<DistributedOperator<T, S>>(of_rank, pattern.with(take_values(ctx)), a.first_rows,
                                                        &a.old_of_new);
  clock.end("format");
  info_.name = "spai";
  info_.detail = std::string(right_ ? "from the right" : "from the left") + ", the pattern of A^" +
                 std::to_string(options.of<SpaiOptions>().power) + (symmetric_ ? ", (M + M^T)/2" : "") + ", on ranks";
  info_.rows = info_.cols = rows();
  info_.nonzeros = info_.stored_slots = pattern.row_ptr.back();
  problems_.describe(ctx, info_);
  info_.bytes.emplace_back("M", matrix_->stored().bytes());
  info_.bytes.emplace_back("transposed M", transposed_.bytes() + sum_.bytes() + mirror_.bytes() + own_.bytes() +
                                               mirrored_.bytes() + (transpose_ ? transpose_->bytes() : 0));
  info_.setup_seconds = clock.seconds();
}

template <class T, Space S>
RankPattern RankSpai<T, S>::take_transpose(const Context<Space::host>& ctx, const RankMatrix<T>& a,
                                           const RankPattern& n) {
  const RankRows<T> rows = n.with(problems_.values());
  transpose_ = std::make_unique<RankTranspose<T>>(ctx, a.first_rows, rows.row_ptr, rows.col);
  transposed_ = Array<T, Space::host>(ctx, transpose_->entries());
  return transpose_->take_pattern();
}

// Both rows of each pair in step.
template <class T, Space S>
RankPattern RankSpai<T, S>::take_union(const Context<Space::host>& ctx, const RankPattern& n,
                                       const RankPattern& transposed) {
  RankPattern both;
  std::vector<Offset> own, mirrored;
  for (std::size_t i = 0; i + 1 < n.row_ptr.size(); ++i) {
    Offset k = n.row_ptr[i], l = transposed.row_ptr[i];
    const Offset k_end = n.row_ptr[i + 1], l_end = transposed.row_ptr[i + 1];
    while (k < k_end || l < l_end) {
      const auto column_of = [](const RankPattern& of, Offset at) { return of.col[static_cast<std::size_t>(at)]; };
      const bool has_own = l == l_end || (k < k_end && column_of(n, k) <= column_of(transposed, l));
      const bool has_other = k == k_end || (l < l_end && column_of(transposed, l) <= column_of(n, k));
      both.col.push_back(has_own ? column_of(n, k) : column_of(transposed, l));
      own.push_back(has_own ? k++ : Offset{-1});
      mirrored.push_back(has_other ? l++ : Offset{-1});
    }
    both.row_ptr.push_back(static_cast<Offset>(both.col.size()));
  }
  own_ = make_value_map(ctx, Span<const Offset, Space::host>(own), n.row_ptr.back());
  mirrored_ = make_value_map(ctx, Span<const Offset, Space::host>(mirrored), transposed.row_ptr.back());
  sum_ = Array<T, Space::host>(ctx, both.row_ptr.back());
  mirror_ = Array<T, Space::host>(ctx, both.row_ptr.back());
  return both;
}

// The values of M from the solutions.
template <class T, Space S>
Span<const T, Space::host> RankSpai<T, S>::take_values(const Context<Space::host>& ctx) {
  const Span<const T, Space::host> solutions = problems_.values();
  if (transpose_ == nullptr) return solutions;
  transpose_->values(solutions, transposed_.span());
  if (!symmetric_) return transposed_.cspan();
  gather<T, Space::host>(ctx, solutions, own_, sum_.span());
  gather<T, Space::host>(ctx, transposed_.cspan(), mirrored_, mirror_.span());
  axpby<T, Space::host>(ctx, T(0.5), mirror_.cspan(), T(0.5), sum_.span());
  return sum_.cspan();
}

template <class T, Space S>
void RankSpai<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  std::vector<T> values_here;
  Array<T, S> there;
  problems_.refresh(host_context(ctx), on_host(ctx, values, values_here));
  matrix_->refresh(ctx, in_space<T, S>(ctx, take_values(host_context(ctx)), there));
}

template <class T, Space S>
RankSpai0<T, S>::RankSpai0(const Context<S>& of_rank, const RankMatrix<T>& a, const PrecondOptions& options)
    : rows_(static_cast<Index>(a.rows.row_ptr.size - 1)),
      old_of_new_(a.old_of_new.begin(), a.old_of_new.end()),
      problems_(host_context(of_rank), a, options, SpaiPattern::diagonal),
      diagonal_(of_rank, std::max<Index>(rows_, 1)) {
  take_values(of_rank);
  info_.name = "spai0";
  info_.detail = std::string(from_right(options) ? "from the right" : "from the left") + ", on ranks";
  info_.rows = info_.cols = rows_;
  info_.nonzeros = info_.stored_slots = rows_;
  problems_.describe(host_context(of_rank), info_);
  info_.bytes.emplace_back("M", diagonal_.bytes() + old_of_new_.size() * sizeof(Index));
}

template <class T, Space S>
void RankSpai0<T, S>::take_values(const Context<S>& ctx) {
  const Span<const T, Space::host> values = problems_.values();
  std::vector<T> ordered(values.begin(), values.end());
  for (std::size_t i = 0; i < old_of_new_.size(); ++i) ordered[i] = values[old_of_new_[i]];
  copy<T>(ctx, Span<const T, Space::host>(ordered), diagonal_.span().subspan(0, rows_));
}

template <class T, Space S>
void RankSpai0<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  std::vector<T> values_here;
  problems_.refresh(host_context(ctx), on_host(ctx, values, values_here));
  take_values(ctx);
}

template <class T, Space S>
void RankSpai0<T, S>::apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const {
  multiply<T, S>(ctx, alpha, entries(), x, beta, y);
}

template <class T, Space S>
void RankSpai0<T, S>::apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const {
  multiply_dot<T, S>(ctx, entries(), x, y, xy);
}

template class RankSpaiProblems<double>;
template class RankSpaiProblems<float>;
#define X(T, S)                   \
  template class RankSpai0<T, S>; \
  template class RankSpai<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
