// SPDX-License-Identifier: Apache-2.0
/// Electrograms: what an electrode next to the tissue would see, as one dot product with the voltage.
#pragma once

#include <vector>

#include "apps/heart/heart_assembly.hpp"

namespace newel::heart {

/// For a point p, mm, the weight of every node's voltage (mesh numbering) in
///
///     phi_e(p) = 1 / (4 pi d) integral of (-D grad V) . grad(1 / |x - p|) dx,
///
/// the potential in a large bath of the same mean conductivity d = (along + 2 across) / 3: the currents -D grad V are
/// dipoles, and a front that comes closer is positive (R. Plonsey and R. Barr, Bioelectricity, chapter on volume
/// conductors). The integrand is
/// taken at the middles of the tetrahedra, so that p may be a node. One vector of weights for each of `points`.
std::vector<std::vector<double>> electrogram_weights(const Context<Space::host>& ctx, const fem::TetMesh& mesh,
                                                     const std::vector<fem::Point>& fibers,
                                                     const Conductivity& conductivity,
                                                     const std::vector<fem::Point>& points);

}  // namespace newel::heart
