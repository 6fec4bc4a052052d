// SPDX-License-Identifier: Apache-2.0
/// What a solution is judged by: b - A x in long double, and how much of it may be rounding.
#pragma once

#include <vector>

#include <newel/core/csr.hpp>

namespace newel::bench {

struct TrueResidual {
  double relative = 0;  ///< |b - A x| / |b|, or |A x| for b = 0
  /// How far a residual formed in T may be from it: row i, of m entries, takes at most m + 3 roundings, so that
  /// |(m_i + 3) eps (|A||x| + |b|)_i| over |b| bounds the difference of the norms.
  double rounding = 0;
};

/// Row by row, in parallel, in long double: independent of every solver and every format. Not a number where x is
/// not.
template <class T>
TrueResidual true_residual(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a, const std::vector<T>& b,
                           const std::vector<T>& x);

}  // namespace newel::bench
