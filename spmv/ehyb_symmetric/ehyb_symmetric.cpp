// SPDX-License-Identifier: Apache-2.0
// EHYB with pairs as an operator: which entries go into pairs, which arrays, what it is made of.
#include "spmv/ehyb_symmetric/ehyb_symmetric.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "core/vectors/instantiate.hpp"
#include "reorder/host_pattern.hpp"
#include "spmv/cost/product_constants.hpp"
#include "spmv/ehyb/ehyb.hpp"
#include "spmv/ehyb/ehyb_plan.hpp"
#include "spmv/plan/phase_clock.hpp"

namespace newel {
namespace {

using Host = Context<Space::host>;

constexpr Index warp = 32;
constexpr Index least_threads = 128;  // of a part, on a device
// Of shared memory, what parts take whose slices have sums of their own. On an H200 elasticity took 0.88 of the time
// with them at 0.26 and 1.03 at 0.47, where they leave less of the first-level cache for what is under way.
constexpr double largest_apart = 0.35;
constexpr int most_block = 3;  // of a node; the two blocks of a pair of six rows fill the registers

Index most_threads(int block, std::size_t value_bytes) {
  return detail::symmetric_threads[value_bytes == sizeof(float)][block];
}

// How many nodes side by side have each row of x in a bank of its own: shared memory has 32 of 4 bytes.
Index nodes_of_banks(int block, std::size_t value_bytes) {
  const auto values = static_cast<Index>(128 / value_bytes);
  return block % 2 == 0 ? values / 2 : values;
}

detail::EhybGeometry geometry_of(const FormatRequest& request, Index rows, int block) {
  detail::EhybGeometry geometry =
      detail::halo_geometry(detail::request_with_half_cache(request).machine, rows, request.value_bytes, block);
  geometry.cached_length = std::min<Index>(geometry.cached_length, detail::PairRounds<Space::host>::most_nodes);
  return geometry;
}

// Rows of a node: those of EHYB where there is a kernel and the parts keep them together.
template <Space S>
int block_of(const Context<S>& ctx, const Pattern<S>& a, const std::vector<Index>& part_begin) {
  const int block = std::min(detail::ehyb_block(ctx, a), most_block);
  return detail::bounds_divide_by(part_begin, block) ? block : 1;
}

// What the operator is made of.
template <Space S>
struct Parts {
  detail::EhybLayout<S> layout;
  detail::PairRounds<S> rounds;
  std::vector<std::uint16_t> node;  // in its part, of each node of the layout
  Index largest = 0;                // part: its rows
};

// How the pattern is cut.
struct PatternCut {
  int block;
  Index cached_length;
  std::vector<Index> part_begin;
  detail::PairShape pairs;

