// SPDX-License-Identifier: Apache-2.0
// `newel bench solve --gpus` and `--ranks`: options, table, report, and the arithmetic of scaling.
#include "bench/command/scaling.hpp"
#include "tests/apps/bench_words.hpp"
#include "tests/apps/cli_report.hpp"
#include "tests/apps/cli_systems.hpp"
#include "tests/apps/process.hpp"
#if NEWEL_HAS_CUDA
#include "tests/distributed/device_counts.hpp"
#endif

using newel::cli::BenchSolveOptions;
using newel::cli::ScalingLine;
using newel::cli::ScalingSystem;
using newel::cli::WeakScaling;
using Names = std::vector<std::string>;

namespace {

BenchSolveOptions parsed(const std::string& line) { return parsed_bench<BenchSolveOptions>("solve " + line); }

ScalingLine line_of(int ranks, double seconds) {
  ScalingLine line;
  line.ranks = ranks;
  line.precond = "jacobi";
  line.iteration = {seconds};
  return line;
}

}  // namespace

TEST_CASE("Options of scaling are taken as typed", "[cli][bench]") {
  const BenchSolveOptions o = parsed(
      "generate:grid7:9 --gpus 1,2,4 --links peers,NCCL --weak generate:grid7:18,generate:diffusion:8 --preconds "
      "jacobi,amg --loop-iterations 50 --tol 1e-6 --max-iterations 700 --repeats 3 --threads 2 --report r.json");
  CHECK(o.shares == std::vector<int>{1, 2, 4});
  CHECK(o.on_gpus);
  CHECK(o.links == Names{"peers", "nccl"});
  CHECK(o.weak == Names{"generate:grid7:18", "generate:diffusion:8"});
  CHECK(o.preconds == Names{"jacobi", "amg"});
  CHECK(o.loop_iterations == 50);
  CHECK(o.tolerance == 1e-6);
  CHECK(o.max_iterations == 700);
  CHECK_FALSE(parsed("a.mtx --ranks 2").on_gpus);
  CHECK(parsed("a.mtx --gpus 2").links == Names{"automatic"});
  CHECK(parsed("a.mtx").shares.empty());
}

TEST_CASE("Scaling refuses what makes no sense", "[cli][bench]") {
  check_refused_bench<BenchSolveOptions>(
      "solve a.mtx", {"--gpus 0", "--gpus 1,x", "--gpus 2,2", "--gpus 1,", "--gpus 2 --ranks 2", "--links nccl",
                      "--weak generate:grid7:4", "--loop-iterations 3", "--gpus 2 --links wire",
                      "--gpus 2 --links nccl,nccl", "--ranks 2 --links nccl", "--gpus 2 --weak a.mtx",
                      "--gpus 2 --solvers cg", "--gpus 2 --formats csr", "--gpus 2 --precision single",
                      "--gpus 2 --mixed", "--gpus 2 --device cuda", "--gpus 2 --rhs ones", "--ranks 2 --csv r.csv"});
}

TEST_CASE("A system grows with the ranks", "[cli][bench]") {
  CHECK(newel::cli::scaled_spec("generate:grid7:180", 1) == "generate:grid7:180");
  CHECK(newel::cli::scaled_spec("generate:grid7:180", 2) == "generate:grid7:227");  // 226.8
  CHECK(newel::cli::scaled_spec("generate:grid7:180", 8) == "generate:grid7:360");
  CHECK(newel::cli::scaled_spec("generate:convection:20:300", 4) == "generate:convection:32:300");  // 31.7
}

TEST_CASE("Weak efficiency counts the rows that a system has too many", "[cli][bench]") {
  WeakScaling weak{"generate:grid7:10", {ScalingSystem{"", 1000, 0, {line_of(1, 3.0), line_of(1, 2.0)}}}};
  // One rank takes 2 s for 1000 rows; two take 2.5 s for 1100 each.
  const ScalingLine two = line_of(2, 2.5);
  CHECK(*newel::cli::iteration_of_one(weak.systems[0], "jacobi") == 2.0);
  CHECK(std::abs(*newel::cli::weak_efficiency(weak, two, 2200) - 0.88) < 1e-12);
  ScalingLine refused = two;
  refused.refused = "no memory";
  CHECK_FALSE(newel::cli::weak_efficiency(weak, refused, 2200));
  CHECK_FALSE(newel::cli::iteration_of_one(weak.systems[0], "amg"));
}

