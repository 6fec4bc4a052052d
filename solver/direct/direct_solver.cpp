// SPDX-License-Identifier: Apache-2.0
// The direct solver: factors, refinement, and what their failure says of A.
#include "solver/direct/direct_solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <new>
#include <utility>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/memory/available_memory.hpp"
#include "core/memory/work_limit.hpp"
#include "core/vectors/instantiate.hpp"
#include "solver/chain/attempts.hpp"
#include "solver/cost/profiles/factor_constants.hpp"
#include "solver/krylov/monitor/scaled_system.hpp"

namespace newel::detail {
namespace {

constexpr Space host = Space::host;
// Entries are numbered by Index.
constexpr double most_entries = std::numeric_limits<Index>::max();

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g s", seconds);
  return text;
}

template <class T>
ColumnPattern pattern_of(const CsrView<T, host>& a) {
  if (static_cast<double>(a.nnz()) > most_entries) {
    throw InputError("solver 'direct' is for at most " + std::to_string(std::numeric_limits<Index>::max()) +
                     " entries, and this matrix has " + std::to_string(a.nnz()));
  }
  ColumnPattern rows{a.rows, std::vector<Index>(static_cast<std::size_t>(a.rows) + 1), {}};
  for (Index i = 0; i <= a.rows; ++i) rows.begin[static_cast<std::size_t>(i)] = static_cast<Index>(a.row_begin(i));
  rows.row.assign(a.col.data, a.col.data + a.nnz());
  return rows;
}

// The power of two by which a chain has scaled the matrix, for a system near the ends of the range.
template <class T>
int exponent_of(const LinearOperator<T, host>& A) {
  const auto* const scaled = dynamic_cast<const ScaledOperator<T, host>*>(&A);
  return scaled != nullptr ? scaled->exponent() : 0;
}

template <class T>
bool is_symmetric(const Context<host>& ctx, const SolverMatrix<T, host>& matrix) {
  return (matrix.traits != nullptr ? *matrix.traits : matrix_traits(ctx, matrix.a)).symmetric();
}

}  // namespace

template <class T>
DirectSolver<T>::DirectSolver(const HostContext& ctx, const FactorLibrary& library,
                              const SolverMatrix<T, host>& matrix)
    : most_seconds_(matrix.most_seconds),
      factors_(library, pattern_of(matrix.a), is_symmetric(ctx, matrix)),
      r_(ctx, matrix.a.rows),
      best_(ctx, matrix.a.rows),
      work_(ctx, matrix.a.rows),
      scratch_(ctx, 1),
      correction_(static_cast<std::size_t>(matrix.a.rows)) {
  if (matrix.a.value_map != nullptr) source_ = positions_of(ctx, *matrix.a.value_map, matrix.a.nnz());
  old_of_new_ = to_vector(ctx, matrix.order.old_of_new.cspan());
  values_.assign(matrix.a.val.data, matrix.a.val.data + matrix.a.nnz());
  prepare(ctx, factors_);
  factorise();
}

template <class T>
void DirectSolver<T>::refresh(const HostContext&, Span<const T, host> values) {
  for (std::size_t k = 0; k < values_.size(); ++k) {
    values_[k] = values[source_.empty() ? static_cast<Offset>(k) : source_[k]];
  }
  state_ = State::values_are_new;
}

// Of what is infinite, the count stopped there.
template <class T>
void DirectSolver<T>::prepare(const HostContext& ctx, ScaledFactors& factors) {
  within_memory([&] { order_and_analyse(ctx, factors); });
}

template <class T>
void DirectSolver<T>::order_and_analyse(const HostContext& ctx, ScaledFactors& factors) {
  const double squares = most_seconds_ * factor_constants.lu_squares_per_second;
  const double most = std::min(most_entries, std::sqrt(squares * static_cast<double>(values_.size() + 1)));
  const FactorCost cost = factors.order(most);
  if (cost.seconds > most_seconds_) {
    const std::string about = std::isfinite(cost.seconds) ? "about " + seconds_text(cost.seconds) + ", " : "";
    throw InputError("its factors would take " + about + "more than the " + seconds_text(most_seconds_) +
                     " that are allowed (an estimate)");
  }
  if (!std::isfinite(cost.bytes)) throw InputError("its factors would have too many entries to be numbered");
  factor_bytes_ = static_cast<std::uint64_t>(cost.bytes);
  require_available(ctx, "the factors of the matrix (an estimate)", factor_bytes_);
  factors.analyse();
}

// The library allocates by itself.
template <class T>
template <class Work>
void DirectSolver<T>::within_memory(const Work& work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(name_of(host), "the factors of the matrix (an estimate)", factor_bytes_, {});
  }
}

// False: they are refused, and the symmetric factors stay.
template <class T>
bool DirectSolver<T>::take_lu(const HostContext& ctx) {
  if (!factors_.symmetric() || !refused_.empty()) return false;
  const auto refuse = [&](const Error& e) { refused_.push_back({"L U with row pivoting", e.what()}); };
  try {
    ScaledFactors lu = factors_.as_lu();
    prepare(ctx, lu);
    factors_ = std::move(lu);
    state_ = State::values_are_new;
    return true;
  } catch (const InputError& e) {
    refuse(e);
  } catch (const OutOfMemory& e) {
    refuse(e);
  }
  return false;
}

