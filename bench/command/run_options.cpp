// SPDX-License-Identifier: Apache-2.0
// What all commands of `newel bench` take.
#include "run_options.hpp"

#include "apps/common/place.hpp"

namespace newel::cli {

void add_bench_systems(CLI::App& command, BenchRunOptions& o) {
  const OptionGroup group(command);
  group
      .add("A", o.systems, "...",
           "Matrix Market files (.gz too), generate:elasticity|diffusion|convection|grid7:N[:PE], or\n"
           "mesh:FILE.mesh:elasticity|diffusion|convection[:REFINEMENTS]")
      ->required();
}

void add_bench_run(CLI::App& command, BenchRunOptions& o, const std::string& verb, const std::string& line) {
  const OptionGroup group(command);
  group.add("--device", o.device, "auto|host|cuda[:N]",
            "Where to " + verb + ", default auto: cuda if a device is available, else host");
  group.add("--threads", o.threads, "N", "Host threads, default all")->check(CLI::Range(1, most_threads));
  group
      .add("--repeats", o.repeats, "N",
           "Rounds; each contender runs once per round, default " + std::to_string(o.repeats))
      ->check(CLI::Range(1, 100000));
  group.add("--report", o.report, "R.json", "All figures as JSON, rewritten after each system");
  group.add("--csv", o.csv, "R.csv", "One line for each system, precision and " + line);
}

CLI::Option* add_bench_stop(CLI::App& command, double& tolerance, int& max_iterations) {
  const OptionGroup group(command);
  CLI::Option* const given = group.add("--tol", tolerance, "TOL",
                                       text("Solve until |r| <= TOL |b|, default %g, in single precision %g",
                                            default_rtol_double, default_rtol_single));
  group.add("--max-iterations", max_iterations, "N", "Default " + thousands(max_iterations))
      ->check(CLI::Range(1, INT32_MAX));
  return given;
}

void take_precision(const std::string& given, BenchRunOptions& o) {
  const std::string precision = check_choice(given, "--precision", {"both", "double", "single"});
  o.double_precision = precision != "single";
  o.single_precision = precision != "double";
}

}  // namespace newel::cli
