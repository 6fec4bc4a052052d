// SPDX-License-Identifier: Apache-2.0
// Facts of a pattern, and seconds from bytes.
#include <newel/core/matrix_traits.hpp>
#include <newel/spmv/cost_model.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace newel {
namespace {

// From the start of a kernel to the next one's: measured on an H200, launched from a stream.
constexpr double launch_seconds = 2.5e-6;
// A cautious share of a host's caches, next to other work: the share of a processor's last level is not known. The
// formats' seconds per entry were measured on an EPYC, one thread, matrices of 5 MB as CSR.
constexpr double host_cached_bytes = 12e6;
// Of a link between host and device.
constexpr double upload_bytes_per_second = 2e10;
// Phases of a setup are not all parallel: this many threads are as good as more.
constexpr int useful_threads = 16;

}  // namespace

double PatternFacts::unevenness() const {
  double alike = 0;
  for (const auto& [length, count] : lengths) {
    const double share = static_cast<double>(count) / rows;
    alike += share * share;
  }
  return lengths.empty() ? 0 : 1 - alike;
}

Offset PatternFacts::sorted_slots(int lanes) const {
  Offset slots = 0;
  Offset room = 0;  // rows that the current group, as wide as its longest, still takes
  for (auto at = lengths.rbegin(); at != lengths.rend(); ++at) {
    Offset rows_left = at->second - std::min<Offset>(room, at->second);
    room -= std::min<Offset>(room, at->second);
    const Offset groups = (rows_left + lanes - 1) / lanes;
    slots += groups * lanes * at->first;
    if (groups > 0) room = groups * lanes - rows_left;
  }
  return slots;
}

RowLengths row_lengths(const Pattern<Space::host>& pattern) {
  constexpr Index counted = 4096;  // longer ones are few
  std::vector<Index> count;
  std::map<Index, Index> longer;
  for (Index i = 0; i < pattern.rows; ++i) {
    const auto length = static_cast<Index>(pattern.row_begin(i + 1) - pattern.row_begin(i));
    const auto place = static_cast<std::size_t>(length);
    if (length < counted && place >= count.size()) count.resize(place + 1, 0);
    ++(length < counted ? count[place] : longer[length]);
  }
  RowLengths lengths;
  for (std::size_t length = 0; length < count.size(); ++length) {
    if (count[length] > 0) lengths.emplace_back(static_cast<Index>(length), count[length]);
  }
  lengths.insert(lengths.end(), longer.begin(), longer.end());
  return lengths;
}

PatternFacts facts_of_lengths(Index rows, Index cols, Offset nonzeros, RowLengths lengths) {
  PatternFacts facts;
  facts.rows = rows;
  facts.cols = cols;
  facts.nonzeros = nonzeros;
  facts.lengths = std::move(lengths);
  if (!facts.lengths.empty()) facts.longest_row = facts.lengths.back().first;
  return facts;
}

PatternFacts pattern_facts(const Context<Space::host>& ctx, const Pattern<Space::host>& pattern) {
  PatternFacts facts = facts_of_lengths(pattern.rows, pattern.cols, pattern.nnz(), row_lengths(pattern));
  if (pattern.rows == pattern.cols) facts.block = static_cast<int>(node_block_size(ctx, pattern));
  return facts;
}

void CostEstimate::set_thread_seconds(const PatternFacts& facts, const Machine& machine, std::size_t value_bytes,
                                      double seconds) {
  if (machine.device()) return;
  const double csr_bytes = static_cast<double>(facts.nonzeros) * static_cast<double>(value_bytes + sizeof(Index));
  (csr_bytes > host_cached_bytes ? least_seconds : cached_seconds) = seconds;
}

double CostEstimate::product_seconds(const Machine& machine) const {
  const double start = machine.device() ? launches * launch_seconds * machine.start_ratio : detail::wake_seconds;
  if (cached_seconds > 0) {
    return start + cached_seconds / std::clamp(machine.processors, 1, useful_threads);
  }
  return start +
         std::max(product_bytes / (machine.bytes_per_second * bandwidth_share), least_product_seconds(machine));
}

double CostEstimate::least_product_seconds(const Machine& machine) const {
  return least_seconds / std::clamp(machine.processors, 1, useful_threads);
}

double CostEstimate::setup_seconds(const Machine& machine, Offset nonzeros, int host_threads) const {
  if (device_setup_seconds > 0) return device_setup_seconds * machine.start_ratio;
  const double threads = std::clamp(host_threads, 1, useful_threads);
  const double seconds = setup_seconds_per_entry * static_cast<double>(nonzeros) / threads;
  return machine.device() ? seconds + upload_bytes / upload_bytes_per_second : seconds;
}

}  // namespace newel
