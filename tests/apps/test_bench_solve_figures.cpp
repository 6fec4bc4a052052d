// SPDX-License-Identifier: Apache-2.0
// The arithmetic of `newel bench solve` on numbers that one can check by hand, and its table and files.
#include "tests/catch.hpp"

#include "bench/command/solve.hpp"

using namespace newel::cli;

namespace {

BenchSolveLine line_of(const std::string& by, const std::string& solver, const std::string& precond, double iteration,
                       int iterations) {
  BenchSolveLine line;
  line.by = by;
  line.solver = solver;
  line.precond = precond;
  line.format = line.facts.format = "csr";
  line.competitor = by != "newel";
  line.end.status = "converged";
  line.end.iterations = iterations;
  line.iteration = {iteration, iteration, iteration};
  line.solve = {iteration * iterations, iteration * iterations, iteration * iterations};
  line.residual = 5e-9;
  line.allowed = 1e-8;
  line.facts.product_bytes = 20000;
  return line;
}

// Rows of 8000 bytes a vector.
BenchSolveSystem small_system() {
  BenchSolveSystem system;
  system.name = "folder/small.mtx";
  system.rows = 1000;
  system.nonzeros = 1500;
  system.tolerance = 1e-8;
  system.restart = 30;
  system.lines = {line_of("newel", "cg", "jacobi", 0.001, 100), line_of("newel", "cg", "fsai", 0.002, 30),
                  line_of("newel", "gmres", "jacobi", 0.004, 20), line_of("usual", "cg", "jacobi", 0.003, 100),
                  line_of("other", "cg", "jacobi", 0.002, 120)};
  system.lines[1].facts.precond_bytes = 7000;
  system.lines[4].facts.product_bytes = 12000;
  return system;
}

bench::CopyBandwidth copy_of(double gigabytes_per_second) { return {1 << 20, {gigabytes_per_second}}; }

BenchSolveResult result_of(const BenchSolveSystem& system) {
  BenchSolveResult result;
  result.head = {{"processor", "a processor"}, {"threads", 2}};
  result.copy = copy_of(0.1);
  result.systems = {system};
  return result;
}

}  // namespace

TEST_CASE("The floor of an iteration is the thinnest matrix once and the vectors of the solver", "[bench]") {
  const BenchSolveSystem system = small_system();
  CHECK(floor_bytes(system.lines[0], system) == Approx(12000 + 10 * 8000));
  CHECK(floor_bytes(system.lines[1], system) == Approx(12000 + 7000 + 8 * 8000));
  CHECK(floor_bytes(system.lines[2], system) == Approx(12000 + (20 + 9) * 8000));  // fewer iterations than a cycle
  CHECK(floor_model("cg", "none", 30).vectors == 8);
  CHECK(floor_model("bicgstab", "none", 30).vectors == 15);
  CHECK(floor_model("bicgstab", "jacobi", 30).vectors == 21);
  CHECK(floor_model("bicgstab", "spai", 30).vectors == 17);
  CHECK(floor_model("bicgstab", "spai", 30).products == 2);
  CHECK(floor_model("gmres", "none", 30).vectors == 37);
  BenchSolveLine half = system.lines[2];
  half.single_basis = true;
  CHECK(floor_bytes(half, system) == Approx(12000 + (21 / 2.0 + 8) * 8000));
  BenchSolveSystem single = small_system();
  single.single_precision = true;
  CHECK(floor_bytes(single.lines[0], single) == Approx(12000 + 10 * 4000));
}

TEST_CASE("Another preconditioner's matrix and what was refused set no floor", "[bench]") {
  BenchSolveSystem system = small_system();
  system.lines.push_back(line_of("newel", "cg", "spai", 0.001, 10));
  system.lines.back().facts.precond_bytes = 3000;
  system.lines.push_back(line_of("newel", "bicgstab", "fsai", 0.001, 10));
  system.lines.back().facts.precond_bytes = 5000;
  system.lines[4].refused = "no";
  CHECK(floor_bytes(system.lines[1], system) == Approx(20000 + 5000 + 8 * 8000));
}

