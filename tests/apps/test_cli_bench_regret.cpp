// SPDX-License-Identifier: Apache-2.0
// `newel bench regret` as a program: its options, its table, its files.
#include "tests/apps/bench_words.hpp"
#include "tests/apps/cli_report.hpp"
#include "tests/apps/cli_systems.hpp"
#include "tests/apps/process.hpp"

using newel::cli::BenchRegretOptions;
using newel::cli::UsageError;
using Names = std::vector<std::string>;

namespace {

BenchRegretOptions parsed(const std::string& line) { return parsed_bench<BenchRegretOptions>("regret " + line); }

Outcome run_regret(const Names& systems, const Names& more) {
  const Words options = words("--device host --threads 2 --loop 3");
  return run_newel(joined(joined(joined({"bench", "regret"}, systems), options), more));
}

void check_end(const Json& end) {
  for (const char* field : {"status", "reason", "wrong", "resident"}) {
    INFO(field);
    CHECK(end.contains(field));
  }
  CHECK(end["refused"].is_null());
  CHECK(end["converged"] == true);
  CHECK(end["iterations"] >= 1);
  CHECK(end["true_relative_residual"] <= 1.1e-8);
}

// One that was measured whole, each combination converged.
void check_system(const Json& system, std::size_t combinations) {
  CHECK(system["rows"] > 10);
  CHECK(system["nonzeros"] > 10);
  CHECK(system["refused"].is_null());
  REQUIRE(system["uses"].size() == 3);
  const int solves[] = {1, 10, 3};
  for (std::size_t k = 0; k < 3; ++k) {
    const Json& use = system["uses"][k];
    INFO(use);
    CHECK(use["solves"] == solves[k]);
    CHECK(use["auto"]["solves"] == solves[k]);
    CHECK(use["outcome"] == "measured");
    CHECK(use["best"]["format"].is_string());
    CHECK(use["auto"]["solver"].is_string());
    CHECK(use["auto"]["changed"].is_array());
    CHECK(use["auto_seconds"] == use["auto"]["seconds"]["median"]);
    CHECK(use["regret"].get<double>() ==
          Approx(use["auto_seconds"].get<double>() / use["best_seconds"].get<double>()));
    check_end(use["auto"]);
    double least = 1e9;
    for (const Json& line : system["combinations"]) least = std::min(least, line["uses"][use["use"]].get<double>());
    CHECK(use["best_seconds"].get<double>() == Approx(least));
  }
  CHECK(!system["model"].empty());
  for (const Json& candidate : system["model"]) {
    INFO(candidate);
    CHECK(candidate["format"].is_string());
    CHECK(candidate["precond"].is_string());
    CHECK(candidate["setup_seconds"] >= 0);
    CHECK(candidate["iteration_seconds"] > 0);
    CHECK(candidate["iterations"] >= 1);
  }
  CHECK(system["combinations"].size() == combinations);
  for (const Json& line : system["combinations"]) {
    INFO(line);
    check_end(line);
    for (const char* field : {"setup", "first_solve", "refresh", "solve"}) {
      CHECK(line[field]["seconds"]["samples"].size() == 2);
    }
  }
}

}  // namespace

TEST_CASE("Options of bench regret are taken as typed, in the tables' spelling", "[cli][bench][regret]") {
  const BenchRegretOptions o = parsed(
      "a.mtx generate:grid7:9 --solvers GMRES --preconds none,FSAI --formats "
      "CSR,e-hyb --loop 20 --time-limit 2.5 --rhs random:3 --tol 1e-6 "
      "--max-iterations 77 --precision single --device host --threads 3 --repeats 7 "
      "--scale-estimates 0.01 --report r.json --csv r.csv --continue");
  CHECK(o.systems == Names{"a.mtx", "generate:grid7:9"});
  CHECK(o.solvers == Names{"gmres"});
  CHECK(o.preconds == Names{"none", "fsai"});
  CHECK(o.formats == Names{"csr", "ehyb"});
  CHECK_FALSE(o.all_formats);
  CHECK(o.loop == 20);
  CHECK(o.time_limit == 2.5);
  CHECK(o.rhs == "random:3");
  CHECK(o.tolerance == 1e-6);
  CHECK(o.max_iterations == 77);
  CHECK(o.single_precision);
  CHECK(o.repeats == 7);
  CHECK(o.continues);
  CHECK(o.scale_estimates == 0.01);
  const BenchRegretOptions defaults = parsed("a.mtx");
  CHECK(defaults.formats.size() > 4);
  CHECK(defaults.all_formats);
  CHECK(defaults.preconds.empty());
  CHECK(defaults.solvers.empty());
  CHECK(defaults.loop == 200);
  CHECK(defaults.repeats == 1);
  CHECK(defaults.time_limit == 0);
  CHECK(defaults.tolerance == 1e-8);
  CHECK_FALSE(defaults.single_precision);
  CHECK(parsed("a.mtx --precision single").tolerance == 1e-5);
  CHECK(parsed("a.mtx --solvers all").solvers.size() == 6);
}

