// SPDX-License-Identifier: Apache-2.0
// Scaling and matching a system, and what a solve of it says of the system as it was given.
#include "solver/system/scaled_system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <newel/core/matrix_traits.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "reorder/permute_pattern.hpp"
#include "reorder/scaling/product_matching.hpp"
#include "solver/chain/attempts.hpp"
#include "solver/krylov/monitor/convergence_monitor.hpp"
#include "solver/krylov/monitor/limits_left.hpp"

namespace newel::detail {
namespace {

// A diagonal entry so many bits below the largest of its row is tiny.
constexpr int tiny_bits = 10;
// Corrections of x by a solve with its residual, and how accurately these need to be solved at most.
constexpr int most_corrections = 8;
constexpr double least_correction = 1e-8;
constexpr int iterations_of_correction = 100;  // or twice those of the solve

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

// Of two norms; 1 where there is none.
double ratio(double a, double b) { return b > 0 && std::isfinite(b) && std::isfinite(a) ? a / b : 1; }

// A progress of B y = c, in the units of b.
ProgressFn in_units_of_b(const ProgressFn& progress, double b_over_c, double tolerance) {
  if (!progress) return {};
  return [&progress, b_over_c, tolerance](Progress now) {
    now.residual *= b_over_c;
    now.tolerance = tolerance;
    return progress(now);
  };
}

std::int32_t whole_power(double log2) { return static_cast<std::int32_t>(std::lround(log2)); }

template <Space S>
ScalePowers<S> no_scaling(const Context<S>& ctx, Index n) {
  const std::vector<std::int32_t> zeros(static_cast<std::size_t>(n), 0);
  return {make_array(ctx, zeros), make_array(ctx, zeros)};
}

}  // namespace

// What is asked of x in the units of A x = b.
template <class T, Space S>
struct ScaledSystem<T, S>::Units {
  double rhs_norm = 0, tolerance = 0;  // of b
  double initial_residual = 0;         // |b - A x0|
  double relative = 0;                 // the tolerance divided by |b|
  int row_shift = 0;
  double row_norm = 0;      // 2^-row_shift |E b|; 0: rows are not scaled
  double row_relative = 0;  // the tolerance of the rows divided by |E b|
};

template <class T, Space S>
ScaledSystem<T, S>::ScaledSystem(const Context<S>& ctx, const CsrView<T, S>& a, const ScalingWish& wish,
                                 SystemOptions options)
    : ctx_(ctx), wish_(wish), options_(std::move(options)), scratch_(ctx, 1) {
  options_.solver.template of<ScalingOptions>() = {Use::off, Use::off};
  options_.canonicalise = false;
  symmetric_ = matrix_traits(ctx_, a).symmetric();
  c_ = Array<T, S>(ctx_, a.rows);
  y_ = Array<T, S>(ctx_, a.rows);
  work_ = Array<T, S>(ctx_, a.rows);
  best_ = Array<T, S>(ctx_, a.rows);
  make(a);
}

template <class T, Space S>
void ScaledSystem<T, S>::make(const CsrView<T, S>& a) {
  inner_.reset();
  info_ = {wish_.scale, false, wish_.reason};
  base_ = no_scaling(ctx_, a.rows);
  powers_ = no_scaling(ctx_, a.rows);
  column_of_row_ = {};
  row_of_column_ = {};
  if (wish_.match) match(a);
  take_pattern(a);
  take_values(a.val);
  tiny_ = rows_off_diagonal();
  inner_.emplace(ctx_, CsrView<T, S>(matrix_), options_of_inner());
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
typename ScaledSystem<T, S>::Units ScaledSystem<T, S>::units_of(const LinearOperator<T, S>& A, Span<const T, S> b,
                                                                Span<const T, S> x, const StopCriterion& stop,
                                                                InitialGuess guess) {
  Units units;
  units.rhs_norm = units.initial_residual = norm_of(b);
  units.tolerance = std::max(stop.rel_tol * units.rhs_norm, stop.abs_tol);
  const bool has_norm = units.rhs_norm > 0 && std::isfinite(units.rhs_norm);
  units.relative = has_norm ? units.tolerance / units.rhs_norm : stop.rel_tol;
  // A tolerance below rounding is one of large rows alone.
  units.row_relative = std::max(units.relative, 64.0 * std::numeric_limits<T>::epsilon());
  if (wish_.scale) {
    const int exponent = greatest_exponent(ctx_, row_only_.cspan(), b);
    units.row_shift = exponent == no_exponent ? 0 : exponent;
    units.row_norm = row_norm(units, b);
  }
  if (guess == InitialGuess::zero) return units;
  SolveReport of_guess;
  of_guess.rhs_norm = units.rhs_norm;
  judge_.judge(ctx_, A, of_guess, b, x);
  units.initial_residual = of_guess.true_residual;
  return units;
}

template <class T, Space S>
int ScaledSystem<T, S>::scale_rhs(Span<const T, S> v, Span<T, S> c) {
  const int exponent = greatest_exponent(ctx_, powers_.row.cspan(), v);
  const int shift = exponent == no_exponent ? 0 : exponent;
  scale_vector(ctx_, powers_.row.cspan(), 1, -shift, v, c);
  return shift;
}

template <class T, Space S>
void ScaledSystem<T, S>::scale_guess(int shift, Span<const T, S> x, Span<T, S> y) {
  Span<const T, S> in_order = x;
  if (!column_of_row_.empty()) {
    gather<T, S>(ctx_, x, column_of_row_.cspan(), work_.span());
    in_order = work_.cspan();
  }
  scale_vector(ctx_, powers_.column.cspan(), -1, -shift, in_order, y);
  const auto is_finite = [&](Span<const T, S> v) {
    max_abs<T>(ctx_, v, scratch_.data());
    return std::isfinite(fetch(ctx_, static_cast<const double*>(scratch_.data())));
  };
  // A guess that leaves the range here is far from any solution; what is no number is refused with its name.
  if (!is_finite(Span<const T, S>(y)) && is_finite(x)) fill<T, S>(ctx_, T(0), y);
}

template <class T, Space S>
void ScaledSystem<T, S>::unscale(int shift, Span<const T, S> y, Span<T, S> x) {
  if (column_of_row_.empty()) return scale_vector(ctx_, powers_.column.cspan(), 1, shift, y, x);
  scale_vector(ctx_, powers_.column.cspan(), 1, shift, y, c_.span());
  gather<T, S>(ctx_, c_.cspan(), row_of_column_.cspan(), x);
}

template <class T, Space S>
double ScaledSystem<T, S>::row_norm(const Units& units, Span<const T, S> v) {
  scale_vector(ctx_, row_only_.cspan(), 1, -units.row_shift, v, work_.span());
  return norm_of(work_.cspan());
}

// From what is asked of x, as a factor: at most 1 if both tolerances are met.
template <class T, Space S>
double ScaledSystem<T, S>::distance(const Units& units, const SolveReport& report) const {
  const double reached = report.true_residual + report.residual_error_bound;
  const double given = reached <= units.tolerance ? 0 : units.tolerance > 0 ? reached / units.tolerance : INFINITY;
  const bool judges_rows = units.row_norm > 0;
  return std::max(given, judges_rows ? report.scaled_residual / units.row_relative : 0);
}

template <class T, Space S>
StopCriterion ScaledSystem<T, S>::stop_for(const StopCriterion& stop, double relative) const {
  StopCriterion scaled = stop;
  scaled.rel_tol = relative;
  scaled.abs_tol = 0;
  return scaled;
}

// The report of a solve of B y = c as one of A x = b: x is judged, and what is known of earlier iterates is taken
// relative to their right-hand side.
template <class T, Space S>
SolveReport ScaledSystem<T, S>::judged(const LinearOperator<T, S>& A, const Units& units, double b_over_c,
                                       SolveReport report, Span<const T, S> b, Span<const T, S> x) {
  for (double* value : {&report.recurrence_residual, &report.attainable_residual}) *value *= b_over_c;
  for (double& residual : report.history) residual *= b_over_c;
  for (Attempt& attempt : report.attempts) {
    attempt.true_residual *= b_over_c;
    attempt.attainable_residual *= b_over_c;
  }
  report.rhs_norm = units.rhs_norm;
  report.tolerance = units.tolerance;
  report.initial_residual = units.initial_residual;
  const bool was_finite = std::isfinite(report.true_residual);
  judge_.judge(ctx_, A, report, b, x);
  report.attempts.back().true_residual = report.true_residual;
  if (units.row_norm > 0) report.scaled_residual = row_norm(units, judge_.image.cspan()) / units.row_norm;
  if (was_finite && !std::isfinite(report.true_residual)) {
    overrule(report, Status::not_finite, {Cause::solution_out_of_range});
  }
  return report;
}

// x += Q C y, where B y = R (b - A x), until the tolerances are met or x comes no closer. `whole` is the report of x,
// whose residual has just been formed.
template <class T, Space S>
SolveReport ScaledSystem<T, S>::refined(const LinearOperator<T, S>& A, const Units& units, SolveReport whole,
                                        Span<const T, S> b, Span<T, S> x, const StopCriterion& stop,
                                        const ProgressFn& progress) {
  const auto may_go_on = [](const SolveReport& report) {
    return report.converged() || report.status == Status::stagnation;
  };
  double far = distance(units, whole);
  const int most_iterations = std::max(iterations_of_correction, 2 * whole.iterations);
  for (int k = 0; k < most_corrections && far > 1 && std::isfinite(far) && may_go_on(whole); ++k) {
    copy<T>(ctx_, Span<const T, S>(x), best_.span());
    const double before = norm_of(judge_.image.cspan());
    const int shift = scale_rhs(judge_.image.cspan(), c_.span());
    const double of_c = norm_of(c_.cspan());
    if (!(of_c > 0) || !std::isfinite(of_c)) break;
    const double relative = std::clamp(0.5 / far, least_correction, 0.1);
    StopCriterion left = stop_for(limits_left(stop, whole.iterations, whole.seconds), relative);
    left.max_iterations = std::min(left.max_iterations, most_iterations);
    inner_->set_stop_criterion(left);
    SolveReport next = inner_->solve(c_.cspan(), y_.span(), in_units_of_b(progress, before / of_c, units.tolerance),
                                     InitialGuess::zero);
    unscale(shift, y_.cspan(), work_.span());
    axpy<T, S>(ctx_, T(1), work_.cspan(), x);
    next = judged(A, units, before / of_c, std::move(next), b, Span<const T, S>(x));
    const double now = distance(units, next);
    if (!(now < far)) {
      copy<T>(ctx_, best_.cspan(), x);
      take_residual(next, whole);
      next.scaled_residual = whole.scaled_residual;
      next.attempts.back().true_residual = next.true_residual;
    }
    ++next.refinements;
    append_attempt(whole, std::move(next));
    if (!(now <= 0.5 * far)) break;
    far = now;
  }
  const bool failed = whole.status != Status::max_iterations && whole.status != Status::time_limit &&
                      whole.status != Status::stopped_by_caller;
  const bool met = whole.true_residual + whole.residual_error_bound <= units.tolerance;
  if (whole.converged() && !met) {
    overrule(whole, Status::stagnation, stagnation_at(false, whole.relative(whole.true_residual)));
  } else if (met && failed) {
    overrule(whole, Status::converged, {});
  }
  write_reasons(whole, "");
  return whole;
}

template <class T, Space S>
SolveReport ScaledSystem<T, S>::solve(const LinearOperator<T, S>& A, Span<const T, S> b, Span<T, S> x,
                                      const StopCriterion& stop, const ProgressFn& progress, InitialGuess guess) {
  const Units units = units_of(A, b, Span<const T, S>(x), stop, guess);
  const int shift = scale_rhs(b, c_.span());
  if (guess == InitialGuess::in_x) scale_guess(shift, Span<const T, S>(x), y_.span());
  const double b_over_c = ratio(units.rhs_norm, norm_of(c_.cspan()));
  inner_->set_stop_criterion(stop_for(stop, units.relative));
  SolveReport report =
      inner_->solve(c_.cspan(), y_.span(), in_units_of_b(progress, b_over_c, units.tolerance), guess);
  unscale(shift, y_.cspan(), x);
  report = judged(A, units, b_over_c, std::move(report), b, Span<const T, S>(x));
  return refined(A, units, std::move(report), b, x, stop, progress);
}

// The system of B knows one tolerance for all columns; what that leaves is refined alone.
template <class T, Space S>
std::vector<SolveReport> ScaledSystem<T, S>::solve_columns(const LinearOperator<T, S>& A, Span<const T, S> b,
                                                           Span<T, S> x, Index columns, const StopCriterion& stop,
                                                           const ProgressFn& progress, InitialGuess guess) {
  const std::int64_t n = matrix_.rows;
  Array<T, S> cs(ctx_, b.size), ys(ctx_, b.size);
  const auto column_of = [n](auto vectors, Index k) { return vectors.subspan(k * n, n); };
  std::vector<Units> units;
  std::vector<int> shifts;
  double relative = std::numeric_limits<double>::infinity();
  for (Index k = 0; k < columns; ++k) {
    const Span<const T, S> x_k = column_of(Span<const T, S>(x), k);
    units.push_back(units_of(A, column_of(b, k), x_k, stop, guess));
    shifts.push_back(scale_rhs(column_of(b, k), column_of(cs.span(), k)));
    if (guess == InitialGuess::in_x) scale_guess(shifts.back(), x_k, column_of(ys.span(), k));
    relative = std::min(relative, units.back().relative);
  }
  inner_->set_stop_criterion(stop_for(stop, relative));
  std::vector<SolveReport> reports = inner_->solve_columns(cs.cspan(), ys.span(), columns, progress, guess);
  for (Index k = 0; k < columns; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const Span<const T, S> b_k = column_of(b, k);
    const Span<T, S> x_k = column_of(x, k);
    const double b_over_c = ratio(units[at].rhs_norm, norm_of(column_of(cs.cspan(), k)));
    unscale(shifts[at], column_of(ys.cspan(), k), x_k);
    reports[at] = judged(A, units[at], b_over_c, std::move(reports[at]), b_k, Span<const T, S>(x_k));
    reports[at] = refined(A, units[at], std::move(reports[at]), b_k, x_k, stop, progress);
  }
  return reports;
}

#define X(T, S) template class ScaledSystem<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
