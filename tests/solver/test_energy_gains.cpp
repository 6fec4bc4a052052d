// SPDX-License-Identifier: Apache-2.0
// What CG gains of the error in the norm of A, and preconditioners that are judged by it while the residual rises.
#include "tests/solver/made_up_operators.hpp"

#include <newel/solver/cg.hpp>
#include <newel/solver/linear_system.hpp>
#include "solver/krylov/steps/energy_gains.hpp"

namespace {

// Notes all that it is asked; `to`, behind 20 iterations.
template <Space S>
class Listens final : public detail::OperatorExchange<double, S> {
 public:
  bool due(const detail::SolveStanding& now) override {
    heard[now.iterations] = now;
    return to && now.iterations >= 20;
  }
  int not_before() override { return 0; }
  std::optional<detail::ExchangedSystem<double, S>> exchange(const std::vector<Span<double, S>>&) override {
    const auto there = to;
    to.reset();
    return there;
  }
  std::string preconditioner() const override { return {}; }
  void follow(Span<const double, S>&, Span<double, S>&) const override {}

  std::map<int, detail::SolveStanding> heard;
  std::optional<detail::ExchangedSystem<double, S>> to;
};

// (x - x_k).A (x - x_k) behind k iterations from zero; the x of a Problem is known.
template <Space S>
double energy_left(const Problem<S>& problem, const LinearOperator<double, S>* M, int iterations) {
  const auto csr = make_spmv(problem.ctx, problem.there.wide(), RowOrder<S>{}, SpmvOptions{"csr"});
  auto x = upload(problem.ctx, std::vector<double>(problem.b_host.size(), 0.0));
  StopCriterion stop = stop_at(1e-30);
  stop.max_iterations = iterations;
  static_cast<void>(problem.solver("cg")->solve(problem.ctx, *csr, M, problem.b.cspan(), x.span(), stop));
  std::vector<double> error = download(problem.ctx, x);
  for (std::size_t i = 0; i < error.size(); ++i) error[i] = 1 + static_cast<double>(i % 7) - error[i];
  const std::vector<double> image = product_oracle(problem.a, error);
  double energy = 0;
  for (std::size_t i = 0; i < error.size(); ++i) energy += error[i] * image[i];
  return energy;
}

// Plane strain of the unit square, Poisson's ratio nu, clamped at the left: linear triangles, two for each of n x n
// cells.
HostCsr clamped_square(int n, double nu) {
  const double lambda = nu / ((1 + nu) * (1 - 2 * nu)), mu = 0.5 / (1 + nu);
  const auto unknown = [&](int x, int y, int axis) { return x == 0 ? -1 : 2 * (y * n + x - 1) + axis; };
  MapRows rows(static_cast<std::size_t>(2 * n * (n + 1)));
  const auto add_triangle = [&](const std::array<std::array<int, 2>, 3>& corner) {
    const double h = 1.0 / n;
    std::array<std::array<double, 2>, 3> gradient;
    const auto edge = [&](int from, int to, int axis) { return h * (corner[to][axis] - corner[from][axis]); };
    const double twice_area = edge(0, 1, 0) * edge(0, 2, 1) - edge(0, 1, 1) * edge(0, 2, 0);
    for (int a = 0; a < 3; ++a) {
      const int b = (a + 1) % 3, c = (a + 2) % 3;
      gradient[a] = {-edge(b, c, 1) / twice_area, edge(b, c, 0) / twice_area};
    }
    for (int k = 0; k < 36; ++k) {
      const int a = k / 12, b = k / 4 % 3, i = k / 2 % 2, j = k % 2;
      const int row = unknown(corner[a][0], corner[a][1], i), col = unknown(corner[b][0], corner[b][1], j);
      if (row < 0 || col < 0) continue;
      const double dot = gradient[a][0] * gradient[b][0] + gradient[a][1] * gradient[b][1];
      const double stress = lambda * gradient[a][i] * gradient[b][j] + mu * gradient[a][j] * gradient[b][i];
      rows[row][col] += (stress + (i == j ? mu * dot : 0.0)) * twice_area / 2;
    }
  };
  for (int y = 0; y < n; ++y) {
    for (int x = 0; x < n; ++x) {
      add_triangle({{{x, y}, {x + 1, y}, {x, y + 1}}});
      add_triangle({{{x + 1, y}, {x + 1, y + 1}, {x, y + 1}}});
    }
  }
  return from_rows(static_cast<Index>(rows.size()), rows);
}

// Under its weight.
SolveReport solved(const HostCsr& a, const std::string& preconditioner) {
  const Context<Space::host> ctx(1);
  SystemOptions options = system_options("auto", preconditioner);
  const auto there = upload_matrix<double>(ctx, a);
  LinearSystem<double, Space::host> system(ctx, there.wide(), options);
  std::vector<double> load(static_cast<std::size_t>(a.rows), 0.0);
  for (std::size_t i = 1; i < load.size(); i += 2) load[i] = -1;
  return checked_solve(ctx, system, a, load);
}

}  // namespace