// False: there are none.
template <class T>
bool DirectSolver<T>::factorise() {
  if (state_ != State::values_are_new) return state_ == State::factorised;
  state_ = State::no_factors;
  within_memory([&] {
    if (factors_.factorise(values_)) state_ = State::factorised;
  });
  return state_ == State::factorised;
}

// x += inverse(A) r; the factors are those of A without its exponent.
template <class T>
void DirectSolver<T>::correct(Span<T, host> x, int exponent) {
  for (std::int64_t i = 0; i < r_.size(); ++i) correction_[static_cast<std::size_t>(i)] = double{r_.data()[i]};
  factors_.solve(correction_, -exponent);
  for (std::int64_t i = 0; i < x.size; ++i) x[i] = static_cast<T>(x[i] + correction_[static_cast<std::size_t>(i)]);
}

// True: the tolerance is met. Keeps the best x; the first step is the solve itself. A step from an x that is right
// but for its last digits may take one of them the wrong way, and the next one puts it right.
template <class T>
bool DirectSolver<T>::refine(const HostContext& ctx, Monitor& monitor) {
  constexpr int most_steps = 20, most_in_vain = 3;
  constexpr double least_gain = 0.5;
  const Span<T, host> x = monitor.residual.system().x;
  double best = monitor.residual.norm();
  copy<T>(ctx, Span<const T, host>(x), best_.span());
  for (int step = 0, in_vain = 0; step < most_steps && in_vain < most_in_vain; ++step) {
    correct(x, exponent_of(monitor.residual.system().A));
    monitor.residual.x_has_changed();
    if (step > 0) ++monitor.report.refinements;
    if (monitor.residual.form(r_.span())) return true;
    const double now = monitor.residual.norm();
    in_vain = now <= least_gain * best ? 0 : in_vain + 1;
    if (now < best) {
      best = now;
      copy<T>(ctx, Span<const T, host>(x), best_.span());
    }
    if (!std::isfinite(now)) break;
  }
  if (!(monitor.residual.norm() <= best)) {
    copy<T>(ctx, best_.cspan(), x);
    monitor.residual.x_has_changed();
    monitor.residual.form(r_.span());
  }
  return false;
}

// If the pattern of the values alone makes the matrix singular, and time is left to find that.
template <class T>
void DirectSolver<T>::name_unmatched(const HostContext& ctx, Failure& failure) const {
  ProductMatching m;
  try {
    m = factors_.matching(ctx, values_);
  } catch (const WorkInterrupted&) {
    return;
  }
  if (m.perfect()) return;
  const auto for_caller = [&](Index i) { return old_of_new_.empty() ? i : old_of_new_[static_cast<std::size_t>(i)]; };
  failure.structural_rank = m.matched;
  failure.unmatched_row = for_caller(m.unmatched_row());
  failure.unmatched_column = for_caller(m.unmatched_column());
}

// What ended a solve above its tolerance: where rounding is not the reason, the condition of A may be.
template <class T>
void DirectSolver<T>::explain(const HostContext& ctx, SolveReport& report) {
  report.failure.untried = refused_;
  if (report.failure.cause == Cause::rounding || !refused_.empty())
    return overrule(report, report.status, report.failure);
  Failure failure{Cause::singular};
  if (state_ == State::no_factors) {
    if (!std::all_of(values_.begin(), values_.end(), [](double value) { return std::isfinite(value); })) return;
    name_unmatched(ctx, failure);
    failure.condition = std::numeric_limits<double>::infinity();
  } else {
    constexpr double no_digit = 1 / std::numeric_limits<double>::epsilon();
    failure.condition = factors_.condition();
    if (!(failure.condition >= no_digit)) return;
    name_unmatched(ctx, failure);  // rounding may hide a pivot of 0
  }
  overrule(report, Status::breakdown, failure);
}

template <class T>
SolveReport DirectSolver<T>::run(const SolveRequest<T, host>& request) {
  const HostContext& ctx = request.ctx;
  SolveRequest<T, host> alone = request;
  alone.exchange = nullptr;
  alone.M = nullptr;
  Monitor monitor(name(), r_.size(), alone, scratch_.data(), 0);
  if (!monitor.open(r_.span())) return monitor.close(r_.span(), work_.span());
  if (!monitor.residual.known()) monitor.residual.form(r_.span());
  monitor.clock.tell(alone, {name(), 0, monitor.residual.norm(), monitor.report.relative(monitor.residual.norm()),
                             monitor.residual.tolerance(), monitor.clock.seconds()});
  if (monitor.clock.interrupted()) {
    monitor.conclude(Event::none);
    return monitor.close(r_.span(), work_.span());
  }
  bool met = factorise() && refine(ctx, monitor);
  if (!met && take_lu(ctx)) met = factorise() && refine(ctx, monitor);
  if (state_ == State::no_factors) monitor.residual.form(r_.span());  // which shows entries that are not finite
  monitor.report.recurrence_residual = monitor.residual.norm();
  if (met) {
    monitor.outcome.conclude(Status::converged);
  } else if (!std::isfinite(monitor.residual.norm())) {
    monitor.conclude(Event::not_finite);
  } else {
    monitor.outcome.conclude_stagnation();
  }
  SolveReport report = monitor.close(r_.span(), work_.span());
  if (report.status == Status::stagnation) explain(ctx, report);
  return report;
}

#define X(T, S) template class DirectSolver<T>;
NEWEL_FOR_TYPES(X, host)
#undef X

}  // namespace newel::detail
