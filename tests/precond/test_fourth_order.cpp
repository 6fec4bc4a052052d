// SPDX-License-Identifier: Apache-2.0
// Saddle points of equations of second and of fourth order.
#include "tests/precond/saddle_support.hpp"
#include "tests/solver/problem.hpp"

#include <newel/solver/linear_system.hpp>
#include "precond/fourth_order.hpp"
#include "solver/policy/system_choices.hpp"

namespace {

// [I L; L 0] with five-point differences L on a square of n x n points: the unknowns below are those of L L, whose
// rows are 20, -8, 2 and 1 away from the edge.
HostCsr plate(Index n) {
  MapRows rows(static_cast<std::size_t>(2 * n * n));
  const auto entry = [&](Index i, Index j, double value) {
    rows[static_cast<std::size_t>(i)][n * n + j] = rows[static_cast<std::size_t>(n * n + j)][i] = value;
  };
  for (Index y = 0; y < n; ++y) {
    for (Index x = 0; x < n; ++x) {
      const Index i = y * n + x;
      rows[static_cast<std::size_t>(i)][i] = 1;
      entry(i, i, 4);
      if (x > 0) entry(i, i - 1, -1);
      if (x + 1 < n) entry(i, i + 1, -1);
      if (y > 0) entry(i, i - n, -1);
      if (y + 1 < n) entry(i, i + n, -1);
    }
  }
  return from_rows(2 * n * n, rows);
}

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
  detail::ValueTraits traits(matrix_traits(ctx, flow.wide()));
  CHECK(traits.constraints_of(flow.wide()) == ConstraintKind::usual);
  CHECK(traits.constraints_of(of_plate.wide()) == ConstraintKind::usual);  // it does not look again
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