TEST_CASE("bench regret refuses what makes no sense", "[cli][bench][regret]") {
  CHECK_THROWS_AS(parsed(""), UsageError);
  check_refused_bench<BenchRegretOptions>("regret a.mtx", {"--solvers auto",
                                                           "--solvers cg,cg",
                                                           "--preconds auto",
                                                           "--preconds ''",
                                                           "--formats auto",
                                                           "--formats ehyb,",
                                                           "--precision both",
                                                           "--repeats 0",
                                                           "--loop 0",
                                                           "--scale-estimates 0",
                                                           "--time-limit 0",
                                                           "--time-limit -1",
                                                           "--time-limit nan",
                                                           "--max-iterations 0",
                                                           "--tol 0",
                                                           "--tol 1",
                                                           "--continue",
                                                           "other/a.mtx --continue --report r.json",
                                                           "b.mtx --rhs rhs.mtx",
                                                           "--mixed"});
}

TEST_IN_FOLDER("bench regret measures auto and each combination and writes every figure", "[cli][bench][regret]") {
  const std::string file = folder.write("grid.mtx", grid_system(12).text());
  const Outcome outcome = run_regret(
      {file, "generate:convection:6"},
      {"--formats", "csr,ehyb", "--repeats", "2", "--report", folder.file("r.json"), "--csv", folder.file("r.csv")});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(contains(outcome.out, "auto begins with cg; 8 of 8 combinations converged"));
  CHECK(contains(outcome.out, "regret, 10 solves: geometric mean"));
  const std::string text = file_content(folder.file("r.json"));
  CHECK_FALSE(contains(text, folder.path().string()));
  CHECK(begins_as_report(text, "newel bench regret"));
  const Json report = Json::parse(text);
  for (const std::string& field : words("command date processor threads space repeats rhs precision tolerance "
                                        "max_iterations loop time_limit estimates_scaled_by formats preconds solvers "
                                        "copy timing uses systems")) {
    INFO(field);
    CHECK(report.contains(field));
  }
  REQUIRE(report["systems"].size() == 2);
  CHECK(report["systems"][0]["system"] == "grid.mtx");
  CHECK(report["systems"][0]["rows"] == 144);
  CHECK(report["systems"][0]["first_solver"] == "cg");
  CHECK(report["systems"][1]["first_solver"] != "cg");
  check_system(report["systems"][0], 8);
  check_system(report["systems"][1], 8);
  CHECK(report["systems"][0]["combinations"][4]["precond"] == "fsai");
  CHECK(report["systems"][1]["combinations"][4]["precond"] == "spai");
  const Json& usual = report["systems"][0]["usual"];
  check_end(usual);
  CHECK(usual["by"] == "eigen");
  CHECK(usual["seconds"].get<double>() ==
        Approx(usual["setup_seconds"].get<double>() + usual["solve_seconds"].get<double>()));
  REQUIRE(report["uses"].size() == 3);
  const Json& loop = report["uses"][2];
  CHECK(loop["solves"] == 3);
  CHECK(loop["systems"] == 2);
  const double first = report["systems"][0]["uses"][2]["regret"], second = report["systems"][1]["uses"][2]["regret"];
  CHECK(loop["geometric_mean"].get<double>() == Approx(std::sqrt(first * second)));
  CHECK(loop["max"].get<double>() == Approx(std::max(first, second)));
  CHECK(loop["failures"].empty());
  const std::string csv = file_content(folder.file("r.csv"));
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 1 + 6);
}

TEST_IN_FOLDER("bench regret --continue keeps what is in the report and measures the rest", "[cli][bench][regret]") {
  const Names options = {"--formats", "csr", "--preconds", "jacobi", "--report", folder.file("r.json"), "--continue"};
  const std::string bad = folder.write("bad.mtx", "no matrix\n");
  const Outcome first = run_regret({"generate:grid7:6", bad}, options);
  INFO(first.out << first.err);
  CHECK(first.status == 2);
  const Json before = report_in(folder);
  REQUIRE(before["systems"].size() == 2);
  CHECK(before["systems"][1]["refused"].is_string());

  const Outcome second = run_regret({"generate:grid7:6", "generate:grid7:7"}, options);
  INFO(second.out << second.err);
  CHECK(second.status == 0);
  CHECK(contains(second.out, "generate:grid7:6: in the report already"));
  const Json after = report_in(folder);
  REQUIRE(after["systems"].size() == 2);
  CHECK(after["systems"][0] == before["systems"][0]);  // sample by sample
  CHECK(after["systems"][1]["system"] == "generate:grid7:7");
  CHECK(after["uses"][0]["systems"] == 2);

  Names other = options;
  other.insert(other.end(), {"--tol", "1e-6"});
  const Outcome refused = run_regret({"generate:grid7:7"}, other);
  CHECK(refused.status == 2);
  CHECK(contains(refused.err, "tolerance was 1e-08 there and is 1e-06 now"));
  folder.write("r.json", "{\"schema\": 1, \"program\": \"newel solve\"}");
  const Outcome foreign = run_regret({"generate:grid7:7"}, options);
  CHECK(foreign.status == 2);
  CHECK(contains(foreign.err, "not a report of newel bench regret"));
  CHECK(file_content(folder.file("r.json")) == "{\"schema\": 1, \"program\": \"newel solve\"}");
}

TEST_CASE("bench regret ends with status 1 where nothing converges, and says so", "[cli][bench][regret]") {
  const Outcome outcome =
      run_regret({"generate:elasticity:5"}, {"--formats", "csr", "--preconds", "jacobi", "--max-iterations", "3"});
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.out, "nothing converged on generate:elasticity:5"));
  CHECK(outcome.err == "newel: no solve converged, on any of the systems\n");
}
