// SPDX-License-Identifier: Apache-2.0
/// What a run of newel-beam shows of itself: frames for ParaView of the first strike, and a record of each.
#pragma once

#include <string>
#include <vector>

#include "apps/fem/vtu.hpp"
#include "apps/transient/csv_log.hpp"
#include "apps/transient/resume.hpp"
#include "beam_body.hpp"
#include "spectrum.hpp"

namespace newel::beam {

inline constexpr const char* series_name = "beam.pvd";
/// "beam-000120.vtu"
std::string frame_name(std::int64_t steps);
/// "record.csv" of the first strike, "record-2.csv" of the second, ...
std::string record_name(Index strike);

/// Writes a .vtu and the .pvd for each frame, and a line of each record for each step. All throw InputError where a
/// file cannot be written.
class BeamFrames {
 public:
  BeamFrames(const Context<Space::host>& host, const transient::MeshInput& input, const BeamBody& body,
             const std::string& folder, const transient::SeriesStart& from);

  /// `displacement` and `velocity`: of all nodes of the body, of which the corners are written.
  void write(std::int64_t steps, double time, const std::vector<double>& displacement,
             const std::vector<double>& velocity);
  /// `observed`: as BeamStepper gives it.
  void record(double time, const std::vector<double>& observed);
  /// Writes what was recorded.
  void flush() const;

  std::int64_t last_step() const { return last_step_; }  ///< of the last frame; -1: none

 private:
  std::string folder_;
  fem::VtuWriter writer_;
  fem::PvdSeries series_;
  std::vector<transient::CsvLog> records_;
  std::size_t corners_;
  std::int64_t last_step_ = -1;
};

/// The tones of a record's first probe, in the direction in which it moved most, from `silent_until` on: while it is
/// struck, a body does not ring freely.
std::vector<Tone> tones_of_record(const std::string& file, double silent_until, double step, int most);

}  // namespace newel::beam
