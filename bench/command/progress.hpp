// SPDX-License-Identifier: Apache-2.0
/// BenchProgress: which contender is at work, as one line updated in place. On a terminal only: a pipe sees nothing.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>

#include "apps/common/live_progress.hpp"

namespace newel::cli {

/// "warm products  ehyb:halo  17 of 264  12.3 s", in at most `width` columns. `what`: "setting up", "warm products".
std::string format_bench_line(const std::string& what, const std::string& contender, int turn, int turns,
                              double seconds, int width);

/// Draws on `out` where it is a terminal that can overwrite a line.
class BenchProgress {
 public:
  explicit BenchProgress(std::FILE* out);

  /// Begins a phase of that many turns.
  void begin(const std::string& what, int turns);

  /// Before a contender's turn, outside of what is timed. Cheap: drawn ten times a second at most, and at the begin
  /// of a phase.
  void turn_of(const std::string& contender);

  /// Takes the line away. May be called again.
  void finish() { line_.erase(); }

 private:
  std::FILE* out_;
  bool live_;
  LiveLine line_;
  std::string what_;
  int turn_ = 0, turns_ = 0;
  std::chrono::steady_clock::time_point start_, last_drawn_;
};

}  // namespace newel::cli
