// SPDX-License-Identifier: Apache-2.0
// The page: its head, how the solve ended, the system, the command.
#include "html_page.hpp"

#include "html_text.hpp"

namespace newel::cli {
namespace {

std::string tile(const std::string& name, const std::string& value) {
  return "<div class=\"tile\"><span>" + escaped(name) + "</span><strong>" + value + "</strong></div>\n";
}

// "cg", or "cg, then gmres".
std::string solvers(const Json& report) {
  std::string names;
  for (const Json& attempt : report["attempts"]) {
    const std::string name = escaped(attempt["solver"].get<std::string>());
    if (names.find(name) == std::string::npos) names += (names.empty() ? "" : ", then ") + name;
  }
  return names.empty() ? words(report, "/solver") : names;
}

std::string columns_ending(const Json& report) {
  std::size_t converged = 0;
  for (const Json& column : report["columns"]) converged += column["converged"] == true ? 1 : 0;
  return std::to_string(converged) + " of " + std::to_string(report["columns"].size()) +
         " columns converged. The figures are those of the worst, column " +
         figure(report, "/worst_column", shown_count) + ".";
}

std::string ending(const Json& report) {
  const bool converged = report["converged"] == true;
  std::string lines = "<p class=\"" + std::string(converged ? "good" : "bad") + "\"><strong>" +
                      (converged ? "Converged" : "Not converged: " + words(report, "/status")) + "</strong> after " +
                      figure(report, "/iterations", shown_count) +
                      (report["iterations"] == 1 ? " iteration of " : " iterations of ") + solvers(report) +
                      ".</p>\n";
  if (report.contains("columns")) lines += "<p>" + columns_ending(report) + "</p>\n";
  const std::string reason = words(report, "/reason"), advice = words(report, "/advice");
  if (!reason.empty()) lines += "<p>" + reason + "</p>\n";
  if (!advice.empty()) lines += "<p class=\"advice\"><strong>Try</strong> " + advice + "</p>\n";
  return lines;
}

std::string tiles(const Json& report) {
  return "<div class=\"tiles\">\n" +
         tile("true residual |b - A x| / |b|", figure(report, "/true_relative_residual", shown_residual)) +
         tile("iterations", figure(report, "/iterations", shown_count)) +
         tile("solve", figure(report, "/seconds/solve", shown_seconds)) +
         tile("whole process", figure(report, "/seconds/total", shown_seconds)) +
         tile("peak memory", figure(report, "/memory/peak_bytes", shown_bytes)) + "</div>\n";
}

std::string system_section(const Json& report) {
  std::string rows = row("matrix", words(report, "/matrix")) + row("rows", figure(report, "/rows", shown_count)) +
                     row("non-zeros", figure(report, "/nonzeros", shown_count));
  if (report["repeated_entries"] != 0) {
    rows += row("repeated entries, summed", figure(report, "/repeated_entries", shown_count));
  }
  if (report["values_taken_as_one"] == true) rows += row("values", "none in the file, taken as 1");
  rows += row("right-hand side", words(report, "/rhs"));
  if (report["guess"].is_string()) rows += row("guess", words(report, "/guess"));
  if (report["null_space"] != "none") rows += row("null space", words(report, "/null_space"));
  rows += row("|b|", figure(report, "/rhs_norm", shown_residual)) +
          row("|b - A x0|", figure(report, "/initial_residual", shown_residual)) +
          row("residuals are of", words(report, "/residual_of")) + row("rtol", figure(report, "/rtol", shown_plain)) +
          row("atol", figure(report, "/atol", shown_plain)) +
          row("maximum iterations", figure(report, "/max_iterations", shown_count));
  if (report["attainable_relative_residual"].is_number()) {
    rows += row("residual that rounding allows", figure(report, "/attainable_relative_residual", shown_residual));
  }
  if (report["solution_error"].is_number()) {
    rows += row("error |x - x*| / |x*|", figure(report, "/solution_error", shown_residual));
  }
  if (report["preconditioner_residual"].is_object()) {
    rows += row("|A M - I|_F", figure(report, "/preconditioner_residual/norm", shown_plain));
  }
  return section("The system", "<table>\n" + rows + "</table>\n");
}

std::string command_section(const Json& report) {
  std::string rows =
      row("newel", words(report, "/version")) + row("report schema", figure(report, "/schema", shown_count)) +
      row("device", words(report, "/device")) + row("host threads", figure(report, "/threads", shown_count));
  if (report["device_name"].is_string()) rows += row("device name", words(report, "/device_name"));
  for (const Json& unused : report["unused_options"]) {
    rows += row("unused option",
                escaped(unused["option"].get<std::string>() + ": " + unused["reason"].get<std::string>()));
  }
  return section("The command", "<pre>" + words(report, "/command_line") + "</pre>\n<table>\n" + rows + "</table>\n");
}

}  // namespace

std::string html_page(const Json& report) {
  const std::string matrix = words(report, "/matrix");
  return "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
         "<meta charset=\"utf-8\"/>\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
         "<meta name=\"color-scheme\" content=\"light dark\"/>\n<title>newel solve " +
         matrix + "</title>\n<style>\n" + page_style + "</style>\n</head>\n<body>\n<main>\n<h1>newel solve <code>" +
         matrix + "</code></h1>\n" + ending(report) + tiles(report) + history_sections(report) +
         choice_sections(report) + cost_sections(report) + system_section(report) + command_section(report) +
         "</main>\n</body>\n</html>\n";
}

}  // namespace newel::cli
