// SPDX-License-Identifier: Apache-2.0
// The options of `newel bench solve` that measure scaling.
#include <algorithm>
#include <charconv>

#include "apps/common/exit_status.hpp"
#include "apps/fem/generated_rows.hpp"
#include "run_options.hpp"
#include "scaling.hpp"

namespace newel::cli {
namespace {

constexpr int most_ranks = 1024;  // more than a host can have

std::vector<int> counts_of(const std::string& given, const std::string& option) {
  std::vector<int> counts;
  for (const std::string& part : split(given, ',')) {
    int count = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), count);
    if (error != std::errc() || end != part.data() + part.size() || count < 1 || count > most_ranks) {
      throw UsageError(option + ": expected numbers from 1 to " + std::to_string(most_ranks) + ", found '" + given +
                       '\'');
    }
    if (std::find(counts.begin(), counts.end(), count) != counts.end()) {
      throw UsageError(option + ": " + part + " is given twice");
    }
    counts.push_back(count);
  }
  return counts;
}

void refuse_if_given(const CLI::App& command, const std::vector<std::string>& options, const std::string& why) {
  for (const std::string& option : options) {
    if (command.get_option(option)->count() > 0) throw UsageError(option + " " + why);
  }
}

}  // namespace

void add_bench_scaling(CLI::App& solve, RawBenchSolve& raw) {
  const OptionGroup group(solve, "Scaling");
  raw.command = &solve;
  group.add("--gpus", raw.gpus, "N,N...",
            "Instead of all this, CG on one GPU and on several that share the rows:\n"
            "times of an iteration, of setup and of whole solves; b is ones");
  group.add("--ranks", raw.ranks, "N,N...", "The same on the host; ranks are threads");
  group.add("--links", raw.links, "NAME,NAME...",
            "How values travel between GPUs: automatic (default), peers, nccl, host; each\nis measured");
  group.add(
      "--weak", raw.weak, "A,A...",
      "Also systems that grow with the GPUs: generate:KIND:N for one, and about as\nmany times its rows for more");
  group
      .add("--loop-iterations", raw.options.loop_iterations, "N",
           "An iteration is the difference between loops of N and 2 N, default " +
               std::to_string(raw.options.loop_iterations))
      ->check(CLI::Range(1, 1000000));
}

void take_bench_scaling(const RawBenchSolve& raw, BenchSolveOptions& o) {
  if (raw.gpus.empty() && raw.ranks.empty()) {
    refuse_if_given(*raw.command, {"--links", "--weak", "--loop-iterations"}, "needs --gpus or --ranks");
    return;
  }
  if (!raw.gpus.empty() && !raw.ranks.empty()) throw UsageError("--gpus and --ranks: pass only one of them");
  o.on_gpus = !raw.gpus.empty();
  const std::string option = o.on_gpus ? "--gpus" : "--ranks";
  refuse_if_given(*raw.command,
                  {"--solvers", "--formats", "--restart", "--precision", "--mixed", "--single-basis", "--rhs",
                   "--device", "--csv"},
                  "is not possible with " + option + ", which measures CG in double with b = ones");
  if (!o.on_gpus) refuse_if_given(*raw.command, {"--links"}, "is not possible with --ranks: it is about GPUs");
  o.shares = counts_of(o.on_gpus ? raw.gpus : raw.ranks, option);
  if (!raw.links.empty()) {
    o.links = names_of(raw.links, "--links", link_names(),
                       [](const std::string& name) { return check_name(name, "--links", link_names()); });
  }
  if (raw.weak.empty()) return;
  for (const std::string& spec : split(raw.weak, ',')) {
    if (!fem::can_generate_rows(spec)) {
      throw UsageError("--weak " + spec + ": expected generate:KIND:N, whose size can grow");
    }
    static_cast<void>(fem::generated_row_count(spec));
    o.weak.push_back(spec);
  }
}

}  // namespace newel::cli
