// SPDX-License-Identifier: Apache-2.0
// `purlin info`: gathers the facts once, then tells them to people and to programs.
#include "info_command.hpp"

#include <cstdio>

#include <purlin/reorder/blocks.hpp>

#include "exit_status.hpp"
#include "info_report.hpp"
#include "output_files.hpp"

namespace purlin::cli {
namespace {

Facts gather_facts(const InfoOptions& options) {
  const Context<Space::host> ctx(options.threads);
  Facts f;
  f.matrix = load_matrix(ctx, options.matrix);
  const Csr<double, Space::host>& a = f.matrix.a;
  f.traits = matrix_traits<double>(ctx, a);
  f.lengths = row_lengths(a);
  f.band = bandwidth(a);
  f.dominant = f.square() ? dominant_rows(a) : 0;
  f.rows_sum_to_zero = f.square() && rows_sum_to_zero(a);
  f.magnitudes = magnitudes(a);
  f.block = node_block_size(ctx, CsrView<double, Space::host>(a));
  f.repeated = repeated_entries(f.matrix);
  f.advice = recommend(options.matrix, a.rows, a.cols, f.traits, f.rows_sum_to_zero);
  if (options.precond.name != "none") {
    if (!f.square()) throw InputError(options.matrix + ": --precond needs a square matrix");
    PrecondOptions precond = options.precond;
    precond.pattern = read_pattern(ctx, options.precond_pattern, a.rows);
    f.precond = precond_facts(ctx, CsrView<double, Space::host>(a), precond);
    f.precond->pattern = options.precond_pattern;
  }
  return f;
}

}  // namespace

int run_info(const InfoOptions& options) {
  check_outputs({{"--report", options.report}, {"--out", options.out}},
                {{"matrix", options.matrix}, {"preconditioner's pattern", options.precond_pattern}});
  const Facts facts = gather_facts(options);
  std::fputs(facts_text(facts).c_str(), stdout);
  std::fflush(stdout);
  if (!options.report.empty()) write_text_file("--report", options.report, format_json(facts_json(facts)));
  if (!options.out.empty()) write_matrix(options.out, CsrView<double, Space::host>(facts.matrix.a));
  return exit_converged;
}

}  // namespace purlin::cli
