// SPDX-License-Identifier: Apache-2.0
// The host reports its threads; the processor is in every report.
#include "machine_facts.hpp"

namespace newel::bench {

Json machine_facts(const Context<Space::host>& ctx) { return {{"threads", ctx.threads()}}; }

}  // namespace newel::bench
