// SPDX-License-Identifier: Apache-2.0
// `newel info`: gathers the facts once, then prints them as text and JSON.
#include "options.hpp"

#include <unistd.h>

#include <cstdio>

#include <newel/core/file_writer.hpp>
#include <newel/core/matrix_traits.hpp>
#include <newel/io/matrix_file.hpp>
#include <newel/precond/pattern_options.hpp>

#include "apps/common/exit_status.hpp"
#include "apps/common/output_files.hpp"
#include "apps/common/program.hpp"
#include "report.hpp"

namespace newel::cli {
namespace {

Facts gather_facts(const InfoOptions& options) {
  const Context<Space::host> ctx(options.threads);
  Facts f;
  f.matrix = load_matrix(ctx, options.matrix);
  require_real(f.matrix, "newel info");
  const Csr<double, Space::host>& a = f.matrix.a;
  f.traits = matrix_traits<double>(ctx, a);
  f.lengths = row_lengths(ctx, a);
  f.band = bandwidth(ctx, a);
  f.dominant = f.square() ? dominant_rows(ctx, a) : 0;
  f.rows_sum_to_zero = f.square() && rows_sum_to_zero(ctx, a);
  f.zero_columns = zero_columns(ctx, a);
  f.magnitudes = magnitudes(ctx, a);
  f.block = node_block_size(ctx, CsrView<double, Space::host>(a));
  f.repeated = repeated_entries(ctx, f.matrix);
  f.advice = recommend(options.matrix, a.rows, a.cols, f.traits, f.rows_sum_to_zero, defect_of(ctx, a));
  if (options.precond.name != "none") {
    if (!f.square()) throw InputError(options.matrix + ": --precond needs a square matrix");
    PrecondOptions precond = options.precond;
    precond.symmetric =
        f.traits.symmetric() && f.traits.positive_diagonal();  // as the CG that is tried first needs it
    read_precond_files(ctx, options.precond_files, a.rows, precond);
    f.precond = precond_facts(ctx, CsrView<double, Space::host>(a), precond,
                              read_coordinates(ctx, options.precond_files.coordinates, f.matrix));
    f.precond->files = options.precond_files;
  }
  return f;
}

}  // namespace

int run_info(const InfoOptions& options) {
  const std::vector<NamedFile> inputs = {{"matrix", options.matrix},
                                         {"coordinates", options.precond_files.coordinates},
                                         {"near-null vectors", options.precond_files.vectors},
                                         {"preconditioner's pattern", options.precond_files.pattern},
                                         {"constraints", options.precond_files.constraints},
                                         {"mass matrix", options.precond_files.mass}};
  check_inputs(inputs);
  check_outputs({{"--report", options.report}, {"--out", options.out}}, inputs);
  const Facts facts = gather_facts(options);
  const bool out_is_stdout = is_standard_stream(options.out);
  std::FILE* const text = out_is_stdout ? stderr : stdout;
  print_text(text, facts_text(facts));
  if (!options.report.empty()) write_text_file("--report", options.report, format_json(facts_json(facts)));
  const CsrView<double, Space::host> a(facts.matrix.a);
  if (out_is_stdout) {
    FileWriter file(STDOUT_FILENO, "standard output");
    write_matrix(file, a);
  } else if (!options.out.empty()) {
    format_of_name(options.out) ? write_matrix_file(options.out, a) : write_matrix(options.out, a);
  }
  return exit_converged;
}

}  // namespace newel::cli
