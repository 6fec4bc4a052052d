// SPDX-License-Identifier: Apache-2.0
// Setups count against the time limit of a solve, and can be ended in the middle.
#include <chrono>

#include "tests/catch.hpp"

#include <newel/solver/linear_system.hpp>
#include <newel/precond/pattern_options.hpp>
#include <newel/precond/registry.hpp>
#include "solver/krylov/monitor/solve_limits.hpp"
#include "solver/system/system_setup.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Symmetric, indefinite and without structure.
HostCsr random_symmetric(Index n, double density) {
  Random random(3);
  MapRows rows(n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= i; ++j) {
      if (random.value() < 2 * density - 1) rows[i][j] = rows[j][i] = random.value();
    }
  }
  return from_rows(n, rows);
}

// SPAI on a dense pattern of the caller's: minutes.
SystemOptions slow_setup(const HostCsr& a) {
  auto dense = std::make_shared<GivenPattern>();
  dense->rows = a.rows;
  dense->row_ptr = {0};
  for (Index i = 0; i < a.rows; ++i) {
    for (Index j = 0; j < a.rows; ++j) dense->col.push_back(j);
    dense->row_ptr.push_back(static_cast<Offset>(dense->col.size()));
  }
  SystemOptions options;
  options.precond.name = "spai";
  options.precond.of<PatternOptions>().pattern = dense;
  options.solver.name = "bicgstab";
  return options;
}

}  // namespace

TEST_BOTH("A time limit ends the setup of a preconditioner that was named, and solves say so", "[system][limits]") {
  if (S == Space::device) return;  // a kernel is not interrupted
  const HostCsr a = random_symmetric(900, 0.5);
  SystemOptions options = slow_setup(a);
  options.stop.time_limit_seconds = 0.3;
  const auto there = upload_matrix<double>(ctx, a);
  const auto start = Clock::now();
  LinearSystem<double, S> system(ctx, there.wide(), options);
  const auto b = upload(ctx, std::vector<double>(900, 1.0));
  auto x = upload(ctx, std::vector<double>(900, 0.25));
  const SolveReport report = system.solve(b.cspan(), x.span());
  CHECK(seconds_since(start) < 5);
  CHECK(report.status == Status::time_limit);
  CHECK(report.failure.cause == Cause::time_limit);
  CHECK(report.iterations == 0);
  CHECK(contains(report.changed, "spai"));
  CHECK(download(ctx, x) == std::vector<double>(900, 0.25));
  CHECK(system.solve(b.cspan(), x.span()).status == Status::time_limit);
  auto columns = upload(ctx, std::vector<double>(1800, 0.0));
  const auto bs = upload(ctx, std::vector<double>(1800, 1.0));
  for (const SolveReport& column : system.solve_columns(bs.cspan(), columns.span(), 2)) {
    CHECK(column.status == Status::time_limit);
  }
}

TEST_CASE("What the setup takes is taken from the time limit of the first solve", "[system][limits]") {
  const Context<Space::host> ctx(1);
  const auto there = upload_matrix<double>(ctx, random_symmetric(300, 0.5));
  SystemOptions options;
  options.stop.time_limit_seconds = 1000;
  detail::SystemState<double, Space::host> limited(ctx, options);
  detail::SystemSetup<double, Space::host>(limited).from_matrix(MatrixInput<double, Space::host>(there.wide()),
                                                                options, {});
  double setup = 0;
  for (const auto& [phase, seconds] : limited.setup.seconds) setup += seconds;
  REQUIRE(setup > 0);
  CHECK(limited.seconds_of_solve() == Approx(1000 - setup).epsilon(1e-12));
  CHECK(limited.seconds_of_solve() == 1000);
  // A limit that comes later is for the solves.
  detail::SystemState<double, Space::host> later(ctx, SystemOptions{});
  detail::SystemSetup<double, Space::host>(later).from_matrix(MatrixInput<double, Space::host>(there.wide()),
                                                              SystemOptions{}, {});
  later.stop.time_limit_seconds = 1000;
  CHECK(later.seconds_of_solve() == 1000);
}

TEST_CASE("The preconditioners of auto are bounded in cost and obey the time limit", "[system][limits]") {
  const Context<Space::host> ctx(1);
  const HostCsr a = random_symmetric(500, 0.5);
  const auto there = upload_matrix<double>(ctx, a);
  for (const double limit : {0.05, 1.0}) {
    SystemOptions options;
    options.stop.time_limit_seconds = limit;
    options.stop.rel_tol = 0;
    options.stop.max_iterations = 100000000;
    const auto start = Clock::now();
    LinearSystem<double, Space::host> system(ctx, there.wide(), options);
    const auto b = upload(ctx, std::vector<double>(500, 1.0));
    auto x = upload(ctx, std::vector<double>(500, 0.0));
    const SolveReport report = system.solve(b.cspan(), x.span());
    INFO(report.reason << "; " << report.changed);
    CHECK(seconds_since(start) < limit + 3);
    CHECK_FALSE(report.converged());
  }
}

TEST_CASE("A setup asks the callback, with the progress of the last iteration", "[system][limits]") {
  const Context<Space::host> ctx(2);
  const HostCsr a = random_symmetric(900, 0.5);
  const SystemOptions options = slow_setup(a);
  const auto there = upload_matrix<double>(ctx, a);
  int calls = 0;
  const auto progress = [&](const Progress& now) {
    CHECK(now.iteration == 17);
    CHECK(now.solver == "a method of one's own");
    return ++calls < 4;
  };
  const detail::SolveLimits<Space::host> limits(ctx, 0, progress);
  Progress seventeenth;
  seventeenth.iteration = 17;
  std::string name = "a method of one's own";
  seventeenth.solver = name;
  CHECK(limits.progress()(seventeenth));
  name.assign(name.size(), '-');  // whose name need not live on
  seventeenth.solver = "a method of one's own";
  const auto make = [&] { return make_precond<double, Space::host>(ctx, there.wide(), {}, options.precond, {}); };
  CHECK_THROWS_AS(make(), detail::WorkInterrupted);
  CHECK(calls == 4);
  CHECK_FALSE(limits.progress()(seventeenth));  // nor does the solve go on
  CHECK(calls == 4);
}
