// SPDX-License-Identifier: Apache-2.0
/// SystemState: what a LinearSystem holds. Internal.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <newel/core/assembled_matrix.hpp>
#include <newel/solver/candidate.hpp>
#include "core/memory/work_limit.hpp"
#include "solver/policy/advisor.hpp"
#include "solver/policy/decision_cache.hpp"
#include "solver/policy/history.hpp"
#include "solver/operators/alternatives.hpp"
#include "solver/operators/operators.hpp"
#include "solver/recycle/recycling.hpp"
#include "solver/sequence/solve_sequence.hpp"
#include "solver/system/last_resort.hpp"
#include "solver/system/equivalent_route.hpp"
#include "solver/system/solve_gate.hpp"

namespace newel::detail {

/// Vectors in solver order that solves work with.
template <class T, Space S>
struct SystemVectors {
  Array<T, S> b, x;    ///< if the system is renumbered
  Array<T, S> bs, xs;  ///< likewise, of the most columns that were solved for at once
  Array<T, S> guess;   ///< if another preconditioner may begin again from it
};

/// How a setup went.
struct SetupOutcome {
  PhaseSeconds seconds;
  double before_first_solve = 0;  ///< what counts against the time limit of the first solve; 0 from then on
  WorkEnd ended = WorkEnd::none;  ///< by a limit, before it was done: solves say so
  std::string why_double;         ///< though mixed precision was requested
  bool single_by_choice = false;  ///< solves begin in single precision because "auto" chose it
};

/// Since the last solve.
struct ChangesOfSystem {
  bool preconditioner = false;
  std::string text;  ///< for the report of the next solve

  void note(const std::string& what) { text += (text.empty() || what.empty() ? "" : "; ") + what; }
};

/// What systems of a pattern learn from each other.
struct SharedDecisions {
  std::optional<DecisionCache> kept;
  std::string learnt;           ///< by other systems, one sentence; empty: nothing
  bool last_converged = false;  ///< the last solve: others may learn from it
};

/// Between solves. SystemSetup makes it, SystemMoves changes its operators, and a SolveSession is one solve.
template <class T, Space S>
struct SystemState {
  Context<S> ctx;
  StopCriterion stop;
  Index rows = 0;
  Offset entries = 0;                              ///< of the matrix; 0: it is an operator
  std::optional<AssembledMatrix<T, S>> assembled;  ///< where the input was not taken as it came
  std::unique_ptr<Operators<T, S>> operators;
  std::unique_ptr<Alternatives> alternatives;
  std::optional<SolverChain<T, S>> chain;
  LastResort<T, S> last_resort;
  EquivalentRoute<T, S> equivalent;
  SystemVectors<T, S> vectors;
  SolveSequence<T, S> sequence;
  Recycling<T, S> recycling;
  SetupOutcome setup;
  SolveGate gate;
  History history;
  Advisor advisor;
  bool pinned = false;  ///< somebody outside holds what a change would replace
  ChangesOfSystem changes;
  SharedDecisions shared;

  SystemState(const Context<S>& context, const SystemOptions& options);
  ~SystemState();

  bool natural() const { return operators->row_order().natural(); }
  void gather_to_solver_order(Span<const T, S> user_order, Span<T, S> solver_order) const;
  void gather_to_user_order(Span<const T, S> solver_order, Span<T, S> user_order) const;

  /// The chain for new operators.
  void make_chain();
  /// The same, and the vectors for their order.
  void make_vectors();
  /// To be called before A or M have new values.
  void values_changed();
  /// Other operators, or other values of them, for the chain that there is.
  void use_operators() { chain->use(operators->matrix(), operators->applied_preconditioner()); }
  /// A preconditioner that "auto" chose for other values, and that does not support these, is followed by the next.
  void refresh(Span<const T, S> values, RefreshScope scope);
  void slots_written(RefreshScope scope);
  void require_sound() const;

  /// The time limit of a solve that begins, without what the setup before the first one has taken of it; 0: none.
  double seconds_of_solve();
  /// The limits for iterations that begin now.
  StopCriterion stop_now() const;
};

/// For guesses from past solutions, with the present operators.
template <class T, Space S>
SequenceSystem<T, S> sequence_system(SystemState<T, S>& state);
/// Of an iteration with so many recycled vectors.
template <class T, Space S>
RecycleCosts recycle_costs(const SystemState<T, S>& state, RecycledKind kind, int vectors);
/// What solves pass on, as plain numbers.
template <class T, Space S>
GuessState guess_state(SystemState<T, S>& state);
template <class T, Space S>
void set_guess_state(SystemState<T, S>& state, const GuessState& given);

/// Makes the sentences of a report, which name the preconditioner.
template <class T, Space S>
void write_reasons(const SystemState<T, S>& state, SolveReport& report);
/// Other choices, with what the cost model expects of them.
template <class T, Space S>
std::vector<SystemCandidate> candidates(const SystemState<T, S>& state);

/// What was decided and what solves have shown, as a value.
template <class T, Space S>
SystemDecision decision_so_far(const SystemState<T, S>& state);

/// Adds it to the plan cache, at the end or whenever the number of solves has doubled.
template <class T, Space S>
void keep_decision(SystemState<T, S>& state, bool at_the_end) noexcept;

/// Writes what was decided for the operators, and what may follow them.
template <class T, Space S>
void write_decision(Operators<T, S>& operators, SystemDecision& decision);

/// Of history and options that go with a decision: what a preconditioner has shown is not known of another.
History history_of(const SystemDecision& decided, bool chooses_format, bool same_preconditioner);

}  // namespace newel::detail
