// SPDX-License-Identifier: Apache-2.0
// Settings as keywords.
#include "advice.hpp"

#include <algorithm>

#include <newel/precond/registry.hpp>
#include <newel/solver/registry.hpp>

namespace newel::python {
namespace {

// The value of a keyword; None for no preconditioner.
std::string literal(const SettingChange& change) {
  if (!change.is_word) return change.value;
  return change.key == "preconditioner" && change.value == "none" ? "None" : '"' + change.value + '"';
}

// Whether it is written in `options`; `restart` is a keyword of its own.
bool is_in_options(const std::string& key) {
  const auto is_of = [&](const auto& lines) {
    return std::any_of(lines.begin(), lines.end(), [&](const auto& line) { return has_option(line, key); });
  };
  return key != "restart" && (is_of(preconditioners()) || is_of(solver_methods()));
}

std::string keywords(const std::vector<SettingChange>& settings) {
  std::string text, options;
  for (const SettingChange& change : settings) {
    if (is_in_options(change.key)) {
      options += (options.empty() ? "" : ", ") + ('"' + change.key + "\": " + literal(change));
    } else {
      text += (text.empty() ? "" : ", ") + change.key + '=' + literal(change);
    }
  }
  if (options.empty()) return text;
  return text + (text.empty() ? "" : ", ") + "options={" + options + '}';
}

}  // namespace

const AdviceWords& advice_words() {
  static const AdviceWords words = {&keywords, "newel.info(A)", "pass x as x0 to continue from here", 0};
  return words;
}

}  // namespace newel::python
