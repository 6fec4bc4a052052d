// SPDX-License-Identifier: Apache-2.0
// When guesses are used under "auto": by counted iterations and costs that the test makes up.
#include "tests/catch.hpp"

#include "solver/sequence/guess_policy.hpp"

using detail::GuessCosts;
using detail::GuessPolicy;
using Use = GuessPolicy::Use;

namespace {

// An iteration takes 1 s, a guess two products of 0.5 s and 0.5 s for its vectors.
constexpr GuessCosts costs{1, 0.5, 0.5};

struct Sequence {
  double seconds = 0, seconds_as_given = 0;
  int guesses = 0;
};

// So many solves, which take `as_given` iterations, and `guessed` with a guess.
template <class AsGiven, class Guessed>
Sequence run(GuessPolicy& policy, int solves, AsGiven as_given, Guessed guessed) {
  Sequence result;
  for (int k = 0; k < solves; ++k) {
    const Use use = policy.next();
    const int iterations = use == Use::guess ? guessed(k) : as_given(k);
    const int products = use == Use::nothing ? 0 : use == Use::keep ? 1 : 2;
    result.seconds += iterations * costs.iteration + products * costs.product + (products > 0 ? costs.vectors : 0);
    result.seconds_as_given += as_given(k) * costs.iteration;
    result.guesses += use == Use::guess ? 1 : 0;
    policy.solved(iterations, products, policy.weighs() ? costs : GuessCosts{});
  }
  return result;
}

}  // namespace

TEST_CASE("without a decision every solve begins with a guess", "[solver][guess]") {
  GuessPolicy policy;
  run(
      policy, 500, [](int) { return 20; }, [](int) { return 20; });
  CHECK(policy.next() == Use::guess);
}

TEST_CASE("guesses that save nothing cost at most 2 % of a long sequence", "[solver][guess]") {
  for (const int iterations : {10, 20, 100}) {
    CAPTURE(iterations);
    GuessPolicy policy(true);
    const Sequence all = run(
        policy, 5000, [=](int) { return iterations; }, [=](int) { return iterations; });
    CHECK(all.seconds <= 1.02 * all.seconds_as_given);
    CHECK(all.guesses < 100);
  }
}

TEST_CASE("guesses that halve the iterations are used in nearly every solve", "[solver][guess]") {
  GuessPolicy policy(true);
  const Sequence all = run(
      policy, 5000, [](int) { return 20; }, [](int) { return 10; });
  CHECK(all.guesses > 4800);
  CHECK(all.seconds <= 0.6 * all.seconds_as_given);
  CHECK(policy.as_given() == 20);
}

TEST_CASE("guesses that stop to help are dropped, and used again when they help again", "[solver][guess]") {
  GuessPolicy policy(true);
  const auto as_given = [](int) { return 20; };
  run(policy, 400, as_given, [](int) { return 8; });
  const Sequence useless = run(policy, 400, as_given, [](int) { return 20; });
  CHECK(useless.guesses < 100);
  const Sequence useful = run(policy, 2000, as_given, [](int) { return 8; });
  CHECK(useful.guesses > 1000);
}

TEST_CASE("what a guess saves has to exceed its products and passes", "[solver][guess]") {
  GuessPolicy dear(true), cheap(true);
  for (int k = 0; k < GuessPolicy::trial; ++k) {
    const bool guess = cheap.next() == Use::guess;
    cheap.solved(guess ? 17 : 20, 2, {1, 0.5, 0.5});  // 3 iterations for 1.5 s
    dear.solved(guess ? 17 : 20, 2, {1, 0.5, 2.5});   // 3 iterations for 3.5 s
  }
  CHECK(cheap.next() == Use::guess);
  CHECK(dear.next() == Use::nothing);
}

TEST_CASE("a policy continues from its counts", "[solver][guess]") {
  GuessPolicy whole(true);
  const auto as_given = [](int k) { return 20 + k % 3; };
  const auto guessed = [](int k) { return k < 200 ? 9 : 20; };
  for (const int broken : {5, 60, 260}) {
    GuessPolicy first(true), second(true);
    run(first, broken, as_given, guessed);
    second.set_counts(first.counts());
    CHECK(first.counts().size() == static_cast<std::size_t>(GuessPolicy::count_size));
    for (int k = broken; k < broken + 300; ++k) {
      CHECK(first.next() == second.next());
      const int iterations = first.next() == Use::guess ? guessed(k) : as_given(k);
      first.solved(iterations, 2, costs);
      second.solved(iterations, 2, costs);
    }
  }
}
