// SPDX-License-Identifier: Apache-2.0
/// Drawings for a page, as inline SVG whose colours are classes of the page's style: curves over a logarithmic axis,
/// and one bar of parts.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace newel::cli {

struct Curve {
  std::string name;   ///< shown by the pointer; plain text
  std::string style;  ///< class of its line
  std::vector<std::pair<double, double>> points;
};

struct ChartMark {
  double x = 0, y = 0;
  std::string name;  ///< plain text
};

struct LogChart {
  std::string name;     ///< what it shows, for those who do not see it
  std::string x_label;  ///< with the unit
  std::string y_label;
  bool whole_x = false;  ///< x counts
  std::vector<Curve> curves;
  std::vector<ChartMark> marks;
  std::vector<ChartMark> steps;  ///< vertical lines at x
  double level = 0;              ///< a horizontal line, where it is above 0
  std::string level_name;
};

/// The chart; empty where no curve has a positive value. Values that are not positive are left out. A curve of many
/// points is drawn by the least and the greatest of each narrow strip. The labels of both axes carry their values as
/// data-value.
std::string log_chart(const LogChart& chart);

struct BarPart {
  std::string name;  ///< plain text
  double size = 0;
  std::string label;  ///< of the size; plain text
};

/// One bar whose parts have the classes part-0, part-1, ... up to part-9, over again from there; empty where nothing
/// has a size.
std::string part_bar(const std::string& name, const std::vector<BarPart>& parts);

/// The class of part i.
std::string part_style(std::size_t i);

}  // namespace newel::cli
