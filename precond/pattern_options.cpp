// SPDX-License-Identifier: Apache-2.0
// The options of sparsity patterns.
#include <newel/precond/pattern_options.hpp>

#include <cmath>

namespace newel {

MethodOption drop_option() {
  MethodOption option =
      value_option("--fsai-drop,--spai-drop", "D",
                   "Leave |a_ij| <= D sqrt(|a_ii a_jj|) out of the pattern before its powers are formed,\ndefault 0",
                   "drop", &PatternOptions::drop);
  option.shapes_pattern = true;
  return option;
}

void check_pattern_options(const PrecondOptions& options, bool shaped) {
  const PatternOptions& own = options.of<PatternOptions>();
  require_precond_option(std::isfinite(own.drop) && own.drop >= 0, "drop must be finite and not negative");
  require_precond_option(own.pattern == nullptr || (!shaped && own.drop == 0),
                         "a given pattern cannot be combined with power, drop or adaptive");
}

}  // namespace newel
