// SPDX-License-Identifier: Apache-2.0
/// What a run of newel-heat shows of itself: frames for ParaView and a line of a table for each.
#pragma once

#include <string>
#include <vector>

#include "apps/fem/vtu.hpp"
#include "apps/transient/csv_log.hpp"
#include "apps/transient/resume.hpp"

namespace newel::heat {

inline constexpr const char* series_name = "heat.pvd";
inline constexpr const char* history_name = "heat.csv";
/// "heat-000120.vtu"
std::string frame_name(std::int64_t steps);

/// Writes a .vtu, the .pvd and the history for each frame. All throw InputError where a file cannot be written.
class Frames {
 public:
  /// In metres.
  Frames(const Context<Space::host>& host, const fem::TetMesh& mesh, const std::string& folder,
         const transient::SeriesStart& from);

  void write(std::int64_t steps, double time, const std::vector<double>& temperature, double mean);

  /// Of the last frame; step -1 before the first.
  double highest() const { return highest_; }
  std::int64_t last_step() const { return last_step_; }

 private:
  std::string folder_;
  fem::VtuWriter writer_;
  fem::PvdSeries series_;
  transient::CsvLog history_;  ///< a line a frame, in degrees Celsius
  double highest_ = 0;
  std::int64_t last_step_ = -1;
};

}  // namespace newel::heat
