// SPDX-License-Identifier: Apache-2.0
// Frames of a run, and their table.
#include "heat_frames.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "apps/common/text.hpp"
#include "apps/transient/run_job.hpp"

namespace newel::heat {

using cli::text;
using transient::in_folder;

namespace {

// Every line of the history belongs to a frame, the extra one too.
std::optional<double> lines_until(const transient::SeriesStart& from) {
  if (from.extra_frame.empty()) return from.kept_until;
  return std::nextafter(*from.kept_until, -HUGE_VAL);
}

}  // namespace

std::string frame_name(std::int64_t steps) { return text("heat-%06lld.vtu", static_cast<long long>(steps)); }

Frames::Frames(const Context<Space::host>& host, const fem::TetMesh& mesh, const std::string& folder,
               const transient::SeriesStart& from)
    : folder_(folder),
      writer_(host, mesh),
      series_(from.kept_until ? fem::PvdSeries::reopen(in_folder(folder, series_name), *from.kept_until)
                              : fem::PvdSeries(in_folder(folder, series_name))),
      history_(in_folder(folder, history_name), "time,lowest,mean,highest", lines_until(from)) {
  if (!from.extra_frame.empty()) series_.remove(from.extra_frame);
}

void Frames::write(std::int64_t steps, double time, const std::vector<double>& temperature, double mean) {
  const std::string name = frame_name(steps);
  writer_.write(in_folder(folder_, name), {fem::node_field("temperature", temperature)}, time);
  series_.append(time, name);
  const auto [lowest, highest] = std::minmax_element(temperature.begin(), temperature.end());
  history_.append(text("%.17g,%.9g,%.9g,%.9g", time, *lowest, mean, *highest));
  history_.flush();
  highest_ = *highest;
  last_step_ = steps;
}

}  // namespace newel::heat
