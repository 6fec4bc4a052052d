// SPDX-License-Identifier: Apache-2.0
// The report of a run: fields, products of one setup, and the words.
#include "tests/catch.hpp"

#include "apps/transient/run_report.hpp"

using namespace newel::transient;

TEST_CASE("a report tells how many products one setup served, the pace, and the program's own fields",
          "[transient]") {
  RunReport report;
  report.program = "newel-test";
  report.time.unit = {"ms", 1e-3};
  report.time.end = 100;
  report.steps = 50;
  report.totals.solves = 50;
  report.totals.iterations = 500;
  report.totals.products = 600;
  report.setups = 2;
  report.shares.total = 3;
  report.shares.setup = 1;
  report.shares.product = 2;
  report.system.matrix.name = "bce";
  report.own["hottest"] = 81.5;
  const cli::Json json = run_json(report);
  CHECK(json.begin().key() == "schema");
  CHECK(json["schema"] == 1);
  CHECK(json["products_per_setup"] == 300.0);
  CHECK(json["real_time_factor"] == Approx(20.0));  // two seconds for a tenth of a second
  CHECK(json["milliseconds_per_step"] == Approx(40.0));
  CHECK(json["shares"]["share"]["product"] == Approx(2.0 / 3));
  CHECK(json["solves"]["iterations_per_solve"] == 10.0);
  CHECK(json["hottest"] == 81.5);
  const std::string text = run_text(report);
  CHECK(contains(text, "one setup for 300 products as bce"));
  CHECK(contains(text, "20 times slower than real time"));
  CHECK(contains(text, "product 67%, setup 33%"));
}

TEST_CASE("a report of a run that computed nothing tells no pace", "[transient]") {
  RunReport report;
  report.time.unit = {"ms", 1e-3};
  report.time.start = report.time.end = 100;
  report.shares.total = 3;
  CHECK_FALSE(contains(run_text(report), "real time"));
  CHECK(contains(run_text(report), "3.00 s in all\n"));
}

TEST_CASE("a report remarks on options that the system, as it was set up, had no use for", "[transient]") {
  RunOptions options;
  options.system.solver.name = "cg";
  options.system.precond.name = "auto";
  options.given = {"--fsai-power", "--no-resident"};
  RunReport report;
  report.options = &options;
  report.system.format.format = "ehyb";
  report.system.preconditioner.name = "jacobi";
  report.place.space = Space::device;
  const cli::Json json = run_json(report);
  REQUIRE(json["unused_options"].size() == 1);
  CHECK(json["unused_options"][0]["option"] == "--fsai-power");
  CHECK(contains(run_text(report),
                 "--fsai-power has no effect: it applies to --precond fsai, and the preconditioner is "
                 "jacobi"));
  report.system.preconditioner.name = "fsai";
  CHECK(run_json(report)["unused_options"].empty());
}

TEST_CASE("the peak of the process covers what was just touched", "[transient]") {
  const std::uint64_t before = peak_process_bytes();
  std::vector<char> block(std::size_t{64} << 20, 'x');
  const std::uint64_t after = peak_process_bytes();
  CHECK(block[12345] == 'x');
  if (before > 0) CHECK(after >= (std::uint64_t{64} << 20));
}

TEST_CASE("a run tells what it did before the first step, the longest first", "[transient]") {
  RunReport report;
  report.time.unit = {"ms", 1e-3};
  report.beginning.phases = {{"mesh file", 0.004}, {"refinement", 0.5}, {"fibres", 3.5}};
  const cli::Json json = run_json(report);
  CHECK(json["start_phases"]["fibres"] == 3.5);
  CHECK(json["start_phases"].begin().key() == "mesh file");
  const std::string text = start_text(report.beginning.phases);
  CHECK(contains(text, "4.00 s before the first step: fibres 3.50 s, refinement 500 ms"));
  CHECK_FALSE(contains(text, "mesh file"));
}
