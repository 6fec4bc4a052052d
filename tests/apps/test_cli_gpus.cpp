// SPDX-License-Identifier: Apache-2.0
// `newel solve --gpus N`: what does not combine with it, and solves on two GPUs.
#include "tests/catch.hpp"

#include <numeric>

#include "tests/apps/cli_report.hpp"
#include "tests/apps/cli_systems.hpp"
#include "tests/apps/process.hpp"
#if NEWEL_HAS_CUDA
#include "tests/distributed/device_counts.hpp"
#endif

TEST_IN_FOLDER("What --gpus does not combine with is refused, and so are more GPUs than there are", "[cli]") {
  const std::string matrix = folder.write("A.mtx", grid_system(5).text());
  const auto refused = [&](const Words& options) {
    const Outcome outcome = run_newel(joined({"solve", matrix}, options));
    INFO(outcome.err);
    CHECK((outcome.status == 2 || outcome.status == 3));
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') <= 3);
    return outcome.err;
  };
  CHECK(contains(refused({"--gpus", "2", "--device", "host"}), "pass only one of them"));
  CHECK(contains(refused({"--gpus", "2", "--device", "cuda:1"}), "pass only one of them"));
  CHECK(contains(refused({"--gpus", "0"}), "--gpus"));
  CHECK(contains(refused({"--gpus", "2", "--explain"}), "--explain is not possible with --gpus"));
  CHECK(contains(refused({"--gpus", "2", "--plan-cache", folder.file("plans")}), "--plan-cache is not possible"));
  CHECK(contains(refused({"--gpus", "2", "--precond-residual"}), "--precond-residual is not possible"));
  CHECK(contains(refused({"--gpus", "1000"}), "--gpus 1000: "));
}

#if NEWEL_HAS_CUDA
TEST_IN_FOLDER("Several GPUs solve as the host does, and the report names them, their rows and their link",
               "[cli][distributed][device]") {
  if (newel::testing::skipped_without_devices(2)) return;
  const int gpus = newel::testing::numbers_of_devices().back();
  const std::string names = (gpus == 2 ? "cuda:0 and cuda:" : "cuda:0 to cuda:") + std::to_string(gpus - 1);
  const Words on_gpus = {"--gpus", std::to_string(gpus)};
  const System spd = grid_system(30), wind = grid_system(30, 0.3);
  const std::vector<double> b = rough_vector(spd.n);
  struct Case {
    const System& system;
    Words options;
    double tolerance;
  };
  for (const Case& of : {Case{spd, {}, 1.001e-8}, Case{spd, {"--precond", "fsai", "--rtol", "1e-11"}, 1.001e-11},
                         Case{wind, {"--precond", "spai"}, 1.001e-8}, Case{wind, {"--solver", "gmres"}, 1.001e-8},
                         Case{spd, {"--precision", "single"}, 1.5e-5}}) {
    const auto [outcome, r, x] = solved(of.system, b, joined(on_gpus, of.options));
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(residual(of.system, x, b) <= of.tolerance);
    CHECK(r["device"] == names);
    CHECK(r["ranks"] == gpus);
    const std::vector<int> rows = r["rank_rows"];
    CHECK(rows.size() == static_cast<std::size_t>(gpus));
    CHECK(std::accumulate(rows.begin(), rows.end(), 0) == of.system.n);
    CHECK(r["rank_rows"][0].get<int>() > 0);
    CHECK_FALSE(r["link"].get<std::string>().empty());
    CHECK(contains(outcome.out, std::to_string(gpus) + " GPUs, link: " + r["link"].get<std::string>()));
    CHECK(r["unused_options"].empty());
    CHECK(solved(of.system, b, joined(on_gpus, of.options)).x == x);
    const auto on_host = solved(of.system, b, joined({"--device", "host"}, of.options));
    if (r["preconditioner"] == on_host.report["preconditioner"] && r["solver"] == "cg") {
      const int there = r["iterations"], here = on_host.report["iterations"];
      CHECK(std::abs(there - here) <= 1 + here / 50);
    }
  }
}

TEST_IN_FOLDER("Two GPUs take columns and a guess, and end as one does", "[cli][distributed][device]") {
  if (newel::testing::skipped_without_devices(2)) return;
  const System s = grid_system(20);
  const std::string matrix = folder.write("A.mtx", s.text());
  const std::vector<double> first = rough_vector(s.n);
  std::vector<double> second = first;
  for (double& value : second) value = 1 - value;
  const std::string b = folder.write("b.mtx", vector_text(first));
  run_well({"solve", matrix, "--rhs", b, "--gpus", "2", "--out", folder.file("x.mtx")});
  run_well({"solve", "generate:elasticity:4", "--gpus", "2"});  // which knows its nodes
  run_well({"solve", "generate:elasticity:4", "--gpus", "2", "--precond", "amg"});
  const Outcome again = run_well({"solve", matrix, "--rhs", b, "--gpus", "2", "--guess", folder.file("x.mtx"),
                                  "--report", folder.file("r.json")});
  CHECK(report_in(folder)["iterations"] == 0);
  CHECK(contains(again.out, "2 GPUs"));
  const Outcome limited = run_newel({"solve", matrix, "--rhs", b, "--gpus", "2", "--max-iterations", "2", "--precond",
                                     "jacobi", "--report", folder.file("r.json")});
  CHECK(limited.status == 1);
  CHECK(report_in(folder)["status"] == "max_iterations");
  const Outcome refused = run_newel({"solve", matrix, "--gpus", "2", "--partitioner", "greedy"});
  CHECK(refused.status == 2);
  CHECK(contains(refused.err, "--partitioner is not possible with --gpus"));
  const std::string columns = "%%MatrixMarket matrix array real general\n" + std::to_string(s.n) + " 2\n";
  std::string values;
  for (const std::vector<double>& column : {first, second}) {
    for (const double value : column) values += std::to_string(value) + '\n';
  }
  const std::string two = folder.write("two.mtx", columns + values);
  run_well({"solve", matrix, "--rhs", two, "--gpus", "2", "--report", folder.file("r.json")});
  CHECK(report_in(folder)["columns"].size() == 2);
  CHECK(report_in(folder)["converged"] == true);
}

TEST_IN_FOLDER("GPUs that generate their rows solve the system that the host generates",
               "[cli][distributed][device]") {
  if (newel::testing::skipped_without_devices(2)) return;
  Json reports[2];
  for (const int gpus : {1, 2}) {
    const Words where = gpus == 1 ? Words{"--device", "host"} : Words{"--gpus", "2"};
    run_well(joined({"solve", "generate:elasticity:7", "--rhs", "A*random:3", "--solver", "cg", "--precond", "jacobi",
                     "--out", folder.file("x.mtx"), "--report", folder.file("r.json"), "--quiet"},
                    where));
    reports[gpus - 1] = report_in(folder);
    CHECK(reports[gpus - 1]["solution_error"].get<double>() < 1e-6);
  }
  for (const char* const fact : {"rows", "nonzeros"}) CHECK(reports[0][fact] == reports[1][fact]);
  const double here = reports[0]["rhs_norm"], there = reports[1]["rhs_norm"];
  CHECK(std::abs(here / there - 1) < 1e-12);
  CHECK(reports[1]["rank_rows"].size() == 2);
}
#endif
