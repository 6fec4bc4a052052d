// SPDX-License-Identifier: Apache-2.0
// What all commands of `newel bench` take.
#include "run_options.hpp"

#include "apps/common/place.hpp"

namespace newel::cli {

void add_bench_systems(CLI::App& command, BenchRunOptions& o) {
  command
      .add_option("A", o.systems,
                  "Matrix Market files (.gz too), generate:elasticity|diffusion|convection|grid7:N[:PE], or\n"
                  "mesh:FILE.mesh:elasticity|diffusion|convection[:REFINEMENTS]")
      ->option_text("...")
      ->required();
}

void add_bench_run(CLI::App& command, BenchRunOptions& o, const std::string& verb, const std::string& line) {
  command
      .add_option("--device", o.device,
                  "Where to " + verb + ", default auto: cuda if a device is available, else host")
      ->option_text("auto|host|cuda[:N]");
  command.add_option("--threads", o.threads, "Host threads, default all")
      ->option_text("N")
      ->check(CLI::Range(1, most_threads));
  command
      .add_option("--repeats", o.repeats,
                  "Rounds; each contender runs once per round, default " + std::to_string(o.repeats))
      ->option_text("N")
      ->check(CLI::Range(1, 100000));
  command.add_option("--report", o.report, "All figures as JSON, rewritten after each system")->option_text("R.json");
  command.add_option("--csv", o.csv, "One line for each system, precision and " + line)->option_text("R.csv");
}

CLI::Option* add_bench_stop(CLI::App& command, double& tolerance, int& max_iterations) {
  CLI::Option* const given = command
                                 .add_option("--tol", tolerance,
                                             text("Solve until |r| <= TOL |b|, default %g, in single precision %g",
                                                  default_rtol_double, default_rtol_single))
                                 ->option_text("TOL");
  command.add_option("--max-iterations", max_iterations, "Default " + thousands(max_iterations))
      ->option_text("N")
      ->check(CLI::Range(1, INT32_MAX));
  return given;
}

void take_precision(const std::string& given, BenchRunOptions& o) {
  const std::string precision = check_choice(given, "--precision", {"both", "double", "single"});
  o.double_precision = precision != "single";
  o.single_precision = precision != "double";
}

}  // namespace newel::cli
