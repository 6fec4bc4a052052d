// SPDX-License-Identifier: Apache-2.0
/// What all commands of `newel bench` do around their measurements: files, the report's head, lines on stdout.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "bench/machine_facts.hpp"
#include "bench/memory_traffic.hpp"
#include "apps/common/json_file.hpp"
#include "apps/newel/input/input_matrix.hpp"
#include "command_line.hpp"

namespace newel::cli {

/// A system that is measured in one precision; what was measured is added by each command.
struct BenchedSystem {
  std::string name;
  bool single_precision = false;
  Index rows = 0;
  Offset nonzeros = 0;
  std::string refused;      ///< why there are no lines
  bool unreadable = false;  ///< refused because the matrix could not be had: its sizes are unknown

  std::size_t value_bytes() const { return single_precision ? sizeof(float) : sizeof(double); }
  const char* precision() const { return single_precision ? "single" : "double"; }
};

/// A command line whose words have lost the folders of their files: reports name systems, not machines.
std::string without_folders(const std::string& command_line);

/// Systems are measured for an hour: files that are missing or cannot be written are reported first. `input` is
/// another file that is read, or empty. Throws InputError.
void check_bench_files(const std::vector<std::string>& systems, const std::string& report, const std::string& csv,
                       const std::string& input = "");

/// Writes the two where they were requested.
void write_bench_files(const std::string& report, const Json& json, const std::string& csv, const std::string& lines);

/// "refused: why", for a system without lines.
std::string refused_text(const BenchedSystem& system);

/// What a report says first of a system that was solved to `tolerance`.
Json solved_system_head(const BenchedSystem& system, double tolerance);

/// The line above the table of such a system, known before it is measured.
std::string solved_system_text(const BenchedSystem& system, double tolerance);

/// Where a size of `system` is known, else null.
Json size_or_null(const BenchedSystem& system, std::int64_t size);

/// Whether the matrix of any system could not be had.
template <class System>
bool any_unreadable(const std::vector<System>& systems) {
  return std::any_of(systems.begin(), systems.end(), [](const System& system) { return system.unreadable; });
}

/// Whether a line of any system is wrong.
template <class System>
bool any_wrong(const std::vector<System>& systems) {
  const auto wrong = [](const auto& line) { return line.wrong(); };
  return std::any_of(systems.begin(), systems.end(), [&](const System& system) {
    return std::any_of(system.lines.begin(), system.lines.end(), wrong);
  });
}

/// f(single) for each precision that was requested.
template <class F>
void for_precisions(const BenchRunOptions& options, F&& f) {
  if (options.double_precision) f(false);
  if (options.single_precision) f(true);
}

/// Calls f(). If it throws for the whole system, `refused` says why.
template <class F>
void measure_or_refuse(BenchedSystem& system, F&& f) {
  try {
    f();
  } catch (const OutOfMemory& error) {
    system.refused = error.what();
  } catch (const InputError& error) {
    system.refused = without_folders(error.what());
  }
}

/// The system's matrix, whose sizes are noted; nothing where it cannot be read or made, or memory does not suffice:
/// `refused` then says why, and so does stderr at once, since the exit status will be that of bad input.
std::optional<InputMatrix> load_or_refuse(const Context<Space::host>& host, BenchedSystem& system);

/// What `words` of --rhs make for a matrix that can be solved, and that has one column. Throws InputError.
std::vector<double> right_hand_side(const Context<Space::host>& host, const InputMatrix& matrix,
                                    const std::string& words);

/// On stdout, at once.
void print_now(const std::string& lines);

/// Program, command, date, machine, threads, space, repeats.
template <Space S>
Json bench_head(const char* program, const std::string& command_line, const Context<Space::host>& host,
                const Context<S>& ctx, int repeats) {
  Json head = bench::report_head(program, without_folders(command_line));
  head.update(bench::machine_facts(ctx));
  head["threads"] = host.threads();
  head["space"] = name_of(S);
  head["repeats"] = repeats;
  return head;
}

/// "a device", or "a processor, 2 threads"; and the copy's bandwidth. Two lines, the second without its end.
std::string bench_machine_text(const Json& head, const bench::CopyBandwidth& copy);

/// {"bytes": ..., "gigabytes_per_second": {...}}
Json copy_json(const bench::CopyBandwidth& copy);

}  // namespace newel::cli
