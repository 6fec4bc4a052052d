// SPDX-License-Identifier: Apache-2.0
// When the formats and preconditioners that may follow are compared.
#include "tests/solver/problem.hpp"

#include "solver/operators/operator_builder.hpp"
#include "solver/system/solve_session.hpp"
#include "solver/operators/system_forecasts.hpp"
#include "solver/system/system_setup.hpp"

namespace {

template <Space S>
struct Automatic {
  Problem<S> problem;
  SystemOptions options = automatic();
  detail::SystemState<double, S> state{problem.ctx, options};

  explicit Automatic(const char* system) : problem(system) {
    detail::SystemSetup<double, S>(state).from_matrix(MatrixInput<double, S>(problem.there.wide()), options, {});
  }
  bool weighed() const { return state.alternatives->forecasts().weighed(); }
  SystemInfo info() const {
    state.alternatives->weigh();
    return detail::info_of(*state.operators);
  }

  static SystemOptions automatic() {
    SystemOptions options = system_options("auto");
    return options;
  }
  SolveReport solve(double rel_tol) {
    state.stop.rel_tol = rel_tol;
    Array<double, S> x(problem.ctx, problem.a.rows);
    SolveReport report = detail::solve<double, S>(state, problem.b.cspan(), x.span(), {}, InitialGuess::zero);
    REQUIRE(report.converged());
    return report;
  }
};

// The same whether somebody asks before the solve or nobody does.
template <Space S>
void check_late_as_early(const char* system) {
  CAPTURE(system);
  Automatic<S> asked(system), not_asked(system);
  CHECK_FALSE(asked.weighed());
  const SystemInfo before = asked.info();
  CHECK(asked.weighed());
  CHECK_FALSE(not_asked.weighed());
  CHECK(before.format.trials.size() > 1);
  for (int solve = 0; solve < 3; ++solve) {
    const SolveReport one = asked.solve(1e-10), other = not_asked.solve(1e-10);
    if (solve == 0) REQUIRE(one.iterations > 16);
    CHECK(one.history == other.history);
    CHECK(one.changed == other.changed);
  }
  CHECK(not_asked.weighed());
  const SystemInfo late = not_asked.info();
  CHECK(late.format.trials.size() == before.format.trials.size());
  CHECK(json_of(detail::decision_so_far(asked.state)) == json_of(detail::decision_so_far(not_asked.state)));
}

// The nodes of a grid with n along each edge.
std::shared_ptr<NodeCoordinates> nodes_of_grid(int n) {
  auto nodes = std::make_shared<NodeCoordinates>();
  nodes->dimension = 3;
  for (int i = 0; i < n * n * n; ++i) {
    for (const int along : {i % n, i / n % n, i / n / n}) nodes->xyz.push_back(along);
  }
  return nodes;
}

double sure_iterations(const char* system, std::shared_ptr<const NodeCoordinates> nodes, bool before) {
  Problem<host> problem(system);
  SystemOptions options = Automatic<host>::automatic();
  options.spmv.coordinates = std::move(nodes);
  const auto operators = detail::build<double, host>(problem.ctx, problem.there.wide(), options, {});
  return detail::SystemForecasts<double, host>(*operators).sure_iterations(before);
}

}  // namespace

TEST_CASE("A solve of a few iterations compares nothing on a host", "[exchange][learning]") {
  Automatic<host> easy("generate:diffusion:16");
  REQUIRE(easy.solve(0.1).iterations < 16);
  CHECK_FALSE(easy.weighed());
  CHECK(easy.solve(1e-10).iterations > 16);
  CHECK(easy.weighed());
}

TEST_CASE("What was named is not compared", "[exchange][learning]") {
  Problem<host> problem("generate:diffusion:6");
  SystemOptions options = Automatic<host>::automatic();
  options.spmv.format = "csr";
  CHECK_FALSE(detail::build<double, host>(problem.ctx, problem.there.wide(), options, {})->chosen.to_weigh);
}

TEST_BOTH("Alternatives that are compared in the middle of a solve are those of before", "[exchange][learning]") {
  for (const char* system : {"generate:diffusion:14", "generate:elasticity:8", "generate:convection:12:10"})
    check_late_as_early<S>(system);
}

TEST_CASE("Fewer iterations are sure of differences on a grid than of elements", "[exchange][learning]") {
  const auto grid = nodes_of_grid(12);
  CHECK(sure_iterations("generate:grid7:12", grid, true) == 0);
  CHECK(sure_iterations("generate:grid7:12", grid, false) ==
        Approx(sure_iterations("generate:grid7:12", nullptr, false)));
  CHECK(sure_iterations("generate:grid7:12", nullptr, false) > 0);
  // An empty list says nothing.
  CHECK(sure_iterations("generate:grid7:12", std::make_shared<NodeCoordinates>(), true) == 0);
}

TEST_CASE("The reach of the pattern makes sure of iterations where the size knows no dimension",
          "[exchange][learning]") {
  // 21 steps from the first row to the last, as SciPy's breadth_first_order counts them. The flow goes round, so an
  // iteration has to carry values along it 16 times; a fifth of that is sure.
  CHECK(sure_iterations("generate:convection:20:50", nullptr, true) == Approx(0.2 * 16 * 21));
  CHECK(sure_iterations("generate:convection:20:50", nullptr, false) == Approx(0.2 * 16 * 21));
  CHECK(sure_iterations("generate:convection:12:50", nullptr, true) == 0);  // too few rows to look
}

// A chain whose first value is fixed by a multiplier: the way to its end is as long as it has rows.
TEST_CASE("A saddle point's iterations go by its reach and the length of its rows", "[exchange][learning]") {
  const Index n = 5000;
  MapRows rows(static_cast<std::size_t>(n + 1));
  for (Index i = 0; i < n; ++i) {
    rows[static_cast<std::size_t>(i)][i] = 2;
    if (i > 0) rows[static_cast<std::size_t>(i)][i - 1] = -1;
    if (i + 1 < n) rows[static_cast<std::size_t>(i)][i + 1] = -1;
  }
  rows[0][n] = rows[static_cast<std::size_t>(n)][0] = 1;
  Problem<host> problem(from_rows(n + 1, rows));
  SystemOptions options = Automatic<host>::automatic();
  options.solver.name = "minres";  // "auto" would begin with the preconditioner for saddle points
  const auto operators = detail::build<double, host>(problem.ctx, problem.there.wide(), options, {});
  const double length = static_cast<double>(3 * n - 2 + 2) / (n + 1), reach = n - 1;
  CHECK(detail::SystemForecasts<double, host>(*operators).sure_iterations(true) == Approx(0.5 * length * reach));
}
