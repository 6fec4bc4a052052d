// SPDX-License-Identifier: Apache-2.0
/// Probation: whether a stronger preconditioner keeps what it promised. Internal.
#pragma once

#include <optional>

#include "solver/krylov/monitor/operator_exchange.hpp"
#include "solver/policy/forecasts.hpp"
#include "solver/policy/history.hpp"

namespace newel::detail {

/// A stronger preconditioner has to bring each tenth of the residual within so many iterations. One that has passed
/// goes on being watched, since it may stall later: a tenth may then take as long as the longest before it.
class Probation {
 public:
  enum class Verdict { none, awaited, passed, failed };

  /// None is on probation.
  Probation() = default;
  /// From where a solve stands. `by_gains`: the residual had not shown what the weaker one takes, and EnergyGains are
  /// asked, once.
  Probation(int allowed_for_a_tenth, const SolveStanding& at, bool by_gains);

  /// It begins where the next solve begins.
  void begin_with_the_solve() { begun_ = 0; }

  bool on() const { return length_ > 0; }
  bool passed() const { return passed_; }  ///< once

  /// At a later stand of the solve. `followed` and `whole` are of the present preconditioner and the one before it.
  Verdict judge(const SolveStanding& now, const std::optional<FollowedPrecond>& followed, const WholeSolves& whole);

 private:
  void begin(const SolveStanding& at);
  bool gains_enough(const SolveStanding& now) const;
  bool falls_too_slowly(const SolveStanding& now, const std::optional<FollowedPrecond>& followed,
                        const WholeSolves& whole) const;

  int length_ = 0, from_ = 0;     // the present tenth: the iterations that it may take, and since when
  double begun_ = 0, least_ = 0;  // the residual there, and the least seen; 0: it begins with the solve
  bool passed_ = false;           // once
  int first_ = 0;                 // where it all began
  double first_residual_ = 0;     // likewise
  bool by_gains_ = false;         // still to be asked
  bool without_end_ = false;      // the present tenth may take as long as it will
  double gained_before_ = 0;      // where it all began
  double weaker_gains_ = 0;       // of the weaker one in an iteration; 0: not known
};

}  // namespace newel::detail
