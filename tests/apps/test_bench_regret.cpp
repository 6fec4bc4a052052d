// SPDX-License-Identifier: Apache-2.0
// The arithmetic of `newel bench regret` on numbers that one can check by hand, and its table and files.
#include "tests/catch.hpp"

#include "apps/common/exit_status.hpp"
#include "bench/command/regret.hpp"

using namespace newel::cli;
using Names = std::vector<std::string>;

namespace {

RegretEnd end_of(const std::string& status) {
  RegretEnd end;
  end.status = status;
  end.iterations = 40;
  end.residual = 5e-9;
  return end;
}

RegretCombination combination_of(const std::string& format, double setup, double first, double refresh,
                                 double solve) {
  RegretCombination line;
  line.choice = {format, "jacobi", "cg"};
  line.end = end_of("converged");
  // Medians of three.
  line.setup = {setup, setup + 100, setup - 0.5};
  line.first_solve = {first + 100, first, first - 0.5};
  line.refresh = {refresh - 0.01, refresh + 100, refresh};
  line.solve = {solve, solve, solve};
  return line;
}

RegretAuto auto_of(const RegretUse& use, double seconds) {
  RegretAuto line;
  line.use = use;
  line.end = end_of("converged");
  line.solves = use.solves;
  line.choice = {"csr", "jacobi", "cg"};
  line.seconds = {seconds};
  return line;
}

// One solve: 3 with csr, 6 with ehyb. Ten: 3 + 9 * 2 = 21 and 6 + 9 * 1 = 15. A hundred: 201 and 105.
RegretSystem small_system(const std::string& name = "folder/small.mtx") {
  RegretSystem system;
  system.name = name;
  system.rows = 1000;
  system.nonzeros = 1500;
  system.tolerance = 1e-8;
  system.first_solver = "cg";
  system.combinations = {combination_of("csr", 1, 2, 0.25, 1.75), combination_of("ehyb", 4, 2, 0.25, 0.75)};
  const std::vector<RegretUse> uses = regret_uses(100);
  system.automatic = {auto_of(uses[0], 3), auto_of(uses[1], 30), auto_of(uses[2], 420)};
  system.automatic[2].changed = {{7, "format ehyb for csr after 1,200 iterations"}};
  system.usual = {"usual", "cg", "jacobi", end_of("converged"), 0.5, 8};
  return system;
}

RegretResult result_of(const std::vector<RegretSystem>& systems) {
  RegretResult result;
  result.head = {{"processor", "a processor"}, {"threads", 2}};
  result.copy = {1 << 20, {1.0}};
  for (const RegretSystem& system : systems) result.systems.push_back(regret_system_json(system));
  return result;
}

}  // namespace

TEST_CASE("A use is composed of setup, first solve, and a refresh and a solve for each other one",
          "[bench][regret]") {
  const RegretCombination line = combination_of("csr", 1, 2, 0.25, 1.75);
  CHECK(use_seconds(line, 1) == Approx(1 + 2));
  CHECK(use_seconds(line, 2) == Approx(1 + 2 + 0.25 + 1.75));
  CHECK(use_seconds(line, 10) == Approx(21));
  CHECK(use_seconds(line, 200) == Approx(3 + 199 * 2));
  RegretCombination once = line;
  once.refresh.clear();
  once.solve.clear();
  CHECK(use_seconds(once, 1) == Approx(3));
}

TEST_CASE("The best of a use is the combination with the least seconds in it", "[bench][regret]") {
  const RegretSystem system = small_system();
  const auto figures = [&](std::size_t use) { return figures_of(system, system.automatic[use]); };
  CHECK(figures(0).best->choice.format == "csr");
  CHECK(*figures(0).regret == Approx(1));
  CHECK(figures(1).best->choice.format == "ehyb");
  CHECK(*figures(1).best_seconds == Approx(15));
  CHECK(*figures(1).regret == Approx(2));
  CHECK(*figures(2).regret == Approx(4));
  CHECK(figures(2).outcome == RegretOutcome::measured);
}

TEST_CASE("What did not converge, was refused or is wrong is no candidate for the best", "[bench][regret]") {
  RegretSystem system = small_system();
  system.combinations[1].end = end_of("time_limit");
  CHECK(figures_of(system, system.automatic[1]).best->choice.format == "csr");
  system.combinations[1].end = end_of("converged");
  system.combinations[1].end.wrong = true;
  CHECK(figures_of(system, system.automatic[1]).best->choice.format == "csr");
  CHECK(bench_exit_status(result_of({system})) == exit_wrong_product);
  system.combinations[1].end = {};
  system.combinations[1].end.refused = "no";
  CHECK(figures_of(system, system.automatic[1]).best->choice.format == "csr");
  CHECK(bench_exit_status(result_of({system})) == exit_converged);
}

