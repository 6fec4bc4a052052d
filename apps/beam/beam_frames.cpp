// SPDX-License-Identifier: Apache-2.0
// Frames and records of a run, and what is read off a record.
#include "beam_frames.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>

#include <newel/core/error.hpp>

#include "apps/common/text.hpp"
#include "apps/transient/run_job.hpp"

namespace newel::beam {
namespace {

using cli::text;
using transient::in_folder;

std::string record_header(const transient::MeshInput& input, const BeamBody& body) {
  std::string header = "time,kinetic_energy,strain_energy";
  for (const Index node : body.probes) {
    for (const char axis : {'x', 'y', 'z'}) {
      header += text(",%c_node_%lld", axis, static_cast<long long>(input.number_of(node)));
    }
  }
  return header;
}

std::vector<fem::Point> corner_vectors(const std::vector<double>& values, std::size_t corners) {
  std::vector<fem::Point> vectors(corners);
  for (std::size_t i = 0; i < corners; ++i) vectors[i] = {values[3 * i], values[3 * i + 1], values[3 * i + 2]};
  return vectors;
}

}  // namespace

std::string frame_name(std::int64_t steps) { return text("beam-%06lld.vtu", static_cast<long long>(steps)); }

std::string record_name(Index strike) {
  return strike == 0 ? "record.csv" : text("record-%d.csv", static_cast<int>(strike) + 1);
}

BeamFrames::BeamFrames(const Context<Space::host>& host, const transient::MeshInput& input, const BeamBody& body,
                       const std::string& folder, const transient::SeriesStart& from)
    : folder_(folder),
      writer_(host, input.mesh),
      series_(from.kept_until ? fem::PvdSeries::reopen(in_folder(folder, series_name), *from.kept_until)
                              : fem::PvdSeries(in_folder(folder, series_name))),
      corners_(input.mesh.nodes.size()) {
  for (std::size_t k = 0; k < body.strikes.size(); ++k) {
    records_.emplace_back(in_folder(folder, record_name(static_cast<Index>(k))), record_header(input, body),
                          from.kept_until);
  }
  if (!from.extra_frame.empty()) series_.remove(from.extra_frame);
}

void BeamFrames::write(std::int64_t steps, double time, const std::vector<double>& displacement,
                       const std::vector<double>& velocity) {
  const std::string name = frame_name(steps);
  const std::vector<fem::Point> u = corner_vectors(displacement, corners_), v = corner_vectors(velocity, corners_);
  writer_.write(in_folder(folder_, name), {fem::node_field("displacement", u), fem::node_field("velocity", v)}, time);
  series_.append(time, name);
  last_step_ = steps;
}

void BeamFrames::record(double time, const std::vector<double>& observed) {
  const std::size_t each = observed.size() / records_.size();
  for (std::size_t k = 0; k < records_.size(); ++k) {
    std::string line = text("%.17g", time);
    for (std::size_t i = 0; i < each; ++i) line += text(",%.9g", observed[k * each + i]);
    records_[k].append(line);
  }
}

void BeamFrames::flush() const {
  for (const transient::CsvLog& record : records_) record.flush();
}

std::vector<Tone> tones_of_record(const std::string& file, double silent_until, double step, int most) {
  std::ifstream in(file);
  if (!in) throw InputError(file + ": cannot be read");
  std::array<std::vector<double>, 3> moved;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    double time = 0;
    std::array<double, 3> at{};
    if (std::sscanf(line.c_str(), "%lf,%*f,%*f,%lf,%lf,%lf", &time, &at[0], &at[1], &at[2]) != 4) continue;
    if (time < silent_until) continue;
    for (std::size_t axis = 0; axis < 3; ++axis) moved[axis].push_back(at[axis]);
  }
  const auto extent = [](const std::vector<double>& values) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return values.empty() ? 0.0 : *high - *low;
  };
  const auto most_moved = std::max_element(moved.begin(), moved.end(),
                                           [&](const auto& a, const auto& b) { return extent(a) < extent(b); });
  return tones_of(*most_moved, step, most);
}

}  // namespace newel::beam
