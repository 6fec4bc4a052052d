// SPDX-License-Identifier: Apache-2.0
// The rows of the options for scaling and matching.
#include <newel/reorder/scaling.hpp>

namespace newel {

std::vector<MethodOption> scaling_option_list() {
  const std::vector<std::string> words = {"auto", "on", "off"};
  return {choice_option("--scale",
                        "Scale rows and columns by powers of two, so that their largest entries are near 1; the\n"
                        "tolerance then also holds for the scaled rows. auto: if rows differ by many orders",
                        "scale", words, &ScalingOptions::scale),
          choice_option("--match",
                        "Permute columns so that the product of the diagonal entries is the largest; a symmetric\n"
                        "matrix is only scaled by that matching. auto: if a solve without it has failed",
                        "match", words, &ScalingOptions::match)};
}

}  // namespace newel
