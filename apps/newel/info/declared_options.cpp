// SPDX-License-Identifier: Apache-2.0
// What `newel info` takes.
#include "declared_options.hpp"

#include <newel/io/matrix_file.hpp>

#include "apps/common/exit_status.hpp"
#include "apps/common/names.hpp"
#include "apps/common/method_options.hpp"
#include "apps/common/output_files.hpp"
#include "apps/common/place.hpp"
#include "apps/newel/input/input_matrix.hpp"

namespace newel::cli {

CLI::App& add_info(CLI::App& app, RawInfo& raw) {
  InfoOptions& o = raw.options;
  raw.precond.names = preconditioner_names();
  CLI::App& info = *app.add_subcommand("info", "Describe a matrix: structure, diagonal, blocks, memory, advice");
  const OptionGroup group(info);
  group.add("A", o.matrix, " ", system_words)->required();
  group.add("--report", o.report, "R.json", "The same facts as JSON");
  group.add("--out", o.out, "A.mtx",
            "Write the matrix; the suffix selects the format: .mtx (matrix coordinate real general), .npz\n"
            "or .petsc, .gz too; - for .mtx to standard output");
  group.add("--threads", o.threads, "N", "Host threads, default all")->check(CLI::Range(1, most_threads));
  group.add("--coordinates", raw.precond.files.coordinates, "X.mtx",
            "Coordinates of the nodes, for --precond amg: matrix array real general, points x 1 to 3.\n"
            "Generated systems have their own");
  add_precond_options(info, o.precond, raw.precond, "Build this preconditioner on the host and assess it");
  info.allow_extras();
  return info;
}

InfoOptions checked_info(RawInfo& raw) {
  check_precond_options(raw.options.precond, raw.precond);
  const std::string& out = raw.options.out;
  const std::optional<FileFormat> format = format_of_name(out);
  const bool vectors = format == FileFormat::npy || format == FileFormat::csv;
  if (!out.empty() && !is_standard_stream(out) && (vectors || (!format && !is_special_file(out)))) {
    throw UsageError("--out " + out + ": expected a name that ends in " + matrix_suffixes +
                     ", optionally followed by .gz");
  }
  raw.options.precond_files = raw.precond.files;
  return raw.options;
}

}  // namespace newel::cli