TEST_BOTH("CG tells what it has gained of the error in the norm of A", "[exchange][energy]") {
  for (const char* precond : {"none", "jacobi", "fsai"}) {
    for (const bool one_kernel : {true, false}) {
      CAPTURE(precond, one_kernel);
      const Problem<S> problem("generate:elasticity:8");
      const auto csr = make_spmv(problem.ctx, problem.there.wide(), RowOrder<S>{}, SpmvOptions{"csr"});
      PrecondOptions named;
      named.name = precond;
      const auto M = make_precond(problem.ctx, problem.there.wide(), RowOrder<S>{}, named, SpmvOptions{"csr"});
      SolverOptions options{"cg"};
      options.of<CgOptions>().resident = one_kernel;
      const auto solver = make_solver<double, S>(problem.ctx, problem.a.rows, options);
      Listens<S> listens;
      StopCriterion stop;
      stop.max_iterations = 42;
      stop.check_every = 1;
      auto x = upload(problem.ctx, std::vector<double>(problem.b_host.size(), 0.0));
      static_cast<void>(solver->run(
          {problem.ctx, *csr, M.get(), problem.b.cspan(), x.span(), stop, {}, InitialGuess::in_x, &listens}));
      const double whole = energy_left(problem, M.get(), 0);
      REQUIRE(listens.heard.size() > 2);
      for (const auto& [iterations, standing] : listens.heard) {
        const double left = energy_left(problem, M.get(), iterations);
        CAPTURE(iterations);
        CHECK(standing.gained == Approx(whole - left).epsilon(1e-9));
        const int before = iterations - detail::few_steps;
        if (before < 0 || (before > 0 && listens.heard.count(before) == 0)) continue;
        const double lately = (energy_left(problem, M.get(), before) - left) / detail::few_steps;
        CHECK(std::abs(standing.gained_lately - lately) <= 1e-9 * whole);
      }
    }
  }
}

TEST_BOTH("What CG has gained with one preconditioner counts with the next", "[exchange][energy]") {
  Problem<S> problem("generate:elasticity:8");
  const auto csr = make_spmv(problem.ctx, problem.there.wide(), RowOrder<S>{}, SpmvOptions{"csr"});
  const auto M = make_precond(problem.ctx, problem.there.wide(), RowOrder<S>{}, PrecondOptions{}, SpmvOptions{"csr"});
  const auto solver = problem.solver("cg");
  Listens<S> listens;
  listens.to.emplace(detail::ExchangedSystem<double, S>{*csr, nullptr, problem.b.cspan(), problem.x.span(), false});
  StopCriterion stop = stop_at(1e-9);
  stop.check_every = 1;
  const SolveReport report = solver->run(
      {problem.ctx, *csr, M.get(), problem.b.cspan(), problem.x.span(), stop, {}, InitialGuess::in_x, &listens});
  REQUIRE(report.converged());
  REQUIRE_FALSE(listens.to.has_value());
  CHECK(listens.heard.rbegin()->second.gained == Approx(energy_left(problem, M.get(), 0)).epsilon(1e-9));
}

TEST_CASE("What was gained lately is the mean of sixteen iterations, or of more between marks", "[energy]") {
  detail::EnergyGains gains;
  gains.add(1, 100);
  for (int k = 2; k <= 16; ++k) gains.add(k, 100 + k * k);
  CHECK(gains.lately() == 0);  // 15 iterations
  gains.add(17, 500);
  CHECK(gains.lately() == Approx(400.0 / 16));
  gains.add(18, 600);
  CHECK(gains.lately() == Approx((600.0 - 104) / 16));
  gains.add(50, 700);
  CHECK(gains.lately() == Approx(100.0 / 32));
}

TEST_BOTH("While no residual tells, a preconditioner stays that gains half of what the weaker one did",
          "[exchange][learning][energy]") {
  struct Case {
    double gained, weaker_gains;  // in 16 iterations, and in one
    bool leaves;
  };
  for (const Case c : {Case{8.01, 1, false}, Case{7.99, 1, true}, Case{0.01, 0, false}, Case{0, 0, true}}) {
    CAPTURE(c.gained, c.weaker_gains);
    Moving<S> moving("same");
    REQUIRE(moving.alternatives->take_stronger("same", false));
    detail::SolveStanding before;
    before.gained_lately = c.weaker_gains;
    detail::Probation& probation = moving.state.advisor.probation();
    probation = detail::Probation(20, before, true);
    probation.begin_with_the_solve();
    std::optional<detail::Move> next;
    const auto leaves = [&] { return next && next->kind == detail::Move::Kind::weaker_preconditioner; };
    const auto due = [&](int iterations, double residual, double gained) {
      next = moving.moves().next({iterations, 0, false, residual, 1e-8, 0, 1, gained, 0});
      return next.has_value();
    };
    CHECK_FALSE(due(100, 50, 30));
    CHECK_FALSE(due(115, 60, 30));
    CHECK_FALSE(due(116, 60, 30 + c.gained));
    CHECK_FALSE(due(119, 60, 30 + c.gained));
    CHECK(due(120, 60, 30 + c.gained) == c.leaves);
    CHECK(leaves() == c.leaves);
    if (c.leaves) continue;
    CHECK_FALSE(due(2000, 0.11, 40));  // it may take its time for a tenth of the first residual
    CHECK_FALSE(due(2100, 0.1, 40));
    CHECK_FALSE(due(4099, 0.1, 40));  // and as long for the next one
    CHECK(due(4100, 0.1, 40));
    CHECK(leaves());
  }
}

// By the residual, which rises to 100 |b|, AMG used to leave again.
TEST_CASE("The automatic choice solves nearly incompressible bodies that AMG solves",
          "[exchange][learning][energy]") {
  for (const double nu : {0.4999, 0.49999}) {
    const SolveReport report = solved(clamped_square(48, nu), "auto");
    CAPTURE(nu, report.iterations, report.changed, report.reason);
    CHECK(report.converged());
    CHECK(report.changed.find("preconditioner amg for jacobi after") == 0);
    CHECK_FALSE(contains(report.changed, "gained less"));
  }
}
