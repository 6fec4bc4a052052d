// SPDX-License-Identifier: Apache-2.0
// Samples of a solve, thinned out as they become many.
#include "timeline.hpp"

#include <utility>

namespace newel::cli {

Timeline::Timeline(Index columns, std::size_t most, std::function<double()> now)
    : most_(most), now_(std::move(now)), columns_(static_cast<std::size_t>(columns)) {}

void Timeline::add(const Progress& progress) {
  Column& column = columns_[static_cast<std::size_t>(progress.column)];
  // An attempt counts from 0 again.
  if (progress.iteration < column.latest) column.before += column.latest;
  column.latest = progress.iteration;
  column.last = {column.before + progress.iteration, now_ ? now_() : watch_.seconds(), progress.relative_residual};
  if (column.calls++ % column.stride != 0) return;
  column.kept.push_back(column.last);
  if (column.kept.size() < most_) return;
  for (std::size_t i = 0; 2 * i < column.kept.size(); ++i) column.kept[i] = column.kept[2 * i];
  column.kept.resize((column.kept.size() + 1) / 2);
  column.stride *= 2;
}

std::vector<Timeline::Sample> Timeline::of(std::size_t column) const {
  const Column& one = columns_[column];
  std::vector<Sample> samples = one.kept;
  if (one.calls > 0 && (samples.empty() || samples.back().iteration != one.last.iteration))
    samples.push_back(one.last);
  return samples;
}

}  // namespace newel::cli
