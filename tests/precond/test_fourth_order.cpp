// SPDX-License-Identifier: Apache-2.0
// Saddle points of equations of second and of fourth order.
#include "tests/precond/saddle_support.hpp"
#include "tests/solver/problem.hpp"

#include <algorithm>
#include <memory>

#include <newel/solver/linear_system.hpp>
#include "precond/fourth_order.hpp"
#include "solver/policy/system_choices.hpp"

namespace {

// [I L; L 0] with differences L between neighbours on n x n x `deep` points.
HostCsr layers(Index n, Index deep) {
  const Index points = n * n * deep;
  MapRows rows(static_cast<std::size_t>(2 * points));
  const auto entry = [&](Index i, Index j, double value) {
    rows[static_cast<std::size_t>(i)][points + j] = rows[static_cast<std::size_t>(points + j)][i] = value;
  };
  for (Index i = 0; i < points; ++i) {
    const Index x = i % n, y = i / n % n, z = i / (n * n);
    rows[static_cast<std::size_t>(i)][i] = 1;
    entry(i, i, deep > 1 ? 6 : 4);
    if (x > 0) entry(i, i - 1, -1);
    if (x + 1 < n) entry(i, i + 1, -1);
    if (y > 0) entry(i, i - n, -1);
    if (y + 1 < n) entry(i, i + n, -1);
    if (z > 0) entry(i, i - n * n, -1);
    if (z + 1 < deep) entry(i, i + n * n, -1);
  }
  return from_rows(2 * points, rows);
}

// On a square: the unknowns below are those of L L, whose rows are 20, -8, 2 and 1 away from the edge.
HostCsr plate(Index n) { return layers(n, 1); }

bool is_of_fourth_order(const HostCsr& a) {
  const Context<Space::host> ctx;
  const Uploaded<double, Space::host> there = upload_matrix<double>(ctx, a);
  return detail::is_of_fourth_order(there.wide());
}

}  // namespace

TEST_CASE("A plate is of fourth order, and flow and diffusion are not", "[precond][saddle]") {
  CHECK(is_of_fourth_order(plate(41)));
  CHECK_FALSE(is_of_fourth_order(plate(4)));  // three quarters of the points are at the edge
  CHECK_FALSE(is_of_fourth_order(mac_stokes(2, 24)));
  CHECK_FALSE(is_of_fourth_order(mac_stokes(3, 8)));
  CHECK_FALSE(is_of_fourth_order(from_rows(2, {{{0, 1}}, {{1, 1}}})));
}

TEST_CASE("What constraints are is asked once", "[precond][saddle]") {
  using detail::ConstraintKind;
  const Context<Space::host> ctx;
  const Uploaded<double, Space::host> of_plate = upload_matrix<double>(ctx, plate(41));
  const Uploaded<double, Space::host> flow = upload_matrix<double>(ctx, mac_stokes(2, 24));
  CHECK(detail::constraint_kind(of_plate.wide()) == ConstraintKind::fourth_order);
  CHECK(detail::constraint_kind(flow.wide()) == ConstraintKind::usual);
  const HostCsr indefinite = from_rows(2, {{{0, 1}, {1, 2}}, {{0, 2}, {1, -3}}});
  CHECK(detail::constraint_kind(upload_matrix<double>(ctx, indefinite).wide()) == ConstraintKind::none);
  const auto traits = std::make_unique<detail::ValueTraits>(matrix_traits(ctx, flow.wide()));
  CHECK(traits->constraints_of(flow.wide()) == ConstraintKind::usual);
  CHECK(traits->constraints_of(of_plate.wide()) == ConstraintKind::usual);  // it does not look again
}

TEST_CASE("A plate begins with factors", "[saddle][auto]") {
  Problem<Space::host> problem(plate(41));
  LinearSystem<double, Space::host> system(problem.ctx, problem.there.wide());
  const SolveReport report = system.solve(problem.b.cspan(), problem.x.span());
  CHECK(report.converged());
  CHECK(report.iterations == 0);
  REQUIRE(report.attempts.size() == 1);
  CHECK(report.attempts.front().solver == "direct");
  CHECK(residual_norm(problem.a, download(problem.ctx, problem.x), problem.b_host) <=
        1.01e-8 * norm_oracle(problem.b_host));
}

TEST_CASE("Factors of what is only perhaps a plate take no longer than a solve without", "[saddle][auto]") {
  const auto begins_with_factors = [](const HostCsr& a) {
    Problem<Space::host> problem(a);
    LinearSystem<double, Space::host> system(problem.ctx, problem.there.wide());
    const auto& phases = system.info().setup_seconds;
    REQUIRE(std::any_of(phases.begin(), phases.end(), [](const auto& phase) { return phase.first == "factors"; }));
    return system.info().preconditioner.name == "none";
  };
  CHECK(begins_with_factors(plate(60)));
  CHECK_FALSE(begins_with_factors(layers(13, 13)));  // in space, where they take 0.4 s
}
