// SPDX-License-Identifier: Apache-2.0
// The .pvd file: one line per frame, so that reading back needs no XML parser.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include <newel/core/error.hpp>
#include <newel/core/file_writer.hpp>

#include "apps/fem/vtu.hpp"
#include "apps/fem/xml_text.hpp"

namespace newel::fem {
namespace {

constexpr const char* head = "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n";
constexpr const char* tail = "</Collection>\n</VTKFile>\n";

std::string line_of(const PvdSeries::Frame& frame) {
  return "<DataSet timestep=\"" + detail::exact_text(frame.time) + "\" part=\"0\" file=\"" +
         detail::xml_escaped(frame.file) + "\"/>\n";
}

// The text between `name="` and the next quote; false where there is none.
bool find_attribute(const std::string& line, const std::string& name, std::string_view* value) {
  const std::size_t at = line.find(' ' + name + "=\"");
  if (at == std::string::npos) return false;
  const std::size_t begin = at + name.size() + 3;
  const std::size_t end = line.find('"', begin);
  if (end == std::string::npos) return false;
  *value = std::string_view(line).substr(begin, end - begin);
  return true;
}

}  // namespace

PvdSeries::PvdSeries(std::string path) : path_(std::move(path)) {}

PvdSeries PvdSeries::reopen(std::string path, double time) {
  PvdSeries series(std::move(path));
  std::error_code ignored;
  if (!std::filesystem::exists(series.path_, ignored)) return series;
  std::ifstream file(series.path_);
  if (!file) throw InputError(series.path_ + ": cannot be read");
  bool is_collection = false;
  std::int64_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    is_collection |= line.find("type=\"Collection\"") != std::string::npos;
    if (line.rfind("<DataSet", 0) != 0) continue;
    std::string_view when, what;
    Frame frame;
    bool good = find_attribute(line, "timestep", &when) && find_attribute(line, "file", &what);
    if (good) {
      const auto [end, error] = std::from_chars(when.data(), when.data() + when.size(), frame.time);
      good = error == std::errc() && end == when.data() + when.size();
    }
    if (!good) {
      throw InputError(series.path_ + ":" + std::to_string(number) +
                       ": expected a DataSet with a timestep and a file, found '" + line.substr(0, 80) + "'");
    }
    frame.file = detail::xml_unescaped(what);
    if (frame.time <= time) series.frames_.push_back(std::move(frame));
  }
  if (!is_collection) throw InputError(series.path_ + ": expected a list of frames (VTKFile type=\"Collection\")");
  return series;
}

void PvdSeries::append(double time, const std::string& file) {
  if (!frames_.empty() && !(time >= frames_.back().time)) {
    throw InputError("a frame at time " + std::to_string(time) + " cannot follow one at " +
                     std::to_string(frames_.back().time));
  }
  if (!frames_.empty() && frames_.back().time == time) frames_.pop_back();
  frames_.push_back({time, file});
  write();
}

void PvdSeries::remove(const std::string& file) {
  const auto at =
      std::find_if(frames_.begin(), frames_.end(), [&](const Frame& frame) { return frame.file == file; });
  if (at == frames_.end()) return;
  frames_.erase(at);
  write();  // first: the list never names a file that is not there
  std::error_code ignored;
  std::filesystem::remove(std::filesystem::path(path_).parent_path() / file, ignored);
}

void PvdSeries::write() const {
  std::string text = head;
  for (const Frame& frame : frames_) text += line_of(frame);
  FileWriter out(path_);
  out.write(text + tail);
  out.commit();
}

}  // namespace newel::fem
