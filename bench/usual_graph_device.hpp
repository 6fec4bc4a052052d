// SPDX-License-Identifier: Apache-2.0
/// The usual loops as a captured graph with scalars on the device. Internal to the measures.
#pragma once

#include "solve_contender.hpp"

namespace newel::bench {

/// See UsualScalars::in_graph. CG, or else BiCGStab. The graph is captured by the first solve for an x and kept.
template <class T>
std::unique_ptr<BuiltSolve<T, Space::device>> make_usual_graph(const Context<Space::device>& ctx,
                                                               const CsrView<T, Space::device>& a, bool cg,
                                                               bool jacobi);

}  // namespace newel::bench
