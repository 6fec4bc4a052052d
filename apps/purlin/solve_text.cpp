// SPDX-License-Identifier: Apache-2.0
// The report of a solve for people.
#include "solve_result.hpp"

#include <algorithm>
#include <cmath>

#include <purlin/core/error.hpp>

#include "precond_report.hpp"
#include "rows_from_one.hpp"
#include "text.hpp"

namespace purlin::cli {
namespace {

std::string seconds_text(const SolveResult& result) {
  const SolveReport& report = result.report();
  const SetupFacts& setup = result.outcome.setup;
  std::string line = "read " + duration(result.seconds.read);
  if (result.place.space == Space::device) line += ", start device " + duration(setup.start_seconds);
  const double solve_seconds = result.outcome.solve_seconds;
  line += ", set up " + duration(setup.setup_seconds) + ", solve " + duration(solve_seconds);
  if (result.several()) {
    line += " (" + duration(solve_seconds / static_cast<double>(result.outcome.reports.size())) + " a column)";
  } else if (report.iterations > 0) {
    line += " (" + duration(report.seconds / report.iterations) + " an iteration)";
  }
  return line;
}

std::string residual_text(const SolveReport& report) {
  return text("%.3e %s", report.relative(report.true_residual), report.rhs_norm > 0 ? "|b|" : "with b = 0");
}

// The library's name of the status, but for its caller, which here is the person at the keyboard.
std::string ended_as(Status status) {
  return status == Status::stopped_by_caller ? "interrupted" : std::string(name_of(status));
}

std::string ending_text(const SolveReport& report) {
  const std::string ending = report.converged() ? "converged" : "not converged (" + ended_as(report.status) + ')';
  return ending + " after " + count_of(report.iterations, "iteration", "iterations");
}

std::string reason_text(const SolveReport& report) {
  const bool told = report.reason.empty() || report.status == Status::stopped_by_caller;
  return told ? std::string() : labelled("", report.reason);
}

// What came of each column, and how many converged.
std::string columns_text(const SolveResult& result) {
  const std::vector<SolveReport>& reports = result.outcome.reports;
  std::size_t converged = 0;
  std::string lines;
  for (std::size_t c = 0; c < reports.size(); ++c) {
    const SolveReport& report = reports[c];
    converged += report.converged() ? 1 : 0;
    lines += labelled(c == 0 ? "columns" : "", text("%4zu  ", c + 1) + ending_text(report) + ", true residual " +
                                                   residual_text(report) +
                                                   (report.attempts.size() > 1 ? ", " + report.solver : ""));
  }
  return lines + labelled("result", text("%zu of %zu columns converged", converged, reports.size()));
}

std::string format_text(const SystemInfo& system) {
  std::string lines = labelled("format", system.matrix.name + ", " + human_bytes(system.matrix.total_bytes()) +
                                             (system.matrix.detail.empty() ? "" : ", " + system.matrix.detail));
  if (system.mixed) {
    lines += labelled("", "and " + system.residual_matrix.name + " in double for true residuals, " +
                              human_bytes(system.residual_matrix.total_bytes()));
  }
  if (!system.format.reason.empty()) lines += labelled("", system.format.reason);
  if (!system.order.method.empty()) lines += labelled("order", system.order.method);
  if (!system.order.remark.empty()) lines += labelled("", system.order.remark);
  return lines;
}

std::string attempts_text(const SolveReport& report) {
  std::string lines;
  std::size_t width = 8;
  for (const Attempt& attempt : report.attempts) width = std::max(width, attempt.solver.size());
  for (const Attempt& attempt : report.attempts) {
    lines += labelled(
        lines.empty() ? "attempts" : "",
        text("%-*s %s after %s at %.2e, %s", static_cast<int>(width), attempt.solver.c_str(),
             ended_as(attempt.status).c_str(), count_of(attempt.iterations, "iteration", "iterations").c_str(),
             report.relative(attempt.true_residual), duration(attempt.seconds).c_str()));
  }
  return lines;
}

}  // namespace

std::string setup_text(const SolveResult& result, const SetupFacts& facts) {
  const SystemInfo& system = facts.system;
  const std::string where = result.place.space == Space::host
                                ? "host, " + count_of(result.threads, "thread", "threads")
                                : result.place.name() + ", " + facts.device_name;
  std::string lines = labelled("matrix", result.options.matrix + ", " + count_of(result.rows, "row", "rows") + ", " +
                                             count_of(result.nonzeros, "non-zero", "non-zeros"));
  lines += labelled("right-hand side",
                    result.options.rhs + (result.columns > 1 ? ", " + thousands(result.columns) + " columns" : ""));
  lines += labelled("device", where + ", " + result.options.precision() + " precision");
  lines += format_text(system);
  lines += labelled("preconditioner", precond_text(system.preconditioner));
  if (!system.preconditioner_reason.empty()) lines += labelled("", rows_from_one(system.preconditioner_reason));
  lines += labelled("solver", system.solver + (system.solver_reason.empty() ? "" : ": " + system.solver_reason));
  return lines;
}

std::string result_text(const SolveResult& result) {
  const SolveReport& report = result.report();
  std::string lines;
  if (result.several()) {
    lines = columns_text(result);
  } else {
    lines = labelled("result", ending_text(report));
    lines += reason_text(report);
    if (report.resident) lines += labelled("", "in one kernel that kept the vectors on the chip");
    if (report.refinements > 0) {
      lines += labelled(
          "", "iterated in single precision, corrected in double " + count_of(report.refinements, "time", "times"));
    }
  }
  lines += labelled(result.several() ? "worst residual" : "true residual",
                    residual_text(report) + text(" (asked for %.1e)", report.relative(report.tolerance)) +
                        (result.several() ? text(", column %zu", result.worst() + 1) : ""));
  if (result.several()) lines += reason_text(report);
  if (result.solution_error) {
    lines += labelled("solution error", text("%.3e |x*|", *result.solution_error));
    const std::string remark = remark_on_error(report, *result.solution_error, result.options, result.advice_facts());
    if (!remark.empty()) lines += labelled("", remark);
  }
  lines += labelled("seconds", seconds_text(result));
  if (!result.several() && report.attempts.size() > 1) lines += attempts_text(report);
  for (const IdleOption& idle : result.idle()) lines += labelled("remark", idle_text(idle));
  const std::string advice = next_step(report, result.options, result.advice_facts());
  if (!advice.empty()) lines += labelled("try", advice);
  return lines;
}

std::string files_text(const SolveOptions& options) {
  std::string files;
  for (const std::string& file : {options.out, options.history, options.report}) {
    if (!file.empty()) files += (files.empty() ? "" : ", ") + file;
  }
  return files.empty() ? files : labelled("written", files);
}

}  // namespace purlin::cli
