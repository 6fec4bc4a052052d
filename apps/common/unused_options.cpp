// SPDX-License-Identifier: Apache-2.0
// The table of options and what they belong to.
#include "unused_options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <functional>

#include <newel/precond/registry.hpp>
#include <newel/solver/guess.hpp>
#include <newel/solver/registry.hpp>
#include <newel/spmv/format_choice.hpp>

#include "exit_status.hpp"
#include "precond_options.hpp"
#include "text.hpp"

namespace newel::cli {
namespace {

using Configuration = SolveConfiguration;

std::string solver_is(const Configuration& m) {
  if (m.solvers.empty()) return "the matrix is diagonal and needs no iterations";
  return (m.solvers.size() == 1 ? "the solver is " : "the solvers are ") + join(m.solvers);
}

std::string format_is(const Configuration& m) { return "the format is " + m.format; }

// Formats whose rows lie in parts.
bool has_parts(const Configuration& m) { return is_format_choice(m.format) || find_spmv_format(m.format).parts; }

std::string without_parts(const Configuration& m) { return has_parts(m) ? "" : format_is(m); }

// Coordinates serve a partitioner and some preconditioners.
std::string without_coordinates(const Configuration& m) {
  if (m.by_coordinates) return without_parts(m);
  const bool taken = m.precond != "none" && m.precond != "auto" && find_preconditioner(m.precond).takes_coordinates;
  return taken ? "" : "the preconditioner is " + m.precond;
}

std::string without_plan(const Configuration& m) {
  const bool open = m.format_measured || is_format_choice(m.format);
  return open || m.learns || find_spmv_format(m.format).plan != nullptr ? "" : format_is(m);
}

std::string without_choice(const Configuration& m) {
  return m.choice_left ? "" : format_is(m) + " and the preconditioner is " + m.precond;
}

std::string without_sequence(const Configuration& m) {
  return m.sequence || !m.keeps_past ? "" : "one system is solved";
}

// Why options for a kernel that keeps vectors on the chip do nothing; empty where they may do something. As far as
// the names show; whether a system fits on the chip is decided on the device.
std::string without_kernel(const Configuration& m) {
  if (!m.on_device) return "the device is host";
  std::string why = solver_is(m);
  for (const std::string& name : m.solvers) {
    const SolverMethod& method = find_solver(name);
    if (!method.resident) continue;
    if (!is_format_choice(m.format) && !find_spmv_format(m.format).resident) return format_is(m);
    if (m.mixed && !method.resident_in_mixed) {
      why = method.title + " in mixed precision never keeps its vectors on the chip";
    } else if (m.columns > 1 && method.batched() && !m.mixed) {
      why = "batches of columns never keep their vectors on the chip";
    } else {
      return "";
    }
  }
  return why;
}

// What an option needs besides a solver that has it, and is not there; empty: nothing.
std::string without_needs(const Configuration& m, OptionNeeds needs) {
  switch (needs) {
    case OptionNeeds::preconditioner:
      return m.precond == "none" && !m.null_space ? "there is no preconditioner" : "";
    case OptionNeeds::double_precision:
      return m.single_precision ? "all vectors are in single precision" : "";
    case OptionNeeds::sequence:
      return m.mixed ? "the precision is mixed" : m.sequence ? "" : "one system is solved";
    case OptionNeeds::resident_kernel:
      return without_kernel(m);
    case OptionNeeds::nothing:
      break;
  }
  return "";
}

struct Row {
  std::string option;      ///< as CLI11 knows it
  std::string belongs_to;  ///< to be read behind "it belongs to"
  std::function<std::string(const Configuration&)> unused;
  std::string shown = {};  ///< in the place of `option`
};

// "spai, fsai and amg": what `text_of` says of the lines that `takes` takes.
template <class Lines, class Takes, class TextOf>
std::string listed(const Lines& lines, Takes takes, TextOf text_of) {
  std::vector<std::string> names;
  for (const auto& line : lines) {
    if (takes(line)) names.push_back(text_of(line));
  }
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    list += (i == 0 ? "" : i + 1 < names.size() ? ", " : " and ") + names[i];
  }
  return list;
}

constexpr auto name_of_line = [](const auto& line) { return line.name; };

template <class Takes>
std::string owners_of(Takes takes) {
  return "--precond " + listed(preconditioners(), takes, name_of_line);
}

std::string solvers_with(const MethodOption& option) {
  const auto has = [&](const SolverMethod& method) { return has_option(method, option.key); };
  const std::string named = "--solver " + listed(solver_methods(), has, name_of_line);
  switch (option.needs) {
    case OptionNeeds::preconditioner:
      return named + " with a preconditioner";
    case OptionNeeds::double_precision:
      return named + " in double precision";
    case OptionNeeds::sequence:
      return named + " in programs that solve in every time step";
    case OptionNeeds::resident_kernel:
      return listed(solver_methods(), has, [](const SolverMethod& method) { return method.title; }) +
             " on a device with --format " +
             listed(
                 spmv_formats(), [](const SpmvFormat& format) { return format.resident; }, name_of_line);
    case OptionNeeds::nothing:
      break;
  }
  return named;
}

// A row for an option of solvers.
Row solver_row(const MethodOption& option) {
  const auto unused = [key = option.key, needs = option.needs](const Configuration& m) {
    const bool has = std::any_of(m.solvers.begin(), m.solvers.end(),
                                 [&](const std::string& name) { return has_option(find_solver(name), key); });
    const bool elsewhere = needs == OptionNeeds::resident_kernel && !m.on_device;
    return has || elsewhere ? without_needs(m, needs) : solver_is(m);
  };
  return {first_flag(option), solvers_with(option), unused, all_flags(option)};
}

// A row for what only the preconditioners have that `takes` takes.
template <class Takes>
Row precond_row(std::string option, Takes takes, std::string shown = {}) {
  const auto unused = [takes](const Configuration& m) -> std::string {
    const bool fits = m.precond == "auto" || (m.precond != "none" && takes(find_preconditioner(m.precond)));
    return fits ? "" : "the preconditioner is " + m.precond;
  };
  return {std::move(option), owners_of(takes), unused, std::move(shown)};
}

std::vector<Row> rows() {
  std::vector<Row> all;
  for (const MethodOption& option : options_of(solver_methods())) all.push_back(solver_row(option));
  for (const MethodOption& option : precond_option_list()) {
    all.push_back(precond_row(
        first_flag(option), [key = option.key](const PrecondMethod& m) { return has_option(m, key); },
        all_flags(option)));
  }
  all.push_back(precond_row("--precond-pattern", [](const PrecondMethod& m) { return m.takes_pattern; }));
  all.push_back(precond_row("--precond-format", [](const PrecondMethod& m) { return m.matrices.in_format; }));
  const auto takes_coordinates = [](const PrecondMethod& m) { return m.takes_coordinates; };
  all.push_back(precond_row("--amg-vectors", takes_coordinates));
  const auto has_constraints = [](const PrecondMethod& m) { return has_option(m, "saddle_constraints"); };
  all.push_back(precond_row("--saddle-rows", has_constraints));
  all.push_back(precond_row("--saddle-mass", has_constraints));
  const std::vector<Row> of_formats = {
      {"--expect-products", "--format auto, --format measure and --precond auto", &without_choice},
      {"--partitioner", "--format ehyb and ehyb-symmetric", &without_parts},
      {"--parts", "--format ehyb and ehyb-symmetric", &without_parts},
      {"--coordinates", "--partitioner coordinates and " + owners_of(takes_coordinates), &without_coordinates},
      {"--initial-guess", "programs that solve in every time step", &without_sequence},
      {"--plan-cache", "--format measure, --precond auto and formats that renumber", &without_plan},
  };
  all.insert(all.end(), of_formats.begin(), of_formats.end());
  return all;
}

}  // namespace

