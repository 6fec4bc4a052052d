// SPDX-License-Identifier: Apache-2.0
// How many vectors a system recycles: the row of the option, and what its text means.
#include <newel/solver/recycle.hpp>

#include <charconv>

#include <newel/core/error.hpp>
#include <newel/core/table.hpp>

namespace newel {

RecycleRule recycle_rule(const std::string& text) {
  if (canonical_name(text) == "auto") return {RecycleRule::most_vectors, true};
  RecycleRule rule;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, rule.vectors);
  if (error == std::errc() && stop == end && rule.vectors >= 0 && rule.vectors <= RecycleRule::most_vectors)
    return rule;
  throw InputError("recycle: expected a number of vectors from 0 to " + std::to_string(RecycleRule::most_vectors) +
                   ", or auto, found \"" + text + "\"");
}

MethodOption recycle_option() {
  MethodOption option = value_option(
      "--recycle", "K|auto",
      "Approximate eigenvectors that CG or GMRES takes from one solve of a sequence and deflates in the\n"
      "next: at most K (0), or up to 32 while they save more than they cost",
      "recycle", &RecycleOptions::recycle);
  option.needs = OptionNeeds::sequence;
  return option;
}

}  // namespace newel
