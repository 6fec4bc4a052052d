// SPDX-License-Identifier: Apache-2.0
// What factors may take, by seconds that are made up: shares are those of the documentation.
#include "solver/policy/factor_question.hpp"
#include "tests/catch.hpp"

#include <limits>

namespace {

using detail::FactorQuestion;

FactorQuestion at(double spent, double left) {
  FactorQuestion question;
  question.spent = spent;
  question.left = left;
  return question;
}

}  // namespace

TEST_CASE("Factors may take as long as the solve has taken, and twice as long if A is not symmetric",
          "[direct][watch]") {
  CHECK(at(1, 100).most_seconds() == Approx(1));
  CHECK(at(3, std::numeric_limits<double>::infinity()).most_seconds() == Approx(3));
  CHECK(FactorQuestion{}.most_seconds() == 0);
  FactorQuestion unsymmetric = at(3, 100);
  unsymmetric.share = detail::factor_limits.unsymmetric_share_of_solve;
  CHECK(unsymmetric.most_seconds() == Approx(6));
  unsymmetric.left = 4;
  CHECK(unsymmetric.most_seconds() == Approx(4));
}

TEST_CASE("After a move factors may take no more than what it was expected to need", "[direct][watch]") {
  constexpr double unknown = std::numeric_limits<double>::infinity();
  FactorQuestion fresh = at(10, unknown);
  fresh.expect(0, 12);
  CHECK(fresh.left == 12);
  CHECK(fresh.most_seconds() == Approx(10));
  fresh = at(10, unknown);
  fresh.expect(1, 4);  // less than was spent
  CHECK(fresh.most_seconds() == 0);
  FactorQuestion overrun = at(10, unknown), by_rate = at(10, 40), without_move = at(10, unknown);
  overrun.expect(4, 4);
  by_rate.expect(1, 4);
  without_move.expect(0, 0);
  CHECK(overrun.most_seconds() == Approx(10));
  CHECK(by_rate.left == 40);
  CHECK(without_move.left == unknown);
}

TEST_CASE("A solve that is about to arrive leaves no time for factors", "[direct][watch]") {
  CHECK(at(1, 0.99).most_seconds() == 0);
  CHECK(at(1, 1.01).most_seconds() == Approx(1));
}

TEST_CASE("An order is sought once the solve has taken its seconds and those of a start", "[direct][watch]") {
  CHECK(at(1, 100).worth_an_order(0.9997));
  CHECK_FALSE(at(1, 100).worth_an_order(0.9999));  // and 0.2 ms for the start: more than was spent
}

TEST_CASE("Small matrices, chains and networks need no strong preconditioner before factors", "[direct][watch]") {
  using detail::factor_limits;
  CHECK(factor_limits.is_small_definite(4096, 1e6));
  CHECK(factor_limits.is_small_definite(1e6, 3e6));        // a chain
  CHECK_FALSE(factor_limits.is_small_definite(1e6, 5e6));  // a grid
}

TEST_CASE("An order takes a tenth of what is left at most, or a quarter of what was spent", "[direct][watch]") {
  CHECK(at(1, 9).worth_an_order(0.89));
  CHECK_FALSE(at(1, 9).worth_an_order(0.91));
  CHECK(at(1, 2).worth_an_order(0.24));
  CHECK_FALSE(at(1, 2).worth_an_order(0.26));
}
