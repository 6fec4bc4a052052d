// SPDX-License-Identifier: Apache-2.0
/// Timeline: when a solve had come how far, by the clock. What a history cannot say: a setup on the way is a gap.
#pragma once

#include <functional>
#include <vector>

#include <newel/solver/krylov.hpp>

#include "apps/common/run_clock.hpp"

namespace newel::cli {

class Timeline {
 public:
  struct Sample {
    int iteration = 0;   ///< of all attempts together
    double seconds = 0;  ///< since `start`
    double relative_residual = 0;
  };

  /// A column keeps about `most` samples, evenly over its calls, and always the last. `now` returns seconds since
  /// `start`; the default is a stopwatch.
  explicit Timeline(Index columns, std::size_t most = 500, std::function<double()> now = {});

  /// The solve begins.
  void start() { watch_ = Stopwatch(); }

  /// A step of it: reads the clock, and allocates now and then.
  void add(const Progress& progress);

  /// Of a column, in order.
  std::vector<Sample> of(std::size_t column) const;

 private:
  struct Column {
    std::vector<Sample> kept;
    Sample last;
    int before = 0;          ///< iterations of earlier attempts
    int latest = 0;          ///< of the present attempt
    std::size_t stride = 1;  ///< every so many calls are kept
    std::size_t calls = 0;
  };

  std::size_t most_;
  std::function<double()> now_;
  Stopwatch watch_;
  std::vector<Column> columns_;
};

}  // namespace newel::cli
