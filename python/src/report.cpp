// SPDX-License-Identifier: Apache-2.0
// Field by field, with the names of the C++ structs where Python has no other.
#include "report.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <newel/solver/advice.hpp>

#include "arrays.hpp"

namespace newel::python {
namespace {

nb::dict guess_dict(const GuessReport& guess) {
  nb::dict d;
  if (guess.from.empty()) return d;
  d["from"] = guess.from;
  d["vectors"] = guess.vectors;
  d["residual"] = guess.residual;
  d["given_residual"] = guess.given_residual;
  d["iterations_saved"] = guess.iterations_saved;
  d["seconds"] = guess.seconds;
  return d;
}

nb::dict recycle_dict(const RecycleReport& recycle) {
  nb::dict d;
  d["vectors"] = recycle.vectors;
  d["iterations_saved"] = recycle.iterations_saved;
  d["seconds"] = recycle.seconds;
  return d;
}

nb::dict attempt_dict(const Attempt& attempt) {
  nb::dict d;
  d["solver"] = attempt.solver;
  d["method"] = attempt.method;
  d["preconditioner"] = attempt.preconditioner;
  d["status"] = name_of(attempt.status);
  d["cause"] = name_of(attempt.failure.cause);
  d["reason"] = attempt.reason;
  d["iterations"] = attempt.iterations;
  d["true_residual"] = attempt.true_residual;
  d["attainable_residual"] = attempt.attainable_residual;
  d["seconds"] = attempt.seconds;
  return d;
}

template <class Value>
nb::dict pairs_dict(const std::vector<std::pair<std::string, Value>>& pairs) {
  nb::dict d;
  for (const auto& [name, value] : pairs) {
    const nb::str key(name.c_str());
    d[key] = d.contains(key) ? nb::cast(nb::cast<Value>(d[key]) + value) : nb::cast(value);
  }
  return d;
}

}  // namespace

nb::dict rows_dict(const RowCount& rows) {
  nb::dict d;
  d["count"] = rows.count;
  d["first"] = rows.count > 0 ? nb::cast(rows.first) : nb::none();
  return d;
}

nb::dict report_dict(SolveReport report, const Explanation& explanation) {
  nb::dict d;
  d["status"] = name_of(report.status);
  d["cause"] = name_of(report.failure.cause);
  d["reason"] = reason_text(report, explanation.defect);
  d["advice"] = explanation.advice;
  d["solver"] = report.solver;
  d["method"] = report.method;
  d["iterations"] = report.iterations;
  d["rhs_norm"] = report.rhs_norm;
  d["tolerance"] = report.tolerance;
  d["initial_residual"] = report.initial_residual;
  d["recurrence_residual"] = report.recurrence_residual;
  d["true_residual"] = report.true_residual;
  d["residual_error_bound"] = report.residual_error_bound;
  d["twice_precision"] = report.twice_precision;
  d["row_residual"] = report.row_residual;
  d["scaled_residual"] = report.scaled_residual;
  d["warning"] = report.warning;
  d["attainable_residual"] = report.attainable_residual;
  d["residual_replacements"] = report.residual_replacements;
  d["refinements"] = report.refinements;
  d["cycle_length"] = report.cycle_length;
  d["restarts"] = report.restarts;
  d["changed"] = report.changed;
  d["guess"] = guess_dict(report.guess);
  d["recycle"] = recycle_dict(report.recycle);
  d["solve_seconds"] = report.seconds;
  d["history"] = as_numpy(std::move(report.history));
  nb::list attempts;
  for (const Attempt& attempt : report.attempts) attempts.append(attempt_dict(attempt));
  d["attempts"] = attempts;
  return d;
}

nb::dict operator_dict(const OperatorInfo& info) {
  nb::dict d;
  d["name"] = info.name;
  d["detail"] = info.detail;
  d["rows"] = info.rows;
  d["nonzeros"] = info.nonzeros;
  d["stored_values"] = info.stored_slots;
  d["bytes"] = info.total_bytes();
  d["bytes_per_product"] = info.bytes_per_product;
  d["figures"] = pairs_dict(info.figures);
  d["setup_seconds"] = pairs_dict(info.setup_seconds);
  nb::list levels;
  for (const auto& level : info.levels) levels.append(pairs_dict(level));
  d["levels"] = levels;
  return d;
}

nb::dict system_dict(const SystemInfo& info) {
  nb::dict d;
  d["matrix"] = operator_dict(info.matrix);
  d["preconditioner"] = operator_dict(info.preconditioner);
  d["preconditioner_reason"] = info.preconditioner_reason.text();
  d["format_reason"] = info.format.reason;
  d["solver"] = info.solver;
  d["solver_reason"] = info.solver_reason;
  d["mixed"] = info.mixed;
  d["precision_reason"] = info.precision_reason;
  d["reordered"] = info.reordered;
  d["fixing_rows"] = info.fixing_rows;
  d["zero_columns"] = rows_dict(info.free_unknowns);
  d["setup_seconds"] = pairs_dict(info.setup_seconds);
  d["bytes"] = info.bytes;
  return d;
}

}  // namespace newel::python
