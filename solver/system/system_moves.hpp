// SPDX-License-Identifier: Apache-2.0
/// SystemMoves: carries out what an Advisor advises. Internal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "solver/system/system_state.hpp"

namespace newel::detail {

/// Changes the operators of a system between solves and in the middle of one. What cannot be made leaves all as it
/// was. Changes are noted for the report.
template <class T, Space S>
class SystemMoves {
 public:
  explicit SystemMoves(SystemState<T, S>& of) : s_(of) {}

  /// Between solves: takes a format or a preconditioner whose setup the iterations so far have paid for.
  bool before_solve(bool from_zero, bool preconditioner_too);
  /// Between solves: leaves a preconditioner whose whole solves have taken longer than those of the one before.
  void leave_what_proved_slower();
  /// Decides by expectation what else a first solve shows, if a solve that may move does not come first.
  void decide_by_expectation();
  /// Somebody outside depends on format and preconditioner from now on.
  void pin();

  /// In the middle of a solve: what the advisor says next, once it has seen the values if it wants to.
  std::optional<Move> next(const SolveStanding& now);
  bool make(const Move& move);
  /// Takes the next preconditioner that "auto" has. `why` ends the note; those that would take too long are added to
  /// `untried`.
  bool take_next_preconditioner(const std::string& why, std::vector<Untried>& untried);
  /// What an M in single precision has failed at, the same in double may do.
  bool raise_precision();
  /// At the end of a solve: a preconditioner that has not proved itself yet leaves again, if the solve gave up.
  void end_probation(bool converged);

 private:
  std::optional<Move> advised(std::optional<Move> move);
  bool take_format(const std::string& format, bool in_a_solve);
  bool begin_with_stronger(const Move& move, const std::string& when);
  bool take_stronger(const Move& move, bool begins);
  void precond_changed();

  SystemState<T, S>& s_;
};

}  // namespace newel::detail
