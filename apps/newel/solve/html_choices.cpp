// SPDX-License-Identifier: Apache-2.0
// What was chosen and why: the parts of the solve, the attempts, and what the automatic choices compared.
#include "html_page.hpp"
#include "html_text.hpp"

namespace newel::cli {
namespace {

std::string joined(const std::string& one, const std::string& other) {
  return one + (one.empty() || other.empty() ? "" : ", ") + other;
}

std::string parts_table(const Json& report) {
  // A variant of the one that was asked for; what auto chose has its reason.
  const bool same = report["format_asked"] == report["format"] || report["format_asked"] == "auto";
  const std::string asked = same ? "" : "requested: " + words(report, "/format_asked");
  std::string rows = row("device", joined(words(report, "/device"), words(report, "/device_name")),
                         words(report, "/device_reason")) +
                     row("precision", words(report, "/precision"), words(report, "/precision_reason")) +
                     row("format", joined(words(report, "/format"), words(report, "/operators/matrix/detail")),
                         joined(words(report, "/format_reason"), asked)) +
                     row("preconditioner",
                         joined(words(report, "/preconditioner"), words(report, "/operators/preconditioner/detail")),
                         words(report, "/preconditioner_reason")) +
                     row("solver", words(report, "/solver"), words(report, "/solver_reason"));
  const std::string order = words(report, "/order/method"), changed = words(report, "/changed");
  if (!order.empty()) rows += row("order", order, words(report, "/order/remark"));
  if (report["cycle_length"].is_number()) {
    rows += row("restarts", figure(report, "/restarts", shown_count),
                "a cycle of " + figure(report, "/cycle_length", shown_count));
  }
  if (!changed.empty()) rows += row("changed during the solve", changed, "");
  return "<table>\n<tr><th></th><th>chosen</th><th>why</th></tr>\n" + rows + "</table>\n";
}

std::string attempts_table(const Json& report) {
  const std::size_t count = report["attempts"].size();
  if (count < 2) return "";
  std::string table =
      "<table>\n<tr><th>attempt</th><th>solver</th><th>preconditioner</th><th>ended</th><th>iterations</th>"
      "<th>true residual</th><th>seconds</th><th>why</th></tr>\n";
  for (std::size_t a = 0; a < count; ++a) {
    const std::string at = "/attempts/" + std::to_string(a);
    table += row(std::to_string(a + 1), words(report, at + "/solver"), words(report, at + "/preconditioner"),
                 words(report, at + "/status"), figure(report, at + "/iterations", shown_count),
                 figure(report, at + "/true_relative_residual", shown_residual),
                 figure(report, at + "/seconds", shown_seconds), words(report, at + "/reason"));
  }
  return table + "</table>\n";
}

std::string candidates_table(const Json& report) {
  if (!report["candidates"].is_array() || report["candidates"].empty()) return "";
  std::string table =
      "<table>\n<tr><th>format</th><th>preconditioner</th><th>iterations</th><th>setup</th><th>per iteration</th>"
      "<th></th></tr>\n";
  for (std::size_t c = 0; c < report["candidates"].size(); ++c) {
    const std::string at = "/candidates/" + std::to_string(c);
    table +=
        row(report["candidates"][c]["format"].get<std::string>(), words(report, at + "/preconditioner"),
            figure(report, at + "/iterations", shown_count), figure(report, at + "/setup_seconds", shown_seconds),
            figure(report, at + "/iteration_seconds", shown_seconds),
            report["candidates"][c]["present"] == true ? "taken" : "");
  }
  return table + "</table>\n<p>Estimates of the cost model.</p>\n";
}

std::string trials_table(const Json& report) {
  if (report["format_trials"].empty()) return "";
  std::string table =
      "<table>\n<tr><th>format</th><th>per product</th><th>per iteration</th><th>setup</th><th></th></tr>\n";
  for (std::size_t t = 0; t < report["format_trials"].size(); ++t) {
    const Json& trial = report["format_trials"][t];
    const std::string at = "/format_trials/" + std::to_string(t);
    table += row(trial["format"].get<std::string>(), figure(report, at + "/product_seconds", shown_seconds),
                 figure(report, at + "/iteration_seconds", shown_seconds),
                 figure(report, at + "/setup_seconds", shown_seconds),
                 joined(trial["measured"] == true ? "measured" : "expected", words(report, at + "/failure")));
  }
  return table + "</table>\n";
}

}  // namespace

std::string choice_sections(const Json& report) {
  return section("What was chosen, and why", parts_table(report)) + section("Attempts", attempts_table(report)) +
         section("Formats and preconditioners that were compared", candidates_table(report)) +
         section("Formats that were compared", trials_table(report));
}

}  // namespace newel::cli
