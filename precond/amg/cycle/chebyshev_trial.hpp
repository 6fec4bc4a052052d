// SPDX-License-Identifier: Apache-2.0
/// Whether Chebyshev's polynomial smooths a matrix with flat elements well enough. Internal.
#pragma once

#include "precond/amg/cycle/amg_cycle.hpp"
#include "precond/amg/cycle/cycle_trial.hpp"

namespace newel::detail {

/// Whether `cycle`, whose first level a diagonal smooths, deals with the errors that tied nodes leave. Flat elements
/// of a body whose surface was meshed badly slow the polynomial down by half, for which FSAI's setup and products
/// take more than they save; lattices of refined ones, and stiff ones, leave errors that hardly fall. CG with the
/// cycle, on A e = 0 from random signs on these nodes, has to reduce e in six iterations after one cycle: its energy
/// norm to a sixteenth, and the norm of D^(1/2) e, which shows soft errors of stiff elements too, to 0.3. It ends
/// where it has, or where the energy norm falls behind a steady reduction. `level`: the matrix of the first level in
/// the hierarchy's numbering. Takes temporary vectors, and at most eight products and seven cycles.
template <class T>
bool chebyshev_suffices(const HostContext& ctx, const AmgCycle<T, Space::host>& cycle, const HostBlockCsr& level);

/// The same of any cycle, also of one on ranks.
template <class T>
struct SmootherTrial {
  typename CycleTrial<T, Space::host>::Product a;
  typename CycleTrial<T, Space::host>::Cycle m;
  const HostBlockCsr& level;                  ///< this rank's rows
  std::vector<double> diagonal;               ///< the norms of the diagonal blocks of its columns
  Span<const Index, Space::host> old_of_new;  ///< from the numbering of `level` to that of vectors; empty: the same
};
template <class T>
bool chebyshev_suffices(const HostContext& ctx, const SmootherTrial<T>& of);

}  // namespace newel::detail
