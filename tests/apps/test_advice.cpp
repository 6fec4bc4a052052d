// SPDX-License-Identifier: Apache-2.0
// What is advised after a solve that failed.
#include "tests/catch.hpp"

#include "apps/purlin/advice.hpp"
#include "tests/support.hpp"

using namespace purlin;
using namespace purlin::cli;
using purlin::testing::contains;

namespace {

SolveReport report_with(const std::string& solver, Status status) {
  SolveReport report;
  report.solver = solver;
  report.status = status;
  return report;
}

}  // namespace

TEST_CASE("Where the rows sum to zero, the null space is advised unless it was given", "[cli]") {
  SolveOptions options;
  const AdviceFacts singular{100, true};
  const std::string wanted = "--null-space constant";
  for (const Status status : {Status::max_iterations, Status::breakdown, Status::stagnation,
                              Status::not_positive_definite, Status::not_finite}) {
    INFO(name_of(status));
    CHECK(contains(next_step(report_with("cg", status), options, singular), wanted));
    CHECK_FALSE(contains(next_step(report_with("cg", status), options, {100, false}), wanted));
  }
  CHECK_FALSE(contains(next_step(report_with("cg", Status::time_limit), options, singular), wanted));
  CHECK(next_step(report_with("cg", Status::converged), options, singular).empty());
  options.system.null_space = NullSpace::constant;
  CHECK_FALSE(contains(next_step(report_with("cg", Status::stagnation), options, singular), wanted));
}

TEST_CASE("A b with a mean is told apart from a solve that stagnates", "[cli]") {
  SolveOptions options;
  options.system.null_space = NullSpace::constant;
  // |mean part| = 4, |the rest| = 3, solved to 3e-9 of it.
  SolveReport report = report_with("cg", Status::stagnation);
  report.rhs_norm = 5;
  report.true_residual = 4;
  report.tolerance = 3e-8;
  report.attempts.emplace_back();
  report.attempts.back().true_residual = 9e-9;
  CHECK(
      next_step(report, options, {100, true}) ==
      "take the mean out of b: x solves A x = b - mean(b) to 3.0e-09 |b - mean(b)|, and that b gives exit status 0");
  report.attempts.back().true_residual = report.true_residual;
  CHECK_FALSE(contains(next_step(report, options, {100, true}), "mean"));
}