SolveConfiguration requested_configuration(const SystemOptions& options, bool single_precision,
                                           const std::string& device) {
  SolveConfiguration m;
  m.solvers = {options.solver.name};
  if (options.solver.name == "auto") m.solvers = general_solver_names();
  m.precond = options.precond.name;
  m.format = options.spmv.format;
  m.format_measured = m.format == "measure";
  m.choice_left = is_format_choice(m.format) || m.precond == "auto";
  m.learns = m.choice_left && !options.deterministic && !options.mixed;
  m.null_space = options.null_space == NullSpace::constant;
  m.single_precision = single_precision;
  m.mixed = options.mixed;
  m.by_coordinates = options.spmv.partitioner == Partitioner::coordinates;
  m.on_device = device != "host";
  m.keeps_past = guess_rule(options.solver.of<GuessOptions>().guess).keeps();
  return m;
}

SolveConfiguration requested_sequence(const SystemOptions& options, const std::string& device) {
  SolveConfiguration m = requested_configuration(options, false, device);
  m.sequence = true;
  return m;
}

SolveConfiguration setup_configuration(SolveConfiguration asked, const SystemInfo& system, Space space) {
  asked.precond = system.preconditioner.name;
  asked.format = system.format.format;
  asked.on_device = space == Space::device;
  return asked;
}

SolveConfiguration solved_configuration(SolveConfiguration set_up, const std::vector<SolveReport>& reports) {
  set_up.columns = static_cast<Index>(reports.size());
  set_up.solvers.clear();
  for (const SolveReport& report : reports) {
    for (const Attempt& attempt : report.attempts) {
      std::vector<std::string>& names = set_up.solvers;
      const bool known = std::find(names.begin(), names.end(), attempt.method) != names.end();
      if (!attempt.method.empty() && !known) names.push_back(attempt.method);
    }
  }
  return set_up;
}

std::vector<std::string> given_options(const CLI::App& command) {
  std::vector<std::string> given;
  for (const Row& row : rows()) {
    const CLI::Option* option = command.get_option_no_throw(row.option);
    if (option != nullptr && option->count() > 0) given.emplace_back(row.option);
  }
  return given;
}

std::vector<UnusedOption> unused_options(const std::vector<std::string>& given,
                                         const SolveConfiguration& configuration) {
  std::vector<UnusedOption> result;
  for (const Row& row : rows()) {
    if (std::find(given.begin(), given.end(), row.option) == given.end()) continue;
    const std::string why = row.unused(configuration);
    if (why.empty()) continue;
    const std::string& option = row.shown.empty() ? row.option : row.shown;
    result.push_back({option, "it applies to " + row.belongs_to + ", and " + why});
  }
  return result;
}

std::string unused_option_text(const UnusedOption& unused) {
  return unused.option + " has no effect: " + unused.reason;
}

Json unused_options_json(const std::vector<UnusedOption>& unused) {
  Json result = Json::array();
  for (const UnusedOption& option : unused) result.push_back({{"option", option.option}, {"reason", option.reason}});
  return result;
}

std::vector<std::string> unused_option_warnings(const std::vector<std::string>& given,
                                                const SolveConfiguration& configuration) {
  std::vector<std::string> warnings;
  for (const UnusedOption& unused : unused_options(given, configuration))
    warnings.push_back(unused_option_text(unused));
  return warnings;
}

void print_warnings(const std::vector<std::string>& warnings, const char* program) {
  for (const std::string& warning : warnings) print_error("warning: " + warning, program);
}

}  // namespace newel::cli
