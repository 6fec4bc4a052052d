// SPDX-License-Identifier: Apache-2.0
// `newel bench solve` as a program: its options, its table, its files.
#include "tests/apps/bench_words.hpp"
#include "tests/apps/cli_report.hpp"
#include "tests/apps/cli_systems.hpp"
#include "tests/apps/process.hpp"

using newel::cli::BenchSolveOptions;
using newel::cli::UsageError;
using Names = std::vector<std::string>;

namespace {

BenchSolveOptions parsed(const std::string& line) { return parsed_bench<BenchSolveOptions>("solve " + line); }

}  // namespace

TEST_CASE("Options of bench solve are taken as typed, in the tables' spelling", "[cli][bench]") {
  const BenchSolveOptions o = parsed(
      "a.mtx generate:grid7:9 --solvers GMRES,cg --preconds none,FSAI --formats "
      "CSR:ALG2,e-hyb --restart 50 --rhs random:3 --tol 1e-6 --max-iterations 77 "
      "--precision both --device host --threads 3 --repeats 7 --report r.json --csv "
      "r.csv");
  CHECK(o.systems == Names{"a.mtx", "generate:grid7:9"});
  CHECK(o.solvers == Names{"gmres", "cg"});
  CHECK(o.preconds == Names{"none", "fsai"});
  CHECK(o.formats == Names{"csr:alg2", "ehyb"});
  CHECK(o.restart == 50);
  CHECK(o.rhs == "random:3");
  CHECK(o.tolerance == 1e-6);
  CHECK(o.single_tolerance == 1e-6);
  CHECK(o.max_iterations == 77);
  CHECK(o.double_precision);
  CHECK(o.single_precision);
  CHECK(o.device == "host");
  CHECK(o.threads == 3);
  CHECK(o.repeats == 7);
  CHECK(o.report == "r.json");
  CHECK(o.csv == "r.csv");
  CHECK_FALSE(o.mixed);
  CHECK(parsed("a.mtx --mixed").mixed);
  CHECK_THROWS_AS(parsed("a.mtx --mixed --precision single"), UsageError);
  CHECK_FALSE(o.single_basis);
  CHECK(parsed("a.mtx --single-basis").single_basis);
  CHECK_THROWS_AS(parsed("a.mtx --single-basis --precision single"), UsageError);
  CHECK_THROWS_AS(parsed("a.mtx --single-basis --solvers cg"), UsageError);
  const BenchSolveOptions defaults = parsed("a.mtx");
  CHECK(defaults.solvers == Names{"cg", "bicgstab", "gmres", "minres", "idrs", "fgmres"});
  CHECK(defaults.preconds == Names{"jacobi"});
  CHECK(defaults.formats == Names{"ehyb", "csr"});
  CHECK(defaults.rhs == "ones");
  CHECK(defaults.tolerance == 1e-8);
  CHECK(defaults.single_tolerance == 1e-5);
  CHECK_FALSE(defaults.single_precision);
  CHECK(parsed("a.mtx --preconds all").preconds.size() > 3);
  CHECK(parsed("a.mtx --tol 0").tolerance == 0);
}

TEST_CASE("bench solve refuses what makes no sense", "[cli][bench]") {
  CHECK_THROWS_AS(parsed(""), UsageError);
  check_refused_bench<BenchSolveOptions>(
      "solve a.mtx", {"--solvers auto", "--solvers cg,cg", "--solvers ''", "--preconds auto", "--preconds jacobi,",
                      "--formats auto", "--formats ehyb:paperr", "--precision half", "--repeats 0",
                      "--max-iterations 0", "--tol -1e-8", "--tol 1", "--tol nan", "--rhs random:x", "--restart 0",
                      "--restart 20 --solvers cg,bicgstab", "b.mtx --rhs rhs.mtx", "--solver cg", "--cold"});
}

TEST_IN_FOLDER("bench solve --single-basis puts GMRES with a basis in single precision in addition", "[cli][bench]") {
  const Outcome outcome =
      run_well({"bench", "solve", "generate:diffusion:6", "--solvers", "cg,gmres", "--formats", "csr",
                "--single-basis", "--device", "host", "--repeats", "1", "--report", folder.file("r.json")});
  const Json report = report_in(folder);
  std::vector<std::string> ours;
  for (const Json& line : report["systems"][0]["solves"]) {
    if (line["by"].get<std::string>().rfind("newel", 0) != 0) continue;
    ours.push_back(line["by"].get<std::string>() + " " + line["solver"].get<std::string>());
    CHECK(line["converged"] == true);
    CHECK(line["wrong"] == false);
  }
  CHECK(ours == std::vector<std::string>{"newel cg", "newel gmres", "newel:single-basis gmres"});
}

