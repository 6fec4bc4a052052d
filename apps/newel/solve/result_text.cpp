// SPDX-License-Identifier: Apache-2.0
// The report of a solve for people.
#include "result.hpp"

#include <algorithm>
#include <cmath>

#include <newel/core/error.hpp>
#include <newel/solver/registry.hpp>

#include "apps/common/precond_report.hpp"
#include "apps/common/text.hpp"
#include "apps/newel/input/input_matrix.hpp"

namespace newel::cli {
namespace {

AdviceWords words_of(const SolveOptions& options) {
  AdviceWords words;
  words.settings = &settings_text;
  words.inspect = "newel info";
  const std::string rhs = options.rhs_given ? "" : "--rhs " + shell_quoted(options.rhs) + " ";
  words.resume = options.out.empty() ? rhs + "--out X.mtx saves the current solution; --guess X.mtx continues from it"
                                     : "--guess " + shell_quoted(options.out) + " continues from here";
  return words;
}

}  // namespace

std::string remark_on_error(const SolveReport& report, double solution_error, const SolveOptions& options,
                            const SystemFacts& facts) {
  const bool far = solution_error > 1e-2 && solution_error > 1e3 * report.relative(report.true_residual);
  if (!report.converged() || !far) return "";
  const std::string remark = "the error of x may be large although the residual is small: the matrix is ";
  if (!facts.rows_sum_to_zero) return remark + "ill-conditioned or singular";
  if (options.system.null_space == NullSpace::constant)
    return remark + "ill-conditioned, or its null space is larger";
  return remark + "singular, its rows sum to zero; see --null-space constant";
}

std::string next_step(const SolveReport& report, const SolveOptions& options, const SystemFacts& facts,
                      const std::string& preconditioner) {
  return advice_text({report, options.system, facts, preconditioner, options.single_precision}, words_of(options));
}

std::string full_reason(const SolveReport& report, const SolveOptions& options, const SystemFacts& facts) {
  return reason_text(report, report.converged() ? "" : defect_text(facts, words_of(options)));
}

namespace {

struct PhaseText {
  const char* phase;
  const char* words;
  bool always;
};

// Eleven phases, of which at most eight are left out where they are short: by less than 5 % of the total together.
constexpr double short_share = 0.005;
constexpr PhaseText phase_texts[] = {{"launch", "launch", false},
                                     {"start", "start device", false},
                                     {"read", "read", true},
                                     {"checks", "check", false},
                                     {"rhs", "right-hand side", false},
                                     {"setup", "set up", true},
                                     {"solve", "solve", true},
                                     {"preconditioner_residual", "|A M - I|", false},
                                     {"result", "result", false},
                                     {"report", "report", false},
                                     {"files", "files", false}};

std::string of_each_text(const SolveResult& result) {
  const SolveReport& report = result.report();
  if (result.several()) {
    const auto columns = static_cast<double>(result.outcome.reports.size());
    return " (" + duration(result.clock.seconds("solve") / columns) + " per column)";
  }
  return report.iterations > 0 ? " (" + duration(report.seconds / report.iterations) + " per iteration)" : "";
}

// Of what was taken; what changed on the way is a mean of all.
std::string measured_text(const SolveResult& result) {
  const SolveReport& report = result.report();
  const std::string mean = report.changed.empty() ? "" : ", before and after the change together";
  return count_of(report.iterations, "iteration", "iterations") + ", set up in " +
         duration(result.clock.seconds("setup")) + ", solved in " + duration(result.clock.seconds("solve")) +
         of_each_text(result) + mean;
}

std::string seconds_text(const SolveResult& result) {
  const double total = result.clock.total();
  std::string line = duration(total);
  for (const PhaseText& text : phase_texts) {
    const double seconds = result.clock.seconds(text.phase);
    if (!text.always && seconds < short_share * total) continue;
    line += (line.find(':') == std::string::npos ? ": " : ", ") + std::string(text.words) + ' ' + duration(seconds);
    if (text.phase == std::string_view("solve")) line += of_each_text(result);
  }
  return line;
}

std::string residual_of_inverse_text(const SolveResult& result) {
  const auto& residual = result.outcome.preconditioner_residual;
  if (!residual) return "";
  const bool left = precond_side(result.options.system.precond) == PrecondSide::left;
  return labelled(left ? "|M A - I|_F" : "|A M - I|_F", inverse_residual_text(*residual));
}

std::string residual_text(const SolveReport& report) {
  return text("%.3e %s", report.relative(report.true_residual), report.rhs_norm > 0 ? "|b|" : "with b = 0");
}

bool is_from_matrix(const SolveReport& report) {
  return !report.method.empty() && find_solver(report.method).from_matrix();
}

std::string ending_text(const SolveReport& report) {
  const std::string status(name_of(report.status));
  const std::string ending = report.converged() ? status : "not converged (" + status + ')';
  if (report.converged() && report.iterations == 0 && is_from_matrix(report)) {
    return ending + ", by " + find_solver(report.method).title;
  }
  return ending + " after " + count_of(report.iterations, "iteration", "iterations");
}

std::string reason_text(const SolveResult& result) {
  const SolveReport& report = result.report();
  // The library's caller is this program, which stops a solve for a signal only.
  if (report.status == Status::stopped_by_caller) return labelled("", "interrupted by Ctrl-C, SIGTERM or SIGHUP");
  const std::string reason = result.reason_of(result.worst());
  return reason.empty() ? std::string() : labelled("", reason);
}

// Whose x is returned, where it is not the last attempt's, which status and reason are of: the chain of solvers
// keeps the best x. Else empty.
std::string whose_x(const SolveReport& report) {
  if (report.attempts.size() < 2 || report.converged()) return "";
  if (report.true_residual == report.attempts.back().true_residual) return "";
  const Attempt* best = nullptr;
  double lowest = report.initial_residual;
  for (const Attempt& attempt : report.attempts) {
    if (!(attempt.true_residual <= lowest)) continue;
    lowest = attempt.true_residual;
    best = &attempt;
  }
  if (best == nullptr) return "the initial guess";
  return best == &report.attempts.back() ? "" : "that of " + best->solver;
}

std::string whose_x_text(const SolveReport& report) {
  const std::string whose = whose_x(report);
  if (whose.empty()) return "";
  return labelled("", "x is " + whose + ", since no attempt came closer; " + std::string(name_of(report.status)) +
                          " is the status of the last attempt, " + report.attempts.back().solver);
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
                                                   (report.attempts.size() > 1 ? ", " + report.solver : "") +
                                                   (whose_x(report).empty() ? "" : ", x is " + whose_x(report)));
  }
  return lines + labelled("result", text("%zu of %zu columns converged", converged, reports.size()));
}

