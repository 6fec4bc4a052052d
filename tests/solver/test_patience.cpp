// SPDX-License-Identifier: Apache-2.0
// When an attempt gives up for the next solver.
#include "tests/catch.hpp"

#include <newel/solver/registry.hpp>
#include "solver/chain/patience.hpp"

using newel::detail::may_wander;
using newel::detail::Patience;

namespace {

Progress at(int iteration, double residual) {
  Progress now;
  now.iteration = iteration;
  now.residual = residual;
  return now;
}

}  // namespace

TEST_CASE("BiCGStab gives up 1000 iterations after its lowest residual", "[solver][patience]") {
  Patience patience(find_solver("bicgstab"), [] { return Asymmetric::matrix; });
  CHECK_FALSE(patience(at(1, 1.0)));
  CHECK_FALSE(patience(at(300, 0.99)));
  CHECK_FALSE(patience(at(1299, 5.0)));
  const std::optional<Failure> failure = patience(at(1300, 0.99));
  REQUIRE(failure);
  CHECK(failure->cause == Cause::no_better_residual);
  CHECK(failure->iterations == 1000);
  CHECK(failure->asymmetric == Asymmetric::none);
}

TEST_CASE("CG gives up only if it is slow and A or M is not symmetric", "[solver][patience]") {
  int asked = 0;
  Asymmetric fault = Asymmetric::none;
  const auto find = [&] {
    ++asked;
    return fault;
  };
  Patience symmetric(find_solver("cg"), find);
  CHECK_FALSE(symmetric(at(1, 1.0)));
  CHECK_FALSE(symmetric(at(1000, 0.2)));
  CHECK(asked == 0);
  CHECK_FALSE(symmetric(at(1001, 0.2)));
  CHECK_FALSE(symmetric(at(9000, 0.2)));
  CHECK(asked == 1);  // what is symmetric stays so

  fault = Asymmetric::preconditioner;
  Patience slow(find_solver("cg"), find);
  CHECK_FALSE(slow(at(1, 1.0)));
  CHECK_FALSE(slow(at(900, 0.05)));   // a tenth of the lowest starts anew
  CHECK_FALSE(slow(at(1899, 0.02)));  // less than that does not
  const std::optional<Failure> failure = slow(at(1900, 0.02));
  REQUIRE(failure);
  CHECK(failure->cause == Cause::slow_residual);
  CHECK(failure->asymmetric == Asymmetric::preconditioner);
}

TEST_CASE("Only methods whose residuals may grow need patience", "[solver][patience]") {
  CHECK(may_wander(&find_solver("cg")));
  CHECK(may_wander(&find_solver("bicgstab")));
  CHECK_FALSE(may_wander(&find_solver("gmres")));
  CHECK_FALSE(may_wander(&find_solver("division")));
  CHECK_FALSE(may_wander(nullptr));
}
