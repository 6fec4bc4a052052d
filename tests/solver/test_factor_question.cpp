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

TEST_CASE("Factors may take as long as the solve has taken", "[direct][watch]") {
  CHECK(at(1, 100).most_seconds() == Approx(1));
  CHECK(at(3, std::numeric_limits<double>::infinity()).most_seconds() == Approx(3));
  CHECK(FactorQuestion{}.most_seconds() == 0);
}

TEST_CASE("A solve that is about to arrive leaves no time for factors", "[direct][watch]") {
  CHECK(at(1, 0.99).most_seconds() == 0);
  CHECK(at(1, 1.01).most_seconds() == Approx(1));
}

TEST_CASE("An order is sought once the solve has taken its seconds and those of a start", "[direct][watch]") {
  CHECK(at(1, 100).worth_an_order(0.9994, false));
  CHECK_FALSE(at(1, 100).worth_an_order(0.9996, false));  // and 0.5 ms for the start: more than was spent
}

TEST_CASE("Factors of a symmetric matrix start sooner, since no library is loaded", "[direct][watch]") {
  CHECK(at(1, 100).worth_an_order(0.9997, true));
  CHECK_FALSE(at(1, 100).worth_an_order(0.9999, true));  // and 0.2 ms
}

TEST_CASE("An order takes a tenth of what is left at most, or a quarter of what was spent", "[direct][watch]") {
  CHECK(at(1, 9).worth_an_order(0.89, false));
  CHECK_FALSE(at(1, 9).worth_an_order(0.91, false));
  CHECK(at(1, 2).worth_an_order(0.24, false));
  CHECK_FALSE(at(1, 2).worth_an_order(0.26, false));
}
