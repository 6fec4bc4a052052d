// SPDX-License-Identifier: Apache-2.0
/// ResidentBicgstab: BiCGStab as one kernel whose blocks keep their part of the system on the chip. Internal; on a
/// device only.
#pragma once

#include "solver/krylov/resident/resident_system.hpp"

namespace newel::detail {

/// What a resident BiCGStab keeps in memory between launches.
template <class T>
struct ResidentBicgstabVectors {
  Span<T, Space::device> r, p, r0, kept;  ///< kept: the best x
};

/// The grid synchronises twice per iteration, as often as it multiplies: v = A M p travels with r0.v, t = A M s with
/// t.s and t.t. The sums for which the usual form needs a third synchronisation are sent with these. rho = r0.r for
/// the next direction is r0.s - omega r0.t, in double: no farther off than the rounding of r itself. r.r, r0.r and
/// the verdicts on them are formed from r as it is, in the first grid synchronisation of the next iteration, and the
/// next alpha takes that rho.
///
/// Of p, r, v and t a block has also what its halo needs, and repeats for it what the owners do. Where M is a matrix
/// neighbours synchronise twice more, for M p and M s with the halo of A; that of the recurrence is M's.
template <class T>
class ResidentBicgstab : public ResidentSystem<T> {
 public:
  /// For A and M, which may turn out not to support it.
  ResidentBicgstab(const Context<Space::device>& ctx, const LinearOperator<T, Space::device>& A,
                   const LinearOperator<T, Space::device>* M);

  /// Iterates until an event, an exchange, or until the convergence monitor is interrupted. From x, which it opens
  /// the convergence monitor with and keeps as the best so far; from r = b - A x with the shadow residual r0 = r; or
  /// onward behind an exchange, with the |r0| that it left. Confirms a tolerance that was met, if it can be computed
  /// from squares. If the device does not accept a launch, all is left to the loop, now and later.
  ResidentEnd run(const SolveRequest<T, Space::device>& system, ConvergenceMonitor<T, Space::device>& convergence,
                  const ResidentBicgstabVectors<T>& vectors, KeptIterate& best, ResidentBegin begin, double& r0_norm);
};

}  // namespace newel::detail
