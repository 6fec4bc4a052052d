// SPDX-License-Identifier: Apache-2.0
// The command line's parts without a process: words, progress lines, advice.
#include "tests/catch.hpp"

#include <newel/core/table.hpp>

#include "apps/common/exit_status.hpp"
#include "apps/common/json_file.hpp"
#include "apps/common/live_progress.hpp"
#include "apps/common/text.hpp"
#include "apps/newel/solve/result.hpp"

using namespace newel::cli;

TEST_CASE("Numbers read well", "[cli]") {
  CHECK(thousands(0) == "0");
  CHECK(thousands(999) == "999");
  CHECK(thousands(1000) == "1,000");
  CHECK(thousands(-1234567) == "-1,234,567");
  CHECK(count_of(1, "row", "rows") == "1 row");
  CHECK(duration(0.00025) == "250 us");
  CHECK(duration(0.0125) == "12.5 ms");
  CHECK(duration(3.14159) == "3.14 s");
}

TEST_CASE("Rows that the library counts from 0 are counted from 1", "[cli]") {
  const InputError located(LocatedText("the entry of row ").at(0).counted().add(" is zero, 7 of 9 are"));
  CHECK(message_from_one(located) == "the entry of row 1 is zero, 7 of 9 are");
  CHECK(located.what() == std::string("the entry of row 0 (0-based) is zero, 7 of 9 are"));
  CHECK(contains(message_from_one(NotSymmetric(9, 30, 1, 2)), "entries (10, 31) and (31, 10) are 1 and 2;"));
  CHECK(contains(message_from_one(ZeroDiagonal(99, 3, 0)), "row 100 is zero or missing, and so are 2 more"));
  CHECK(contains(message_from_one(NotPositiveDefinite(4, 1)), "row 5 has a pivot"));
  CHECK(message_from_one(InputError("3 of 7 rows (0-based)")) == "3 of 7 rows (0-based)");
}

TEST_CASE("Arguments are quoted where a shell would take them apart", "[cli]") {
  CHECK(shell_quoted("A.mtx") == "A.mtx");
  CHECK(shell_quoted("A*random:1") == "'A*random:1'");
  CHECK(shell_quoted("it's") == "'it'\\''s'");
  CHECK(shell_quoted("") == "''");
}

TEST_CASE("A live line fits every width and its bar fills with the logarithm of the residual", "[cli]") {
  ProgressLine line;
  line.solver = "bicgstab";
  line.iteration = 123456;
  line.residual = 1.5e-3;
  line.rate = 0.987;
  line.done = 0.5;
  line.seconds = 12.34;
  for (int width = 0; width < 120; ++width) CHECK(static_cast<int>(format_live_line(line, width).size()) <= width);
  const std::string wide = format_live_line(line, 119);
  CHECK(contains(wide, "123,456"));
  CHECK(contains(wide, "1.50e-03"));
  CHECK(contains(wide, "0.987"));
  CHECK(contains(wide, "[###############---------------]"));
}

TEST_CASE("Plain lines come at round iterations and not more often, silent ones not at all", "[cli]") {
  const auto drawn_in = [](LiveProgress::Mode mode) {
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* out = open_memstream(&text, &size);
    LiveProgress live(out, mode);
    for (int i = 0; i <= 1000; ++i) {
      Progress p;
      p.solver = "cg";
      p.iteration = i;
      p.residual = p.relative_residual = std::pow(0.5, i * 0.01);
      p.tolerance = 1e-8;
      p.seconds = i * 1e-4;
      live.update(p);
    }
    std::fclose(out);
    const std::string drawn(text, size);
    std::free(text);
    return drawn;
  };
  const std::string drawn = drawn_in(LiveProgress::Mode::plain);
  CHECK(drawn_in(LiveProgress::Mode::silent).empty());
  // 1, 2, 5, ..., 1000
  CHECK(std::count(drawn.begin(), drawn.end(), '\n') == 10);
  CHECK(contains(drawn, "rate 0.993"));
}

TEST_CASE("Reports are JSON: what is not finite is null, what is not UTF-8 is replaced", "[cli]") {
  Json report = {{"schema", 1}, {"nan", std::numeric_limits<double>::quiet_NaN()}, {"name", "caf\xe9"}};
  report["history"] = std::vector<double>{1, 0.5, std::numeric_limits<double>::infinity()};
  report["nested"] = {{"a", 1}, {"b", Json::array({Json{{"c", 2}}})}};
  const Json again = Json::parse(format_json(report));
  CHECK(again["schema"] == 1);
  CHECK(again["nan"].is_null());
  CHECK(again["history"][1] == 0.5);
  CHECK(again["history"][2].is_null());
  CHECK(again["nested"]["b"][0]["c"] == 2);
  CHECK(contains(format_json(report), "\"history\": [1.0,0.5,null]"));
}

TEST_CASE("The history counts iterations through all attempts", "[cli]") {
  SolveReport report;
  report.rhs_norm = 2;
  report.history = {2, 1, 0.5, 0.25};  // two iterations, then one from where they ended
  const auto attempt_of = [](const char* solver, int iterations) {
    Attempt attempt;
    attempt.solver = solver;
    attempt.iterations = iterations;
    return attempt;
  };
  report.attempts = {attempt_of("cg", 2), attempt_of("bicgstab", 0), attempt_of("gmres", 1)};
  CHECK(history_csv({report}) ==
        "iteration,residual,relative_residual,solver\n0,2,1,cg\n1,1,0.5,cg\n2,0.5,0.25,cg\n3,0.25,0.125,gmres\n");
}

TEST_CASE("Where x is not the last attempt's, the text says whose it is", "[cli]") {
  SolveResult result;
  SolveReport report;
  report.status = Status::not_finite;
  report.solver = "bicgstab";
  report.initial_residual = report.rhs_norm = 1;
  report.true_residual = 0.25;
  report.attempts.resize(3);
  const char* const solvers[] = {"cg", "gmres", "bicgstab"};
  const auto text_for = [&](double first, double second, double third) {
    const double residuals[] = {first, second, third};
    for (std::size_t k = 0; k < 3; ++k) {
      report.attempts[k].solver = solvers[k];
      report.attempts[k].true_residual = residuals[k];
    }
    result.outcome.reports = {report};
    return result_text(result);
  };
  CHECK(contains(text_for(0.5, 0.25, NAN),
                 "x is that of gmres, since no attempt came closer; not_finite is the status of the last attempt, "
                 "bicgstab\n"));
  CHECK(contains(text_for(0.25, 0.5, 0.3), "x is that of cg,"));
  CHECK(contains(text_for(3, NAN, INFINITY), "x is the initial guess,"));
  CHECK_FALSE(contains(text_for(0.5, 0.3, 0.25), "x is"));
  text_for(0.5, 0.25, 0.3);
  result.outcome.reports.push_back(report);
  CHECK(contains(result_text(result), ", bicgstab, x is that of gmres\n"));
  report.status = Status::converged;
  CHECK_FALSE(contains(text_for(0.5, 0.25, 0.3), "x is"));
}

TEST_CASE("Every failure has one piece of advice", "[cli]") {
  SolveOptions options;
  SolveReport report;
  report.solver = "cg";
  for (const Status status :
       {Status::max_iterations, Status::breakdown, Status::not_positive_definite, Status::not_finite,
        Status::stagnation, Status::time_limit, Status::stopped_by_caller}) {
    report.status = status;
    INFO(name_of(status));
    CHECK_FALSE(next_step(report, options, {}).empty());
  }
  report.status = Status::converged;
  CHECK(next_step(report, options, {}).empty());
}
