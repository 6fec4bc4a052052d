// SPDX-License-Identifier: Apache-2.0
// The dot product of a product whose rows are in two parts.
#include "distributed/rank_dot.hpp"

#include "core/vectors/rank_step_device.cuh"

namespace newel::detail {
namespace {

struct TwoDots {
  static constexpr int sums = 2;
  double* xy;
  NEWEL_HD bool active() const { return true; }
  NEWEL_HD void end(const double* totals) const { *xy = totals[0] + totals[1]; }
};

}  // namespace

void add_dots_over_ranks(const Context<Space::device>& ctx, DeviceRanks& ranks, double* xy) {
  end_over_ranks(ctx, ranks, TwoDots{xy});
}

}  // namespace newel::detail
