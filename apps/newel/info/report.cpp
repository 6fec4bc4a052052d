// SPDX-License-Identifier: Apache-2.0
// The facts about a matrix for people and for programs. Rows are counted from 1, as in the file.
#include "report.hpp"

#include <algorithm>

#include <newel/core/error.hpp>
#include <newel/precond/choice.hpp>
#include <newel/precond/registry.hpp>
#include <newel/solver/choice.hpp>
#include <newel/spmv/registry.hpp>

#include "apps/common/precond_report.hpp"
#include "apps/common/report_head.hpp"
#include "apps/common/run_clock.hpp"
#include "apps/common/text.hpp"

namespace newel::cli {
namespace {

std::string storage_text(const MatrixMarketHeader& header) {
  using H = MatrixMarketHeader;
  std::string result = header.layout == H::Layout::coordinate ? "coordinate" : "array";
  result += header.field == H::Field::real ? " real" : header.field == H::Field::integer ? " integer" : " pattern";
  result += header.symmetry == H::Symmetry::general     ? " general"
            : header.symmetry == H::Symmetry::symmetric ? " symmetric"
                                                        : " skew-symmetric";
  return result;
}

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string symmetry_text(const Facts& f) {
  std::string result = f.traits.pattern_symmetric ? "pattern symmetric; " : "pattern not symmetric; ";
  result += f.traits.symmetric() ? "values symmetric" : "values not symmetric";
  result += text(" (max |a_ij - a_ji| = %.3g, max |a_ij| = %.3g", f.traits.max_asymmetry, f.traits.max_abs);
  if (f.traits.relative_asymmetry > 0) result += text("; at most %.2g of their rows", f.traits.relative_asymmetry);
  return result + ')';
}

// "3 zero (first in row 17)", with rows counted from 1 as in the file.
std::string row_count_text(const RowCount& rows, const char* what, const char* place = "row") {
  std::string result = thousands(rows.count) + ' ' + what;
  return rows.count == 0 ? result : result + text(" (first in %s %d)", place, rows.first + 1);
}

std::string diagonal_text(const MatrixTraits& t) {
  if (t.positive_diagonal()) return "complete and positive";
  return row_count_text(t.missing_diagonal, "missing") + ", " + row_count_text(t.zero_diagonal, "zero") + ", " +
         row_count_text(t.negative_diagonal, "negative");
}

std::string histogram_text(const RowLengths& lengths, Index rows) {
  constexpr int widest = 40;
  Index most = 1;
  for (const LengthBin& bin : lengths.histogram) most = std::max(most, bin.rows);
  std::string result;
  for (const LengthBin& bin : lengths.histogram) {
    const std::string range =
        bin.from == bin.to ? text("%lld", static_cast<long long>(bin.from))
                           : text("%lld-%lld", static_cast<long long>(bin.from), static_cast<long long>(bin.to));
    // A bin that holds rows shows at least one mark.
    const int marks = static_cast<int>((std::int64_t{bin.rows} * widest + most - 1) / most);
    result += text("  %15s |%-*s %s (%.1f %%)\n", range.c_str(), widest,
                   std::string(static_cast<std::size_t>(marks), '#').c_str(), thousands(bin.rows).c_str(),
                   100 * share(bin.rows, rows));
  }
  return result;
}

std::string spaces_text(const SpmvFormat& format) {
  std::vector<std::string> spaces;
  if (format.make.host_double != nullptr) spaces.push_back("host");
  if (format.make.device_double != nullptr) spaces.push_back("device");
  return join(spaces);
}

std::uint64_t format_bytes(const SpmvFormat& format, const Facts& f, std::size_t value_bytes) {
  return format.estimate_bytes(f.matrix.a.rows, f.matrix.a.cols, f.matrix.a.nnz(), value_bytes);
}

Json json_of(const RowCount& rows, const char* first_key = "first_row") {
  Json first;  // null where there is none
  if (rows.count > 0) first = rows.first + 1;
  return {{"count", rows.count}, {first_key, first}};
}

Json lengths_json(const RowLengths& lengths) {
  Json bins = Json::array();
  for (const LengthBin& bin : lengths.histogram)
    bins.push_back({{"from", bin.from}, {"to", bin.to}, {"rows", bin.rows}});
  return {{"shortest", lengths.shortest},
          {"longest", lengths.longest},
          {"mean", lengths.mean},
          {"median", lengths.median},
          {"histogram", bins}};
}

}  // namespace

std::string facts_text(const Facts& f) {
  const Csr<double, Space::host>& a = f.matrix.a;
  std::string result = labelled("matrix", f.matrix.name);
  result += labelled("storage", f.matrix.header ? storage_text(*f.matrix.header) : "generated");
  if (is_pattern_only(f.matrix)) result += labelled("", values_taken_as_one);
  result += labelled("size", thousands(a.rows) + " x " + thousands(a.cols));
  result += labelled(
      "non-zeros", thousands(a.nnz()) + (f.repeated == 0 ? std::string()
                                                         : ", after summing " + count_of(f.repeated, "repeated entry",
                                                                                         "repeated entries")));
  if (f.square()) {
    result += labelled("symmetry", symmetry_text(f));
    result += labelled("diagonal", diagonal_text(f.traits));
    result += labelled("dominance", text("|a_ii| >= sum of the other |a_ij| in %.1f %% of the rows",
                                         100 * share(f.dominant, a.rows)));
    if (f.rows_sum_to_zero) {
      result += labelled("null space", "rows sum to zero: singular, constant vectors are in its null space");
    }
  }
  if (f.magnitudes.largest > 0) {
    result += labelled(
        "sizes", text("|a_ij| from %.3g to %.3g, zeros not counted", f.magnitudes.smallest, f.magnitudes.largest));
  }
  result +=
      labelled("bandwidth", thousands(f.band.lower) + " below, " + thousands(f.band.upper) + " above the diagonal");
  result += labelled(
      "block size", f.block == 1 ? std::string("1")
                                 : text("%d: the pattern is made of full %d x %d blocks", f.block, f.block, f.block));
  result +=
      labelled("row length", text("%lld to %lld, mean %.1f, median %lld", static_cast<long long>(f.lengths.shortest),
                                  static_cast<long long>(f.lengths.longest), f.lengths.mean,
                                  static_cast<long long>(f.lengths.median)));
  if (f.traits.empty_rows.count > 0) result += labelled("empty rows", row_count_text(f.traits.empty_rows, "empty"));
  if (f.zero_columns.count > 0) {
    result += labelled("zero columns", row_count_text(f.zero_columns, "zero", "column"));
  }
  result += histogram_text(f.lengths, a.rows);
  for (const SpmvFormat& format : spmv_formats()) {
    result +=
        labelled("format " + format.name, "about " + human_bytes(format_bytes(format, f, sizeof(double))) +
                                              " in double, " + human_bytes(format_bytes(format, f, sizeof(float))) +
                                              " in single precision, estimated (" + spaces_text(format) + ')');
  }
  if (f.precond) result += precond_facts_text(*f.precond);
  result += labelled("recommended", f.advice.command.empty() ? f.advice.reason : f.advice.command);
  if (f.advice.command.empty()) return result;
  result += labelled("", f.advice.reason);
  result += labelled("", "A*random has a known solution, for a test; use --rhs b.mtx for your own right-hand side");
  return result;
}

Json facts_json(const Facts& f) {
  const Csr<double, Space::host>& a = f.matrix.a;
  Json report = report_head("newel info");
  report["matrix"] = f.matrix.name;
  report["storage"] = f.matrix.header ? storage_text(*f.matrix.header) : "generated";
  report["values_taken_as_one"] = is_pattern_only(f.matrix);
  report["rows"] = a.rows;
  report["cols"] = a.cols;
  report["nonzeros"] = a.nnz();
  report["repeated_entries"] = f.repeated;
  report["max_abs"] = f.traits.max_abs;
  report["min_abs"] = f.magnitudes.smallest;  // zeros not counted
  report["symmetry"] = nullptr;
  report["diagonal"] = nullptr;
  report["rows_sum_to_zero"] = nullptr;
  if (f.square()) {
    report["rows_sum_to_zero"] = f.rows_sum_to_zero;
    report["symmetry"] = {{"pattern", f.traits.pattern_symmetric},
                          {"values", f.traits.symmetric()},
                          {"max_asymmetry", f.traits.max_asymmetry},
                          {"relative_asymmetry", f.traits.relative_asymmetry}};
    report["diagonal"] = {{"missing", json_of(f.traits.missing_diagonal)},
                          {"zero", json_of(f.traits.zero_diagonal)},
                          {"negative", json_of(f.traits.negative_diagonal)},
                          {"dominant_share", share(f.dominant, a.rows)}};
  }
  report["empty_rows"] = json_of(f.traits.empty_rows);
  report["zero_columns"] = json_of(f.zero_columns, "first_column");
  report["row_lengths"] = lengths_json(f.lengths);
  report["bandwidth"] = {{"lower", f.band.lower}, {"upper", f.band.upper}};
  report["block_size"] = f.block;
  Json formats = Json::array();
  for (const SpmvFormat& format : spmv_formats()) {
    formats.push_back({{"name", format.name},
                       {"bytes_double", format_bytes(format, f, sizeof(double))},
                       {"bytes_single", format_bytes(format, f, sizeof(float))},
                       {"host", format.make.host_double != nullptr},
                       {"device", format.make.device_double != nullptr}});
  }
  report["formats"] = formats;
  report["preconditioner"] = f.precond ? precond_facts_json(*f.precond) : Json();
  report["recommended_command"] = f.advice.command.empty() ? Json() : Json(f.advice.command);
  report["recommended_reason"] = f.advice.reason;
  report["seconds"] = {{"read", f.matrix.read_seconds}};
  return report;
}

Recommendation recommend(const std::string& name, Index rows, Index cols, const MatrixTraits& traits,
                         bool rows_sum_to_zero, const std::string& defect) {
  Recommendation result;
  if (rows != cols) {
    result.reason = "the matrix is not square: newel solve needs a square one";
    return result;
  }
  if (traits.empty_rows.count > 0) {
    result.reason = "the matrix has empty rows, so it is singular";
    return result;
  }
  if (!defect.empty()) {
    result.reason = defect;
    return result;
  }
  // What the automatic choice of a solver takes, and what it continues with, needs no naming.
  const SolverChoice choice = choose_solver(traits);
  result.command = "newel solve " + shell_quoted(name) + " --rhs " + shell_quoted("A*random");
  result.reason = choice.reason + ": solvers are tried in this order: " + join(choice.order);
  if (simple_preconditioner(traits) == nullptr) {
    result.command += " --precond none";
    result.reason =
        "Jacobi divides by the diagonal, which has missing or zero entries; if it fails, try " + strong_precond();
  }
  if (rows_sum_to_zero) result.command += " --null-space constant";
  return result;
}

PrecondFacts precond_facts(const Context<Space::host>& ctx, const CsrView<double, Space::host>& a,
                           const PrecondOptions& options, std::shared_ptr<const NodeCoordinates> coordinates) {
  PrecondFacts facts;
  facts.options = options;
  SpmvOptions csr;
  csr.coordinates = std::move(coordinates);
  const Stopwatch watch;
  try {
    const auto m = make_precond<double, Space::host>(ctx, a, {}, options, csr);
    facts.seconds = watch.seconds();
    facts.info = m->info();
    facts.residual =
        inverse_residual(ctx, *make_spmv<double, Space::host>(ctx, a, {}, csr), *m, precond_side(options));
  } catch (const ZeroDiagonal& error) {
    facts.refusal = in_words_of_the_file(error, options.name);
  } catch (const NotSymmetric& error) {
    facts.refusal = in_words_of_the_file(error, options.name);
  } catch (const NotPositiveDefinite& error) {
    facts.refusal = in_words_of_the_file(error, options.name);
  } catch (const InputError& error) {
    facts.refusal = error.what();
  }
  return facts;
}

std::string precond_facts_text(const PrecondFacts& facts) {
  if (!facts.refusal.empty())
    return labelled("preconditioner", facts.options.name + " cannot be set up: " + facts.refusal);
  std::string result = labelled("preconditioner", precond_text(facts.info)) + levels_text(facts.info);
  std::string phases;
  for (const auto& [phase, seconds] : facts.info.setup_seconds) {
    phases += (phases.empty() ? ": " : ", ") + phase + ' ' + duration(seconds);
  }
  result += labelled("built in", duration(facts.seconds) + phases);
  const char* product = precond_side(facts.options) == PrecondSide::left ? "|M A - I|_F" : "|A M - I|_F";
  return result + labelled(product, inverse_residual_text(*facts.residual));
}

Json precond_facts_json(const PrecondFacts& facts) {
  Json result = {{"name", facts.options.name}, {"options", precond_options_json(facts.options, facts.files)}};
  result["refusal"] = facts.refusal.empty() ? Json() : Json(facts.refusal);
  result["build_seconds"] = facts.refusal.empty() ? Json(facts.seconds) : Json();
  result["operator"] = facts.refusal.empty() ? operator_json(facts.info) : Json();
  result["residual"] = residual_json(facts.residual);
  return result;
}

}  // namespace newel::cli
