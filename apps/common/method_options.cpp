// SPDX-License-Identifier: Apache-2.0
// Rows of the tables as options of CLI11.
#include "method_options.hpp"

#include <cmath>

#include "exit_status.hpp"
#include "names.hpp"
#include "text.hpp"

namespace newel::cli {
namespace {

CLI::Option* declare(CLI::App& command, const MethodOption& line, bool& value) {
  return command.add_flag_callback(
      line.flags, [&value, other = !value] { value = other; }, line.help);
}

template <class Value>
CLI::Option* declare(CLI::App& command, const MethodOption& line, Value& value) {
  return command.add_option(line.flags, value, line.help)
      ->option_text(line.choices.empty() ? line.placeholder : one_of(line.choices));
}

}  // namespace

void add_method_options(CLI::App& command, const std::vector<MethodOption>& options, const OptionBag& values,
                        std::list<DeclaredOption>& declared, const char* group) {
  for (const MethodOption& line : options) {
    DeclaredOption& own = declared.emplace_back(DeclaredOption{line, line.get(values), nullptr});
    std::visit([&](auto& value) { own.given = declare(command, line, value); }, own.value);
    if (std::holds_alternative<int>(own.value)) own.given->check(CLI::Range(line.least, line.most));
    own.given->group(group);
  }
}

void take_method_options(std::list<DeclaredOption>& declared, OptionBag& values) {
  for (DeclaredOption& own : declared) {
    if (own.given->count() == 0) continue;
    if (auto* text = std::get_if<std::string>(&own.value)) {
      const bool is_word = !own.line.choices.empty();  // else the method says what it takes
      if (is_word) *text = check_choice(*text, first_flag(own.line), own.line.choices);
    } else if (const auto* number = std::get_if<double>(&own.value)) {
      require_number(all_flags(own.line).c_str(), *number);
    }
    own.line.set(values, own.value);
  }
}

std::string first_flag(const MethodOption& option) { return option.flags.substr(0, option.flags.find(',')); }

std::string all_flags(const MethodOption& option) {
  std::string flags;
  for (const char c : option.flags) flags += c == ',' ? std::string(", ") : std::string(1, c);
  return flags;
}

std::string one_of(const std::vector<std::string>& names) {
  std::string result;
  for (const std::string& name : names) result += (result.empty() ? "" : "|") + name;
  return result;
}

void require_number(const char* option, double value) {
  if (std::isfinite(value) && value >= 0) return;
  throw UsageError(text("%s: expected a number that is not negative, found %g", option, value));
}

}  // namespace newel::cli
