// SPDX-License-Identifier: Apache-2.0
// Numbers that are none, found again among the options that were given: CLI11's errors hold no option and no kind.
#include "option_error.hpp"

#include <algorithm>
#include <cstdlib>

#include <newel/core/table.hpp>

#include "exit_status.hpp"
#include "names.hpp"
#include "text.hpp"

namespace newel::cli {
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

// The first error of an option of `app` or of its commands; empty where there is none.
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

// All names of options that `app` and its commands take, to suggest one.
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// Where another command takes the option, which; else where to look.
std::string other_command(const CLI::App& app, const std::string& name) {
  const CLI::App* const program = app.get_parent();
  if (program == nullptr) return "; see " + app.get_name() + " --help";
  for (const CLI::App* command : program->get_subcommands([](const CLI::App*) { return true; })) {
    const std::vector<std::string> names = option_names(*command);
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      return ": it belongs to " + program->get_name() + ' ' + command->get_name();
    }
  }
  return "; see " + program->get_name() + ' ' + app.get_name() + " --help";
}

}  // namespace

std::string option_error(const CLI::ParseError& error, const CLI::App& app) {
  const std::string found = about_numbers(app);
  return found.empty() ? error.what() : found;
}

bool parse_or_help(CLI::App& app, int argc, const char* const* argv, const std::string& required) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return false;
  } catch (const CLI::RequiredError&) {
    throw UsageError(required);
  } catch (const CLI::ParseError& error) {
    throw UsageError(option_error(error, app));
  }
  return true;
}

void refuse_keyword(const CLI::App& app, const std::string& argument) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string::npos) return;
  const std::string option = nearest_name("--" + argument.substr(0, equals), option_names(app));
  if (!option.empty()) throw UsageError("unexpected argument '" + argument + "' (did you mean " + option + "?)");
}

void refuse_extras(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining();
  const std::vector<std::string> names = option_names(app);
  for (const std::string& extra : extras) {
    const std::size_t equals = extra.find('=');
    const std::string name = extra.substr(0, equals);
    if (extra.size() >= 2 && extra[0] == '-') {
      const std::string hint = did_you_mean(name, names);
      throw UsageError("unknown option " + name + (hint.empty() ? other_command(app, name) : hint));
    }
    refuse_keyword(app, extra);
  }
  if (!extras.empty()) throw UsageError("unexpected argument '" + extras.front() + '\'');
}

void refuse_unknown_command(const CLI::App& app, const std::string& usage, const std::vector<std::string>& commands) {
  const std::vector<std::string> extras = app.remaining();
  if (extras.empty()) throw UsageError(usage);
  if (extras.front()[0] == '-') refuse_extras(app);
  throw UsageError(unknown_name("command", extras.front(), commands));
}

}  // namespace newel::cli
