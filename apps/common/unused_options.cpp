// SPDX-License-Identifier: Apache-2.0
// The table of options and what they belong to.
#include "unused_options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <functional>

#include <newel/precond/registry.hpp>
#include <newel/solver/registry.hpp>
#include <newel/spmv/format_choice.hpp>

#include "exit_status.hpp"
#include "precond_options.hpp"
#include "text.hpp"

namespace newel::cli {
namespace {

using Configuration = SolveConfiguration;

// Whether one of the solvers that run has this column of the table set.
bool runs(const Configuration& m, bool SolverMethod::*column) {
  return std::any_of(m.solvers.begin(), m.solvers.end(),
                     [&](const std::string& name) { return find_solver(name).*column; });
}

std::string solver_is(const Configuration& m) {
  if (m.solvers.empty()) return "the matrix is diagonal, and is divided by";
  return (m.solvers.size() == 1 ? "the solver is " : "the solvers are ") + join(m.solvers);
}

std::string format_is(const Configuration& m) { return "the format is " + m.format; }

// Why GMRES's options do nothing; empty where they may do something. The same below.
std::string without_gmres(const Configuration& m) { return runs(m, &SolverMethod::restarts) ? "" : solver_is(m); }

std::string without_left(const Configuration& m) {
  if (!runs(m, &SolverMethod::restarts)) return solver_is(m);
  return m.precond == "none" && !m.null_space ? "there is no preconditioner" : "";
}

std::string without_basis(const Configuration& m) {
  if (!runs(m, &SolverMethod::restarts)) return solver_is(m);
  return m.single_precision ? "all vectors are in single precision" : "";
}

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

// As far as the names show; whether a system fits on the chip is decided on the device.
std::string without_resident(const Configuration& m) {
  if (!m.on_device) return "the device is host";
  if (!runs(m, &SolverMethod::resident)) return solver_is(m);
  if (!is_format_choice(m.format) && !find_spmv_format(m.format).resident) return format_is(m);
  const bool one_by_one = std::any_of(m.solvers.begin(), m.solvers.end(), [](const std::string& name) {
    return find_solver(name).resident && !find_solver(name).batched();
  });
  if (one_by_one) return "";
  if (m.mixed) return "CG in mixed precision is never resident";
  return m.columns > 1 ? "batches of columns are never resident" : "";
}

struct Row {
  std::string option;      ///< as CLI11 knows it
  std::string belongs_to;  ///< to be read behind "it belongs to"
  std::function<std::string(const Configuration&)> unused;
  std::string shown = {};  ///< in the place of `option`
};

// "--precond spai, fsai and amg": those that `takes` takes.
template <class Takes>
std::string owners_of(Takes takes) {
  std::vector<std::string> names;
  for (const PrecondMethod& method : preconditioners()) {
    if (takes(method)) names.push_back(method.name);
  }
  std::string owners;
  for (std::size_t i = 0; i < names.size(); ++i) {
    owners += (i == 0 ? "" : i + 1 < names.size() ? ", " : " and ") + names[i];
  }
  return "--precond " + owners;
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

bool has_option(const PrecondMethod& method, const std::string& key) {
  return std::any_of(method.options.begin(), method.options.end(),
                     [&](const PrecondOption& option) { return option.key == key; });
}

std::vector<Row> rows() {
  std::vector<Row> all = {
      {"--restart", "--solver gmres", &without_gmres},
      {"--left", "--solver gmres with a preconditioner", &without_left},
      {"--basis", "--solver gmres in double precision", &without_basis},
      {"--no-resident", "CG and BiCGStab on a device with --format csr and ehyb", &without_resident},
  };
  for (const PrecondOption* option : precond_option_list()) {
    all.push_back(precond_row(
        first_flag(*option), [key = option->key](const PrecondMethod& m) { return has_option(m, key); },
        all_flags(*option)));
  }
  all.push_back(precond_row("--precond-pattern", [](const PrecondMethod& m) { return m.takes_pattern; }));
  all.push_back(precond_row("--precond-format", [](const PrecondMethod& m) { return m.own_matrices; }));
  const auto takes_coordinates = [](const PrecondMethod& m) { return m.takes_coordinates; };
  all.push_back(precond_row("--amg-vectors", takes_coordinates));
  const std::vector<Row> of_formats = {
      {"--expect-products", "--format auto, --format measure and --precond auto", &without_choice},
      {"--partitioner", "--format ehyb and ehyb-symmetric", &without_parts},
      {"--parts", "--format ehyb and ehyb-symmetric", &without_parts},
      {"--coordinates", "--partitioner coordinates and " + owners_of(takes_coordinates), &without_coordinates},
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
  if (options.solver.name == "auto") m.solvers = solver_names();
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
