// SPDX-License-Identifier: Apache-2.0
// Frames of a run, and their table.
#include "heat_frames.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "apps/purlin/output_files.hpp"
#include "apps/purlin/text.hpp"

namespace purlin::heat {

using cli::text;

std::string frame_name(std::int64_t steps) { return text("heat-%06lld.vtu", static_cast<long long>(steps)); }

std::string in_folder(const std::string& folder, const std::string& name) {
  return (std::filesystem::path(folder) / name).string();
}

History::History(std::string file, std::optional<double> resumed_at) : file_(std::move(file)) {
  if (!resumed_at) return;
  std::ifstream old(file_);
  std::string line;
  std::getline(old, line);  // the heading
  while (std::getline(old, line)) {
    if (std::strtod(line.c_str(), nullptr) <= *resumed_at) lines_ += line + '\n';
  }
}

void History::append(double time, double lowest, double mean, double highest) {
  lines_ += text("%.17g,%.9g,%.9g,%.9g\n", time, lowest, mean, highest);
  cli::write_text_file("--out", file_, "time,lowest,mean,highest\n" + lines_);
}

Frames::Frames(const Context<Space::host>& host, const fem::TetMesh& mesh, const std::string& folder,
               std::optional<double> resumed_at)
    : folder_(folder),
      writer_(host, mesh),
      series_(resumed_at ? fem::PvdSeries::reopen(in_folder(folder, series_name), *resumed_at)
                         : fem::PvdSeries(in_folder(folder, series_name))),
      history_(in_folder(folder, history_name), resumed_at) {}

void Frames::write(std::int64_t steps, double time, const std::vector<double>& temperature, double mean) {
  const std::string name = frame_name(steps);
  writer_.write(in_folder(folder_, name), {fem::node_field("temperature", temperature)}, time);
  series_.append(time, name);
  const auto [lowest, highest] = std::minmax_element(temperature.begin(), temperature.end());
  history_.append(time, *lowest, mean, *highest);
  highest_ = *highest;
  last_step_ = steps;
}

}  // namespace purlin::heat