  detail::EhybShape shape() const { return {block, true, cached_length, pairs.lanes, 1}; }
};

template <Space S>
PatternCut cut_of(const Context<S>& ctx, const Pattern<S>& a, const std::vector<Index>& planned,
                  const FormatRequest& request) {
  const int block = block_of(ctx, a, planned);
  const detail::EhybGeometry geometry = geometry_of(request, a.rows, block);
  const bool device = request.machine.device();
  return {block,
          geometry.cached_length,
          detail::ehyb_parts(planned, a.rows, block, geometry),
          {request.machine.lanes, most_threads(block, request.value_bytes) * detail::pairs_of_thread[block],
           device ? nodes_of_banks(block, request.value_bytes) : 1}};
}

// What is left as a pattern. The arrays are the split's.
template <Space S>
Pattern<S> left_of(const Pattern<S>& a, const detail::SplitPattern<S>& split) {
  Pattern<S> left;
  left.rows = a.rows;
  left.cols = a.cols;
  left.row_ptr64 = split.row_ptr.cspan();
  left.col = split.col.cspan();
  return left;
}

// Numbers the nodes within their parts.
template <Space S>
void name_nodes(const PatternCut& cut, const std::vector<Index>& node, Parts<S>& parts) {
  parts.node.resize(node.size());
  for (std::size_t p = 0; p + 1 < cut.part_begin.size(); ++p) {
    const Index first = cut.part_begin[p] / cut.block, last = cut.part_begin[p + 1] / cut.block;
    for (Index n = first; n < last; ++n) parts.node[n] = static_cast<std::uint16_t>(node[n] - first);
    parts.largest = std::max(parts.largest, (last - first) * cut.block);
  }
}

Parts<Space::host> make_parts(const Host& ctx, const Pattern<Space::host>& a, const PatternCut& cut,
                              detail::PhaseClock& clock) {
  auto split = detail::split_pairs(ctx, a, cut.part_begin, cut.block, cut.pairs);
  clock.end("pairs");
  Parts<Space::host> parts;
  parts.layout = detail::make_ehyb_layout(ctx, left_of(a, split), cut.part_begin, cut.shape());
  detail::point_into(ctx, split.position.cspan(), parts.layout.run_source);
  detail::point_into(ctx, split.position.cspan(), parts.layout.rest_source);
  for (auto* rows : {&parts.layout.er_row, &parts.layout.long_rows}) {
    for (Index& row : *rows) row = split.node[row / cut.block] * cut.block + row % cut.block;
  }
  name_nodes(cut, split.node, parts);
  parts.rounds = std::move(split.rounds);
  clock.end("layout");
  return parts;
}

// The same, by kernels. Nothing where the host has to make them.
template <Space S>
std::optional<Parts<S>> parts_by_kernels(const Context<S>& ctx, const Pattern<S>& a, const PatternCut& cut,
                                         detail::PhaseClock& clock) {
  auto split = detail::split_pairs(ctx, a, cut.part_begin, cut.block, cut.pairs);
  clock.end("pairs");
  if (!split) return std::nullopt;
  auto layout = detail::make_ehyb_layout(ctx, left_of(a, *split), cut.part_begin, cut.shape());
  clock.end("layout");
  if (!layout) return std::nullopt;
  detail::point_into(ctx, split->position.cspan(), layout->run_source);
  Parts<S> parts{std::move(*layout), std::move(split->rounds), {}, 0};
  name_nodes(cut, split->node, parts);
  return parts;
}

template <Space S>
detail::PairRounds<S> rounds_in(const Context<S>& ctx, detail::PairRounds<Space::host> rounds) {
  if constexpr (S == Space::host) {
    return rounds;
  } else {
    const auto there = [&](const auto& array) { return make_array(ctx, array.cspan()); };
    return {there(rounds.part_round), there(rounds.round_first), there(rounds.nodes),
            there(rounds.upper_run),  there(rounds.lower_run),   rounds.pairs,
            rounds.most_places};
  }
}

template <Space S>
Parts<S> parts_in(const Context<S>& ctx, Parts<Space::host> parts) {
  return {layout_in(ctx, std::move(parts.layout)), rounds_in(ctx, std::move(parts.rounds)), std::move(parts.node),
          parts.largest};
}

template <Space S>
Parts<S> build_parts(const Context<S>& ctx, const Pattern<S>& a, const std::vector<Index>& planned,
                     const FormatRequest& request, detail::PhaseClock& clock) {
  if constexpr (S == Space::device) {
    if (auto parts = parts_by_kernels(ctx, a, cut_of(ctx, a, planned, request), clock)) return std::move(*parts);
  }
  const detail::HostPattern pattern(ctx, a);
  if (S == Space::device) clock.end("download");
  const Host host = host_context(ctx);
  return parts_in(ctx, make_parts(host, pattern.view(), cut_of(host, pattern.view(), planned, request), clock));
}

// Where the values come from: of the layout, of the upper blocks, of the lower blocks. The parts lose them.
template <Space S>
Array<Offset, S> runs_in(const Context<S>& ctx, Parts<S>& parts) {
  const auto sources = {&parts.layout.run_source, &parts.rounds.upper_run, &parts.rounds.lower_run};
  Offset size = 0;
  for (const auto* source : sources) size += source->size();
  Array<Offset, S> runs(ctx, size);
  Offset* to = runs.data();
  for (auto* source : sources) {
    copy<Offset>(ctx, source->cspan(), Span<Offset, S>(to, source->size()));
    to += source->size();
    *source = {};
  }
  return runs;
}

}  // namespace

template <class T, Space S>
EhybSymmetricOperator<T, S>::EhybSymmetricOperator(const Context<S>& ctx, const CsrView<T, S>& a,
                                                   const RowOrder<S>& order, const FormatRequest& request)
    : rows_(a.rows) {
  detail::PhaseClock clock;
  Parts<S> parts = build_parts(ctx, Pattern<S>(a), order.part_begin, request, clock);
  view_.longest_own = parts.largest;
  const int block = parts.layout.shape.block, lanes = parts.layout.shape.lanes;
  const Offset places = parts.rounds.nodes.size() / lanes;
  Array<Offset, S> runs = runs_in(ctx, parts);
  layout_ = std::move(parts.layout);
  rounds_ = std::move(parts.rounds);
  node_ = make_array(ctx, parts.node);
  values_ = {ctx, a, std::move(runs), block, lanes, std::move(layout_.rest_source)};
  layout_.rest_source = {};
  // Groups of warps that hold the fullest round, as many as a block may have.
  const Index pairs = detail::pairs_of_thread[block], threads = most_threads(block, sizeof(T));
  view_.group_warps = std::max<Index>(1, (rounds_.most_places + pairs - 1) / pairs);
  view_.groups = std::max<Index>(1, threads / warp / view_.group_warps);
  const auto entries = static_cast<std::size_t>(layout_.longest_cache + 2 * view_.longest_own);
  view_.apart =
      static_cast<double>(entries * sizeof(T)) <= largest_apart * static_cast<double>(request.machine.cache_bytes);
  point_at(ctx, view_.apart ? threads : std::max(least_threads, view_.groups * view_.group_warps * warp));
  view_.left.kept_share = detail::ehyb_kept_share(
      request.machine,
      layout_.column.bytes() + rounds_.nodes.bytes() +
          static_cast<std::uint64_t>(layout_.block_slots + places * lanes * block * block) * sizeof(T));
  compare(ctx);
  ctx.synchronize();
  clock.end("upload and fill");

  const bool differs = to_vector(ctx, differs_.cspan())[0] != 0;
  const std::uint64_t pair_bytes = static_cast<std::uint64_t>(places) * lanes *
                                   (block * block * sizeof(T) * (differs ? 2 : 1) + sizeof(std::uint32_t));
  info_.name = "ehyb-symmetric";
  info_.detail = std::to_string(layout_.part.size()) + " parts, " + std::to_string(block) + " rows per node, " +
                 std::to_string(rounds_.pairs) + " pairs in " + std::to_string(rounds_.round_first.size() - 1) +
                 " rounds" + (differs ? "; paired values differ, so both are read" : "");
  info_.rows = info_.cols = rows_;
  info_.nonzeros = a.nnz();
  info_.stored_slots = values_.slots();
  const Offset paired = 2 * rounds_.pairs * block * block;
  info_.cached_share =
      a.nnz() == 0 ? 0.0 : static_cast<double>(layout_.cached_entries + paired) / static_cast<double>(a.nnz());
  info_.bytes_per_product = sizes_of(layout_).product_bytes(sizeof(T)) + pair_bytes;
  info_.figures = {{"parts", static_cast<double>(layout_.part.size())},
                   {"node rows", block},
                   {"halo per row", rows_ == 0 ? 0.0 : double(layout_.halo_node.size()) * block / rows_},
                   {"longest cache", layout_.longest_cache},
                   {"pairs", static_cast<double>(rounds_.pairs)},
                   {"rounds", static_cast<double>(rounds_.round_first.size() - 1)},
                   {"extra rows", static_cast<double>(layout_.er_row.size())},
                   {"long rows", static_cast<double>(layout_.long_rows.size())},
                   {"threads a part", S == Space::device ? view_.left.block_threads : 1}};
  info_.setup_seconds = clock.seconds();
}

template <class T, Space S>
void EhybSymmetricOperator<T, S>::point_at(const Context<S>& ctx, int block_threads) {
  const detail::EhybLayout<S>& layout = layout_;
  scratch_ = {ctx, layout, false};
  differs_ = Array<int, S>(ctx, 1);
  if constexpr (S == Space::host) sums_ = Array<T, S>(ctx, Offset{view_.longest_own} * scratch_.threads);
  const T* const upper = values_.data() + layout.block_slots;
  const T* const lower = upper + rounds_.nodes.size() * layout.shape.block * layout.shape.block;
  const T* const rest = lower + (lower - upper);
  view_.left = detail::view_of(layout, values_.data(), rest, block_threads, scratch_);
  view_.node = node_.data();
  view_.part_round = rounds_.part_round.data();
  view_.round_first = rounds_.round_first.data();
  view_.nodes = rounds_.nodes.data();
  view_.upper = upper;
  view_.lower = lower;
  view_.differs = differs_.data();
  view_.sums = sums_.data();
  detail::prepare_ehyb_symmetric(ctx, view_);
  detail::prepare_ehyb_symmetric_residual(ctx, view_);
}

template <class T, Space S>
void EhybSymmetricOperator<T, S>::compare(const Context<S>& ctx) {
  detail::compare_pairs(ctx, view_, rounds_.nodes.size() / layout_.shape.lanes, differs_.data());
}

template <class T, Space S>
void EhybSymmetricOperator<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  values_.refresh(ctx, values);
  compare(ctx);
}

