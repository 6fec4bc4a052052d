// SPDX-License-Identifier: Apache-2.0
// --precond, and the choices of SPAI and FSAI.
#include "precond_options.hpp"

#include "exit_status.hpp"
#include "names.hpp"

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
  const char* group = "The preconditioner";
  command.add_option("--precond", p.name, what)->option_text(one_of(raw.names))->group(group);
  add_method_options(command, precond_option_list(), p.methods, raw.own, group);
  if (files == FileOptions::offered) {
    command
        .add_option("--precond-pattern", raw.files.pattern,
                    "Pattern of FSAI's G (on and below the diagonal) and SPAI's M: the entries of this\n"
                    "Matrix Market file, in the numbering of A, and the diagonal. Replaces powers and drop")
        ->option_text("P.mtx")
        ->group(group);
    command
        .add_option("--amg-vectors", raw.files.vectors,
                    "Near-null vectors of A, which AMG's coarse levels represent instead of those of\n"
                    "--amg-near-null: matrix array real general, rows of A x vectors")
        ->option_text("V.mtx")
        ->group(group);
  }
  command
      .add_option("--precond-format", p.format,
                  "The format of FSAI's G and SPAI's M; default: that of A, but ehyb\n"
                  "for ehyb-symmetric")
      ->option_text(one_of(format_names()))
      ->group(group);
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
