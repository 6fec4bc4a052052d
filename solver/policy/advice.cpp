// SPDX-License-Identifier: Apache-2.0
// Suggestions as text.
#include <newel/solver/advice.hpp>

#include "solver/policy/advice_suggestions.hpp"

namespace newel {
namespace {

std::string number_of(const RowCount& rows, const AdviceWords& words, const char* what) {
  const long long first = static_cast<long long>(rows.first) + words.first_row;
  std::string text =
      std::string(what) + ' ' + std::to_string(first) + " of A (counted from " + std::to_string(words.first_row);
  if (rows.count > 1) text += ", the first of " + std::to_string(rows.count);
  return text + ")";
}

}  // namespace

std::string defect_text(const SystemFacts& facts, const AdviceWords& words) {
  if (facts.not_finite_rows.count > 0)
    return number_of(facts.not_finite_rows, words, "row") + " holds NaN or infinity";
  if (facts.zero_matrix()) return "A holds no value other than 0";
  if (facts.impossible_rows.count > 0) {
    return number_of(facts.impossible_rows, words, "row") + " holds no value other than 0, and b is not 0 there";
  }
  if (facts.zero_rows.count > 0)
    return number_of(facts.zero_rows, words, "row") + " holds no value other than 0: A is singular";
  if (facts.zero_columns.count > 0) {
    return number_of(facts.zero_columns, words, "column") + " holds no value other than 0: A is singular";
  }
  return "";
}

std::string reason_text(const SolveReport& report, const std::string& defect) {
  if (report.reason.empty() || defect.empty()) return report.reason + defect;
  if (report.failure.cause == Cause::zero_row) return text_of_zero_rows(report.failure, defect);
  return report.reason + "; " + defect;
}

std::string advice_text(const AdviceInput& input, const AdviceWords& words) {
  const detail::AdviceSituation situation(input, words);
  const std::optional<detail::Suggestion> found = detail::suggestion_for(situation);
  if (!found) return "";
  if (found->settings.empty()) return found->why;
  return words.settings(found->settings) + (found->why.empty() ? "" : ": " + found->why);
}

}  // namespace newel
