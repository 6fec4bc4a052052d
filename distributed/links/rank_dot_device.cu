// SPDX-License-Identifier: Apache-2.0
// A dot product that kernels of ranks have formed.
#include "distributed/links/rank_dot.hpp"

#include "core/vectors/rank_step_device.cuh"

namespace newel::detail {
namespace {

struct FormedDot {
  static constexpr int sums = 1;
  double* xy;
  NEWEL_HD bool active() const { return true; }
  NEWEL_HD void end(const double* totals) const { *xy = totals[0]; }
};

}  // namespace

void add_dot_over_ranks(const Context<Space::device>& ctx, DeviceRanks& ranks, double* xy) {
  end_over_ranks(ctx, ranks, FormedDot{xy});
}

}  // namespace newel::detail
