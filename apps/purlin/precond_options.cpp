// SPDX-License-Identifier: Apache-2.0
// --precond, and the choices of SPAI and FSAI.
#include "precond_options.hpp"

#include <cmath>

#include "exit_status.hpp"
#include "names.hpp"
#include "text.hpp"

namespace purlin::cli {
namespace {

constexpr int most_power = 8;  // higher ones reach most of a matrix from every row

void check_pattern(const PrecondOptions& p) {
  if (p.fsai_power == 1 && p.spai_power == 1 && p.drop == 0 && p.adaptive == 0) return;
  throw UsageError(
      "--precond-pattern takes the place of --fsai-power, --spai-power, --spai-drop and --spai-adaptive");
}

}  // namespace

void add_precond_options(CLI::App& command, PrecondOptions& p, RawPrecond& raw, const std::string& what,
                         PatternFile pattern_file) {
  const char* group = "The preconditioner";
  command.add_option("--precond", p.name, what)->option_text(one_of(raw.names))->group(group);
  command
      .add_option("--fsai-power", p.fsai_power, "FSAI's G has the pattern of the lower triangle of A^N, default 1")
      ->option_text("N")
      ->group(group)
      ->check(CLI::Range(1, most_power));
  command.add_option("--spai-power", p.spai_power, "SPAI's M has the pattern of A^N, default 1")
      ->option_text("N")
      ->group(group)
      ->check(CLI::Range(1, most_power));
  command
      .add_option("--fsai-drop,--spai-drop", p.drop,
                  "Leave |a_ij| <= D sqrt(|a_ii a_jj|) out of the pattern before its powers are formed,\ndefault 0")
      ->option_text("D")
      ->group(group);
  command
      .add_option("--spai-side", raw.side, "What SPAI brings close to the identity: A M, the default, or M A (left)")
      ->option_text("right|left")
      ->group(group);
  command
      .add_option("--spai-adaptive", p.adaptive,
                  "Let SPAI's pattern grow where the residual of a column exceeds EPS; default: never")
      ->option_text("EPS")
      ->group(group);
  if (pattern_file == PatternFile::offered) {
    command
        .add_option("--precond-pattern", raw.pattern,
                    "Where FSAI's G (on and below the diagonal) and SPAI's M may have entries: those of this\n"
                    "Matrix Market file, in the numbering of A, and the diagonal. In the place of powers and drop")
        ->option_text("P.mtx")
        ->group(group);
  }
  command
      .add_option("--precond-format", p.format,
                  "The format of FSAI's G and SPAI's M; default: as for A, and ehyb\n"
                  "beside ehyb-symmetric")
      ->option_text(one_of(format_names()))
      ->group(group);
}

void check_precond_options(PrecondOptions& p, const RawPrecond& raw) {
  p.name = check_preconditioner(p.name, raw.names);
  p.side =
      check_choice(raw.side, "--spai-side", {"right", "left"}) == "left" ? PrecondSide::left : PrecondSide::right;
  require_number("--fsai-drop, --spai-drop", p.drop);
  require_number("--spai-adaptive", p.adaptive);
  if (!raw.pattern.empty()) check_pattern(p);
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

}  // namespace purlin::cli
