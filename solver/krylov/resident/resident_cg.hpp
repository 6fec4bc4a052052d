// SPDX-License-Identifier: Apache-2.0
/// ResidentCg: a solve by conjugate gradients as one kernel whose blocks keep their part of the system on the chip.
/// Internal; on a device only.
#pragma once

#include "solver/krylov/monitor/convergence_monitor.hpp"
#include "solver/krylov/resident/resident_system.hpp"
#include "solver/krylov/steps/cg_recurrence.hpp"

namespace newel::detail {

/// What a resident CG keeps in memory between launches.
template <class T>
struct ResidentCgVectors {
  Span<T, Space::device> r, p, s, start;  ///< start: the guess
  Span<CgCoefficients, Space::device> coefficients;
};

/// Kernels across devices; null for what they do not support. Nodes of up to three rows have them.
template <class T>
ResidentKernel<T> resident_cg_across(int block, ResidentPrecond precond, ResidentStorage storage);

/// Chronopoulos and Gear, "s-step iterative methods for symmetric linear systems", J. Comput. Appl. Math. 25 (1989),
/// their CG with s = 1: the dot products r.M r and (M r).A M r are adjacent, so that the grid synchronises
/// once an iteration. In exact arithmetic it is the usual CG, iterate by iterate.
///
/// Of r, s = A p and M r a block has also what its halo needs: each repeats for its halo what the owners do for their
/// rows, so that only w = A M r is exchanged, in the same step as the sums.
template <class T>
class ResidentCg : public ResidentSystem<T> {
 public:
  /// For A and M, which may turn out not to support it.
  ResidentCg(const Context<Space::device>& ctx, const LinearOperator<T, Space::device>& A,
             const LinearOperator<T, Space::device>* M);

  /// Solves and reports to the convergence monitor. If the device does not accept the launch, the usual loop does all
  /// the work, now and later.
  ResidentEnd solve(const SolveRequest<T, Space::device>& system, ConvergenceMonitor<T, Space::device>& convergence,
                    const ResidentCgVectors<T>& vectors);

  /// The same from a recurrence under way: from x, r, p and the scalars of its last step, the convergence monitor
  /// being open. s is formed unless it is there. `declined`: not launched, and nothing has changed.
  ResidentEnd go_on(const SolveRequest<T, Space::device>& system, ConvergenceMonitor<T, Space::device>& convergence,
                    const ResidentCgVectors<T>& vectors, const CgScalars& last, bool has_s);

  /// Of the last step, where a solve has ended in an exchange.
  CgScalars last_scalars(const Context<Space::device>& ctx) const;

 private:
  ResidentTask<T> task_with(const SolveRequest<T, Space::device>& system, const ResidentCgVectors<T>& vectors,
                            int asks_from, int done) const;
  ResidentEnd launch_until_event(const SolveRequest<T, Space::device>& system,
                                 ConvergenceMonitor<T, Space::device>& convergence, ResidentTask<T> task);
};

}  // namespace newel::detail
