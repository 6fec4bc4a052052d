// SPDX-License-Identifier: Apache-2.0
/// Whether Chebyshev's polynomial smooths a matrix with flat elements well enough. Internal.
#pragma once

#include "precond/amg/cycle/amg_cycle.hpp"

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

}  // namespace newel::detail
