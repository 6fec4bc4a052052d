// SPDX-License-Identifier: Apache-2.0
/// Advisor: when a solve should go on with other operators, and with which. Internal.
#pragma once

#include <limits>
#include <optional>
#include <utility>

#include "solver/krylov/monitor/operator_exchange.hpp"
#include "solver/policy/forecasts.hpp"
#include "solver/policy/history.hpp"
#include "solver/policy/move.hpp"
#include "solver/policy/probation.hpp"

namespace newel::detail {

/// Weighs what is left of a solve, and of those that may follow, against the setups that would make them faster. It
/// sees values only: a history, where a solve stands, and forecasts. Counts and models decide, never the clock.
class Advisor {
 public:
  /// What is known of a solve that is about to begin.
  struct Beginning {
    double tolerance = 0;        ///< relative
    double most_iterations = 0;  ///< that its limits allow
    bool from_zero = false;      ///< the guess is zero
  };

  /// During a solve. Asked where the solve could move, and depends on nothing else, so that every run moves at the
  /// same iteration.
  std::optional<Move> next(const SolveStanding& now, const History& history, Forecasts& forecasts);
  /// Between solves, with or without another preconditioner.
  std::optional<Move> before_solve(const Beginning& solve, bool preconditioner_too, const History& history,
                                   Forecasts& forecasts);
  /// Both end with this, and it is asked again after `Move::Kind::inspect_values` was done.
  std::optional<Move> choose(const History& history, Forecasts& forecasts);
  /// Before so many iterations of a solve `next` need not be asked: it would say no, for certain or, by what it said
  /// last, in all likelihood. Where asking is dear, as on a device, later.
  int not_before(bool asking_is_dear, const History& history, Forecasts& forecasts);
  /// In which iteration of the present solve to ask again, where `next` advised nothing. See `not_before`.
  void ask_less_often(bool asking_is_dear);

  /// The move has been made.
  void took_stronger(const Move& move, History& history);
  void took_other_preconditioner(History& history);
  void took_format(History& history, bool in_a_solve);
  /// The iterations so far took so many seconds more each than they would in the present format.
  void lost_in_former_format(double seconds_each) { estimates_.former_format += standing_.iterations * seconds_each; }

  /// Where the solve stood when `next` was asked, or where the next one will begin, with the iterations that are
  /// believed to be left.
  const SolveStanding& standing() const { return standing_; }
  Probation& probation() { return probation_; }
  /// From where `next` was asked last, with the best of the stronger preconditioners and its setup; infinity: none.
  double seconds_with_stronger() const { return estimates_.with_stronger; }
  /// What holds for one solve only is forgotten.
  void end_solve() {
    probation_ = {};
    estimates_ = {};
  }
  /// The iterations with the simple preconditioner that the last advice took for granted; 0: none.
  double simple_seen() const { return simple_seen_; }

 private:
  /// What estimates of the present solve have said, with the present preconditioner.
  struct Estimates {
    double promised = 0;        // the fewest iterations that they made it seem to take in all; 0: there were none
    double believed = 0;        // standing.left before it was doubted
    int first_asked = 0;        // the iteration of the solve, and its residual there
    double first_residual = 0;  // 0: not yet
    int ask_again = 0;          // in which iteration, sooner or later than usual; 0: neither
    double most_saved = 0;      // by the move that pays best, over its price
    double with_stronger = std::numeric_limits<double>::infinity();  // see `seconds_with_stronger`
    double former_format = 0;  // seconds: what iterations in former formats took more than in the present one

    void raise_after_overrun(SolveStanding& standing);
  };
  /// The stronger preconditioner that is expected to pay, if any, and when.
  struct Stronger {
    const PrecondOutlook* outlook = nullptr;
    bool now = false;      // or soon
    bool inspect = false;  // the values first
    double weaker_seconds = 0;
  };

  Stronger stronger_that_pays(const FormatTrial* better, const History& history, Forecasts& forecasts);

  SolveStanding standing_;
  bool left_guessed_ = false;  // standing_.left, by the size of the system
  bool format_too_ = true, preconditioner_too_ = true;
  bool awaited_ = false;  // the verdict on a preconditioner on probation
  double simple_seen_ = 0;
  Estimates estimates_;
  Probation probation_;
};

}  // namespace newel::detail
