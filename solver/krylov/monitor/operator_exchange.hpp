// SPDX-License-Identifier: Apache-2.0
/// OperatorExchange: how a solve moves to faster operators of the same system on its way. Internal.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <newel/solver/krylov.hpp>
#include <newel/spmv/operator.hpp>
#include "solver/krylov/monitor/residual_rate.hpp"

namespace newel::detail {

/// A system in another order and format: what a solve goes on with.
template <class T, Space S>
struct ExchangedSystem {
  const LinearOperator<T, S>& A;
  const LinearOperator<T, S>* M;  ///< null: none
  Span<const T, S> b;
  Span<T, S> x;
  bool same_preconditioner;  ///< M differs by its order and by rounding only, so that a recurrence may go on
};

/// How far a solve is.
struct SolveStanding {
  int iterations = 0;
  double left = 0;       ///< iterations to go, estimated; 0: not known
  bool by_rate = false;  ///< by how the residual falls
  double residual = 0, tolerance = 0;
  double sure = 0;  ///< iterations that are to come in all likelihood, by what the residual has done: no estimate
  double initial_residual = 0;        ///< 0: not known
  double gained = 0;                  ///< by CG, since the solve began: see EnergyGains; 0: by another method
  double gained_lately = 0;           ///< the same in an iteration, with the present M; 0: not known
  bool keeps_preconditioner = false;  ///< the method needs a positive M: see PrecondMethod::positive

  /// The share of the digits between the initial residual and the tolerance that is left, 0 to 1; 0 where they are
  /// not known.
  double digits_left() const {
    const double all = std::log(initial_residual / tolerance), left = std::log(residual / tolerance);
    return all > 0 && std::isfinite(left / all) ? std::clamp(left / all, 0.0, 1.0) : 0;
  }
};

/// Instead of an iteration: there will be no exchange.
inline constexpr int no_exchange = std::numeric_limits<int>::max();

/// Whoever owns the operators of a solve.
template <class T, Space S>
class OperatorExchange {
 public:
  virtual ~OperatorExchange() = default;

  /// Whether other operators pay from here. To be asked where the solve could change them; depends on nothing else,
  /// so that every run changes at the same iteration.
  virtual bool due(const SolveStanding& standing) = 0;

  /// Works out what `not_before` and `due` will want to know, where that has been put off. To be called while a
  /// device is at work: it takes as long as a few iterations of a small system.
  virtual void prepare() {}

  /// Before so many iterations `due` need not be asked: it would say no, for certain or, by what it said last, in all
  /// likelihood. `no_exchange`: not at all. Until `prepare` has been called, and where it has something to
  /// work out, no more than the first iterations at which that is worth it.
  virtual int not_before() = 0;

  /// Makes them, and renumbers b, x and the vectors given, each of as many values as there are unknowns, in place.
  /// The operators before are destroyed. Nothing, and everything is as it was, where they cannot be made, which is
  /// not tried again. Allocates, and waits on the context's stream.
  virtual std::optional<ExchangedSystem<T, S>> exchange(const std::vector<Span<T, S>>& vectors) = 0;

  /// See CgSpectrum::left.
  virtual double of_usual_iterations() const { return 1; }

  /// See ResidualRate::sure.
  virtual double sure_of_solve() const { return SureConstants::of_any_solve; }

  /// The name of the present M, for the report of an attempt; empty: there is none.
  virtual std::string preconditioner() const = 0;

  /// Says of the present solve, and its next attempts, when something else is expected to be faster; empty: never.
  virtual GiveUpFn overdue() { return {}; }

  /// After a solver has failed: whether something else is to be tried before the next one.
  virtual bool others_come_later() { return false; }

  /// Whether the method of the present attempt needs an M that is positive definite though A is not: M stays then,
  /// unless another is `PrecondMethod::positive`.
  void keep_preconditioner(bool keeps) { keeps_preconditioner_ = keeps; }
  bool keeps_preconditioner() const { return keeps_preconditioner_; }

  /// b and x of the solve that goes on, where `exchange` has put others in the place of those that it began with.
  virtual void follow(Span<const T, S>& b, Span<T, S>& x) const = 0;

 private:
  bool keeps_preconditioner_ = false;
};

}  // namespace newel::detail
