// SPDX-License-Identifier: Apache-2.0
/// The frequencies of a bending cantilever by the theories of Euler and Bernoulli and of Timoshenko.
#pragma once

#include <vector>

#include "elasticity.hpp"

namespace newel::beam {

/// A bar of rectangular cross section, clamped at one end, that bends along its thickness. In metres.
struct Cantilever {
  double length = 1;
  double thickness = 0.1;
};

/// Without shear and rotary inertia: cos(k L) cosh(k L) = -1, f = k^2 / (2 pi) (E I / (rho A))^(1/2). Hz, ascending.
std::vector<double> euler_bernoulli(const Cantilever& bar, const Material& material, int count);

/// With both: the frequency equation of T. C. Huang, J. Appl. Mech. 28 (1961), for clamped and free ends, with
/// Cowper's shear coefficient 10 (1 + nu) / (12 + 11 nu) (J. Appl. Mech. 33, 1966). Hz, ascending, for waves that are
/// longer than the thickness.
std::vector<double> timoshenko(const Cantilever& bar, const Material& material, int count);

}  // namespace newel::beam
