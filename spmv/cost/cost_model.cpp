// SPDX-License-Identifier: Apache-2.0
// Facts of a pattern, and seconds from bytes.
#include <newel/core/matrix_traits.hpp>
#include <newel/spmv/cost_model.hpp>

#include <algorithm>
#include <map>
#include <utility>

#include "spmv/cost/product_constants.hpp"

namespace newel {
namespace {

const detail::HostProductConstants& of_host(const Machine& machine) {
  return detail::constants_of<detail::HostProductConstants>(machine);
}

const detail::DeviceProductConstants& of_device(const Machine& machine) {
  return detail::constants_of<detail::DeviceProductConstants>(machine);
}

double useful_threads(const Machine& machine, int threads) {
  return std::clamp<double>(threads, 1, of_host(machine).useful_threads);
}

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
  (csr_bytes > of_host(machine).cached_bytes ? least_seconds : cached_seconds) = seconds;
}

void detail::set_fitted(CostEstimate& cost, const PatternFacts& facts, const Machine& machine,
                        std::size_t value_bytes, HostFormatConstants HostProductConstants::*on_host,
                        double BandwidthShares::*on_device, double slots) {
  const HostFormatConstants& fitted = of_host(machine).*on_host;
  cost.bandwidth_share = machine.device() ? of_device(machine).share.*on_device : fitted.bandwidth_share;
  cost.setup_seconds_per_entry = fitted.setup_seconds_per_entry;
  cost.set_thread_seconds(facts, machine, value_bytes, fitted.seconds(value_bytes) * slots);
}

double CostEstimate::product_seconds(const Machine& machine) const {
  const double start = machine.device() ? launches * of_device(machine).launch_seconds * machine.start_ratio
                                        : of_host(machine).wake_seconds;
  if (cached_seconds > 0) return start + cached_seconds / useful_threads(machine, machine.processors);
  return start +
         std::max(product_bytes / (machine.bytes_per_second * bandwidth_share), least_product_seconds(machine));
}

double CostEstimate::least_product_seconds(const Machine& machine) const {
  return least_seconds / useful_threads(machine, machine.processors);
}

double CostEstimate::setup_seconds(const Machine& machine, Offset nonzeros, int host_threads) const {
  if (device_setup_seconds > 0) return device_setup_seconds * machine.start_ratio;
  const double threads = useful_threads(machine, host_threads);
  const double seconds = setup_seconds_per_entry * static_cast<double>(nonzeros) / threads;
  return machine.device() ? seconds + upload_bytes / of_device(machine).upload_bytes_per_second : seconds;
}

}  // namespace newel