TEST_CASE("Means are geometric, over the systems that have a regret", "[bench][regret]") {
  RegretSystem other = small_system("other.mtx");
  other.automatic[0].seconds = {12};  // 4 times the best
  other.automatic[1].seconds = {7.5};
  other.automatic[2].end = end_of("stagnation");
  RegretSystem nothing = small_system("hopeless.mtx");
  for (RegretCombination& line : nothing.combinations) line.end = end_of("max_iterations");
  for (RegretAuto& line : nothing.automatic) line.end = end_of("max_iterations");
  RegretSystem only_auto = nothing;
  for (RegretAuto& line : only_auto.automatic) line.end = end_of("converged");
  const Json systems = result_of({small_system(), nothing, other, only_auto}).systems;
  const std::vector<RegretMean> means = means_of(systems);
  REQUIRE(means.size() == 3);
  CHECK(means[0].systems == 2);
  CHECK(*means[0].geometric_mean == Approx(2));
  CHECK(*means[0].most == Approx(4));
  CHECK(means[0].worst == "other.mtx");
  CHECK(*means[1].geometric_mean == Approx(1));  // of 2 and 1/2
  CHECK(*means[1].most == Approx(2));
  CHECK(means[1].worst == "small.mtx");
  CHECK(means[2].systems == 1);
  CHECK(means[0].failures.empty());
  CHECK(means[2].failures == Names{"other.mtx"});
  CHECK(figures_of(nothing, nothing.automatic[0]).outcome == RegretOutcome::nothing_converged);
  CHECK(figures_of(only_auto, only_auto.automatic[0]).outcome == RegretOutcome::only_auto);
  const std::string text = bench_means_text(systems);
  CHECK(contains(text, "regret, 1 solve: geometric mean 2, maximum 4 (other.mtx), 2 systems"));
  CHECK(contains(text, "not solved by auto: other.mtx"));
  CHECK(contains(text, "nothing converged on hopeless.mtx"));
}

TEST_CASE("A system that a combination solves and auto does not makes the exit status 1", "[bench][regret]") {
  RegretSystem failed = small_system();
  CHECK(bench_exit_status(result_of({failed})) == exit_converged);
  failed.automatic[2].end = end_of("stagnation");
  CHECK(bench_exit_status(result_of({small_system(), failed})) == exit_not_converged);
  RegretSystem unreadable;
  unreadable.unreadable = true;
  unreadable.refused = "no such thing";
  CHECK(bench_exit_status(result_of({failed, unreadable})) == exit_bad_input);
  RegretSystem nothing = small_system();
  for (RegretCombination& line : nothing.combinations) line.end = end_of("max_iterations");
  for (RegretAuto& line : nothing.automatic) line.end = end_of("max_iterations");
  CHECK(bench_exit_status(result_of({nothing})) == exit_not_converged);
  CHECK(bench_exit_status(result_of({nothing, small_system()})) == exit_converged);
}

TEST_CASE("The table of regrets names choices, changes, and what is no candidate", "[bench][regret]") {
  RegretSystem system = small_system();
  system.combinations.push_back(combination_of("bce", 1, 1, 1, 1));
  system.combinations.back().end = {};
  system.combinations.back().end.refused = "too large, by far";
  system.automatic[1].end = end_of("stagnation");
  system.automatic[1].solves = 4;
  const std::string table = bench_table_text(system);
  CHECK(contains(table, "auto begins with cg; 2 of 3 combinations converged"));
  CHECK(contains(table, "ehyb jacobi cg"));
  CHECK(contains(table, "auto failed in solve 4: stagnation"));
  CHECK(contains(table, "solve 7: format ehyb for csr after 1,200 iterations"));
  CHECK(contains(table, "usual loop, usual cg jacobi: 8.5 s"));
  CHECK(contains(table, "refused: too large, by far"));
}

TEST_CASE("A system of an earlier report counts as it did when it was measured", "[bench][regret]") {
  RegretSystem system = small_system("small.mtx");
  system.combinations.push_back(combination_of("bce", 1, 1, 1, 1));
  system.combinations.back().end = {};
  system.combinations.back().end.refused = "too large, by far";
  system.combinations.push_back(combination_of("ellwarp", 1, 1, 1, 1));
  system.combinations.back().end = end_of("stagnation");
  system.combinations.back().refresh.clear();
  system.automatic[1].end = end_of("diverged");
  const RegretResult result = result_of({system});
  RegretResult again = result_of({});
  again.systems = Json::parse(bench_json(result).dump())["systems"];
  CHECK(bench_json(again) == bench_json(result));
  CHECK(bench_exit_status(again) == exit_not_converged);
  CHECK(*means_of(again.systems)[2].most == Approx(4));
  CHECK(means_of(again.systems)[1].failures == Names{"small.mtx"});
  CHECK_THROWS_AS(means_of(Json::array({Json{{"system", "a"}}})), Json::exception);
}

TEST_CASE("Each use has a line of as many fields as the header has", "[bench][regret]") {
  RegretSystem refused;
  refused.name = "bad.mtx";
  refused.refused = "line 1";
  refused.unreadable = true;
  std::istringstream lines(bench_csv(result_of({small_system(), refused})));
  std::string header;
  std::getline(lines, header);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    INFO(line);
    CHECK(std::count(line.begin(), line.end(), ',') == std::count(header.begin(), header.end(), ','));
  }
  CHECK(count == 4);
}
