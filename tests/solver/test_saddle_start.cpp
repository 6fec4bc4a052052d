// SPDX-License-Identifier: Apache-2.0
// Symmetric saddle points begin with their preconditioner, and with a method for its block-triangular form.
#include "tests/precond/saddle_support.hpp"
#include "tests/solver/problem.hpp"

#include <newel/solver/linear_system.hpp>
#include "solver/operators/operator_builder.hpp"
#include "solver/operators/system_alternatives.hpp"

namespace {

constexpr Space on_host = Space::host;

// 6,816 rows. With n = 16, 736, too few for the estimate.
Problem<on_host> flow(Index n = 48) { return Problem<on_host>(mac_stokes(2, n)); }

struct Run {
  SolveReport report;
  std::vector<double> x;
};

Run solved(Problem<on_host>& problem, LinearSystem<double, on_host>& system) {
  fill<double, on_host>(problem.ctx, 0, problem.x.span());
  Run run{system.solve(problem.b.cspan(), problem.x.span()), {}};
  run.x = download(problem.ctx, problem.x);
  return run;
}

double residual_share(const Problem<on_host>& problem, const Run& run) {
  return residual_norm(problem.a, run.x, problem.b_host) / norm_oracle(problem.b_host);
}

}  // namespace

TEST_CASE("A saddle point begins with its block-triangular preconditioner and flexible GMRES", "[saddle][auto]") {
  Problem<on_host> problem = flow();
  LinearSystem<double, on_host> system(problem.ctx, problem.there.wide());
  CHECK(system.info().solver == "fgmres");
  CHECK(system.info().preconditioner.name == "saddle");
  const Run run = solved(problem, system);
  CHECK(run.report.converged());
  CHECK(run.report.attempts.size() == 1);
  CHECK(run.report.iterations < 60);
  CHECK(residual_share(problem, run) <= 1.01e-8);
  // A resumed system does the same.
  SystemOptions resumed;
  resumed.decision = decision_of(json_of(system.decision()));
  LinearSystem<double, on_host> other(problem.ctx, problem.there.wide(), resumed);
  CHECK(other.info().solver == "fgmres");
  CHECK((solved(problem, other).x == solved(problem, system).x));
}

TEST_CASE("With few rows, and with a named method, a saddle point begins as before", "[saddle][auto]") {
  Problem<on_host> few = flow(16);
  CHECK(LinearSystem<double, on_host>(few.ctx, few.there.wide()).info().solver == "minres");
  Problem<on_host> problem = flow();
  SystemOptions named;
  named.solver.name = "minres";
  LinearSystem<double, on_host> system(problem.ctx, problem.there.wide(), named);
  CHECK(system.info().solver == "minres");
  CHECK(solved(problem, system).report.converged());
}

TEST_CASE("If flexible GMRES fails there, the usual solvers follow with the usual preconditioners",
          "[saddle][auto]") {
  Problem<on_host> problem = flow();
  SystemOptions options;
  for (const bool is_resumed : {false, true}) {
    if (is_resumed) options.decision = LinearSystem<double, on_host>(problem.ctx, problem.there.wide()).decision();
    const auto operators = detail::build<double, on_host>(problem.ctx, problem.there.wide(), options, {}, true);
    CHECK(operators->chosen.solvers.order == std::vector<std::string>{"fgmres"});
    CHECK_FALSE(operators->options.precond.symmetric);
    std::vector<Untried> refused;
    REQUIRE(detail::SystemAlternatives<double, on_host>(*operators).take_next(refused));
    CHECK(operators->options.precond.name == "l1-jacobi");
    CHECK(operators->options.precond.symmetric);
    CHECK(operators->chosen.solvers.order.front() == "minres");
  }
}