std::string scaling_text(const ScalingInfo& scaling) {
  std::string what;
  if (scaling.scaled) what = text("rows by 2^%d to 2^%d, and columns", scaling.least_power, scaling.most_power);
  if (scaling.matched)
    what += (what.empty() ? "" : "; ") + std::string("large entries on the diagonal, by a matching");
  return what;
}

std::string format_text(const SystemInfo& system) {
  std::string lines = labelled("format", system.matrix.name + ", " + human_bytes(system.matrix.total_bytes()) +
                                             (system.matrix.detail.empty() ? "" : ", " + system.matrix.detail));
  if (system.mixed) {
    lines += labelled("", "and " + system.residual_matrix.name + " in double for true residuals, " +
                              human_bytes(system.residual_matrix.total_bytes()));
  }
  if (!system.format.reason.empty()) lines += labelled("", system.format.reason);
  if (system.fixing_rows > 0) {
    lines += labelled("fixed", text("%d rows with nothing but a diagonal: solved first", system.fixing_rows));
  }
  if (system.scaling.scaled || system.scaling.matched) {
    lines += labelled("scaling", scaling_text(system.scaling)) + labelled("", system.scaling.reason);
  }
  if (!system.order.method.empty()) lines += labelled("order", system.order.method);
  if (!system.order.remark.empty()) lines += labelled("", system.order.remark);
  return lines;
}

// With its preconditioner where several were tried.
std::string name_of(const Attempt& attempt, const SolveReport& report) {
  const bool alike = std::all_of(report.attempts.begin(), report.attempts.end(), [&](const Attempt& other) {
    return other.preconditioner == report.attempts.front().preconditioner;
  });
  if (alike) return attempt.solver;
  const std::string& name = attempt.preconditioner;
  return attempt.solver + ", " + (name.empty() || name == "none" ? "no preconditioner" : name);
}

std::string attempts_text(const SolveReport& report) {
  std::string lines;
  std::size_t width = 8;
  for (const Attempt& attempt : report.attempts) width = std::max(width, name_of(attempt, report).size());
  for (const Attempt& attempt : report.attempts) {
    lines += labelled(lines.empty() ? "attempts" : "",
                      text("%-*s %s after %s at %.2e, %s", static_cast<int>(width), name_of(attempt, report).c_str(),
                           std::string(name_of(attempt.status)).c_str(),
                           count_of(attempt.iterations, "iteration", "iterations").c_str(),
                           report.relative(attempt.true_residual), duration(attempt.seconds).c_str()));
  }
  return lines;
}

