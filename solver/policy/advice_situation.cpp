// SPDX-License-Identifier: Apache-2.0
// What was tried, and what has been seen.
#include "solver/policy/advice_situation.hpp"

#include <algorithm>

#include <newel/solver/registry.hpp>
#include "solver/krylov/monitor/convergence_monitor.hpp"

namespace newel::detail {
namespace {

// Its line of the table; null for what has none.
const SolverMethod* line_of(const std::string& method) { return method.empty() ? nullptr : &find_solver(method); }

bool found_no_asymmetry(const std::vector<Attempt>& attempts) {
  return std::none_of(attempts.begin(), attempts.end(),
                      [](const Attempt& attempt) { return attempt.failure.asymmetric == Asymmetric::matrix; });
}

}  // namespace

AdviceSituation::AdviceSituation(const AdviceInput& input, const AdviceWords& words)
    : in_(input), words_(words), attempts_(input.report.attempts) {
  if (attempts_.empty()) attempts_ = {only_attempt(input.report)};
}

std::string AdviceSituation::preconditioner_of(const Attempt& attempt) const {
  if (!attempt.preconditioner.empty()) return attempt.preconditioner;
  const bool several = std::any_of(attempts_.begin(), attempts_.end(),
                                   [](const Attempt& other) { return !other.preconditioner.empty(); });
  if (several) return "none";
  return in_.preconditioner.empty() ? in_.options.precond.name : in_.preconditioner;
}

bool AdviceSituation::met(Cause cause) const {
  return report().failure.cause == cause ||
         std::any_of(attempts_.begin(), attempts_.end(),
                     [&](const Attempt& attempt) { return attempt.failure.cause == cause; });
}

const Attempt* AdviceSituation::best_that_ended(Status status) const {
  const Attempt* best = nullptr;
  for (const Attempt& attempt : attempts_) {
    if (attempt.status != status) continue;
    if (best == nullptr || attempt.true_residual < best->true_residual) best = &attempt;
  }
  return best;
}

bool AdviceSituation::ended_in(bool SolverMethod::*column) const {
  const SolverMethod* const last = line_of(report().method);
  return last != nullptr && last->*column;
}

const SolverMethod* AdviceSituation::used(const std::function<bool(const SolverMethod&)>& is) const {
  const SolverMethod* const last = line_of(report().method);
  if (last != nullptr && is(*last)) return last;
  for (const Attempt& attempt : attempts_) {
    const SolverMethod* const method = line_of(attempt.method);
    if (method != nullptr && is(*method)) return method;
  }
  return nullptr;
}

bool AdviceSituation::may_be_definite() const {
  return facts().may_be_definite && !met(Cause::matrix_not_positive) && found_no_asymmetry(attempts_);
}

bool AdviceSituation::is_symmetric() const { return facts().symmetric && found_no_asymmetry(attempts_); }

}  // namespace newel::detail
