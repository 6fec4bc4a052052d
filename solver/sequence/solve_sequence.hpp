// SPDX-License-Identifier: Apache-2.0
/// SolveSequence: what a system keeps of its solves for the guesses of the next. Internal.
#pragma once

#include <functional>
#include <vector>

#include "solver/sequence/guess_policy.hpp"
#include "solver/sequence/past_solutions.hpp"

namespace newel::detail {

/// A system as its sequence sees it, vectors in solver order.
template <class T, Space S>
struct SequenceSystem {
  const Context<S>& ctx;
  const LinearOperator<T, S>& A;
  bool definite = false;        ///< the method that solves first demands it of A
  bool needs_no_guess = false;  ///< a solve begins as given, and nothing is kept
  std::function<GuessCosts()> costs = {};
};

/// A call solves for one or more right-hand sides, column after column in b and x; past solutions are kept for each
/// column by its number, and one policy decides for all of them.
template <class T, Space S>
class SolveSequence {
 public:
  explicit SolveSequence(const GuessRule& rule = {}) : rule_(rule), policy_(decides(rule)) {}

  /// Whether it has a say in where solves begin.
  bool used() const { return rule_.kind != GuessRule::Kind::given; }
  /// Before a call: writes guesses into x. Returns where it begins; with several columns zeros stand in x.
  InitialGuess begin(const SequenceSystem<T, S>& system, Span<const T, S> b, Span<T, S> x, Index columns,
                     InitialGuess from);
  /// After it, with a report for each column, which it completes.
  void end(const SequenceSystem<T, S>& system, Span<const T, S> x, std::vector<SolveReport*> reports);

  void values_changed();
  /// The vectors that a new numbering of the rows concerns.
  std::vector<Span<T, S>> vectors();

  const GuessRule& rule() const { return rule_; }
  const GuessPolicy& policy() const { return policy_; }
  std::vector<PastSolutions<T, S>>& columns() { return past_; }
  /// As another run left it; the caller writes the vectors. An empty list forgets everything.
  void begin_state(const Context<S>& ctx, std::int64_t rows, const std::vector<PastState>& columns,
                   const std::vector<std::int64_t>& policy);

 private:
  static bool decides(const GuessRule& rule) { return rule.kind == GuessRule::Kind::automatic; }
  void keep(const SequenceSystem<T, S>& system, Span<const T, S> x, const std::vector<SolveReport*>& reports);

  GuessRule rule_;
  GuessPolicy policy_;
  std::vector<PastSolutions<T, S>> past_;  // of each column
  std::vector<GuessReport> under_way_;     // of the call
  std::int64_t products_before_ = 0;       // of all columns, until the call before
  bool no_memory_ = false;
};

}  // namespace newel::detail
