// SPDX-License-Identifier: Apache-2.0
/// Stopwatch: seconds since it was made.
#pragma once

#include <chrono>

namespace newel::cli {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace newel::cli
