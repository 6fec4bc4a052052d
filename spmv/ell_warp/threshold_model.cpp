// SPDX-License-Identifier: Apache-2.0
// All thresholds are counted at once, then the one with the least predicted time is taken.
#include "spmv/ell_warp/threshold_model.hpp"

#include <algorithm>

#include <newel/core/parallel.hpp>
#include "spmv/cost/product_constants.hpp"
#include "spmv/ell_warp/ell_warp_product.hpp"

namespace newel::detail {
namespace {

// Warps by the thresholds for which they are packed so: counts as differences to the threshold before.
class WarpTable {
 public:
  explicit WarpTable(Offset most) : change_(most + 2), until_(most + 2, 0), whole_(most + 2, 0) {}

  // A warp of `steps` and `k` for the thresholds [low, high); `whole`: its row has all threads, and so any steps.
  void add(Offset low, Offset high, Offset steps, int k, bool whole) {
    if (low >= high) return;
    add_to(change_[low], {steps, 1, k, 0});
    add_to(change_[high], {-steps, -1, -k, 0});
    if (whole)
      whole_[high] = std::max(whole_[high], steps);
    else if (steps > 0)
      until_[low] = std::max(until_[low], high);
  }

  void merge(const WarpTable& other) {
    for (std::size_t t = 0; t < change_.size(); ++t) {
      add_to(change_[t], other.change_[t]);
      until_[t] = std::max(until_[t], other.until_[t]);
      whole_[t] = std::max(whole_[t], other.whole_[t]);
    }
  }

  std::vector<EllWarpCounts> counts() const {
    const auto most = static_cast<Offset>(change_.size()) - 2;
    std::vector<EllWarpCounts> counts(static_cast<std::size_t>(most));
    EllWarpCounts sum;
    for (Offset t = 1; t <= most; ++t) {
      add_to(sum, change_[t]);
      counts[t - 1] = sum;
    }
    // A warp that does not hold a whole row has as many steps as its least threshold: later ones are longer.
    for (Offset t = 1; t <= most; ++t) {
      for (Offset u = t; u < until_[t]; ++u) counts[u - 1].longest = t;
    }
    Offset longest = 0;
    for (Offset t = most; t >= 1; --t) {
      longest = std::max(longest, whole_[t + 1]);
      counts[t - 1].longest = std::max(counts[t - 1].longest, longest);
    }
    return counts;
  }

 private:
  static void add_to(EllWarpCounts& to, const EllWarpCounts& from) {
    to.steps += from.steps;
    to.warps += from.warps;
    to.reductions += from.reductions;
  }

