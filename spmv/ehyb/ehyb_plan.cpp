// SPDX-License-Identifier: Apache-2.0
// Parts, cache lengths and the order of the rows.
#include "spmv/ehyb/ehyb_plan.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <newel/core/matrix_traits.hpp>
#include <newel/core/parallel.hpp>
#include "spmv/cost/product_constants.hpp"
#include "spmv/plan/phase_clock.hpp"

namespace newel::detail {
namespace {

constexpr Index most_places = 65536;  // of a 16-bit column

// A tetrahedral mesh cut into parts of n nodes has a halo of about 5.7 n^(2/3); part of the cache stays free for
// parts that are larger than others. Where that is too little, planning takes more parts.
constexpr double halo_of_mesh = 5.7;
constexpr double filled = 0.95;
// Of a multiprocessor's shared memory the driver takes a kilobyte for each block of threads, and the kernel a little
// for its counter and sums.
constexpr std::size_t driver_bytes = 1024;
constexpr std::size_t kernel_bytes = 512;

Index entries_in(std::size_t bytes, std::size_t value_bytes) {
  return static_cast<Index>(std::min<std::size_t>(bytes / value_bytes, most_places));
}

// What loads are under way to a multiprocessor pass through its first-level cache, which is what shared memory leaves
// of 256 KB on an H200: parts of 216 KB took 1.2 times as long as parts of 146 KB (7-point grid of 180^3).
constexpr double shared_for_halo_parts = 0.85;

// Entries of x that a part may cache.
Index length_for(const Machine& machine, double share, std::size_t value_bytes) {
  if (!machine.device()) return entries_in(machine.cache_bytes / 2, value_bytes);  // the other half: the matrix
  return entries_in(static_cast<std::size_t>(share * static_cast<double>(machine.cache_bytes - kernel_bytes)),
                    value_bytes);
}

// The most rows of a part, in nodes of `block` rows, that leave room for a mesh's halo among `length` entries.
Index own_length(Index length, int block) {
  const double room = filled * length / block;
  double own = room;
  for (int k = 0; k < 8; ++k) own = room / (1 + halo_of_mesh / std::cbrt(std::max(1.0, own)));
  return std::max<Index>(1, static_cast<Index>(own) * block);
}

Index ceil_div(Offset a, Offset b) { return static_cast<Index>((a + b - 1) / b); }

// The smallest multiple of `processors` for which rows / parts <= length.
Index parts_for(Index rows, Index length, int processors) {
  const Index needed = std::max<Index>(1, ceil_div(rows, std::max<Index>(1, length)));
  return ceil_div(needed, processors) * processors;
}

// The largest block for which there is a kernel that divides `found`.
int block_with_kernel(Index found) {
  for (const int block : {6, 3, 2}) {
    if (found % block == 0) return block;
  }
  return 1;
}

// The nodes of a part, longest rows first, else in their order: a counting sort where lengths are few.
void sort_nodes(const std::vector<Index>& length, std::vector<Index>& nodes) {
  constexpr Index few_lengths = 4096;
  const auto shorter = [&](Index a, Index b) { return length[a] < length[b]; };
  const auto [shortest, longest] = std::minmax_element(nodes.begin(), nodes.end(), shorter);
  const Index least = length[*shortest], most = length[*longest];
  if (most - least >= few_lengths) {
    std::stable_sort(nodes.begin(), nodes.end(), [&](Index a, Index b) { return shorter(b, a); });
    return;
  }
  std::vector<Index> next(static_cast<std::size_t>(most - least) + 2, 0);
  for (const Index node : nodes) ++next[static_cast<std::size_t>(most - length[node]) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<Index> sorted(nodes.size());
  for (const Index node : nodes) sorted[next[static_cast<std::size_t>(most - length[node])]++] = node;
  nodes.swap(sorted);
}

// Rows of the parts, longest cached rows first; whole nodes of `block` rows.
void sort_parts(const Context<Space::host>& ctx, const std::vector<Index>& length, int block, PartOrder& order) {
  parallel_tasks(ctx, static_cast<std::int64_t>(order.part_begin.size()) - 1, [&](std::int64_t p) {
    const Index begin = order.part_begin[p], end = order.part_begin[p + 1];
    if (begin == end) return;
    std::vector<Index> nodes;
    nodes.reserve(static_cast<std::size_t>(end - begin) / block);
    for (Index i = begin; i < end; i += block) nodes.push_back(order.old_of_new[i] / block);
    sort_nodes(length, nodes);
    Index i = begin;
    for (const Index node : nodes) {
      for (int d = 0; d < block; ++d) order.old_of_new[i++] = node * block + d;
    }
  });
}

OrderReport report_of(const PartitionReport& found, Index rows, const EhybGeometry& geometry) {
  OrderReport report;
  report.method = std::to_string(found.parts) + " parts by " + found.method;
  report.figures = {{"parts", found.parts},
                    {"graph vertices", found.vertices},
                    {"cut entries", static_cast<double>(found.cut)},
                    {"halo per row", static_cast<double>(found.halo) / std::max<Index>(1, rows)},
                    {"largest part", found.largest_part},
                    {"largest halo", found.largest_halo},
                    {"cached length", geometry.cached_length}};
  report.seconds = found.seconds;
  return report;
}

class HostSource final : public EhybPlanSource {
 public:
  HostSource(const Context<Space::host>& ctx, const Pattern<Space::host>& a) : ctx_(ctx), a_(a) {}
  Index rows() const override { return a_.rows; }
  int block() const override { return ehyb_block(ctx_, a_); }
  std::optional<Partition> partition(const PartitionOptions& options) const override {
    return make_partition(ctx_, a_, options);
  }
  std::vector<Index> row_lengths(const Partition& partition, int block, bool halo) const override {
    std::vector<Index> length(static_cast<std::size_t>(a_.rows / block));
    parallel_for(ctx_, a_.rows / block, [&](Index node) {
      const Index row = node * block, part = partition.part_of_row[row];
      const Index *begin = a_.col.data + a_.row_begin(row), *end = a_.col.data + a_.row_begin(row + 1);
      length[node] = static_cast<Index>(
          halo ? end - begin : std::count_if(begin, end, [&](Index j) { return partition.part_of_row[j] == part; }));
    });
    return length;
  }

 private:
  const Context<Space::host>& ctx_;
  const Pattern<Space::host>& a_;
};

}  // namespace

EhybVariant ehyb_variant(std::string_view name) {
  if (name == "paper") return EhybVariant::paper;
  if (name == "halo") return EhybVariant::halo;
  if (name == "block") return EhybVariant::block;
  return EhybVariant::fewest_bytes;
}

EhybGeometry paper_geometry(const Machine& machine, Index rows, std::size_t value_bytes) {
  const Index length = length_for(machine, 1, value_bytes);
  return {parts_for(rows, length, machine.processors), length};
}

EhybGeometry halo_geometry(const Machine& machine, Index rows, std::size_t value_bytes, int block) {
  const Index length = length_for(machine, shared_for_halo_parts, value_bytes);
  return {parts_for(rows, own_length(length, block), machine.processors), length};
}

int ehyb_block_threads(const Machine& machine, Index parts, Index longest_cache, Index most_slices,
                       std::size_t value_bytes, Index most_threads) {
  constexpr Index least_threads = 128, most_side_by_side = 4, warp = 32;
  constexpr Index entries_of_thread = 2;
  const std::size_t part_bytes = static_cast<std::size_t>(longest_cache) * value_bytes + kernel_bytes + driver_bytes;
  const auto fit = static_cast<Index>((machine.cache_bytes + driver_bytes) / part_bytes);
  const Index side_by_side = std::clamp<Index>(std::min(fit, parts / machine.processors), 1, most_side_by_side);
  const Index most = most_threads / side_by_side / warp * warp;
  const Index load = std::max(least_threads, ceil_div(longest_cache, entries_of_thread));
  return std::min(most, std::max(ceil_div(load, warp), std::min(most_slices, most / warp)) * warp);
}

float ehyb_kept_share(const Machine& machine, std::uint64_t bytes) {
  constexpr double kept = 0.4, most = 1.5;  // of the cache
  const auto cache = static_cast<double>(machine.shared_cache_bytes), all = static_cast<double>(bytes);
  if (!machine.device() || all == 0 || all > most * cache) return 0;
  return static_cast<float>(std::min(1.0, kept * cache / all));
}

int ehyb_share(const Machine& machine, Index nodes, Offset blocks, Index parts, int block) {
  constexpr Offset many_lanes = 1024, many_blocks = 8;  // of a part's nodes; of a lane
  const Offset few_lanes = block > 1 ? 600 : 512;       // of a part's nodes
  const double least_blocks = block > 1 ? 2.5 : 3;      // of a lane
  int share = 1;
  if (!machine.device()) return share;
  const auto pays = [&] {
    const Offset lanes = Offset{nodes} * share;
    return lanes < few_lanes * parts || (nodes < many_lanes * parts && blocks > many_blocks * lanes);
  };
  const auto leaves_enough = [&] { return 2 * share * least_blocks * nodes <= static_cast<double>(blocks); };
  while (share < machine.lanes && pays() && leaves_enough()) share *= 2;
  return share;
}

int ehyb_block(const Context<Space::host>& ctx, const Pattern<Space::host>& a) {
  return block_with_kernel(node_block_size(ctx, a));
}

bool bounds_divide_by(const std::vector<Index>& part_begin, int block) {
  return std::all_of(part_begin.begin(), part_begin.end(), [&](Index bound) { return bound % block == 0; });
}

std::vector<Index> ehyb_parts(const std::vector<Index>& part_begin, Index rows, int block,
                              const EhybGeometry& geometry) {
  if (rows == 0) return {};
  std::vector<Index> bounds = part_begin;
  const Index nodes = rows / block;
  if (bounds.empty()) {
    const Index parts = std::min(nodes, geometry.parts);
    for (Index p = 0; p <= parts; ++p) bounds.push_back(static_cast<Index>(Offset{nodes} * p / parts) * block);
  }
  const Index room = std::max<Index>(1, geometry.cached_length / block);
  std::vector<Index> result = {0};
  for (std::size_t p = 0; p + 1 < bounds.size(); ++p) {
    const Index first = bounds[p] / block, length = bounds[p + 1] / block - first;
    if (length == 0) continue;
    const Index pieces = ceil_div(length, room);
    for (Index piece = 1; piece <= pieces; ++piece) {
      result.push_back((first + static_cast<Index>(Offset{length} * piece / pieces)) * block);
    }
  }
  return result;
}

std::optional<EhybPlan> plan_ehyb(const Context<Space::host>& ctx, const EhybPlanSource& source,
                                  const FormatRequest& request) {
  const Index rows = source.rows();
  const EhybVariant variant = ehyb_variant(request.variant);
  const bool halo = variant != EhybVariant::paper;
  const bool blocks = variant == EhybVariant::block || variant == EhybVariant::fewest_bytes;
  const int block = blocks ? source.block() : 1;
  EhybGeometry geometry = halo ? halo_geometry(request.machine, rows, request.value_bytes, block)
                               : paper_geometry(request.machine, rows, request.value_bytes);
  PartitionOptions options;
  options.method = request.options.partitioner;
  options.coordinates = request.options.coordinates.get();
  options.node_rows = block;
  options.most_part_rows = geometry.cached_length / block * block;
  options.parts = request.options.parts > 0 ? request.options.parts : geometry.parts;
  std::optional<Partition> partition = source.partition(options);
  // The fullest part decides whether everything is cached. More parts help as long as halos shrink with them.
  constexpr int most_tries = 3;
  for (int tries = 1; partition && halo && request.options.parts == 0 && tries < most_tries; ++tries) {
    const PartitionReport& report = partition->report;
    const double excess = static_cast<double>(report.fullest_part) / geometry.cached_length;
    if (excess <= 1 || report.largest_halo > 3 * Offset{report.largest_part}) break;
    const int processors = request.machine.processors;
    options.parts =
        ceil_div(static_cast<Offset>(std::ceil(partition->parts * excess * 1.05)), processors) * processors;
    partition = source.partition(options);
  }
  if (!partition) return std::nullopt;
  PhaseClock clock;
  EhybPlan plan{order_by_parts(ctx, *partition), {}};
  sort_parts(ctx, source.row_lengths(*partition, block, halo), block, plan.order);
  clock.end("sort");
  plan.report = report_of(partition->report, rows, geometry);
  plan.report.seconds.push_back(clock.seconds().front());
  return plan;
}

RowOrder<Space::host> plan_ehyb_order(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                                      const FormatRequest& request) {
  if (a.rows == 0) return {};
  std::optional<EhybPlan> plan = plan_ehyb(ctx, HostSource(ctx, a), request);
  RowOrder<Space::host> planned = make_row_order(ctx, plan->order.old_of_new, std::move(plan->order.part_begin));
  planned.report = std::move(plan->report);
  return planned;
}

CostEstimate ehyb_cost(const PatternFacts& facts, const FormatRequest& request) {
  constexpr double padding = 1.03;
  constexpr double halo_of_hubs = 4;
  constexpr Index hub = 20;  // times the mean
  const double T = static_cast<double>(request.value_bytes);
  const double block = block_with_kernel(facts.block);
  const double entries = static_cast<double>(facts.nonzeros), rows = facts.rows;
  const Index parts =
      halo_geometry(request.machine, facts.rows, request.value_bytes, block_with_kernel(facts.block)).parts;
  const double own = std::max(1.0, rows / block / parts);
  const bool hubs = facts.longest_row > hub * std::max(1.0, entries / std::max(1.0, rows));
  double halo = hubs ? halo_of_hubs : std::min(1.0, halo_of_mesh / std::cbrt(own));
  if (parts == 1) halo = 0;
  CostEstimate cost_estimate;
  cost_estimate.product_bytes =
      padding * entries * (T + 2 / (block * block)) + 2 * rows * T + halo * rows / block * (4 + block * T);
  cost_estimate.halo = halo;
  if (request.machine.device() && !hubs && parts <= request.machine.processors) cost_estimate.resident_parts = parts;
  set_fitted(cost_estimate, facts, request.machine, request.value_bytes, &HostProductConstants::ehyb,
             &BandwidthShares::ehyb, entries);
  const auto& on_host = constants_of<HostProductConstants>(request.machine);
  if (block > 1) {
    const bool in_double = request.value_bytes == sizeof(double);
    cost_estimate.set_thread_seconds(
        facts, request.machine, request.value_bytes,
        entries * (in_double ? on_host.block_entry_seconds : on_host.block_entry_seconds_single));
  }
  // A symmetric pattern is taken for granted. Where a few rows are far longer than the rest the host makes the
  // arrays.
  if (request.machine.device() && !hubs && request.options.partitioner == Partitioner::automatic) {
    const EhybSetupConstants& fitted = constants_of<DeviceProductConstants>(request.machine).ehyb_setup;
    const double vertices = rows / block;
    cost_estimate.device_setup_seconds = fitted.start +
                                         fitted.of_first_vertex * std::min(vertices, fitted.first_vertices) +
                                         fitted.of_vertex * vertices + fitted.of_entry * entries;
  }
  cost_estimate.upload_bytes = padding * entries * (sizeof(Offset) + 2 / (block * block) + 2 * sizeof(Offset));
  return cost_estimate;
}

}  // namespace newel::detail
