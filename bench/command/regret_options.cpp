// SPDX-License-Identifier: Apache-2.0
// What `newel bench regret` takes, and what its columns mean.
#include "run_options.hpp"

#include <algorithm>
#include <set>

#include <newel/solver/registry.hpp>

#include "apps/common/exit_status.hpp"
#include "apps/common/names.hpp"
#include "apps/common/precond_options.hpp"
#include "apps/common/text.hpp"
#include "apps/newel/input/rhs.hpp"
#include "session.hpp"

namespace newel::cli {
namespace {

constexpr const char* regret_columns =
    "What the defaults of a LinearSystem (\"auto\" for solver, preconditioner and format) cost against the best "
    "fixed\n"
    "choice. Of every combination a fresh system is timed by the host's clock, after a warm-up on a small matrix:\n"
    "setup, the first solve from x = 0, a refresh with the same values, and the solve after it. Three uses are\n"
    "composed of them: one solve (setup + solve), ten solves with a refresh before each but the first, and a time\n"
    "loop. `auto` runs each use whole, setup included, with the same right-hand side.\n"
    "  auto s, best s  seconds of a use by `auto`, and by the combination that needs the least\n"
    "  regret          the ratio of the two: 1 if `auto` is as good as the best choice\n"
    "  auto, best      format, preconditioner and solver that `auto` had in the end, and those of the best\n"
    "Below: what `auto` exchanged on its way and in which solve; the usual loop, which is CG or BiCGStab with "
    "Jacobi\n"
    "by cuBLAS and cuSPARSE as a CUDA graph (host: Eigen), setup and one solve; the combinations that are no\n"
    "candidates, because they were refused or did not converge. Means are over the systems that `auto` and a\n"
    "combination solve. The exit status is 1 if a combination solves a system and `auto` does not, if nothing\n"
    "converges on any system, and if a solve reports converged and is not.";

std::vector<std::string> names_or_none(const std::string& given, const CLI::Option* option, const std::string& flag,
                                       const std::vector<std::string>& all) {
  if (option->count() == 0) return {};
  return names_of(given, flag, all, [&](const std::string& name) { return check_name(name, flag, all); });
}

void check_numbers(const BenchRegretOptions& o, bool time_limit_given) {
  require_number("--tol", o.tolerance);
  if (!(o.tolerance > 0 && o.tolerance < 1)) {
    throw UsageError(text("--tol: expected more than 0 and less than 1, found %g", o.tolerance));
  }
  require_number("--time-limit", o.time_limit);
  if (time_limit_given && !(o.time_limit > 0)) {
    throw UsageError(text("--time-limit: expected more than 0 seconds, found %g", o.time_limit));
  }
}

// A report knows systems by names without folders.
void check_names_apart(const std::vector<std::string>& systems) {
  std::set<std::string> names;
  for (const std::string& system : systems) {
    if (!names.insert(without_folders(system)).second) {
      throw UsageError("--continue: " + without_folders(system) +
                       " is given twice, and the report cannot tell them apart");
    }
  }
}

void add_choices(const OptionGroup& group, RawBenchRegret& raw) {
  group.add("--formats", raw.formats, "all|NAME,NAME...",
            "Formats of the combinations, default all: " + join(format_names()));
  raw.preconds_given = group.add("--preconds", raw.preconds, "all|NAME,NAME...",
                                 "Preconditioners of the combinations, default none and those that `auto` may "
                                 "choose for\nthe solver; available: " +
                                     join(preconditioner_names()));
  raw.solvers_given =
      group.add("--solvers", raw.solvers, "all|NAME,NAME...",
                "Solvers besides the one that `auto` starts with; available: " + join(general_solver_names()));
}

}  // namespace

CLI::App& add_bench_regret(CLI::App& bench, RawBenchRegret& raw) {
  BenchRegretOptions& o = raw.options;
  CLI::App& regret =
      *bench.add_subcommand("regret", "What the defaults cost against the best fixed choice on the given systems");
  const OptionGroup group(regret);
  add_bench_systems(regret, o);
  add_choices(group, raw);
  group.add("--loop", o.loop, "N", "Solves of the time loop, default " + std::to_string(o.loop))
      ->check(CLI::Range(1, 1000000));
  raw.time_limit_given =
      group.add("--time-limit", o.time_limit, "SECONDS",
                "Time limit of a solve of a combination, default ten times the least total of one\n"
                "solve so far, and at least 1 s");
  group
      .add("--scale-estimates", o.scale_estimates, "F",
           "Multiply the iterations that `auto` expects, to see what wrong estimates cost, default 1")
      ->check(CLI::PositiveNumber);
  group.add("--rhs", o.rhs, "b.mtx|ones|random[:SEED]|A*ones|A*random[:SEED]", "Right-hand side, default " + o.rhs);
  group.add("--precision", raw.precision, "double|single", "Precision of matrix and vectors, default double");
  raw.tolerance_given = add_bench_stop(regret, o.tolerance, o.max_iterations);
  regret.add_flag("--continue", o.continues,
                  "Skip systems that are in the file of --report already, and keep their results");
  add_bench_run(regret, o, "solve", "use");
  regret.footer(regret_columns);
  regret.allow_extras();
  return regret;
}

BenchRegretOptions checked_bench_regret(const RawBenchRegret& raw) {
  BenchRegretOptions o = raw.options;
  check_choice(raw.precision, "--precision", {"double", "single"});
  take_precision(raw.precision, o);
  o.all_formats = raw.formats == "all";
  o.formats = names_of(raw.formats, "--formats", format_names(),
                       [](const std::string& name) { return check_table_format(name, "--formats"); });
  o.preconds = names_or_none(raw.preconds, raw.preconds_given, "--preconds", preconditioner_names());
  o.solvers = names_or_none(raw.solvers, raw.solvers_given, "--solvers", general_solver_names());
  if (raw.tolerance_given->count() == 0 && o.single_precision) o.tolerance = default_rtol_single;
  check_numbers(o, raw.time_limit_given->count() > 0);
  if (o.continues && o.report.empty())
    throw UsageError("--continue needs the report that it continues: --report R.json");
  if (o.continues) check_names_apart(o.systems);
  const RhsSpec rhs = parse_rhs(o.rhs);
  if (rhs.kind == RhsSpec::Kind::file && o.systems.size() > 1) {
    throw UsageError("--rhs " + o.rhs + ": a file is the right-hand side of one system, found " +
                     std::to_string(o.systems.size()));
  }
  return o;
}

}  // namespace newel::cli
