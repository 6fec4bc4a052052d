// SPDX-License-Identifier: Apache-2.0
// `newel bench regret`, step by step.
#include "regret.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "apps/common/exit_status.hpp"
#include "apps/common/names.hpp"
#include "apps/common/place.hpp"
#include "apps/newel/input/rhs.hpp"
#include "regret_in.hpp"

namespace newel::cli {
namespace {

constexpr const char* program = "newel bench regret";

template <class T, Space S>
void measure(const Context<Space::host>& host, const Context<S>& ctx, const InputMatrix& matrix,
             const BenchRegretOptions& options, RegretSystem& system) {
  measure_or_refuse(system, [&] {
    RegretRun<T, S>(host, ctx, matrix, right_hand_side(host, matrix, options.rhs), options).run(system);
  });
}

template <Space S>
Json regret_head(const Context<Space::host>& host, const Context<S>& ctx, const BenchRegretOptions& o,
                 const std::string& command_line) {
  Json head = bench_head(program, command_line, host, ctx, o.repeats);
  head["rhs"] = without_folders(o.rhs);
  head["precision"] = o.single_precision ? "single" : "double";
  head["tolerance"] = o.tolerance;
  head["max_iterations"] = o.max_iterations;
  head["loop"] = o.loop;
  head["time_limit"] = o.time_limit > 0 ? Json(o.time_limit) : Json();
  head["estimates_scaled_by"] = o.scale_estimates;
  head["formats"] = o.formats;
  head["preconds"] = o.preconds.empty() ? Json() : Json(o.preconds);
  head["solvers"] = o.solvers;
  return head;
}

// What a report and the run that continues it have in common.
constexpr const char* kept_fields[] = {
    "version", "processor",  "device",  "threads",  "space",   "repeats",        "rhs",       "precision",
    "loop",    "time_limit", "formats", "preconds", "solvers", "max_iterations", "tolerance", "estimates_scaled_by"};

// The systems of the report that this run continues; none where there is no file yet. What was refused is measured
// again.
Json saved_systems(const BenchRegretOptions& o, const Json& head) {
  Json systems = Json::array();
  std::ifstream file(o.report);
  if (!o.continues || !file) return systems;
  const auto refuse = [&](const std::string& why) { throw InputError("--continue: " + o.report + ": " + why); };
  try {
    const Json saved = Json::parse(file);
    if (saved.at("schema") != head.at("schema") || saved.at("program") != head.at("program")) {
      refuse("not a report of " + std::string(program));
    }
    for (const char* field : kept_fields) {
      const Json then = saved.value(field, Json()), now = head.value(field, Json());
      if (then != now) refuse(std::string(field) + " was " + then.dump() + " there and is " + now.dump() + " now");
    }
    for (const Json& system : saved.at("systems")) {
      if (system.at("refused").is_null()) systems.push_back(system);
    }
    (void)means_of(systems);
    (void)any_of_ours(systems, "wrong");
  } catch (const Json::exception&) {
    refuse("not a report of " + std::string(program));
  }
  return systems;
}

bool has_system(const RegretResult& result, const std::string& name) {
  return std::any_of(result.systems.begin(), result.systems.end(),
                     [&](const Json& system) { return system.at("system") == without_folders(name); });
}

template <Space S>
RegretSystem measured(const Context<Space::host>& host, const Context<S>& ctx, const BenchRegretOptions& options,
                      const std::string& name) {
  RegretSystem system;
  system.name = name;
  system.single_precision = options.single_precision;
  system.tolerance = options.tolerance;
  const std::optional<InputMatrix> matrix = load_or_refuse(host, system);
  print_now(solved_system_text(system, system.tolerance));
  if (matrix && options.single_precision) measure<float>(host, ctx, *matrix, options, system);
  if (matrix && !options.single_precision) measure<double>(host, ctx, *matrix, options, system);
  print_now(bench_table_text(system));
  return system;
}

template <Space S>
RegretResult measure_all(const Context<Space::host>& host, const Context<S>& ctx, const BenchRegretOptions& options,
                         const std::string& command_line) {
  RegretResult result;
  result.head = regret_head(host, ctx, options, command_line);
  result.systems = saved_systems(options, result.head);
  result.copy = bench::measure_copy(ctx, options.repeats);
  print_now(bench_machine_text(result.head, result.copy) + "\n");
  for (const std::string& name : options.systems) {
    if (options.continues && has_system(result, name)) {
      print_now("\n" + name + ": in the report already\n");
      continue;
    }
    result.systems.push_back(regret_system_json(measured(host, ctx, options, name)));
    write_bench_files(options.report, bench_json(result), options.csv, bench_csv(result));
  }
  print_now(bench_means_text(result.systems));
  return result;
}

// What was named and this build does not hold is no matter of a single line.
void check_tables(const BenchRegretOptions& options, Space space) {
  for (const std::string& precond : options.preconds) {
    check_available("auto", precond, space, options.single_precision);
  }
  if (options.all_formats) return;
  for (const std::string& format : options.formats) {
    check_available(format, "none", space, options.single_precision);
  }
}

bool any_failure(const std::vector<RegretMean>& means) {
  return std::any_of(means.begin(), means.end(), [](const RegretMean& mean) { return !mean.failures.empty(); });
}

}  // namespace

int bench_exit_status(const RegretResult& result) {
  const Json& systems = result.systems;
  const auto unreadable = [](const Json& system) { return system.at("rows").is_null(); };
  if (any_of_ours(systems, "wrong")) return exit_wrong_product;
  if (std::any_of(systems.begin(), systems.end(), unreadable)) return exit_bad_input;
  if (any_failure(means_of(systems)) || !any_of_ours(systems, "converged")) return exit_not_converged;
  return exit_converged;
}

int run_bench_regret(const BenchRegretOptions& options, const std::string& command_line) {
  // All kernels are loaded as the device is opened, and not by the first combination that launches one.
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  const Place place = choose_place(options.device);
  check_tables(options, place.space);
  check_bench_files(options.systems, options.report, options.csv, parse_rhs(options.rhs).file);
  const Context<Space::host> host(options.threads);
  const RegretResult result =
      at_place(place, host, [&](const auto& ctx) { return measure_all(host, ctx, options, command_line); });
  if (!any_of_ours(result.systems, "converged")) print_error("no solve converged, on any of the systems");
  return bench_exit_status(result);
}

}  // namespace newel::cli
