// SPDX-License-Identifier: Apache-2.0
/// SequenceFigures: what the solves of a sequence took, and how that compares with another sequence.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "measure.hpp"

namespace newel::bench {

struct SequenceFigures {
  std::int64_t iterations = 0;
  double seconds = 0, own_seconds = 0;  ///< of solves; of what the option takes of them
  int vectors = 0;
  std::uint64_t bytes = 0;  ///< of the context

  /// For so many solves, over those of `base`. `own` names the option.
  Json json(const SequenceFigures& base, int solves, const std::string& own) const {
    return {{"vectors", vectors},
            {"iterations_per_solve", static_cast<double>(iterations) / solves},
            {"milliseconds_per_solve", 1e3 * seconds / solves},
            {own + "_milliseconds_per_solve", 1e3 * own_seconds / solves},
            {"iterations_ratio", static_cast<double>(iterations) / static_cast<double>(base.iterations)},
            {"seconds_ratio", seconds / base.seconds},
            {"bytes", bytes}};
  }
  void print(const SequenceFigures& base, int solves, const std::string& name, const std::string& own) const {
    std::printf(
        "%-16s %7.1f iterations, %8.4f ms a solve (%.4f ms for the %s); %.2f of the iterations, %.2f of the time\n",
        name.c_str(), static_cast<double>(iterations) / solves, 1e3 * seconds / solves, 1e3 * own_seconds / solves,
        own.c_str(), static_cast<double>(iterations) / static_cast<double>(base.iterations), seconds / base.seconds);
    std::fflush(stdout);
  }
};

}  // namespace newel::bench
