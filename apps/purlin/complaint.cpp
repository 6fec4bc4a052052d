// SPDX-License-Identifier: Apache-2.0
// Numbers that are none, found again among the options that were given: CLI11's errors hold no option and no kind.
#include "complaint.hpp"

#include <cstdlib>

namespace purlin::cli {
namespace {

enum class Kind { other, whole, number };

Kind kind_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();  // "INT:INT in [1 - 64]"
  if (type.rfind("INT", 0) == 0 || type.rfind("UINT", 0) == 0) return Kind::whole;
  return type.rfind("FLOAT", 0) == 0 ? Kind::number : Kind::other;
}

bool is_read(Kind kind, const std::string& given) {
  char* end = nullptr;
  if (kind == Kind::whole) static_cast<void>(std::strtoll(given.c_str(), &end, 0));
  if (kind == Kind::number) static_cast<void>(std::strtod(given.c_str(), &end));
  return kind == Kind::other || (!given.empty() && *end == '\0');
}

// The first complaint about an option of `app` or of its commands; empty where there is none.
std::string about_numbers(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const Kind kind = kind_of(*option);
    for (const std::string& given : option->results()) {
      if (is_read(kind, given)) continue;
      return option->get_name() + ": expected a " + (kind == Kind::whole ? "whole number" : "number") + ", found '" +
             given + '\'';
    }
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string found = about_numbers(*command);
    if (!found.empty()) return found;
  }
  return "";
}

}  // namespace

std::string complaint(const CLI::ParseError& error, const CLI::App& app) {
  const std::string found = about_numbers(app);
  return found.empty() ? error.what() : found;
}

}  // namespace purlin::cli