TEST_CASE("A line in mixed precision has a floor of its own and lowers nobody else's", "[bench]") {
  BenchSolveSystem system = small_system();
  BenchSolveLine mixed = line_of("newel:mixed", "cg", "jacobi", 0.0005, 110);
  mixed.competitor = false;
  mixed.mixed = true;
  mixed.facts.product_bytes = 9000;
  system.lines.push_back(mixed);
  CHECK(floor_bytes(system.lines.back(), system) == Approx(9000 + 10 * 4000));
  CHECK(floor_bytes(system.lines[0], system) == Approx(12000 + 10 * 8000));
  CHECK(*figures_of(mixed, system, copy_of(0.1)).iteration_speedup == Approx(4));
}

TEST_CASE("Shares and speed-ups follow from medians", "[bench]") {
  const BenchSolveSystem system = small_system();
  const BenchSolveFigures f = figures_of(system.lines[0], system, copy_of(0.1));  // 100 kB a millisecond
  CHECK(f.floor_seconds == Approx(0.92e-3));
  CHECK(f.share_of_floor == Approx(0.92));
  REQUIRE(f.iteration_speedup);
  CHECK(*f.iteration_speedup == Approx(2));  // over the fastest with CG and Jacobi
  REQUIRE(f.solve_speedup);
  CHECK(*f.solve_speedup == Approx(2.4));  // 240 ms over 100 ms
  const BenchSolveFigures fsai = figures_of(system.lines[1], system, copy_of(0.1));
  CHECK_FALSE(fsai.iteration_speedup);
  CHECK(*fsai.solve_speedup == Approx(4));
}

TEST_CASE("Solves that did not converge are no measure and have no speed-up", "[bench]") {
  BenchSolveSystem system = small_system();
  system.lines[4].end.status = "max_iterations";
  CHECK(*figures_of(system.lines[0], system, copy_of(1)).solve_speedup == Approx(3));
  CHECK(*figures_of(system.lines[0], system, copy_of(1)).iteration_speedup == Approx(2));
  CHECK_FALSE(figures_of(system.lines[4], system, copy_of(1)).solve_speedup);
  system.lines[3].refused = "no";
  CHECK_FALSE(figures_of(system.lines[0], system, copy_of(1)).solve_speedup);
}

TEST_CASE("What did not converge, what is wrong and what was refused stay in table, report and CSV", "[bench]") {
  BenchSolveSystem system = small_system();
  system.lines[0].residual = 1e-3;
  system.lines[0].exceeded = true;
  system.lines[1].end = {"stagnation", "rounding, so to speak", 50, 1e-4};
  system.lines[2].refused = "too large, by far";
  system.lines[3].residual = 1e-3;
  const BenchSolveResult result = result_of(system);
  const std::string table = bench_table_text(system, result.copy);
  CHECK(contains(table, "WRONG"));
  CHECK(contains(table, "stagnation: rounding, so to speak"));
  CHECK(contains(table, "refused: too large, by far"));
  CHECK(contains(table, "converged, by its recurrence only"));
  const Json json = bench_json(result)["systems"][0];
  CHECK(json["system"] == "small.mtx");
  CHECK(json["solves"][0]["wrong"] == true);
  CHECK(json["solves"][1]["converged"] == false);
  CHECK(json["solves"][1]["status"] == "stagnation");
  CHECK(json["solves"][1]["solve_speedup"].is_null());
  CHECK(json["solves"][2]["refused"] == "too large, by far");
  CHECK_FALSE(json["solves"][2].contains("iteration"));
  CHECK(json["solves"][3]["wrong"] == false);
  std::istringstream lines(bench_csv(result));
  std::string header;
  std::getline(lines, header);
  const auto fields = [](const std::string& line) { return std::count(line.begin(), line.end(), ','); };
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    CHECK(fields(line) == fields(header) + (contains(line, "\"too large, by far\"") ? 1 : 0));
  }
  CHECK(count == 5);
}
