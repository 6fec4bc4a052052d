// SPDX-License-Identifier: Apache-2.0
// Solving by the last resort of "auto".
#include "solver/system/last_resort.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include <newel/core/vector_ops.hpp>

#include "core/memory/work_limit.hpp"
#include "core/vectors/alone.hpp"
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "reorder/scaling/product_matching.hpp"
#include "solver/chain/attempts.hpp"
#include "solver/cost/profiles/factor_constants.hpp"
#include "solver/cost/too_long.hpp"
#include "solver/operators/present_matrix.hpp"
#include "solver/system/callers_rows.hpp"

namespace newel::detail {

// Null: there is none for this system.
template <class T, Space S>
const SolverMethod* LastResort<T, S>::method_for(const Operators<T, S>& system) {
  const SolverMethod* const method = solver_of_last_resort();
  const bool is_for_system = system.options.solver.name == "auto" && system.options.null_space == NullSpace::none &&
                             ranks_of(system.ctx) == nullptr;
  if (method == nullptr || !is_for_system) return nullptr;
  return method->make_from_matrix.template get<T, S>() != nullptr ? method : nullptr;
}

template <class T, Space S>
bool LastResort<T, S>::ready_within(const Operators<T, S>& system, double seconds) {
  const SolverMethod* const method = method_for(system);
  if (method == nullptr) return false;
  seconds_to_be_ready_ = std::numeric_limits<double>::infinity();
  try {
    return prepare(system, *method, std::min(seconds, work_limit(system.ctx).seconds_left()));
  } catch (const TooLong& e) {
    seconds_to_be_ready_ = e.seconds();
  } catch (const OutOfMemory&) {
    require_alone(system.ctx);
  } catch (const InputError&) {
  }
  forget();
  return false;
}

template <class T, Space S>
std::optional<SolveReport> LastResort<T, S>::solve(const Operators<T, S>& system, Span<const T, S> b, Span<T, S> x,
                                                   const StopCriterion& stop, const ProgressFn& progress,
                                                   SolveReport& before) {
  const SolverMethod* const method = method_for(system);
  if (method == nullptr) return {};
  const bool short_attempt = ended_by_rounding(before);
  const auto start = std::chrono::steady_clock::now();
  try {
    const double most_seconds =
        short_attempt ? factor_limits.most_seconds_after_rounding : factor_limits.most_seconds_of_last_resort;
    if (!prepare(system, *method, std::min(most_seconds, work_limit(system.ctx).seconds_left()))) return {};
    if (!std::isfinite(before.true_residual)) fill<T, S>(system.ctx, T(0), x);
    StopCriterion own = stop;
    own.max_iterations = std::max(1, stop.max_iterations);  // it makes none
    SolveReport report = chain_->solve(b, x, own, progress);
    complete(system, report, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    answers_ = report.converged() || is_unsolvable(report);
    if (!answers_ && !ended_by_rounding(report)) forget();
    return report;
  } catch (const OutOfMemory& e) {
    require_alone(system.ctx);
    if (!short_attempt) before.failure.untried.push_back({method->name, e.what()});
  } catch (const InputError& e) {
    if (!short_attempt) before.failure.untried.push_back({method->name, e.what()});
  }
  forget();
  answers_ = false;
  return {};
}

// `seconds`: with what was set up for it.
template <class T, Space S>
void LastResort<T, S>::complete(const Operators<T, S>& system, SolveReport& report, double seconds) {
  name_in_callers_order(system.ctx, system.order, report);
  report.seconds = seconds;
  for (Attempt& attempt : report.attempts) {
    attempt.preconditioner = "none";
    attempt.seconds = seconds;
  }
}

template <class T, Space S>
std::vector<SolveReport> LastResort<T, S>::solve_columns(const Operators<T, S>& system, Span<const T, S> b,
                                                         Span<T, S> x, Index columns, const StopCriterion& stop,
                                                         const ProgressFn& progress, InitialGuess guess) {
  if (!ready_within(system, factor_limits.most_seconds_of_last_resort)) {
    answers_ = false;
    return {};
  }
  StopCriterion own = stop;
  own.max_iterations = std::max(1, stop.max_iterations);  // it makes none
  std::vector<SolveReport> reports = chain_->solve_columns(b, x, columns, own, progress, guess);
  for (SolveReport& report : reports) {
    complete(system, report, report.seconds);
    if (report.converged() || ended_by_rounding(report) || is_unsolvable(report)) continue;
    answers_ = false;
    forget();
  }
  return reports;
}

template <class T, Space S>
bool LastResort<T, S>::is_structurally_singular(const Operators<T, S>& system) {
  if constexpr (S == Space::host) {
    const std::optional<ValueTraits>& traits = system.chosen.traits;
    const bool has_diagonal = traits && traits->full_diagonal() && !system.chosen.traits_older;
    if (!traits || has_diagonal || method_for(system) == nullptr) return false;
    if (!structurally_singular_) {
      const PresentMatrix<T, S> present(system);
      structurally_singular_ =
          present.view() && !product_matching(system.ctx, entry_sizes<T>(*present.view())).perfect();
    }
    return *structurally_singular_;
  }
  return false;
}

template <class T, Space S>
void LastResort<T, S>::forget() {
  chain_.reset();
  solver_.reset();
}

// False: the matrix is not there. The method is made as for a caller whose numbering is the solver's.
template <class T, Space S>
bool LastResort<T, S>::prepare(const Operators<T, S>& system, const SolverMethod& method, double most_seconds) {
  if (solver_ != nullptr && !values_are_new_) {
    chain_->use(system.matrix(), nullptr);
    return true;
  }
  const PresentMatrix<T, S> present(system);
  const std::optional<CsrView<T, S>>& a = present.view();
  if (!a) return false;
  if (solver_ != nullptr) {
    solver_->refresh(system.ctx, a->val);
  } else {
    const RowOrder<S> natural;
    SolverMatrix<T, S> matrix{*a, natural};
    if (system.chosen.traits && !system.chosen.traits_older) matrix.traits = &*system.chosen.traits;
    matrix.most_seconds = most_seconds;
    solver_ = method.make_from_matrix.template get<T, S>()(system.ctx, matrix, system.options.solver);
  }
  const std::vector<ChainStep<T, S>> alone = {{method.name, &method, false, [solver = solver_] { return solver; }}};
  chain_ = std::make_unique<SolverChain<T, S>>(system.ctx, alone, system.matrix(), nullptr, false);
  values_are_new_ = false;
  return true;
}

#define X(T, S) template class LastResort<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
