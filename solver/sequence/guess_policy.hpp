// SPDX-License-Identifier: Apache-2.0
/// GuessPolicy: whether guesses from past solutions are worth their cost. Internal.
#pragma once

#include <cstdint>
#include <vector>

namespace newel::detail {

/// Seconds by the cost model.
struct GuessCosts {
  double iteration = 0;  ///< of the solver
  double product = 0;    ///< with A
  double vectors = 0;    ///< of all passes over vectors that a guess takes, launches and waits included
};

/// By counts and the cost model, never by a clock: the same sequence has the same decisions. A *trial* of a few
/// solves shows the iterations with guesses, and one solve as given those without. Guesses are used as long as what
/// they save exceeds their cost by a margin; one solve in `between_probes` begins as given and counts again.
/// Otherwise nothing is kept, for `first_rest` solves and then for twice as many each time.
class GuessPolicy {
 public:
  /// What the next solve does.
  enum class Use {
    nothing,  ///< as given, and its solution is not kept
    keep,     ///< as given; the solution is kept
    guess,    ///< begins with the guess; the solution is kept
  };
  static constexpr int trial = 12, probe_in_trial = 7, first_guess = 3, counted_in_trial = 4;
  static constexpr int between_probes = 50, first_rest = 100, longest_rest = 6400;
  static constexpr double least_gain = 0.02;  ///< of the seconds of a solve as given

  /// Without `decides` the guess is used always.
  explicit GuessPolicy(bool decides = false) : decides_(decides) {}

  bool decides() const { return decides_; }
  Use next() const;
  /// Whether the solve that does `next()` is followed by a decision, which alone reads its costs.
  bool weighs() const;
  /// After a solve that did `next()`: its iterations, those of all columns together, and the products with A that the
  /// guess took.
  void solved(int iterations, std::int64_t products, const GuessCosts& costs);
  /// Iterations of the last solve as given; 0: there was none.
  int as_given() const { return as_given_; }

  /// Everything that decides what follows.
  std::vector<std::int64_t> counts() const;
  void set_counts(const std::vector<std::int64_t>& counts);
  static constexpr int count_size = 7;

 private:
  enum class Phase { trial, use, rest };
  bool worth_it(const GuessCosts& costs) const;
  void decide(const GuessCosts& costs);
  void begin(Phase phase);
  void count_anew();

  bool decides_;
  Phase phase_ = Phase::trial;
  int solves_ = 0;  ///< of this phase
  int as_given_ = 0;
  int guesses_ = 0;  ///< since the last decision, with their iterations and products
  std::int64_t iterations_ = 0, products_ = 0;
  int rest_ = first_rest;
};

}  // namespace newel::detail
