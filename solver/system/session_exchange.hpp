// SPDX-License-Identifier: Apache-2.0
/// SessionExchange: how a solve of a system moves to other operators on its way. Internal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "solver/system/last_resort_watch.hpp"
#include "solver/system/system_moves.hpp"

namespace newel::detail {

/// What an attempt solves, in solver order, and what may follow it. An exchange of the format changes b and x.
template <class T, Space S>
struct SessionPlace {
  Span<const T, S> b;
  Span<T, S> x;
  bool exchanged = false;       ///< b and x are not those that the solve began with
  bool may_move = false;        ///< to another format or preconditioner
  bool factors_follow = true;   ///< the last resort comes after the others
  bool factors_failed = false;  ///< in this solve, before the others
};

/// Asks the advisor where the solve could move, and carries the vectors over into another order.
template <class T, Space S>
class SessionExchange final : public OperatorExchange<T, S> {
 public:
  /// Both outlive this.
  SessionExchange(SystemState<T, S>& of, SessionPlace<T, S>& at) : s_(of), at_(at), moves_(of) {}

  bool due(const SolveStanding& now) override;
  void prepare() override;
  int not_before() override;
  std::optional<ExchangedSystem<T, S>> exchange(const std::vector<Span<T, S>>& vectors) override;
  double of_usual_iterations() const override { return s_.alternatives->forecasts().of_usual_iterations(); }
  double sure_of_solve() const override;
  GiveUpFn overdue() override;
  /// Whether factors of a structurally singular matrix are, which show whether there is any x. Makes them at the
  /// first call.
  bool others_come_later() override;
  std::string preconditioner() const override;
  void follow(Span<const T, S>& b, Span<T, S>& x) const override;
  /// See LastResortWatch.
  void other_factors_were_refused() {
    if (watch_) watch_->others_were_refused();
  }

 private:
  void renumber(std::vector<Span<T, S>> vectors, Span<T, S> scratch);

  SystemState<T, S>& s_;
  SessionPlace<T, S>& at_;
  SystemMoves<T, S> moves_;
  std::optional<Move> next_;
  std::optional<LastResortWatch<T, S>> watch_;  // of all attempts
  std::optional<bool> factors_are_there_;       // of a structurally singular matrix, once that was asked
};

}  // namespace newel::detail
