// SPDX-License-Identifier: Apache-2.0
// What factors may take, by seconds that are made up: shares are those of the documentation.
#include "solver/policy/factor_question.hpp"
#include "tests/catch.hpp"

#include <limits>

namespace {

using detail::FactorQuestion;

FactorQuestion at(double spent, double left, double by_others = std::numeric_limits<double>::infinity(),
                  bool unsettled = false) {
  FactorQuestion question;
  question.spent = spent;
  question.left = left;
  question.by_others = by_others;
  question.unsettled = unsettled;
  return question;
}

}  // namespace

TEST_CASE("Factors may take a third of what is left, no more than was spent, or half of what was", "[direct][watch]") {
  CHECK(at(1, 2.4).most_seconds() == Approx(0.792));
  CHECK(at(1, 1.2).most_seconds() == Approx(0.5));  // half of what was spent is more than a third of what is left
  CHECK(at(1, 100).most_seconds() == Approx(1));
  CHECK(FactorQuestion{}.most_seconds() == 0);
  FactorQuestion no_progress;
  no_progress.spent = 3;
  CHECK(no_progress.most_seconds() == Approx(3));
}

TEST_CASE("A solve that is about to arrive leaves no time for factors", "[direct][watch]") {
  CHECK(at(1, 0.49).most_seconds() == 0);
  CHECK(at(1, 0.51).most_seconds() == Approx(0.5));
}

TEST_CASE("Factors compete with the other moves", "[direct][watch]") {
  CHECK(at(1, 100, 0.7).most_seconds() == Approx(0.7));
  CHECK(at(1, 100, 0.1).most_seconds() == Approx(0.5));  // what did not come true in time
}

TEST_CASE("A forecast of operators that have just changed does not count", "[direct][watch]") {
  CHECK(at(1, 100, 1e9, true).most_seconds() == Approx(0.5));
  CHECK_FALSE(at(1, 100, 1e9, true).worth_an_order(0.9));
}

TEST_CASE("An order is sought early if the forecast is long, else after four times its seconds", "[direct][watch]") {
  CHECK(at(1, 100).worth_an_order(0.997));
  CHECK_FALSE(at(1, 100).worth_an_order(0.999));    // and 2 ms for the start: more than was spent
  CHECK_FALSE(at(1, 2).worth_an_order(0.7));        // more than a third of what is left
  CHECK_FALSE(at(1, 100, 0.5).worth_an_order(0.6));  // another move is ahead of it
  CHECK(at(1, 2).worth_an_order(0.25));
}