template <class T, Space S>
void EhybSymmetricOperator<T, S>::apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta,
                                        Span<T, S> y) const {
  detail::ehyb_symmetric_product(ctx, view_, detail::ProductArgs<T>{alpha, x.data, beta, y.data, nullptr});
}

template <class T, Space S>
void EhybSymmetricOperator<T, S>::apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y,
                                            double* xy) const {
  // The remainder is added by later passes, behind which the dot product is formed.
  if (rows_ == 0 || view_.left.has_remainder()) return LinearOperator<T, S>::apply_dot(ctx, x, y, xy);
  detail::ehyb_symmetric_product(ctx, view_, detail::ProductArgs<T>{T(1), x.data, T(0), y.data, xy});
}

template <class T, Space S>
std::optional<detail::ResidualSums> EhybSymmetricOperator<T, S>::residual(const Context<S>& ctx, Span<const T, S> b,
                                                                          Span<const T, S> x,
                                                                          const detail::ResidualScale& scale,
                                                                          Span<T, S> r) const {
  return detail::ehyb_symmetric_residual(ctx, view_, detail::ResidualArgs<T>{b.data, x.data, r.data, scale});
}

template <class T, Space S>
OperatorInfo EhybSymmetricOperator<T, S>::info() const {
  OperatorInfo info = info_;
  const detail::EhybLayout<S>& layout = layout_;
  info.bytes = {{"values", values_.value_bytes()},
                {"columns", layout.column.bytes() + layout.er_column.bytes() + layout.long_column.bytes()},
                {"pairs", rounds_.part_round.bytes() + rounds_.round_first.bytes() + rounds_.nodes.bytes()},
                {"parts and slices",
                 node_.bytes() + layout.part.bytes() + layout.slice_first.bytes() + layout.er_slice_first.bytes()},
                {"halo", layout.halo_node.bytes()},
                {"extra and long rows", layout.er_row.bytes() + layout.long_rows.bytes() +
                                            layout.long_segment.bytes() + layout.segment_begin.bytes()},
                {"scratch", scratch_.bytes() + sums_.bytes() + differs_.bytes()},
                {"value map", values_.map_bytes()}};
  return info;
}