TEST_IN_FOLDER("bench solve --mixed compares mixed precision with double, judged by the same residual",
               "[cli][bench][mixed]") {
  const Outcome outcome =
      run_well({"bench", "solve", "generate:diffusion:6", "--solvers", "cg", "--formats", "ehyb", "--mixed",
                "--device", "host", "--repeats", "1", "--tol", "1e-10", "--report", folder.file("r.json")});
  const Json report = report_in(folder);
  const Json& solves = report["systems"][0]["solves"];
  REQUIRE(solves.size() >= 2);
  CHECK(solves[0]["by"] == "newel");
  CHECK(solves[1]["by"] == "newel:mixed");
  CHECK(solves[1]["true_relative_residual"] <= 1e-10);
  CHECK(solves[1]["floor_bytes"] < solves[0]["floor_bytes"]);
}

TEST_CASE("bench solve ends with status 1 and a word where none of ours converges", "[cli][bench]") {
  const auto run = [](const Words& more) {
    return run_newel(joined(words("bench solve generate:elasticity:5 --solvers cg --formats csr --device host "
                                  "--repeats 1 --max-iterations 3"),
                            more));
  };
  const Outcome failed = run({});
  CHECK(failed.status == 1);
  CHECK(failed.err == "newel: none of Newel's solves converged, on any of the systems\n");
  CHECK(contains(failed.out, "max_iterations"));
  const Outcome fixed = run({"--tol", "0"});
  CHECK(fixed.status == 0);
  CHECK(fixed.err.empty());
}

TEST_IN_FOLDER("bench solve prints each contender on each system and writes every figure", "[cli][bench]") {
  const std::string file = folder.write("wind.mtx", grid_system(12, 0.9).text());
  const std::string wide =
      folder.write("wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 1\n2 3 2\n");
  const Words options = words("--preconds jacobi,fsai --precision both --device host --threads 2 --repeats 2");
  const Outcome outcome =
      run_well(joined(joined({"bench", "solve", file, "generate:elasticity:4", wide}, options),
                      {"--max-iterations", "300", "--report", folder.file("r.json"), "--csv", folder.file("r.csv")}));
  CHECK(contains(outcome.out, "not symmetric"));  // why fsai refuses the first one
  CHECK(contains(outcome.out, "square"));         // and all the last one
  CHECK_FALSE(contains(outcome.out, "WRONG"));

  const std::string text = file_content(folder.file("r.json"));
  CHECK_FALSE(contains(text, folder.path().string()));
  CHECK(begins_as_report(text, "newel bench solve"));
  const Json report = Json::parse(text);
  for (const char* field : {"command", "date", "processor", "cores", "load_average", "compiler", "threads", "space",
                            "repeats", "rhs", "max_iterations", "restart", "copy", "timing", "systems"}) {
    INFO(field);
    CHECK(report.contains(field));
  }
  REQUIRE(report["systems"].size() == 6);
  CHECK(report["systems"][0]["system"] == "wind.mtx");
  CHECK(report["systems"][1]["precision"] == "single");
  CHECK(report["systems"][1]["tolerance"] == 1e-5);
  CHECK(contains(report["systems"][4]["refused"], "square"));
  CHECK(report["systems"][4]["solves"].empty());
  const Json& elasticity = report["systems"][2];
  CHECK(elasticity["refused"].is_null());
  CHECK(elasticity["solves"].size() >= 12);
  for (const Json& solve : elasticity["solves"]) {
    INFO(solve);
    CHECK(solve["refused"].is_null());
    for (const char* field :
         {"by", "solver", "precond", "format", "competitor", "built", "detail", "reason", "wrong",
          "recurrence_relative_residual", "setup_phases", "product_bytes", "precond_bytes", "floor_bytes",
          "floor_milliseconds", "percent_of_floor", "iteration_speedup", "solve_speedup"}) {
      INFO(field);
      CHECK(solve.contains(field));
    }
    CHECK(solve["status"] == "converged");
    CHECK(solve["converged"] == true);
    CHECK(solve["iterations"] > 10);
    CHECK(solve["true_relative_residual"] <= 1.1e-8);
    CHECK(solve["iteration"]["milliseconds"]["samples"].size() == 2);
    CHECK(solve["solve"]["milliseconds"]["median"] > 0);
    CHECK(solve["setup_seconds"] > 0);
    CHECK(solve["percent_of_floor"] > 0);
  }
  const std::string csv = file_content(folder.file("r.csv"));
  const auto lines = std::count(csv.begin(), csv.end(), '\n');
  // The last file, refused whole, has a line for each precision.
  CHECK(lines == 1 + 4 * static_cast<std::ptrdiff_t>(elasticity["solves"].size()) + 2);
}

TEST_IN_FOLDER("A right-hand side from a file is the one that is solved for", "[cli][bench]") {
  const std::string b = folder.write("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n2\n4\n6\n");
  const std::string a =
      folder.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 2\n2 2 2\n3 3 2\n");
  const Outcome outcome = run_well(
      {"bench", "solve", a, "--rhs", b, "--device", "host", "--repeats", "1", "--report", folder.file("r.json")});
  const Json report = report_in(folder);
  CHECK(report["rhs"] == "b.mtx");
  for (const Json& solve : report["systems"][0]["solves"]) CHECK(solve["true_relative_residual"] < 1e-15);
}
