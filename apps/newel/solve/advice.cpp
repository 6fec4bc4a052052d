// SPDX-License-Identifier: Apache-2.0
// The library's advice in the words of the command line.
#include "advice.hpp"

#include "apps/common/precond_report.hpp"
#include "apps/common/text.hpp"

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

}  // namespace newel::cli
