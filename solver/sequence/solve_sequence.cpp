// SPDX-License-Identifier: Apache-2.0
// Guesses before a call, and solutions after it.
#include "solver/sequence/solve_sequence.hpp"

#include <algorithm>
#include <utility>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "solver/krylov/monitor/solve_clock.hpp"
#include "solver/sequence/costs_of_ranks.hpp"

namespace newel::detail {
namespace {

template <class T, Space S>
GuessCosts costs_of_ranks(const SequenceSystem<T, S>& system) {
  const GuessCosts own = system.costs();
  const auto [iteration, product, vectors] =
      seconds_of_ranks(system.ctx, std::array{own.iteration, own.product, own.vectors});
  return {iteration, product, vectors};
}

}  // namespace

template <class T, Space S>
InitialGuess SolveSequence<T, S>::begin(const SequenceSystem<T, S>& system, Span<const T, S> b, Span<T, S> x,
                                        Index columns, InitialGuess from) {
  using Kind = GuessRule::Kind;
  under_way_.assign(static_cast<std::size_t>(columns), {});
  if (!used() || columns == 0) return from;
  const bool zero = rule_.kind == Kind::zero;
  if (zero) fill<T, S>(system.ctx, T(0), x);
  if (zero) from = InitialGuess::zero;
  for (GuessReport& report : under_way_) report.from = from == InitialGuess::zero ? "zero" : "given";
  if (zero || system.needs_no_guess || policy_.next() != GuessPolicy::Use::guess) return from;
  bool all_zero = true;
  for (Index c = 0; c < columns; ++c) {
    const auto at = static_cast<std::size_t>(c);
    if (at >= past_.size()) {
      all_zero = all_zero && from == InitialGuess::zero;
      continue;
    }
    const SolveClock clock;
    const std::int64_t first = std::int64_t{c} * system.A.rows(), n = system.A.rows();
    const GuessRequest<T, S> request{system.A, system.definite, b.subspan(first, n), x.subspan(first, n), from};
    all_zero = past_[at].prepare(system.ctx, request, under_way_[at]) == InitialGuess::zero && all_zero;
    under_way_[at].seconds = clock.seconds();
  }
  if (all_zero || from == InitialGuess::in_x) return all_zero ? InitialGuess::zero : InitialGuess::in_x;
  for (Index c = 0; c < columns; ++c) {  // what was zero by the word of the caller
    const auto at = static_cast<std::size_t>(c);
    if (under_way_[at].from != "zero") continue;
    fill<T, S>(system.ctx, T(0), x.subspan(std::int64_t{c} * system.A.rows(), system.A.rows()));
  }
  return InitialGuess::in_x;
}

template <class T, Space S>
void SolveSequence<T, S>::end(const SequenceSystem<T, S>& system, Span<const T, S> x,
                              std::vector<SolveReport*> reports) {
  if (!used() || reports.empty() || under_way_.size() != reports.size()) return;
  int iterations = 0;
  bool converged = true;
  for (std::size_t c = 0; c < reports.size(); ++c) {
    SolveReport& report = *reports[c];
    report.guess = std::move(under_way_[c]);
    report.guess.residual = report.initial_residual;
    if (report.guess.from == "given" || report.guess.vectors == 0)
      report.guess.given_residual = report.initial_residual;
    iterations += report.iterations;
    converged = converged && report.converged();
  }
  if (!rule_.keeps() || system.needs_no_guess) return;
  const GuessPolicy::Use use = policy_.next();
  const auto products = [this] {
    std::int64_t sum = 0;
    for (const PastSolutions<T, S>& past : past_) sum += past.products();
    return sum;
  };
  if (converged && use != GuessPolicy::Use::nothing && !no_memory_) keep(system, x, reports);
  const int as_given = policy_.as_given();
  if (use == GuessPolicy::Use::guess && as_given > 0 && converged) {
    const double share = 1.0 / static_cast<double>(reports.size());
    for (SolveReport* report : reports) report->guess.iterations_saved = as_given * share - report->iterations;
  }
  if (!converged || !policy_.decides()) return;
  const std::int64_t made = std::exchange(products_before_, products());
  // The cost model takes longer than some solves.
  policy_.solved(iterations, products_before_ - made, policy_.weighs() ? costs_of_ranks(system) : GuessCosts{});
  if (policy_.next() == GuessPolicy::Use::nothing) {
    past_.clear();
    products_before_ = 0;
  }
}

// A solution that took no iterations is a combination of those that are kept; only steps of equal length need it.
template <class T, Space S>
void SolveSequence<T, S>::keep(const SequenceSystem<T, S>& system, Span<const T, S> x,
                               const std::vector<SolveReport*>& reports) {
  const bool every_step = rule_.kind == GuessRule::Kind::extrapolate;
  try {
    while (past_.size() < reports.size()) past_.emplace_back(rule_);
    for (std::size_t c = 0; c < reports.size(); ++c) {
      const SolveClock clock;
      if (reports[c]->iterations == 0 && !every_step && past_[c].ring().held() > 0) continue;
      const std::int64_t n = system.A.rows();
      past_[c].keep(system.ctx, system.A, system.definite, x.subspan(static_cast<std::int64_t>(c) * n, n));
      reports[c]->guess.seconds += clock.seconds();
    }
  } catch (const OutOfMemory&) {
    if (ranks_of(system.ctx) != nullptr) throw;  // others go on with sums that this one would not join
    past_.clear();
    no_memory_ = true;
  }
}

template <class T, Space S>
void SolveSequence<T, S>::values_changed() {
  for (PastSolutions<T, S>& past : past_) past.values_changed();
}

template <class T, Space S>
std::vector<Span<T, S>> SolveSequence<T, S>::vectors() {
  std::vector<Span<T, S>> all;
  for (PastSolutions<T, S>& past : past_) {
    SolutionRing<T, S>& ring = past.ring();
    for (int j = 0; j < ring.held(); ++j) {
      all.push_back(ring.difference(j));
      all.push_back(ring.image(j));
    }
    all.push_back(ring.last());
  }
  return all;
}

template <class T, Space S>
void SolveSequence<T, S>::begin_state(const Context<S>& ctx, std::int64_t rows, const std::vector<PastState>& columns,
                                      const std::vector<std::int64_t>& policy) {
  past_.clear();
  products_before_ = 0;
  policy_ = GuessPolicy(decides(rule_));
  if (!policy.empty()) policy_.set_counts(policy);
  for (const PastState& state : columns) past_.emplace_back(rule_).begin_state(ctx, rows, state);
}

#define X(T, S) template class SolveSequence<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
