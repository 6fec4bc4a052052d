// SPDX-License-Identifier: Apache-2.0
// The largest magnitude of a vector on the host.
#include <cmath>

#include <newel/core/parallel.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/over_ranks.hpp"

namespace newel {

template <class T>
void max_abs(const Context<Space::host>& ctx, Span<const T, Space::host> x, double* result) {
  const auto larger = [](double& most, double value) {
    if (!(value <= most)) most = std::isnan(most) ? most : value;
  };
  *result = parallel_reduce(
      ctx, x.size, 0.0, [&](std::int64_t i, double& most) { larger(most, std::fabs(static_cast<double>(x[i]))); },
      larger);
  detail::max_over_ranks(ctx, result, 1);
}

template void max_abs(const Context<Space::host>&, Span<const double, Space::host>, double*);
template void max_abs(const Context<Space::host>&, Span<const float, Space::host>, double*);

}  // namespace newel
