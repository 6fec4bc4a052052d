// SPDX-License-Identifier: Apache-2.0
// Scales, ticks and lines.
#include "svg_chart.hpp"

#include <algorithm>
#include <cmath>

#include "apps/common/text.hpp"
#include "html_text.hpp"

namespace newel::cli {
namespace {

constexpr double width = 860, height = 320;
constexpr double left = 74, right = 16, top = 14, bottom = 46;
constexpr int most_strips = 600;

// The rectangle of the drawing in values: x from 0 to x_most, y in powers of ten.
struct Frame {
  double x_most = 1;
  int least = 0, greatest = 0;

  double x(double value) const { return left + value / x_most * (width - left - right); }
  double y(double value) const {
    const double from_top = (greatest - std::log10(value)) / (greatest - least);
    return top + from_top * (height - top - bottom);
  }
};

bool drawn(const std::pair<double, double>& point) { return std::isfinite(point.second) && point.second > 0; }

// Around all values; empty (least == greatest) where there is none.
Frame frame_of(const LogChart& chart) {
  double low = INFINITY, high = 0, x_most = 0;
  const auto take = [&](double x, double y) {
    if (!drawn({x, y})) return;
    low = std::min(low, y);
    high = std::max(high, y);
    x_most = std::max(x_most, x);
  };
  for (const Curve& curve : chart.curves) {
    for (const auto& [x, y] : curve.points) take(x, y);
  }
  if (high == 0) return {};
  for (const ChartMark& mark : chart.marks) take(mark.x, mark.y);
  take(0, chart.level);
  Frame frame{x_most > 0 ? x_most : 1, static_cast<int>(std::floor(std::log10(low))),
              static_cast<int>(std::ceil(std::log10(high)))};
  if (frame.least == frame.greatest) ++frame.greatest;
  return frame;
}

std::string line(double x1, double y1, double x2, double y2, const std::string& style) {
  return text("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x1, y1, x2, y2,
              style.c_str());
}

std::string label(double x, double y, const std::string& anchor, const std::string& words,
                  const std::string& attributes = "") {
  return text("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"", x, y, anchor.c_str()) + attributes + '>' +
         escaped(words) + "</text>\n";
}

std::string tick_attributes(const char* axis, double value) {
  return text(" class=\"tick-%s\" data-value=\"%.17g\"", axis, value);
}

std::string y_axis(const Frame& frame) {
  const int step = (frame.greatest - frame.least + 8) / 9;
  std::string svg;
  for (int power = frame.greatest; power >= frame.least; power -= step) {
    const double value = std::pow(10.0, power), y = frame.y(value);
    svg += line(left, y, width - right, y, "grid") +
           label(left - 8, y + 4, "end", text("1e%d", power), tick_attributes("y", value));
  }
  return svg;
}

// 1, 2 or 5 times a power of ten, so that at most eight steps reach x_most.
double x_step(double x_most, bool whole) {
  const double power = std::pow(10.0, std::floor(std::log10(x_most / 8)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (8 * factor * power >= x_most) step = factor * power;
  }
  return whole ? std::max(1.0, step) : step;
}

std::string x_axis(const Frame& frame, bool whole) {
  const double step = x_step(frame.x_most, whole);
  std::string svg;
  for (int i = 0; i * step <= frame.x_most * (1 + 1e-9); ++i) {
    const double value = i * step, x = frame.x(value);
    const std::string words = whole ? thousands(std::llround(value)) : text("%.4g", value);
    svg += line(x, height - bottom, x, height - bottom + 5, "axis") +
           label(x, height - bottom + 19, "middle", words, tick_attributes("x", value));
  }
  return svg + line(left, height - bottom, width - right, height - bottom, "axis");
}

// All points, or the least and the greatest of each strip in the order in which they come.
std::vector<std::pair<double, double>> thinned(const std::vector<std::pair<double, double>>& points, double x_most) {
  std::vector<std::pair<double, double>> result;
  std::copy_if(points.begin(), points.end(), std::back_inserter(result), drawn);
  if (result.size() <= 2 * most_strips) return result;
  const auto strip_of = [&](const auto& point) { return std::floor(point.first / x_most * most_strips); };
  const auto lower = [](const auto& a, const auto& b) { return a.second < b.second; };
  std::vector<std::pair<double, double>> few;
  for (auto begin = result.begin(); begin != result.end();) {
    const auto end =
        std::find_if(begin, result.end(), [&](const auto& point) { return strip_of(point) != strip_of(*begin); });
    auto [one, other] = std::minmax_element(begin, end, lower);
    if (other < one) std::swap(one, other);
    few.push_back(*one);
    if (other != one) few.push_back(*other);
    begin = end;
  }
  return few;
}

std::string polyline(const Curve& curve, const Frame& frame) {
  std::string svg = "<polyline class=\"" + curve.style + "\" points=\"";
  const char* space = "";
  for (const auto& [x, y] : thinned(curve.points, frame.x_most)) {
    svg += text("%s%.1f,%.1f", space, frame.x(x), frame.y(y));
    space = " ";
  }
  return svg + "\"><title>" + escaped(curve.name) + "</title></polyline>\n";
}

std::string step_line(const ChartMark& step, const Frame& frame) {
  const double x = frame.x(step.x);
  return line(x, top, x, height - bottom, "step") + label(x + 4, top + 11, "start", step.name);
}

std::string mark(const ChartMark& mark, const Frame& frame) {
  if (!drawn({mark.x, mark.y})) return "";
  const double x = frame.x(mark.x), y = frame.y(mark.y);
  // Below, where there is room: the curve comes from above.
  const double label_y = y + 20 < height - bottom ? y + 18 : y - 10;
  const bool at_right = x > width - 220;
  return text("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" class=\"mark\"/>\n", x, y) +
         label(at_right ? x - 8 : x + 8, label_y, at_right ? "end" : "start", mark.name);
}

}  // namespace

std::string log_chart(const LogChart& chart) {
  const Frame frame = frame_of(chart);
  if (frame.least == frame.greatest) return "";
  std::string svg = text("<svg viewBox=\"0 0 %g %g\" role=\"img\" aria-label=\"", width, height) +
                    escaped(chart.name) + "\" xmlns=\"http://www.w3.org/2000/svg\">\n";
  svg += y_axis(frame) + x_axis(frame, chart.whole_x);
  svg += label((left + width - right) / 2, height - 8, "middle", chart.x_label);
  svg += label(0, 0, "middle", chart.y_label, text(" transform=\"translate(14 %.1f) rotate(-90)\"", height / 2 - 14));
  if (chart.level > 0) {
    const double y = frame.y(chart.level);
    svg += line(left, y, width - right, y, "level") + label(left + 6, y - 5, "start", chart.level_name);
  }
  for (const ChartMark& step : chart.steps) svg += step_line(step, frame);
  for (const Curve& curve : chart.curves) svg += polyline(curve, frame);
  for (const ChartMark& one : chart.marks) svg += mark(one, frame);
  return svg + "</svg>\n";
}

std::string part_style(std::size_t i) { return "part-" + std::to_string(i % 10); }

std::string part_bar(const std::string& name, const std::vector<BarPart>& parts) {
  double total = 0;
  for (const BarPart& part : parts) total += part.size;
  if (!(total > 0)) return "";
  constexpr double bar_height = 34;
  std::string svg = text("<svg viewBox=\"0 0 %g %g\" role=\"img\" aria-label=\"", width, bar_height) + escaped(name) +
                    "\" xmlns=\"http://www.w3.org/2000/svg\">\n";
  double x = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double part = parts[i].size / total * width;
    svg += text("<rect x=\"%.2f\" y=\"0\" width=\"%.2f\" height=\"%g\" class=\"%s\" data-size=\"%.17g\"><title>", x,
                part, bar_height, part_style(i).c_str(), parts[i].size) +
           escaped(parts[i].name + ": " + parts[i].label) + "</title></rect>\n";
    x += part;
  }
  return svg + "</svg>\n";
}

}  // namespace newel::cli
