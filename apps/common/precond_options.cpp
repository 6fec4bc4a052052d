// SPDX-License-Identifier: Apache-2.0
// --precond, and the choices of SPAI and FSAI.
#include "precond_options.hpp"

#include "exit_status.hpp"
#include "names.hpp"
#include "method_options.hpp"

namespace newel::cli {
namespace {

// The options that a given pattern replaces, and an empty text if none of them was given.
std::string in_place_of_pattern(const RawPrecond& raw) {
  std::string flags;
  bool given = false;
  for (const DeclaredOption& own : raw.own) {
    if (!own.line.shapes_pattern) continue;
    flags += (flags.empty() ? "" : ", ") + all_flags(own.line);
    given = given || own.value != own.line.get({});
  }
  return given ? flags : "";
}

}  // namespace

void add_precond_options(CLI::App& command, PrecondOptions& p, RawPrecond& raw, const std::string& what,
                         FileOptions files) {
  const char* heading = "The preconditioner";
  const OptionGroup group(command, heading);
  group.add("--precond", p.name, one_of(raw.names), what);
  add_method_options(command, precond_option_list(), p.methods, raw.own, heading);
  if (files == FileOptions::offered) {
    group.add("--precond-pattern", raw.files.pattern, "P.mtx",
              "Pattern of FSAI's G (on and below the diagonal) and SPAI's M: the entries of this\n"
              "Matrix Market file, in the numbering of A, and the diagonal. Replaces powers and drop");
    group.add("--amg-vectors", raw.files.vectors, "V.mtx",
              "Near-null vectors of A, which AMG's coarse levels represent instead of those of\n"
              "--amg-near-null: matrix array real general, rows of A x vectors");
    group.add("--saddle-rows", raw.files.constraints, "R.mtx",
              "The rows that are constraints of a saddle point, instead of --saddle-constraints: matrix\n"
              "array, one column of row numbers from 1");
    group.add("--saddle-mass", raw.files.mass, "M.mtx",
              "A matrix like the Schur complement up to a factor, as the mass matrix of the pressure:\n"
              "symmetric, rows in the order of the constraints. Replaces --saddle-schur");
  }
  group.add("--precond-format", p.format, one_of(format_names()),
            "The format of FSAI's G and SPAI's M; default: that of A, but ehyb\n"
            "for ehyb-symmetric");
}

void check_precond_options(PrecondOptions& p, RawPrecond& raw) {
  p.name = check_preconditioner(p.name, raw.names);
  take_method_options(raw.own, p.methods);
  if (!raw.files.pattern.empty()) {
    const std::string shaping = in_place_of_pattern(raw);
    if (!shaping.empty()) throw UsageError("--precond-pattern replaces " + shaping);
  }
  if (!p.format.empty()) p.format = check_table_format(p.format, "--precond-format");
}

}  // namespace newel::cli
