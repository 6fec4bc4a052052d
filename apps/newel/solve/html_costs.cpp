// SPDX-License-Identifier: Apache-2.0
// Where the time and the memory went.
#include "apps/common/text.hpp"
#include "html_page.hpp"
#include "html_text.hpp"
#include "svg_chart.hpp"

namespace newel::cli {
namespace {

constexpr std::pair<const char*, const char*> phase_words[] = {
    {"launch", "the program is loaded, options and files are checked"},
    {"start", "the device starts"},
    {"read", "the matrix is read or generated"},
    {"checks", "the matrix is checked"},
    {"rhs", "right-hand side, guess, coordinates and pattern are read"},
    {"setup", "all work before the first iteration"},
    {"solve", "the system is solved"},
    {"preconditioner_residual", "|A M - I| is measured"},
    {"result", "x is copied to the host and compared"},
    {"report", "texts and reports are written"},
    {"files", "files are written"},
};

std::string words_of(const std::string& phase) {
  for (const auto& [name, words] : phase_words) {
    if (phase == name) return words;
  }
  return "";
}

// A part of a bar: its field of the report, what it is called, and a remark.
struct Part {
  std::string pointer, name, remark;
};

// The bar of the parts that are numbers, and their table.
std::string bar_and_table(const Json& report, const std::string& name, const std::vector<Part>& parts, Shown shown) {
  std::vector<BarPart> bar;
  double total = 0;
  for (const Part& part : parts) {
    const Json& value = report.at(Json::json_pointer(part.pointer));
    const double size = value.is_number() ? value.get<double>() : 0;
    bar.push_back({part.name, size, shown(size)});
    total += size;
  }
  std::string result = part_bar(name, bar);
  if (result.empty()) return "";
  result += "<table>\n";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string swatch = "<span class=\"swatch " + part_style(i) + "\"></span>";
    result += row(parts[i].name, swatch, figure(report, parts[i].pointer, shown),
                  text("%.1f %%", 100 * bar[i].size / total), escaped(parts[i].remark));
  }
  return result + "</table>\n";
}

std::vector<Part> parts_of(const Json& report, const std::string& pointer, const std::string& prefix) {
  std::vector<Part> parts;
  const Json::json_pointer path(pointer);
  if (!report.contains(path) || !report.at(path).is_object()) return parts;
  for (const auto& [name, value] : report.at(path).items()) {
    if (name != "total") parts.push_back({(path / name).to_string(), prefix + name, ""});
  }
  return parts;
}

std::string time_text(const Json& report) {
  std::vector<Part> phases = parts_of(report, "/seconds", "");
  for (Part& phase : phases) phase.remark = words_of(phase.name);
  return bar_and_table(report, "seconds by phase", phases, shown_seconds) + "<p>Together " +
         figure(report, "/seconds/total", shown_seconds) + ", from the start of the process.</p>\n";
}

std::string memory_text(const Json& report) {
  std::vector<Part> parts;
  for (const std::string name : {"matrix", "preconditioner", "residual_matrix"}) {
    const std::vector<Part> more = parts_of(report, "/operators/" + name + "/bytes", name + ": ");
    parts.insert(parts.end(), more.begin(), more.end());
  }
  return bar_and_table(report, "bytes by part", parts, shown_bytes) + "<p>The system holds " +
         figure(report, "/memory/system_bytes", shown_bytes) + "; the peak was " +
         figure(report, "/memory/peak_bytes", shown_bytes) + ".</p>\n";
}

}  // namespace

std::string cost_sections(const Json& report) {
  return section("Where the time went", time_text(report)) +
         section("The setup", bar_and_table(report, "seconds of the setup by phase",
                                            parts_of(report, "/setup_phases", ""), shown_seconds)) +
         section("Where the memory went", memory_text(report));
}

}  // namespace newel::cli
