// SPDX-License-Identifier: Apache-2.0
// Files, heads and lines.
#include "session.hpp"

#include <cstdio>
#include <fstream>

#include <newel/core/error.hpp>

#include "apps/common/exit_status.hpp"
#include "apps/common/output_files.hpp"
#include "apps/common/program.hpp"
#include "apps/common/text.hpp"
#include "apps/fem/problem.hpp"
#include "apps/newel/input/rhs.hpp"

namespace newel::cli {

void check_bench_files(const std::vector<std::string>& systems, const std::string& report, const std::string& csv,
                       const std::string& input) {
  std::vector<NamedFile> inputs;
  for (const std::string& system : systems) {
    if (fem::is_generated(system)) continue;
    if (!std::ifstream(system)) throw InputError(system + ": cannot be opened");
    inputs.emplace_back("matrix", system);
  }
  if (!input.empty()) {
    if (!std::ifstream(input)) throw InputError(input + ": cannot be opened");
    inputs.emplace_back("right-hand side", input);
  }
  check_outputs({{"--report", report}, {"--csv", csv}}, inputs);
}

std::string refused_text(const BenchedSystem& system) { return "  refused: " + system.refused + "\n"; }

Json size_or_null(const BenchedSystem& system, std::int64_t size) { return system.unreadable ? Json() : Json(size); }

Json solved_system_head(const BenchedSystem& system, double tolerance) {
  return {{"system", without_folders(system.name)},
          {"precision", system.precision()},
          {"rows", size_or_null(system, system.rows)},
          {"nonzeros", size_or_null(system, system.nonzeros)},
          {"tolerance", tolerance},
          {"refused", or_null(system.refused)}};
}

std::string solved_system_text(const BenchedSystem& system, double tolerance) {
  const std::string head = "\n" + system.name + ", " + system.precision() + " precision";
  if (system.unreadable) return head + "\n";
  return head + ": " + count_of(system.rows, "row", "rows") + ", " +
         count_of(system.nonzeros, "non-zero", "non-zeros") + text(", tolerance %g\n", tolerance);
}

std::optional<InputMatrix> load_or_refuse(const Context<Space::host>& host, BenchedSystem& system) {
  const auto refuse = [&](const std::string& why) {
    system.unreadable = true;
    system.refused = without_folders(why);
    print_error(why);
    return std::nullopt;
  };
  try {
    InputMatrix matrix = load_matrix(host, system.name);
    require_real(matrix, "newel bench");
    system.rows = matrix.a.rows;
    system.nonzeros = matrix.a.nnz();
    return matrix;
  } catch (const OutOfMemory& error) {
    return refuse(error.what());
  } catch (const InputError& error) {
    return refuse(message_from_one(error));
  }
}

std::vector<double> right_hand_side(const Context<Space::host>& host, const InputMatrix& matrix,
                                    const std::string& words) {
  require_square(matrix);
  const RightHandSide rhs = make_rhs(host, parse_rhs(words), matrix.a);
  if (rhs.columns != 1) throw InputError("--rhs " + words + ": expected one column");
  return to_vector(host, rhs.b.cspan());
}

void write_bench_files(const std::string& report, const Json& json, const std::string& csv,
                       const std::string& lines) {
  if (!report.empty()) write_text_file("--report", report, format_json(json));
  if (!csv.empty()) write_text_file("--csv", csv, lines);
}

void print_now(const std::string& lines) { print_text(stdout, lines); }

std::string without_folders(const std::string& command_line) {
  std::string result;
  std::size_t word = 0;  // where the file's name begins that may turn out to be a folder
  for (const char c : command_line) {
    result += c;
    if (c == '/') result.resize(word);
    if (c == ' ' || c == ':' || c == '=' || c == '\'') word = result.size();
  }
  return result;
}

std::string bench_machine_text(const Json& head, const bench::CopyBandwidth& copy) {
  const std::string where = head.contains("device") ? head["device"].get<std::string>()
                                                    : head["processor"].get<std::string>() + ", " +
                                                          count_of(head["threads"].get<int>(), "thread", "threads");
  return where + "\ncopy of " + human_bytes(copy.bytes) + ": " + bench::spread(copy.gigabytes_per_second) +
         " GB/s, read and written";
}

Json copy_json(const bench::CopyBandwidth& copy) {
  return {{"bytes", copy.bytes}, {"gigabytes_per_second", bench::summary(copy.gigabytes_per_second)}};
}

}  // namespace newel::cli
