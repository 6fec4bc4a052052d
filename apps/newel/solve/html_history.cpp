// SPDX-License-Identifier: Apache-2.0
// The residual over iterations and over time, and the table of several right-hand sides.
#include <algorithm>

#include "apps/common/text.hpp"
#include "html_page.hpp"
#include "html_text.hpp"
#include "svg_chart.hpp"

namespace newel::cli {
namespace {

constexpr std::size_t most_curves = 60;

double number(const Json& value) { return value.is_number() ? value.get<double>() : 0; }

// What residuals are divided by: |b|, or 1 for b = 0.
double norm_of(const Json& solve) {
  const double norm = number(solve["rhs_norm"]);
  return norm > 0 ? norm : 1;
}

Curve history_of(const Json& solve, const std::string& name, const std::string& style) {
  Curve curve{name, style, {}};
  int iteration = 0;
  for (const Json& residual : solve["history"]) {
    curve.points.emplace_back(iteration++, number(residual) / norm_of(solve));
  }
  return curve;
}

// The other columns, evenly over all where there are too many to tell apart.
std::vector<Curve> other_columns(const Json& report) {
  std::vector<Curve> curves;
  if (!report.contains("columns")) return curves;
  const Json& columns = report["columns"];
  const std::size_t step = (columns.size() + most_curves - 1) / most_curves;
  for (std::size_t c = 0; c < columns.size(); c += step) {
    curves.push_back(history_of(columns[c], "column " + std::to_string(c + 1), "curve other"));
  }
  return curves;
}

std::string worst_name(const Json& report) {
  return report.contains("columns") ? "column " + report["worst_column"].dump() : report["solver"].get<std::string>();
}

LogChart chart_of(const Json& report, const std::string& name, const std::string& x_label) {
  LogChart chart;
  chart.name = name;
  chart.x_label = x_label;
  chart.y_label = "residual / |b|";
  chart.level = number(report["tolerance"]) / norm_of(report);
  chart.level_name = "tolerance " + shown_residual(chart.level);
  return chart;
}

ChartMark true_residual_at(const Json& report, double x) {
  const double residual = number(report["true_relative_residual"]);
  return {x, residual, "true residual " + shown_residual(residual)};
}

std::string over_iterations(const Json& report) {
  LogChart chart = chart_of(report, "residual over iterations", "iterations");
  chart.whole_x = true;
  chart.curves = other_columns(report);
  chart.curves.push_back(history_of(report, worst_name(report), "curve"));
  chart.marks = {true_residual_at(report, number(report["iterations"]))};
  const Json& attempts = report["attempts"];
  double iterations = 0;
  for (std::size_t a = 0; a + 1 < attempts.size(); ++a) {
    iterations += number(attempts[a]["iterations"]);
    chart.steps.push_back({iterations, 0, attempts[a + 1]["solver"].get<std::string>()});
  }
  const std::string drawing = log_chart(chart);
  if (drawing.empty()) return "<p>No residual above 0: the initial x was already the solution.</p>\n";
  std::string note =
      "<p>The curve is the residual of the recurrence; the dot is the true residual of the returned x.";
  if (report["left"] == true) note += " Preconditioned from the left, the recurrence has |M r|.";
  if (report.contains("columns")) {
    note += " The thick line is the worst column. " + thousands(static_cast<std::int64_t>(chart.curves.size() - 1)) +
            " of " + thousands(static_cast<std::int64_t>(report["columns"].size())) + " columns are drawn.";
  }
  return drawing + note + "</p>\n";
}

std::string over_time(const Json& report) {
  const Json& timeline = report["timeline"];
  Curve curve{worst_name(report), "curve", {}};
  for (std::size_t i = 0; i < timeline["seconds"].size(); ++i) {
    curve.points.emplace_back(number(timeline["seconds"][i]), number(timeline["relative_residual"][i]));
  }
  if (curve.points.size() < 2) return "";
  LogChart chart = chart_of(report, "residual over time", "seconds since the solve began");
  chart.marks = {true_residual_at(report, curve.points.back().first)};
  chart.curves = {std::move(curve)};
  const std::string changed = words(report, "/changed");
  return log_chart(chart) + "<p>Measured times, at " +
         thousands(static_cast<std::int64_t>(timeline["seconds"].size())) + " of the iterations." +
         (changed.empty() ? "" : " A flat part is a setup during the solve: " + changed + ".") + "</p>\n";
}

std::string columns_table(const Json& report) {
  if (!report.contains("columns")) return "";
  std::string table =
      "<table>\n<tr><th>column</th><th>ended</th><th>iterations</th><th>true residual</th><th>solver</th>"
      "<th>seconds</th></tr>\n";
  for (std::size_t c = 0; c < report["columns"].size(); ++c) {
    const std::string at = "/columns/" + std::to_string(c);
    table +=
        row(std::to_string(c + 1), words(report, at + "/status"), figure(report, at + "/iterations", shown_count),
            figure(report, at + "/true_relative_residual", shown_residual), words(report, at + "/solver"),
            figure(report, at + "/seconds", shown_seconds));
  }
  return table + "</table>\n";
}

}  // namespace

std::string history_sections(const Json& report) {
  return section("Residual over iterations", over_iterations(report)) +
         section("Residual over time", over_time(report)) + section("Right-hand sides", columns_table(report));
}

}  // namespace newel::cli
