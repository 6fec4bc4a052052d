// SPDX-License-Identifier: Apache-2.0
/// SolveOutcome: how a solve has ended; the first conclusion counts. Internal.
#pragma once

#include <utility>

#include <newel/solver/krylov.hpp>

namespace newel::detail {

/// Of an attempt that ended in `stagnation` at this residual, which is attainable or was only reached.
inline Failure stagnation_at(bool attainable, double relative_residual) {
  return {attainable ? Cause::rounding : Cause::no_progress, Subject::none, relative_residual};
}

/// What a report of one attempt says, as an attempt.
inline Attempt only_attempt(const SolveReport& report) {
  return {report.solver,  report.status, report.iterations,          report.true_residual,
          report.seconds, report.reason, report.attainable_residual, report.method,
          report.failure};
}

class SolveOutcome {
 public:
  explicit SolveOutcome(SolveReport& report) : report_(report) {}
  SolveOutcome(const SolveOutcome&) = delete;
  SolveOutcome& operator=(const SolveOutcome&) = delete;

  /// Sets it unless it is set.
  void conclude(Status status, Failure failure = {}) {
    if (known_) return;
    known_ = true;
    report_.status = status;
    report_.failure = std::move(failure);
  }
  /// Status `diverged`, at a true residual.
  void conclude_divergence(double residual) {
    conclude(Status::diverged, {Cause::residual_grew, Subject::none, report_.relative(residual)});
  }
  /// Status `stagnation`; the end of the solve finds the reason.
  void conclude_stagnation() {
    stagnated_ = stagnated_ || !known_;
    conclude(Status::stagnation);
  }
  /// The same, and `breakdown` of a Krylov space that is exhausted if rounding is not found to be the reason.
  void conclude_exhaustion() {
    exhausted_ = exhausted_ || !known_;
    conclude_stagnation();
  }

  bool known() const { return known_; }
  /// Whether the reason is still to be found.
  bool stagnated() const { return stagnated_ && report_.status == Status::stagnation; }
  bool exhausted() const { return exhausted_; }
  /// Whether the solve has ended since its residual grew.
  bool has_grown() const {
    const Cause cause = report_.failure.cause;
    return cause == Cause::residual_grew || cause == Cause::growth_beyond_digits;
  }

 private:
  SolveReport& report_;
  bool known_ = false, stagnated_ = false, exhausted_ = false;
};

}  // namespace newel::detail
