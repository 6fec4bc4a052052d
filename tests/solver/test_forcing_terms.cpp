// SPDX-License-Identifier: Apache-2.0
// Forcing terms against the formulas of Eisenstat and Walker, worked out by hand.
#include "tests/catch.hpp"

#include <newel/solver/forcing_terms.hpp>

TEST_CASE("choice 1 is the relative error of the linear model", "[solver][forcing]") {
  ForcingOptions options;
  options.choice = 1;
  options.first = 0.2;
  ForcingTerms terms(options);
  CHECK(terms.next(8) == 0.2);
  // |3 - 1.5| / 8; the safeguard 0.2^1.618 = 0.074 is below 0.1 and has no say.
  CHECK(terms.next(3, 1.5) == Approx(0.1875).epsilon(1e-14));
  // |0.1 - 0.4| / 3
  CHECK(terms.next(0.1, 0.4) == Approx(0.1).epsilon(1e-14));
}

TEST_CASE("choice 1 does not fall below the power of the golden ratio while that is above 0.1", "[solver][forcing]") {
  ForcingOptions options;
  options.choice = 1;
  ForcingTerms terms(options);
  CHECK(terms.next(1) == 0.5);
  const double golden = 1.6180339887498949;
  CHECK(terms.next(0.1, 0.1) == Approx(std::pow(0.5, golden)).epsilon(1e-14));  // 0.326, not 0
  CHECK(terms.next(0.01, 0.01) == Approx(std::pow(0.5, golden * golden)).epsilon(1e-14));
  CHECK(terms.next(0.001, 0.001) == 0);  // 0.0532 is below 0.1
}

TEST_CASE("choice 2 is gamma times a power of the fall of the residual", "[solver][forcing]") {
  ForcingOptions options;
  options.first = 0.1;
  options.gamma = 0.5;
  options.alpha = 1.5;
  ForcingTerms terms(options);
  CHECK(terms.next(4) == 0.1);
  CHECK(terms.next(1, 77) == Approx(0.5 * 0.125).epsilon(1e-14));  // (1/4)^1.5 = 1/8
  CHECK(terms.next(0.16) == Approx(0.5 * 0.064).epsilon(1e-14));   // 0.16^1.5 = 0.064
}

TEST_CASE("choice 2 does not fall faster than at its own order, and is never above the most", "[solver][forcing]") {
  ForcingTerms terms;  // gamma 0.9, alpha 2
  CHECK(terms.next(1) == 0.5);
  CHECK(terms.next(1e-3) == Approx(0.9 * 0.25).epsilon(1e-14));  // instead of 9e-7
  CHECK(terms.next(1e-6) == Approx(0.9 * 1e-6).epsilon(1e-12));  // 0.9 * 0.225^2 = 0.046 is below 0.1
  CHECK(terms.next(1) == 0.9);                                   // the residual has grown
  terms.restart();
  CHECK(terms.next(1e-9) == 0.5);
}

TEST_CASE("the last steps are not solved beyond what Newton's method needs", "[solver][forcing]") {
  ForcingOptions options;
  options.outer_tolerance = 1e-6;
  ForcingTerms terms(options);
  CHECK(terms.next(1) == 0.5);
  CHECK(terms.next(1e-2) == Approx(0.225).epsilon(1e-14));
  CHECK(terms.next(2e-6) == Approx(0.25).epsilon(1e-14));  // 0.5 * 1e-6 / 2e-6, instead of 3.6e-8
  CHECK(terms.next(1e-7) == 0.9);
}

TEST_CASE("with forcing terms Newton's method converges to the end", "[solver][forcing]") {
  // x^3 + x = 10 at x = 2; a step solved to eta leaves the largest residual that it may leave.
  for (const int choice : {1, 2}) {
    ForcingOptions options;
    options.choice = choice;
    ForcingTerms terms(options);
    double x = 3, left = 0;
    int steps = 0;
    const auto f = [](double at) { return at * at * at + at - 10; };
    for (; std::abs(f(x)) > 1e-12 && steps < 40; ++steps) {
      const double eta = terms.next(std::abs(f(x)), left);
      left = eta * std::abs(f(x));
      x -= (1 - eta) * f(x) / (3 * x * x + 1);
    }
    CHECK(steps < 20);
    CHECK(x == Approx(2).epsilon(1e-12));
  }
}

TEST_CASE("options and residuals that are out of range are refused", "[solver][forcing]") {
  const auto refused = [](auto change) {
    ForcingOptions options;
    change(options);
    CHECK_THROWS_AS(ForcingTerms(options), InputError);
  };
  refused([](ForcingOptions& o) { o.choice = 3; });
  refused([](ForcingOptions& o) { o.most = 1; });
  refused([](ForcingOptions& o) { o.first = 0; });
  refused([](ForcingOptions& o) { o.gamma = 1.5; });
  refused([](ForcingOptions& o) { o.alpha = 1; });
  refused([](ForcingOptions& o) { o.outer_tolerance = -1; });
  ForcingTerms terms;
  CHECK_THROWS_AS(terms.next(-1), InputError);
  CHECK_THROWS_AS(terms.next(std::numeric_limits<double>::quiet_NaN()), InputError);
}
