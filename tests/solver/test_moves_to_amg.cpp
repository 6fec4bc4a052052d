// SPDX-License-Identifier: Apache-2.0
// Solves that come to AMG on their way, or begin with it.
#include "tests/precond/amg_support.hpp"
#include "tests/solver/made_up_operators.hpp"
#include <newel/solver/linear_system.hpp>
#include "solver/operators/operator_builder.hpp"
#include "solver/operators/system_alternatives.hpp"

TEST_CASE("A long solve gets AMG and later ones keep it, though estimates are a hundredth",
          "[exchange][learning][amg]") {
  Problem<Space::host> problem(tridiagonal_matrix(3000, 2));
  SystemOptions options;
  options.estimate_scale.iterations = 0.01;
  LinearSystem<double, Space::host> system(problem.ctx, problem.there.wide(), options);
  const SolveReport first = system.solve(problem.b.cspan(), problem.x.span());
  INFO(first.changed);
  CHECK(first.converged());
  CHECK(first.iterations < 1500);  // half of what Jacobi takes
  int last = 0;
  for (int solve = 0; solve < 3; ++solve) {
    fill<double, Space::host>(problem.ctx, 0, problem.x.span());
    last = system.solve(problem.b.cspan(), problem.x.span()).iterations;
  }
  CHECK(last < 20);
}

TEST_CASE("A preconditioner that was passed over may follow between solves", "[exchange][learning][amg]") {
  constexpr Space S = Space::host;
  Problem<S> problem("generate:diffusion:20");
  const auto operators = detail::build<double, S>(problem.ctx, problem.there.wide(), SystemOptions{}, {});
  detail::SystemAlternatives<double, S> alternatives(*operators);
  detail::Forecasts& forecasts = alternatives.forecasts();
  const auto fsai = [](const detail::PrecondOutlooks* outlooks) {
    REQUIRE(outlooks != nullptr);
    const auto is_it = [](const detail::PrecondOutlook& o) { return o.name == "fsai"; };
    const auto found = std::find_if(outlooks->stronger.begin(), outlooks->stronger.end(), is_it);
    REQUIRE(found != outlooks->stronger.end());
    return *found;
  };
  CHECK_FALSE(fsai(forecasts.stronger_preconditioners(1e9)).passed_over);
  REQUIRE(alternatives.take_stronger("amg", false));
  CHECK(fsai(forecasts.stronger_preconditioners(1e9)).passed_over);
  SystemOptions resumed;
  resumed.decision.emplace();
  detail::write_decision(*operators, *resumed.decision);
  const auto again = detail::build<double, S>(problem.ctx, problem.there.wide(), resumed, {});
  REQUIRE(again->options.precond.name == "amg");
  CHECK(fsai(detail::SystemForecasts<double, S>(*again).stronger_preconditioners(1e9)).passed_over);
  REQUIRE(alternatives.leave_stronger(100));
  CHECK_FALSE(fsai(forecasts.stronger_preconditioners(1e9)).passed_over);

  // 50 iterations, where the simple one took 500: FSAI takes half of these.
  for (const double fsai_seconds : {1e-5, 1.0}) {
    Moving<S> moving("fsai", 1e-3);
    moving.alternatives->set_iteration_seconds(fsai_seconds);
    moving.alternatives->pass_over_stronger();
    moving.state.history.count(50);
    moving.state.history.last_iterations = 50;
    CHECK_FALSE(moving.moves().before_solve(true, true));  // what the simple one takes is not known
    moving.state.history.simple_measured = 500;
    CHECK(moving.moves().before_solve(true, true) == (fsai_seconds < 1e-3));
  }
}

