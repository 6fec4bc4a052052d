// SPDX-License-Identifier: Apache-2.0
/// OtherUnits: a system near the ends of its range, solved in units that take it to the middle. Internal.
#pragma once

#include <optional>

#include "solver/chain/returned_x.hpp"
#include "solver/chain/solver_chain.hpp"
#include "solver/krylov/monitor/scaled_system.hpp"

namespace newel::detail {

/// The units for a system whose first solver failed by its range, as far as that can be found out.
template <class T, Space S>
std::optional<SystemUnits> units_for(const Context<S>& ctx, const LinearOperator<T, S>& A,
                                     const LinearOperator<T, S>* M, const SolveReport& report, Span<const T, S> b);

/// The same matrix and M in units of 2^matrix, and solvers for them.
template <class T, Space S>
class OtherUnits {
 public:
  /// `steps` are those of the system in its own units; A and M outlive this. Throws OutOfMemory.
  OtherUnits(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
             const std::vector<ChainStep<T, S>>& steps, bool constant_null_space, int matrix);

  int matrix() const { return matrix_; }
  /// From x, the guess. `before` is the report of the attempts so far: theirs and the new ones come back as one.
  SolveReport solve(SolveReport before, const SystemUnits& units, Span<const T, S> b, Span<T, S> x,
                    const StopCriterion& stop, const ProgressFn& progress);

 private:
  bool guess_is_in_range(Span<const T, S> x) const;
  void judge(SolveReport& report, int to_units, Span<const T, S> x);

  Context<S> ctx_;
  int matrix_;
  ScaledOperator<T, S> A_;
  std::optional<ScaledOperator<T, S>> M_;
  Array<T, S> b_, x_;
  std::optional<SolverChain<T, S>> solvers_;
  ReturnedResidual<T, S> judge_;
};

}  // namespace newel::detail
