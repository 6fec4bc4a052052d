// SPDX-License-Identifier: Apache-2.0
/// SystemLearning: what solves have cost so far, and when a faster format is worth its setup. Internal.
#pragma once

#include <string>

#include <newel/solver/decision.hpp>
#include <newel/spmv/format_choice.hpp>
#include "solver/cost/profiles/decision_constants.hpp"

namespace newel::detail {

/// What a setup would save, in its seconds.
struct SetupSavings {
  double missed = 0;  ///< in the iterations so far
  double sure = 0;    ///< in those that are sure to come, a part of `ahead`
  double ahead = 0;   ///< in all that are expected
  double then = 0;    ///< not saved: what a solve takes behind it, if no more iterations than are sure were to come
};

/// What of its savings has to be missed or sure before a setup of `price` seconds is bought.
inline double least_savings(double price, const SetupSavings& savings) {
  return least_missed * (price + savings.then);
}

/// Whether to buy a setup of `price` seconds. By iterations that were `measured`, in earlier solves or by what this
/// one has shown: where it pays by `margin`. By those too, and by a guess from the size: where the product of what
/// was missed and what is ahead reaches the square of the price times what the margin is above the usual one: early
/// where it is sure to pay, as soon as the iterations so far would have paid for it where as many are left, and near
/// the end not at all. In no case before `least_savings` are missed or sure.
bool is_worth(double price, const SetupSavings& savings, bool measured, double margin = usual_margin);

/// The iteration of a solve at which `is_worth` can be true at the earliest, for a setup that costs as much as
/// `price` iterations save, `before` of which earlier solves have made: where as many are sure to come as
/// ResidualRate::sure tells at most, which it does from the first spectrum on, of a solve of which `sure_of_solve`
/// iterations are.
double earliest_iteration(double price, double before, double sure_of_solve);

/// The iteration of a solve at which enough of a setup's savings will have been missed or be sure, where `iterations`
/// of it have brought `savings` and the next ones bring as much each; 0: never.
int iteration_when_due(double price, const SetupSavings& savings, int iterations);

/// What counts of iterations say, which read no clock: the same on every run.
class SystemLearning {
 public:
  explicit SystemLearning(const SolveCounts& counts) : iterations_(counts.iterations) {}

  /// The iterations that later solves are expected to take, where the last one took `of_solve`: as many as those
  /// before it, and those of a few solves at the least, since what is solved twice is seldom solved only twice.
  double later(double of_solve) const;

  /// The format to move to between solves, or in the middle of one, `done` iterations into it, with about `to_come`
  /// to go, of which `sure` are sure, those of later solves among them: the best for these among those that
  /// `is_worth` names. Null: the present one stays.
  const FormatTrial* better_for(const FormatChoice& choice, double done, double sure, double to_come,
                                bool measured) const;

  /// What the setup of a faster format would save in `to_come` iterations, over its price, the most of all; 0: none
  /// is faster.
  static double most_saved(const FormatChoice& choice, double to_come);

  /// How many iterations into a solve `better_for` can name one at the earliest, however many are to come, where
  /// `sure_of_solve` are sure of the whole; infinity: never.
  double earliest(const FormatChoice& choice, double sure_of_solve) const;

 private:
  double iterations_;  // since the last move
};

/// `done` iterations into a solve, which will be counted as a whole.
inline SolveCounts counts_after_move(int done = 0) { return {-static_cast<double>(done), 0}; }

}  // namespace newel::detail