TEST_IN_FOLDER("bench solve --ranks measures one rank and several, of files and of generated systems",
               "[cli][bench]") {
  const std::string matrix = folder.write("A.mtx", grid_system(12).text());
  const Outcome outcome = run_well({"bench", "solve", matrix, "generate:elasticity:5", "--ranks", "1,2,3",
                                    "--preconds", "jacobi,amg", "--weak", "generate:grid7:8", "--repeats", "2",
                                    "--loop-iterations", "3", "--report", folder.file("r.json")});
  CHECK(contains(outcome.out, "generate:elasticity:5: 375 rows"));
  CHECK(contains(outcome.out, "weak scaling from generate:grid7:8"));
  const Json report = report_in(folder);
  CHECK(report["loop_iterations"] == 3);
  REQUIRE(report["systems"].size() == 2);
  CHECK(report["systems"][0]["system"] == "A.mtx");
  for (const Json& system : report["systems"]) {
    REQUIRE(system["runs"].size() == 6);
    for (const Json& run : system["runs"]) {
      INFO(run.dump());
      CHECK(run["refused"].is_null());
      CHECK(run["converged"] == true);
      CHECK(run["format"] == "csr");
      CHECK(run["true_relative_residual"].get<double>() <= 1.001e-8);
      CHECK(run["solve"]["milliseconds"]["samples"].size() == 2);
      CHECK(run["microseconds"]["samples"].size() == 2);
      CHECK(run["bytes"].get<double>() > 8.0 * system["nonzeros"].get<double>());
    }
    CHECK(system["runs"][0]["link"] == "none, csr");
    CHECK(system["runs"][5]["ranks"] == 3);
    CHECK(system["runs"][5]["precond"] == "amg");
  }
  const Json& weak = report["weak"][0];
  CHECK(weak["of_one"] == "generate:grid7:8");
  REQUIRE(weak["systems"].size() == 3);
  CHECK(weak["systems"][1]["system"] == "generate:grid7:10");
  CHECK(weak["systems"][2]["rows"] == 12 * 12 * 12);  // 8 times the cube root of 3 is 11.5
  CHECK(weak["systems"][2]["nonzeros"] == 7 * 12 * 12 * 12 - 6 * 12 * 12);
  CHECK(weak["systems"][2]["runs"].size() == 2);
}

TEST_IN_FOLDER("A preconditioner that ranks do not have is a line that says so", "[cli][bench]") {
  const Outcome outcome = run_well({"bench", "solve", "generate:grid7:6", "--ranks", "1,2", "--preconds", "jacobi,ic",
                                    "--repeats", "1", "--loop-iterations", "2", "--report", folder.file("r.json")});
  const Json runs = report_in(folder)["systems"][0]["runs"];
  REQUIRE(runs.size() == 4);
  CHECK(runs[1]["refused"].is_null());
  CHECK(contains(runs[3]["refused"].get<std::string>(), "ic"));
  CHECK(contains(outcome.out, "refused: "));
}

#if NEWEL_HAS_CUDA
TEST_IN_FOLDER("bench solve --gpus measures each link on two GPUs", "[cli][bench][distributed][device]") {
  if (newel::testing::skipped_without_devices(2)) return;
  run_well({"bench", "solve", "generate:elasticity:8", "--gpus", "1,2", "--links", "automatic,host", "--repeats", "1",
            "--loop-iterations", "5", "--report", folder.file("r.json")});
  const Json runs = report_in(folder)["systems"][0]["runs"];
  REQUIRE(runs.size() == 4);  // csr and ehyb on one
  for (const Json& run : runs) CHECK(run["converged"] == true);
  CHECK(runs[3]["gpus"] == 2);
  CHECK(runs[3]["requested_link"] == "host");
}
#endif
