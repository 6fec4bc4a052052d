// SPDX-License-Identifier: Apache-2.0
/// AdviceSituation: what a failed solve has shown, as questions that the rules of advice ask. Internal.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <newel/solver/advice.hpp>

namespace newel::detail {

class AdviceSituation {
 public:
  AdviceSituation(const AdviceInput& input, const AdviceWords& words);

  const SolveReport& report() const { return in_.report; }
  const SystemOptions& options() const { return in_.options; }
  const SystemFacts& facts() const { return in_.facts; }
  const AdviceWords& words() const { return words_; }
  bool single_precision() const { return in_.single_precision; }
  /// One at least.
  const std::vector<Attempt>& attempts() const { return attempts_; }
  /// The preconditioner that an attempt had, "none" for none.
  std::string preconditioner_of(const Attempt& attempt) const;

  bool ended(Status status) const { return in_.report.status == status; }
  /// Whether the solve, or one of its attempts, ended for this cause.
  bool met(Cause cause) const;
  /// The attempt of the least residual among those that ended so; null: none did.
  const Attempt* best_that_ended(Status status) const;
  /// A method of theirs of which that holds, the last one before others; null: none.
  const SolverMethod* used(const std::function<bool(const SolverMethod&)>& is) const;
  /// Whether the last one has this column set.
  bool ended_in(bool SolverMethod::*column) const;
  /// A matrix that CG may solve, as far as has been seen.
  bool may_be_definite() const;
  /// Symmetric by its entries, and by what attempts have seen.
  bool is_symmetric() const;

 private:
  const AdviceInput& in_;
  const AdviceWords& words_;
  std::vector<Attempt> attempts_;
};

}  // namespace newel::detail
