// SPDX-License-Identifier: Apache-2.0
// The report of a solve for programs: JSON, and the history as CSV.
#include "result.hpp"

#include <charconv>
#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/common/precond_report.hpp"
#include "apps/common/report_head.hpp"

namespace newel::cli {
namespace {

Json attempts_json(const SolveReport& report) {
  Json attempts = Json::array();
  for (const Attempt& attempt : report.attempts) {
    attempts.push_back({{"solver", attempt.solver},
                        {"preconditioner", attempt.preconditioner.empty() ? "none" : attempt.preconditioner},
                        {"status", name_of(attempt.status)},
                        {"cause", name_of(attempt.failure.cause)},
                        {"reason", attempt.reason},
                        {"iterations", attempt.iterations},
                        {"true_relative_residual", report.relative(attempt.true_residual)},
                        {"seconds", attempt.seconds}});
  }
  return attempts;
}

void add_residuals(Json& json, const SolveReport& report) {
  json["rhs_norm"] = report.rhs_norm;
  json["tolerance"] = report.tolerance;
  json["initial_residual"] = report.initial_residual;
  json["relative_residual"] = report.relative(report.recurrence_residual);
  json["true_relative_residual"] = report.relative(report.true_residual);
  json["relative_residual_error_bound"] = report.relative(report.residual_error_bound);
  json["twice_precision"] = report.twice_precision;
  json["row_residual"] = report.row_residual >= 0 ? Json(report.row_residual) : Json();
  json["scaled_relative_residual"] = report.scaled_residual >= 0 ? Json(report.scaled_residual) : Json();
  json["warning"] = report.warning;
  json["attainable_relative_residual"] =
      report.attainable_residual > 0 ? Json(report.relative(report.attainable_residual)) : Json();
  json["residual_replacements"] = report.residual_replacements;
  json["cycle_length"] = report.cycle_length > 0 ? Json(report.cycle_length) : Json();
  json["restarts"] = report.restarts;
  json["resident"] = report.resident;
  json["second_passes"] = report.second_passes;
  json["refinements"] = report.refinements;
}

void add_request(Json& json, const SolveOptions& options) {
  const SystemOptions& s = options.system;
  json["rhs"] = options.rhs;
  json["guess"] = options.guess.empty() ? Json() : Json(options.guess);
  json["null_space"] = s.null_space == NullSpace::constant ? "constant" : "none";
  json["rtol"] = s.stop.rel_tol;
  json["atol"] = s.stop.abs_tol;
  json["max_iterations"] = s.stop.max_iterations;
  json.update(solver_options_json(s.solver));
}

void add_format(Json& json, const SolveResult& result) {
  const SystemInfo& system = result.outcome.setup.system;
  json["format"] = system.format.format;
  json["format_asked"] = result.options.system.spmv.format;
  json["format_reason"] = system.format.reason;
  json["format_trials"] = Json::array();
  for (const FormatTrial& trial : system.format.trials) {
    json["format_trials"].push_back({{"format", trial.format},
                                     {"measured", system.format.measured},
                                     {"product_seconds", trial.product_seconds},
                                     {"iteration_seconds", trial.iteration_seconds},
                                     {"resident", trial.resident},
                                     {"setup_seconds", trial.setup_seconds},
                                     {"failure", trial.failure}});
  }
  const ScalingInfo& scaling = system.scaling;
  json["scaling"] = {{"scaled", scaling.scaled},
                     {"matched", scaling.matched},
                     {"reason", scaling.reason},
                     {"least_power", scaling.least_power},
                     {"most_power", scaling.most_power}};
  json["fixing_rows"] = system.fixing_rows;
  json["order"] = {{"method", system.order.method},
                   {"remark", system.order.remark},
                   {"figures", object_of(system.order.figures)},
                   {"phases", object_of(system.order.seconds)}};
}

Json candidates_json(const SolveResult& result) {
  if (!result.options.explain) return {};
  Json list = Json::array();
  for (const SystemCandidate& candidate : result.outcome.candidates) {
    list.push_back({{"format", candidate.format},
                    {"preconditioner", candidate.preconditioner},
                    {"iterations", candidate.iterations},
                    {"setup_seconds", candidate.setup_seconds},
                    {"iteration_seconds", candidate.iteration_seconds},
                    {"resident", candidate.resident},
                    {"present", candidate.present}});
  }
  return list;
}

Json timeline_json(const SolveResult& result) {
  Json timeline = {{"iteration", Json::array()}, {"seconds", Json::array()}, {"relative_residual", Json::array()}};
  for (const Timeline::Sample& sample : result.timeline.of(result.worst())) {
    timeline["iteration"].push_back(sample.iteration);
    timeline["seconds"].push_back(sample.seconds);
    timeline["relative_residual"].push_back(sample.relative_residual);
  }
  return timeline;
}

std::string shortest(double value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  return std::string(digits, end);
}

}  // namespace

namespace {

void add_outcome(Json& json, const SolveResult& result, std::size_t c) {
  const SolveReport& report = result.outcome.reports[c];
  json["converged"] = report.converged();
  json["status"] = name_of(report.status);
  json["cause"] = name_of(report.failure.cause);
  json["reason"] = result.reason_of(c);
  json["advice"] = result.advice_of(c);
  json["iterations"] = report.iterations;
  add_residuals(json, report);
}

Json columns_json(const SolveResult& result) {
  Json columns = Json::array();
  for (const SolveReport& report : result.outcome.reports) {
    Json column = {{"column", columns.size() + 1}};
    add_outcome(column, result, columns.size());
    column["solver"] = report.solver;
    column["seconds"] = report.seconds;
    column["attempts"] = attempts_json(report);
    column["history"] = report.history;
    columns.push_back(std::move(column));
  }
  return columns;
}

}  // namespace

std::size_t SolveResult::worst() const {
  const auto residual_of = [](const SolveReport& report) {
    const double residual = report.relative(report.true_residual);
    return std::isnan(residual) ? INFINITY : residual;
  };
  std::size_t worst = 0;
  for (std::size_t c = 1; c < outcome.reports.size(); ++c) {
    const SolveReport &report = outcome.reports[c], &before = outcome.reports[worst];
    if (report.converged() == before.converged() ? residual_of(report) > residual_of(before) : before.converged()) {
      worst = c;
    }
  }
  return worst;
}

SystemFacts SolveResult::facts_of(std::size_t column) const {
  SystemFacts facts = column < outcome.facts.size() ? outcome.facts[column] : SystemFacts{};
  facts.rows = static_cast<Index>(std::min<std::int64_t>(rows, std::numeric_limits<Index>::max()));
  facts.rows_sum_to_zero = rows_sum_to_zero;
  return facts;
}

std::string SolveResult::advice_of(std::size_t column) const {
  return next_step(outcome.reports[column], options, facts_of(column), outcome.setup.system.preconditioner.name);
}

std::string SolveResult::reason_of(std::size_t column) const {
  return full_reason(outcome.reports[column], options, facts_of(column));
}

std::vector<UnusedOption> SolveResult::unused() const {
  const SolveConfiguration asked = requested_configuration(options.system, options.single_precision, options.device);
  const SolveConfiguration set_up = setup_configuration(asked, outcome.setup.system, place.space);
  return unused_options(options.given, solved_configuration(set_up, outcome.reports));
}

Json solve_json(SolveResult& result) {
  const SolveReport& report = result.report();
  const SystemInfo& system = result.outcome.setup.system;
  const SetupFacts& setup = result.outcome.setup;
  Json json = report_head("newel solve");
  json["command_line"] = result.command_line;
  add_outcome(json, result, result.worst());
  json["residual_of"] =
      result.options.single_precision ? "the system rounded to single precision" : "the system as given";
  json["solution_error"] = result.solution_error ? Json(*result.solution_error) : Json();
  json["matrix"] = result.options.matrix;
  json["rows"] = result.rows;
  json["nonzeros"] = result.nonzeros;
  json["repeated_entries"] = result.repeated;
  json["values_taken_as_one"] = result.pattern_only;
  add_request(json, result.options);
  json["solver"] = report.solver;
  json["solver_reason"] = system.solver_reason;
  json["preconditioner"] = system.preconditioner.name;
  json["preconditioner_reason"] = system.preconditioner_reason.text(1);
  json["preconditioner_options"] = precond_options_json(result.options.system.precond, result.options.precond_files);
  json["preconditioner_residual"] = residual_json(result.outcome.preconditioner_residual);
  add_format(json, result);
  json["device"] = result.place.name();
  json["device_reason"] = result.place_reason;
  json["device_name"] = setup.device_name.empty() ? Json() : Json(setup.device_name);
  json["precision"] = result.options.precision();
  json["precision_reason"] = system.precision_reason;
  json["deterministic"] = result.options.system.deterministic;
  json["ranks"] = result.ranks;
  json["link"] = setup.link.empty() ? Json() : Json(setup.link);
  json["rank_rows"] = setup.first_rows.empty() ? Json() : Json(rows_of_ranks(setup));
  json["threads"] = result.threads;
  json["seconds"] = Json();  // when all else is made
  json["setup_phases"] = {{"transfer", setup.transfer_seconds}};
  json["setup_phases"].update(object_of(system.setup_seconds));
  json["memory"] = {{"system_bytes", system.bytes}, {"peak_bytes", result.outcome.peak_bytes}};
  json["operators"] = {{"matrix", operator_json(system.matrix)},
                       {"preconditioner", operator_json(system.preconditioner)},
                       {"residual_matrix", system.mixed ? operator_json(system.residual_matrix) : Json()}};
  json["candidates"] = candidates_json(result);
  json["attempts"] = attempts_json(report);
  json["changed"] = report.changed;
  json["unused_options"] = unused_options_json(result.unused());
  json["history"] = report.history;
  json["timeline"] = timeline_json(result);
  if (result.several()) {
    json["worst_column"] = result.worst() + 1;
    json["columns"] = columns_json(result);
  }
  result.clock.end("report");
  json["seconds"] = object_of(result.clock.phases());
  json["seconds"]["total"] = result.clock.total();
  return json;
}

namespace {

// The start stands with the first attempt, an iteration with the attempt that made it.
void append_history(std::string& csv, const std::string& column, const SolveReport& report) {
  std::size_t attempt = 0;
  int iteration = 0;
  int attempt_end = report.attempts.empty() ? 0 : report.attempts.front().iterations;
  for (const double residual : report.history) {
    while (iteration > attempt_end && attempt + 1 < report.attempts.size()) {
      attempt_end += report.attempts[++attempt].iterations;
    }
    csv += column + std::to_string(iteration) + ',' + shortest(residual) + ',' + shortest(report.relative(residual)) +
           ',' + (report.attempts.empty() ? report.solver : report.attempts[attempt].solver) + '\n';
    ++iteration;
  }
}

}  // namespace

std::string history_csv(const std::vector<SolveReport>& reports) {
  const bool several = reports.size() > 1;
  std::string csv = std::string(several ? "column," : "") + "iteration,residual,relative_residual,solver\n";
  for (std::size_t c = 0; c < reports.size(); ++c) {
    append_history(csv, several ? std::to_string(c + 1) + ',' : "", reports[c]);
  }
  return csv;
}

}  // namespace newel::cli
