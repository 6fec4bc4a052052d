// SPDX-License-Identifier: Apache-2.0
// Solves whose ranks generate their rows: when, and with which right-hand side and error.
#include "tests/catch.hpp"

#include <cmath>

#include "apps/newel/solve/solve_generated.hpp"
#include "tests/apps/command_words.hpp"

using namespace newel;
using cli::SolveOptions;

namespace {

SolveOptions options_of(const std::vector<std::string>& words) {
  return std::get<SolveOptions>(testing::parsed(words).command);
}

}  // namespace

TEST_CASE("Ranks generate their rows unless something needs the whole", "[cli][distributed]") {
  const std::vector<std::string> plain = {"solve", "generate:grid7:6", "--rhs", "A*random:2"};
  CHECK(cli::ranks_generate(options_of(plain), 2));
  CHECK_FALSE(cli::ranks_generate(options_of(plain), 1));
  CHECK_FALSE(cli::ranks_generate(options_of({"solve", "a.mtx"}), 2));
  CHECK_FALSE(cli::ranks_generate(options_of({"solve", "mesh:a.mesh:diffusion"}), 2));
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--guess", "x.mtx"}, {"--null-space", "constant"}, {"--out", "x.vtu"}}) {
    std::vector<std::string> words = plain;
    words.insert(words.end(), more.begin(), more.end());
    INFO(more.front());
    CHECK_FALSE(cli::ranks_generate(options_of(words), 2));
  }
  CHECK_FALSE(cli::ranks_generate(options_of({"solve", "generate:grid7:6", "--rhs", "b.mtx"}), 2));
}

TEST_CASE("A rank that generates all rows finds the known solution", "[cli][distributed]") {
  const bool single = GENERATE(false, true);
  SolveOptions options = options_of({"solve", "generate:elasticity:5", "--rhs", "A*random:7", "--out", "x.mtx"});
  options.single_precision = single;
  options.system.solver.name = "cg";
  options.system.precond.name = "jacobi";
  options.system.stop.rel_tol = single ? 1e-5 : 1e-12;
  const Context<Space::host> ctx(2);
  cli::GeneratedSize size;
  int setups = 0, steps = 0;
  cli::GeneratedObserver observer;
  observer.on_rows = [&](const cli::GeneratedSize& found) { size = found; };
  observer.on_setup = [&](const cli::SetupFacts& facts) { setups += facts.system.bytes > 0 ? 1 : 0; };
  observer.on_progress = [&](const Progress&) { return ++steps > 0; };
  cli::RunClock clock;
  const cli::GeneratedOutcome outcome =
      cli::solve_generated_on_ranks({thread_ranks(1).front(), {}}, {}, ctx, options, observer, clock);
  CHECK(size.rows == 375);
  CHECK(setups == 1);
  CHECK(steps > 0);
  REQUIRE(outcome.solve.reports.size() == 1);
  CHECK(outcome.solve.reports.front().converged());
  // The solution by its numbers, and its error by definition.
  REQUIRE(outcome.x.size() == 375);
  double error = 0, length = 0;
  for (std::int64_t i = 0; i < 375; ++i) {
    const double exact = cli::random_entry(7, static_cast<std::uint64_t>(i));
    error += (outcome.x[i] - exact) * (outcome.x[i] - exact);
    length += exact * exact;
  }
  REQUIRE(outcome.error);
  CHECK(std::abs(*outcome.error / std::sqrt(error / length) - 1) < 1e-10);
  CHECK(*outcome.error < (single ? 1e-3 : 1e-9));
}