// The table of --explain.
std::string candidates_text(const SolveResult& result) {
  if (!result.options.explain) return "";
  const std::vector<SystemCandidate>& candidates = result.outcome.candidates;
  if (candidates.empty())
    return labelled("candidates", "none: the cost model did not choose format and preconditioner");
  std::string lines = labelled(
      "candidates", "format          preconditioner  iterations     set up per iteration     solve (estimated)");
  for (const SystemCandidate& c : candidates) {
    lines += labelled("", text("%-15s %-15s %10s %10s  %12s %9s%s%s", c.format.c_str(), c.preconditioner.c_str(),
                               thousands(std::llround(c.iterations)).c_str(), duration(c.setup_seconds).c_str(),
                               duration(c.iteration_seconds).c_str(), duration(c.seconds()).c_str(),
                               c.resident ? ", in one kernel" : "", c.present ? "  <- taken" : ""));
  }
  return lines + labelled("measured", measured_text(result));
}

std::string rows_text(const std::vector<std::int64_t>& rows) {
  std::string words;
  for (const std::int64_t count : rows) words += (words.empty() ? "" : ", ") + thousands(count);
  return words;
}

std::string refinements_text(const SolveReport& report) {
  const std::string times = count_of(report.refinements, "time", "times");
  return is_from_matrix(report) ? "refined " + times + " by residuals in twice the precision"
                                : "iterated in single precision, corrected in double " + times;
}

}  // namespace

std::string setup_text(const SolveResult& result, const SetupFacts& facts) {
  const SystemInfo& system = facts.system;
  const std::string where = result.place.space == Space::host
                                ? "host, " + count_of(result.threads * result.ranks, "thread", "threads")
                                : result.place.name() + ", " + facts.device_name;
  std::string lines = labelled(
      "matrix", result.options.matrix + ", " + count_of(result.rows, "row", "rows") + ", " +
                    count_of(result.nonzeros, "non-zero", "non-zeros") + (result.complex ? ", complex" : "") +
                    (result.repeated == 0
                         ? ""
                         : ", after summing " + count_of(result.repeated, "repeated entry", "repeated entries")));
  if (result.pattern_only) lines += labelled("", values_taken_as_one);
  if (!facts.real_form.empty()) lines += labelled("", facts.real_form);
  lines += labelled("right-hand side",
                    result.options.rhs + (result.columns > 1 ? ", " + thousands(result.columns) + " columns" : ""));
  lines += labelled("device", where + ", " + result.options.precision() + " precision");
  if (!facts.link.empty()) {
    const std::string who = result.under_mpi ? " processes under MPI with " + thousands(result.place.devices) : "";
    lines += labelled("ranks", thousands(result.ranks) + who + " GPUs, link: " + facts.link);
    lines += labelled("", "rows of each: " + rows_text(rows_of_ranks(facts)));
  } else if (result.ranks > 1) {
    lines += labelled("ranks", thousands(result.ranks) + " processes under MPI, each with " +
                                   count_of(result.threads, "thread", "threads") + " and a part of the rows");
  }
  if (!result.place_reason.empty()) {
    lines += labelled("", result.place_reason + (result.place_by_model ? " (a cost model)" : ""));
  }
  if (!system.precision_reason.empty()) lines += labelled("", system.precision_reason);
  lines += format_text(system);
  lines += labelled("preconditioner", precond_text(system.preconditioner));
  if (!system.preconditioner_reason.empty()) lines += labelled("", system.preconditioner_reason.text(1));
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
    lines += reason_text(result);
    if (report.resident) lines += labelled("", "resident: in one kernel that kept the vectors on the chip");
    if (report.refinements > 0) lines += labelled("", refinements_text(report));
  }
  lines += labelled(result.several() ? "worst residual" : "true residual",
                    residual_text(report) + text(" (tolerance %.1e)", report.relative(report.tolerance)) +
                        (result.several() ? text(", column %zu", result.worst() + 1) : ""));
  if (result.options.single_precision) {
    lines += labelled("", "of A and b rounded to single precision; --precision mixed uses them as given");
  }
  if (!report.warning.empty()) lines += labelled("warning", report.warning);
  if (result.several()) lines += reason_text(result);
  lines += whose_x_text(report);
  if (result.solution_error) {
    lines += labelled("solution error", text("%.3e |x*|", *result.solution_error));
    const std::string remark =
        remark_on_error(report, *result.solution_error, result.options, result.facts_of(result.worst()));
    if (!remark.empty()) lines += labelled("", remark);
  }
  lines += residual_of_inverse_text(result);
  if (!report.changed.empty()) lines += labelled("changed", report.changed);
  lines += candidates_text(result);
  lines += labelled("seconds", seconds_text(result));
  if (!result.several() && report.attempts.size() > 1) lines += attempts_text(report);
  for (const UnusedOption& unused : result.unused()) lines += labelled("remark", unused_option_text(unused));
  const std::string advice = result.advice_of(result.worst());
  if (!advice.empty()) lines += labelled("try", advice);
  return lines;
}

std::string files_text(const SolveOptions& options) {
  std::string files;
  for (const std::string& file : {options.out, options.history, options.report, options.html}) {
    if (!file.empty()) files += (files.empty() ? "" : ", ") + file;
  }
  return files.empty() ? files : labelled("written", files);
}

}  // namespace newel::cli
