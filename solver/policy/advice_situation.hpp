// SPDX-License-Identifier: Apache-2.0
/// AdviceSituation: what a failed solve has shown, as questions that the rules of advice ask. Internal.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <newel/solver/advice.hpp>

namespace newel::detail {

/// Settings, why they should help, or only the latter.
struct Suggestion {
  std::vector<SettingChange> settings;
  std::string why;
};

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
  /// The residual that rounding allows, where an attempt has shown it; 0: none has.
  double attainable_residual() const;
  /// Whether the residual was falling in the last attempt, so that at most ten times its iterations are needed.
  bool residual_falls() const;
  /// A matrix that CG may solve, as far as has been seen.
  bool may_be_definite() const;
  /// Symmetric by its entries, and by what attempts have seen.
  bool is_symmetric() const;

  /// Whether an attempt was made with these settings.
  bool was_tried(const std::vector<SettingChange>& settings) const;
  /// Whether the matrix supports this preconditioner, as far as is known.
  bool supports(const std::string& preconditioner) const;
  /// Whether the matrix may be what this method demands.
  bool supports(const SolverMethod& method) const;

  /// A cycle length worth a try: the one wanted, or all n for small systems; never more than n.
  int worthwhile_restart(int wanted) const;
  /// A method that minimises its residual, where none was tried.
  std::optional<Suggestion> minimising(const std::string& why) const;
  /// A method for symmetric matrices that are not definite, where A is seen to be one, with an M that it can use.
  std::optional<Suggestion> symmetric_indefinite() const;
  /// Longer cycles of such a method that was restarted.
  std::optional<Suggestion> longer_cycle() const;
  /// The next stronger preconditioner that was not tried.
  std::optional<Suggestion> stronger_preconditioner(const std::string& why) const;
  /// No preconditioner, where there was one.
  std::optional<Suggestion> no_preconditioner(const std::string& why) const;
  /// Ten times as many iterations.
  Suggestion more_iterations() const;
  /// Nothing else is left.
  Suggestion inspect() const;

 private:
  bool found_no_asymmetry() const;

  const AdviceInput& in_;
  const AdviceWords& words_;
  std::vector<Attempt> attempts_;
};

/// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string advice_format(const char* format, ...);

/// What the rules suggest; nothing where the solve converged.
std::optional<Suggestion> suggestion_for(const AdviceSituation& situation);

}  // namespace newel::detail