TEST_CASE("AMG follows in a long solve, the same on every run, and in whichever format",
          "[exchange][learning][amg]") {
  SystemOptions plain = system_options("cg", "jacobi", "csr");
  Problem<Space::host> without(tridiagonal_matrix(5000, 2));
  LinearSystem<double, Space::host> jacobi(without.ctx, without.there.wide(), plain);
  const int alone = jacobi.solve(without.b.cspan(), without.x.span()).iterations;
  std::vector<double> bits;
  for (int run = 0; run < 2; ++run) {
    Problem<Space::host> problem(tridiagonal_matrix(5000, 2));
    // A solver that is named is not ended for factors, which a chain has almost for nothing.
    LinearSystem<double, Space::host> system(problem.ctx, problem.there.wide(), system_options("cg", "auto", "auto"));
    const SolveReport first = system.solve(problem.b.cspan(), problem.x.span());
    INFO(first.changed);
    CHECK(contains(first.changed, "preconditioner amg for jacobi after "));
    CHECK(first.iterations < 0.7 * alone);
    if (run == 1) CHECK(download(problem.ctx, problem.x) == bits);
    bits = download(problem.ctx, problem.x);
    for (int solve = 0; solve < 3; ++solve) {
      fill<double, Space::host>(problem.ctx, 0, problem.x.span());
      const SolveReport later = system.solve(problem.b.cspan(), problem.x.span());
      CHECK(later.converged());
      CHECK(later.iterations < 20);
    }
  }
  // Shorter solves, between which it comes, and the format for what is then left to do.
  Problem<Space::host> problem(bar_matrix(80));
  LinearSystem<double, Space::host> system(problem.ctx, problem.there.wide());
  std::string changed;
  for (int solve = 0; solve < 200 && !contains(changed, "amg"); ++solve) {
    fill<double, Space::host>(problem.ctx, 0, problem.x.span());
    const SolveReport report = system.solve(problem.b.cspan(), problem.x.span());
    CHECK(report.converged());
    CHECK(residual_norm(problem.a, download(problem.ctx, problem.x), problem.b_host) <=
          1.01e-8 * norm_oracle(problem.b_host));
    if (!report.changed.empty()) changed += report.changed + "; ";
  }
  INFO(changed);
  CHECK(contains(changed, "preconditioner amg for "));
  fill<double, Space::host>(problem.ctx, 0, problem.x.span());
  CHECK(system.solve(problem.b.cspan(), problem.x.span()).iterations < 30);
}

// Of a mesh the size makes sure of enough iterations, where most rows are those of a discrete operator without a
// mass.
TEST_CASE("The first solve of a mesh begins with AMG where what it costs is sure to come",
          "[exchange][learning][amg]") {
  const MeshSystem mesh("generate:elasticity:20");
  const auto changed = [&](HostCsr a, double damping, bool from_zero, bool with_coordinates = true,
                           double estimates = 1) {
    for (Index i = 0; i < a.rows; ++i) {
      for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) a.val[k] *= a.col[k] == i ? 1 + damping : 1;
    }
    Problem<Space::host> problem(a);
    SystemOptions options;
    if (with_coordinates) options.spmv.coordinates = mesh.coordinates;
    options.estimate_scale.iterations = estimates;
    LinearSystem<double, Space::host> system(problem.ctx, problem.there.wide(), options);
    const SolveReport report =
        system.solve(problem.b.cspan(), problem.x.span(), {}, from_zero ? InitialGuess::zero : InitialGuess::in_x);
    CHECK(report.converged());
    CHECK(residual_norm(problem.a, download(problem.ctx, problem.x), problem.b_host) <=
          1.01e-8 * norm_oracle(problem.b_host));
    return report.changed;
  };
  const std::string at_the_beginning = "preconditioner amg for jacobi at the beginning, with about ";
  CHECK(changed(mesh.a, 0, true).find(at_the_beginning) == 0);
  CHECK_FALSE(contains(changed(mesh.a, 1e-3, true), at_the_beginning));
  CHECK_FALSE(contains(changed(mesh.a, 0, false), at_the_beginning));
  CHECK_FALSE(contains(changed(mesh.a, 0, true, false), at_the_beginning));
  {  // as many as may be made do not pay for it
    Problem<Space::host> problem(mesh.a);
    SystemOptions few;
    few.spmv.coordinates = mesh.coordinates;
    few.stop.max_iterations = 20;
    LinearSystem<double, Space::host> system(problem.ctx, problem.there.wide(), few);
    const SolveReport report = system.solve(problem.b.cspan(), problem.x.span(), {}, InitialGuess::zero);
    CHECK(report.changed.empty());
    CHECK(report.iterations == 20);
  }
  // What is sure is no estimate; what is expected is one.
  CHECK_FALSE(contains(changed(mesh.a, 0, true, true, 0.01), at_the_beginning));
}
