// SPDX-License-Identifier: Apache-2.0
// When the formats and preconditioners that may follow are compared.
#include "tests/catch.hpp"
#include "tests/solver/problem.hpp"

#include <memory>
#include <string>
#include <vector>

#include "solver/system/system_state.hpp"

using namespace newel;
using namespace newel::testing;

namespace {

constexpr Space host = Space::host;

template <Space S>
struct Automatic {
  Problem<S> problem;
  SystemOptions options = automatic();
  detail::SystemState<double, S> state{problem.ctx, options};

  explicit Automatic(const char* system) : problem(system) { state.set_up(problem.there.wide(), options, {}); }

  static SystemOptions automatic() {
    SystemOptions options;
    options.spmv.format = options.precond.name = options.solver.name = "auto";
    return options;
  }
  SolveReport solve(double rel_tol) {
    state.stop.rel_tol = rel_tol;
    Array<double, S> x(problem.ctx, problem.a.rows);
    SolveReport report = state.solve(problem.b.cspan(), x.span(), {}, InitialGuess::zero);
    REQUIRE(report.converged());
    return report;
  }
};

// The same whether somebody asks before the solve or nobody does.
template <Space S>
void check_late_as_early(const char* system) {
  CAPTURE(system);
  Automatic<S> asked(system), not_asked(system);
  CHECK_FALSE(asked.state.operators->weighed());
  const SystemInfo before = asked.state.operators->info();
  CHECK(asked.state.operators->weighed());
  CHECK_FALSE(not_asked.state.operators->weighed());
  CHECK(before.format.trials.size() > 1);
  for (int solve = 0; solve < 3; ++solve) {
    const SolveReport one = asked.solve(1e-10), other = not_asked.solve(1e-10);
    REQUIRE(one.iterations > 16);
    CHECK(one.history == other.history);
    CHECK(one.changed == other.changed);
  }
  CHECK(not_asked.state.operators->weighed());
  const SystemInfo late = not_asked.state.operators->info();
  CHECK(late.format.trials.size() == before.format.trials.size());
  CHECK(json_of(asked.state.decision()) == json_of(not_asked.state.decision()));
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
  detail::PlainOperators<double, host> operators(problem.ctx, problem.there.wide(), options, {});
  return operators.sure_iterations(before);
}

}  // namespace

TEST_CASE("A solve of a few iterations compares nothing on a host", "[exchange][learning]") {
  Automatic<host> easy("generate:diffusion:16");
  REQUIRE(easy.solve(0.1).iterations < 16);
  CHECK_FALSE(easy.state.operators->weighed());
  CHECK(easy.solve(1e-10).iterations > 16);
  CHECK(easy.state.operators->weighed());
}

TEST_CASE("What was named is not compared", "[exchange][learning]") {
  Problem<host> problem("generate:diffusion:6");
  SystemOptions options = Automatic<host>::automatic();
  options.spmv.format = "csr";
  CHECK(detail::PlainOperators<double, host>(problem.ctx, problem.there.wide(), options, {}).weighed());
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
