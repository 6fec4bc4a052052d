// SPDX-License-Identifier: Apache-2.0
// --precond, and the choices of SPAI and FSAI.
#include "precond_options.hpp"

#include <cmath>

#include "exit_status.hpp"
#include "names.hpp"
#include "text.hpp"

namespace newel::cli {
namespace {

void add_own(CLI::App& command, const PrecondOptions& p, const PrecondOption& line, RawPrecond& raw,
             const char* group) {
  RawPrecond::Own& own = raw.own.emplace_back(RawPrecond::Own{&line, line.get(p), nullptr});
  std::visit([&](auto& value) { own.given = command.add_option(line.flags, value, line.help); }, own.value);
  if (std::holds_alternative<int>(own.value)) own.given->check(CLI::Range(line.least, line.most));
  own.given->option_text(line.choices.empty() ? line.placeholder : one_of(line.choices))->group(group);
}

// The options that a given pattern replaces, and an empty text if none of them was given.
std::string in_place_of_pattern(const RawPrecond& raw) {
  std::string flags;
  bool given = false;
  for (const RawPrecond::Own& own : raw.own) {
    if (!own.line->shapes_pattern) continue;
    flags += (flags.empty() ? "" : ", ") + all_flags(*own.line);
    given = given || own.value != own.line->get(PrecondOptions{});
  }
  return given ? flags : "";
}

}  // namespace

std::string first_flag(const PrecondOption& option) { return option.flags.substr(0, option.flags.find(',')); }

std::string all_flags(const PrecondOption& option) {
  std::string flags;
  for (const char c : option.flags) flags += c == ',' ? std::string(", ") : std::string(1, c);
  return flags;
}

void add_precond_options(CLI::App& command, PrecondOptions& p, RawPrecond& raw, const std::string& what,
                         FileOptions files) {
  const char* group = "The preconditioner";
  command.add_option("--precond", p.name, what)->option_text(one_of(raw.names))->group(group);
  for (const PrecondOption* line : precond_option_list()) add_own(command, p, *line, raw, group);
  if (files == FileOptions::offered) {
    command
        .add_option("--precond-pattern", raw.files.pattern,
                    "Pattern of FSAI's G (on and below the diagonal) and SPAI's M: the entries of this\n"
                    "Matrix Market file, in the numbering of A, and the diagonal. Replaces powers and drop")
        ->option_text("P.mtx")
        ->group(group);
    command
        .add_option("--amg-vectors", raw.files.vectors,
                    "Vectors that A maps to almost nothing, which AMG's coarse levels represent in place of what\n"
                    "--amg-near-null says: matrix array real general, rows of A x vectors")
        ->option_text("V.mtx")
        ->group(group);
  }
  command
      .add_option("--precond-format", p.format,
                  "The format of FSAI's G and SPAI's M; default: as for A, and ehyb\n"
                  "for ehyb-symmetric")
      ->option_text(one_of(format_names()))
      ->group(group);
}

void check_precond_options(PrecondOptions& p, RawPrecond& raw) {
  p.name = check_preconditioner(p.name, raw.names);
  for (RawPrecond::Own& own : raw.own) {
    if (auto* text = std::get_if<std::string>(&own.value)) {
      *text = check_choice(*text, first_flag(*own.line), own.line->choices);
    } else if (const auto* number = std::get_if<double>(&own.value)) {
      require_number(all_flags(*own.line).c_str(), *number);
    }
    own.line->set(p, own.value);
  }
  if (!raw.files.pattern.empty()) {
    const std::string shaping = in_place_of_pattern(raw);
    if (!shaping.empty()) throw UsageError("--precond-pattern replaces " + shaping);
  }
  if (!p.format.empty()) p.format = check_table_format(p.format, "--precond-format");
}

std::string one_of(const std::vector<std::string>& names) {
  std::string result;
  for (const std::string& name : names) result += (result.empty() ? "" : "|") + name;
  return result;
}

void require_number(const char* option, double value) {
  if (std::isfinite(value) && value >= 0) return;
  throw UsageError(text("%s: expected a number that is not negative, found %g", option, value));
}

}  // namespace newel::cli
