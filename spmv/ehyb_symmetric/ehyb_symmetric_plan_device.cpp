// SPDX-License-Identifier: Apache-2.0
// The plan of EHYB with pairs for a pattern that stays on the device.
#include "spmv/ehyb/ehyb_plan.hpp"
#include "spmv/ehyb_symmetric/ehyb_symmetric.hpp"

namespace newel {

std::optional<RowOrder<Space::device>> plan_ehyb_symmetric_order(const Context<Space::device>& ctx,
                                                                 const Pattern<Space::device>& a,
                                                                 const FormatRequest& request) {
  return detail::plan_ehyb_order(ctx, a, detail::request_with_half_cache(request));
}

}  // namespace newel
