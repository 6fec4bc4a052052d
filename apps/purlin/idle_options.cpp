// SPDX-License-Identifier: Apache-2.0
// The table of options and what they belong to.
#include "idle_options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

#include <purlin/solver/krylov.hpp>
#include <purlin/spmv/format_choice.hpp>

#include "exit_status.hpp"
#include "text.hpp"

namespace purlin::cli {
namespace {

using Makeup = SolveMakeup;

bool runs(const Makeup& m, const char* solver) {
  return std::find(m.solvers.begin(), m.solvers.end(), solver) != m.solvers.end();
}

std::string solver_is(const Makeup& m) {
  return (m.solvers.size() == 1 ? "the solver is " : "the solvers are ") + join(m.solvers);
}

std::string format_is(const Makeup& m) { return "the format is " + m.format; }

// Why GMRES's options do nothing; empty where they may do something. The same below.
std::string without_gmres(const Makeup& m) { return runs(m, "gmres") ? "" : solver_is(m); }

std::string without_left(const Makeup& m) {
  if (!runs(m, "gmres")) return solver_is(m);
  return m.precond == "none" && !m.null_space ? "there is no preconditioner" : "";
}

std::string without_basis(const Makeup& m) {
  if (!runs(m, "gmres")) return solver_is(m);
  return m.single_precision ? "all vectors are in single precision" : "";
}

// Formats whose rows lie in parts: EHYB, and what stands beside it.
bool has_parts(const Makeup& m) {
  if (is_format_choice(m.format)) return true;
  const SpmvFormat& format = find_spmv_format(m.format);
  return format.name == "ehyb" || format.beside == "ehyb";
}

std::string without_parts(const Makeup& m) { return has_parts(m) ? "" : format_is(m); }

std::string without_plan(const Makeup& m) {
  const bool open = m.format_measured || is_format_choice(m.format);
  return open || find_spmv_format(m.format).plan != nullptr ? "" : format_is(m);
}

std::string without_choice(const Makeup& m) {
  return m.choice_left ? "" : format_is(m) + " and the preconditioner is " + m.precond;
}

// As far as names tell: whether a system fits on the chip, the device decides.
std::string without_resident(const Makeup& m) {
  if (!m.on_card) return "the device is host";
  const bool bicgstab = runs(m, "bicgstab");
  if (!runs(m, "cg") && !bicgstab) return solver_is(m);
  if (!is_format_choice(m.format) && find_spmv_format(m.format).name != "ehyb") return format_is(m);
  if (bicgstab) return "";
  if (m.mixed) return "CG in mixed precision is not among them";
  return m.columns > 1 ? "columns that iterate side by side are not among them" : "";
}

template <class... Name>
std::string unless_precond(const Makeup& m, Name... names) {
  const bool fits = m.precond == "auto" || ((m.precond == names) || ...);
  return fits ? "" : "the preconditioner is " + m.precond;
}

std::string without_spai(const Makeup& m) { return unless_precond(m, "spai"); }
std::string without_side(const Makeup& m) { return unless_precond(m, "spai", "spai0"); }
std::string without_fsai(const Makeup& m) { return unless_precond(m, "fsai"); }
std::string without_matrix(const Makeup& m) { return unless_precond(m, "spai", "fsai"); }

struct Row {
  const char* option;      ///< as CLI11 knows it
  const char* belongs_to;  ///< to be read behind "it belongs to"
  std::string (*idle)(const Makeup&);
};

constexpr Row table[] = {
    {"--restart", "--solver gmres", &without_gmres},
    {"--left", "--solver gmres with a preconditioner", &without_left},
    {"--basis", "--solver gmres in double precision", &without_basis},
    {"--no-resident", "CG and BiCGStab on a card with --format ehyb", &without_resident},
    {"--fsai-power", "--precond fsai", &without_fsai},
    {"--spai-power", "--precond spai", &without_spai},
    {"--spai-side", "--precond spai and spai0", &without_side},
    {"--spai-adaptive", "--precond spai", &without_spai},
    {"--fsai-drop", "--precond spai and fsai", &without_matrix},  // --spai-drop too
    {"--precond-pattern", "--precond spai and fsai", &without_matrix},
    {"--precond-format", "--precond spai and fsai", &without_matrix},
    {"--expect-products", "--format auto, --format measure and --precond auto", &without_choice},
    {"--partitioner", "--format ehyb and ehyb-symmetric", &without_parts},
    {"--parts", "--format ehyb and ehyb-symmetric", &without_parts},
    {"--coordinates", "--format ehyb and ehyb-symmetric", &without_parts},
    {"--plan-cache", "--format measure and formats that renumber", &without_plan},
};

const std::string mixed = "mixed ";

}  // namespace

SolveMakeup makeup_asked(const SystemOptions& options, bool single_precision, const std::string& device) {
  SolveMakeup m;
  m.solvers = {options.solver.name};
  if (options.solver.name == "auto") m.solvers = solver_names();
  m.precond = options.precond.name;
  m.format = options.spmv.format;
  m.format_measured = m.format == "measure";
  m.choice_left = is_format_choice(m.format) || m.precond == "auto";
  m.null_space = options.null_space == NullSpace::constant;
  m.single_precision = single_precision;
  m.mixed = options.mixed;
  m.on_card = device != "host";
  return m;
}

SolveMakeup makeup_set_up(SolveMakeup asked, const SystemInfo& system, Space space) {
  asked.precond = system.preconditioner.name;
  asked.format = system.format.format;
  asked.on_card = space == Space::device;
  return asked;
}

SolveMakeup makeup_solved(SolveMakeup set_up, const std::vector<SolveReport>& reports) {
  set_up.columns = static_cast<Index>(reports.size());
  set_up.solvers.clear();
  for (const SolveReport& report : reports) {
    for (const Attempt& attempt : report.attempts) {
      const std::string& name = attempt.solver;
      const std::string plain = name.rfind(mixed, 0) == 0 ? name.substr(mixed.size()) : name;
      if (!runs(set_up, plain.c_str())) set_up.solvers.push_back(plain);
    }
  }
  return set_up;
}

std::vector<std::string> given_options(const CLI::App& command) {
  std::vector<std::string> given;
  for (const Row& row : table) {
    const CLI::Option* option = command.get_option_no_throw(row.option);
    if (option != nullptr && option->count() > 0) given.emplace_back(row.option);
  }
  return given;
}

std::vector<IdleOption> idle_options(const std::vector<std::string>& given, const SolveMakeup& makeup) {
  std::vector<IdleOption> result;
  for (const Row& row : table) {
    if (std::find(given.begin(), given.end(), row.option) == given.end()) continue;
    const std::string why = row.idle(makeup);
    if (why.empty()) continue;
    const std::string option = row.option == std::string("--fsai-drop") ? "--fsai-drop, --spai-drop" : row.option;
    result.push_back({option, std::string("it belongs to ") + row.belongs_to + ", and " + why});
  }
  return result;
}

std::string idle_text(const IdleOption& idle) { return idle.option + " has no effect: " + idle.reason; }

Json idle_json(const std::vector<IdleOption>& idle) {
  Json result = Json::array();
  for (const IdleOption& option : idle) result.push_back({{"option", option.option}, {"reason", option.reason}});
  return result;
}

std::vector<std::string> idle_warnings(const std::vector<std::string>& given, const SolveMakeup& makeup) {
  std::vector<std::string> warnings;
  for (const IdleOption& idle : idle_options(given, makeup)) warnings.push_back(idle_text(idle));
  return warnings;
}

void print_warnings(const std::vector<std::string>& warnings, const char* program) {
  for (const std::string& warning : warnings) print_error("warning: " + warning, program);
}

}  // namespace purlin::cli
