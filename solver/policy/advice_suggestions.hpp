// SPDX-License-Identifier: Apache-2.0
/// What may help after a failed solve: the suggestions that the rules of advice choose from. Internal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "solver/policy/advice_situation.hpp"

namespace newel::detail {

/// Settings, why they should help, or only the latter.
struct Suggestion {
  std::vector<SettingChange> settings;
  std::string why;
};

/// The residual that rounding allows, where an attempt has shown it; 0: none has.
double attainable_residual(const AdviceSituation& s);
/// Whether the residual was falling in the last attempt, so that at most ten times its iterations are needed.
bool residual_falls(const AdviceSituation& s);

/// A method that minimises its residual, where none was tried.
std::optional<Suggestion> minimising(const AdviceSituation& s, const std::string& why);
/// A method for symmetric matrices that are not definite, where A is seen to be one, with an M that it can use.
std::optional<Suggestion> symmetric_indefinite(const AdviceSituation& s);
/// Longer cycles of such a method that was restarted.
std::optional<Suggestion> longer_cycle(const AdviceSituation& s);
/// The next stronger preconditioner that was not tried.
std::optional<Suggestion> stronger_preconditioner(const AdviceSituation& s, const std::string& why);
/// No preconditioner, where there was one.
std::optional<Suggestion> no_preconditioner(const AdviceSituation& s, const std::string& why);
/// Ten times as many iterations.
std::optional<Suggestion> more_iterations(const AdviceSituation& s);
/// Nothing else is left.
std::optional<Suggestion> inspect_matrix(const AdviceSituation& s);

/// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string advice_format(const char* format, ...);

/// What the rules suggest; nothing where the solve converged.
std::optional<Suggestion> suggestion_for(const AdviceSituation& situation);

}  // namespace newel::detail