  std::vector<EllWarpCounts> change_;  // by threshold, `longest` unused
  std::vector<Offset> until_;          // by least threshold: the end of the longest range
  std::vector<Offset> whole_;          // by end of the range: the most steps
};

// Rows at positions [begin, end) of one group are tried as one warp with 2^k threads a row for thresholds below
// `high`, the steps of their parent.
template <class Length>
void add_warps(Index begin, Index end, Index width, int k, Offset high, Length&& length, WarpTable& table) {
  if (begin >= end) return;
  Offset longest = 0;
  for (Index p = begin; p < end; ++p) longest = std::max(longest, length(p));
  const Offset steps = (longest + (Offset{1} << k) - 1) >> k;
  const Index half = (width >> k) / 2;
  const Offset low = half == 0 ? 1 : std::max<Offset>(1, steps);
  table.add(low, high, steps, k, half == 0);
  if (low == 1) return;
  add_warps(begin, std::min(end, begin + half), width, k + 1, steps, length, table);
  add_warps(begin + half, end, width, k + 1, steps, length, table);
}

// Threads of the model, which have eight loads in flight: two of the kernel's with four each.
int model_threads(const Machine& machine) { return std::max(machine.lanes, machine.resident_threads / 2); }

}  // namespace

std::vector<EllWarpCounts> count_for_each_threshold(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                                                    const RowSequence& sequence, Index width) {
  const auto length = [&](Index position) {
    const Index row = sequence.row_at(position);
    return a.row_begin(row + 1) - a.row_begin(row);
  };
  const Offset longest = parallel_max(ctx, sequence.count, Offset{1}, length);

  std::vector<WarpTable> by_thread(static_cast<std::size_t>(ctx.threads()), WarpTable(longest));
  const Offset groups = (Offset{sequence.count} + width - 1) / width;
  const auto add_group = [&](Offset g, int member) {
    const auto begin = static_cast<Index>(g * width);
    const auto end = static_cast<Index>(std::min<Offset>(sequence.count, (g + 1) * width));
    add_warps(begin, end, width, 0, longest + 1, length, by_thread[static_cast<std::size_t>(member)]);
  };
  parallel_for(ctx, groups, add_group, 64);
  for (std::size_t thread = 1; thread < by_thread.size(); ++thread) by_thread[0].merge(by_thread[thread]);
  return by_thread[0].counts();
}

ThresholdWeights ThresholdWeights::of(const Machine& machine, Offset nonzeros, std::size_t value_bytes) {
  ThresholdWeights weights;
  const double step_bytes = machine.lanes * static_cast<double>(value_bytes + sizeof(Index));
  weights.warp_bytes = (sizeof(Offset) + sizeof(Index) + 1) / step_bytes;
  if (machine.device()) {
    const auto& fitted = constants_of<DeviceProductConstants>(machine);
    // What takes half of the second-level cache stays there from product to product: each half of the device keeps
    // lines of the other.
    const double bytes = static_cast<double>(nonzeros) * static_cast<double>(value_bytes + sizeof(Index));
    const bool stays = 2 * bytes <= static_cast<double>(machine.shared_cache_bytes);
    weights.bus_warps = machine.processors * (stays ? fitted.step_cache_bytes : fitted.step_bus_bytes) / step_bytes;
    weights.slot_warps = static_cast<double>(machine.processors) * model_threads(machine) / machine.lanes;
    weights.warp_start = fitted.warps.warp_start;
    weights.reduction = fitted.warps.reduction;
  } else {
    const WarpConstants& fitted = constants_of<HostProductConstants>(machine).warps;
    weights.bus_warps = weights.slot_warps = machine.processors;
    weights.warp_start = fitted.warp_start;
    weights.reduction = fitted.reduction;
  }
  return weights;
}

double predicted_time(const EllWarpCounts& counts, const ThresholdWeights& weights) {
  const auto steps = static_cast<double>(counts.steps), warps = static_cast<double>(counts.warps);
  const double waits =
      steps + weights.warp_start * warps + weights.reduction * static_cast<double>(counts.reductions);
  const double bus = (steps + weights.warp_bytes * warps) / weights.bus_warps;
  const double longest = static_cast<double>(counts.longest) + weights.warp_start;
  const double mean = warps > 0 ? waits / warps : 0;
  return std::max({bus, waits / weights.slot_warps, longest}) + std::max(0.0, longest - mean);
}

Index choose_threshold(const std::vector<EllWarpCounts>& counts, const ThresholdWeights& weights) {
  constexpr double least_gain = 0.02;
  const auto longest = static_cast<Index>(counts.size());
  const double k1 = predicted_time(counts.back(), weights);
  double least = k1 * (1 - least_gain);
  Index best = longest;
  for (Index t = longest - 1; t >= 1; --t) {
    const double time = predicted_time(counts[t - 1], weights);
    if (time >= least) continue;
    least = time;
    best = t;
  }
  return best;
}

EllWarpGrid choose_grid(Offset warps, const Machine& machine) {
  constexpr int least = 32, most = ell_warp_most_block_threads, blocks_of_processor = 4;
  const auto blocks = [&](int threads) {
    return std::max<Offset>(1, (warps * machine.lanes + threads - 1) / threads);
  };
  int threads = most;
  while (threads > least && blocks(threads) < Offset{blocks_of_processor} * machine.processors) threads /= 2;
  const Offset resident = Offset{machine.processors} * std::max(1, machine.resident_threads / threads);
  return {threads, static_cast<int>(std::min(blocks(threads), resident))};
}

}  // namespace newel::detail