FormatRequest detail::request_with_half_cache(const FormatRequest& request) {
  FormatRequest half{"", request.options, request.machine, request.value_bytes};
  half.machine.cache_bytes /= 2;
  return half;
}

RowOrder<Space::host> plan_ehyb_symmetric_order(const Host& ctx, const Pattern<Space::host>& a,
                                                const FormatRequest& request) {
  return detail::plan_ehyb_order(ctx, a, detail::request_with_half_cache(request));
}

CostEstimate ehyb_symmetric_cost(const PatternFacts& facts, const FormatRequest& request) {
  const auto& on_device = detail::constants_of<detail::DeviceProductConstants>(request.machine);
  // With fewer rows it is slower than EHYB, as are matrices of one row a node. Kernels pair no more entries of a row
  // than its part has rounds, and leave what then sticks out to the host.
  // A resident CG keeps seven vectors, and the halos of most.
  constexpr std::size_t resident_values = 10;
  const bool in_double = request.value_bytes == sizeof(double);
  CostEstimate cost_estimate = detail::ehyb_cost(facts, request);
  cost_estimate.resident_parts = 0;
  cost_estimate.dot_launches = 3;
  const auto processors = static_cast<std::size_t>(request.machine.processors);
  const std::size_t resident_rows =
      processors * (request.machine.cache_bytes / (resident_values * request.value_bytes));
  const auto entries = static_cast<double>(facts.nonzeros);
  const bool pays =
      request.machine.device() && request.options.equal_opposites && facts.block % 3 == 0 &&
      static_cast<std::size_t>(facts.rows) > resident_rows && cost_estimate.device_setup_seconds > 0 &&
      static_cast<double>(facts.longest_row) * facts.rows <= on_device.pairs.longest_over_mean * entries;
  if (!pays) {
    cost_estimate.product_bytes = std::numeric_limits<double>::infinity();
    return cost_estimate;
  }
  cost_estimate.product_bytes -= 0.5 * on_device.pairs.in_pairs * entries * static_cast<double>(request.value_bytes);
  cost_estimate.bandwidth_share = in_double ? on_device.share.ehyb_symmetric : on_device.share.ehyb_symmetric_single;
  cost_estimate.device_setup_seconds += on_device.pairs.entry_seconds * entries;
  return cost_estimate;
}

bool ehyb_symmetric_square_only(std::string_view) { return true; }

std::uint64_t ehyb_symmetric_bytes(Index rows, Index cols, Offset nonzeros, std::size_t value_bytes) {
  return ehyb_bytes(rows, cols, nonzeros, value_bytes);
}

#define X(T, S) template class EhybSymmetricOperator<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
