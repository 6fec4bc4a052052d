// SPDX-License-Identifier: Apache-2.0
// ELL-WARP in both spaces: which variant, which threshold, and the arrays where they belong.
#include "spmv/ell_warp/ell_warp.hpp"

#include <algorithm>
#include <utility>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>
#include "core/vectors/instantiate.hpp"
#include "reorder/host_pattern.hpp"
#include "spmv/cost/product_constants.hpp"
#include "spmv/ell_warp/ell_warp_product.hpp"
#include "spmv/ell_warp/threshold_model.hpp"
#include "spmv/plan/phase_clock.hpp"
#include "spmv/prefetch_host.hpp"

namespace newel {
namespace {

using detail::EllWarpLayout;
using detail::EllWarpRules;
using detail::RowSequence;

// A variant's name in its parts.
struct Variant {
  bool halves = false;     // k2
  bool renumbers = false;  // r, rs
  bool sorts = false;      // rs

  explicit Variant(std::string_view name)
      : halves(name.substr(0, 2) == "k2"),
        renumbers(name.find('r') != name.npos),
        sorts(name.find('s') != name.npos) {}
  std::string name() const { return std::string(halves ? "k2" : "k1") + (renumbers ? "r" : "") + (sorts ? "s" : ""); }
};

constexpr const char* default_variant = "k2rs";

// Rows are sorted among this many neighbours, or all: a choice of SpmvOptions, else 64 warps of them. On a device, a
// block of threads has the rows of a window, since larger ones take apart what one first-level cache serves; but a
// block waits for its longest row, and where a few are far longer than the rest, larger windows put those together.
Index window_of(const Context<Space::host>& ctx, const Pattern<Space::host>& a, const FormatRequest& request) {
  constexpr Index warps_of_window = 64;
  constexpr Offset uneven = 8;  // times the mean
  Offset wanted = Offset{warps_of_window} * request.machine.lanes;
  if (request.options.ell_warp_window > 0) {
    wanted = request.options.ell_warp_window;
  } else if (request.machine.device()) {
    const Offset longest =
        parallel_max(ctx, a.rows, Offset{0}, [&](Index i) { return a.row_begin(i + 1) - a.row_begin(i); });
    if (longest * a.rows <= uneven * a.nnz()) wanted = detail::ell_warp_most_block_threads;
  }
  return static_cast<Index>(std::clamp<Offset>(wanted, 1, std::max(a.rows, Index{1})));
}

// What is decided before the layout is made.
struct Plan {
  Variant variant;
  std::string note;  // what the detail line begins with
  EllWarpRules rules;
  Index window = 0;
  RowSequence sequence;
};

// Plain "ellwarp" is the default variant where that renumbers nothing any more.
Plan make_plan(const Context<Space::host>& ctx, const Pattern<Space::host>& a, const FormatRequest& request,
               detail::PhaseClock& clock) {
  const Index width = request.machine.lanes;
  Plan plan{Variant(request.variant), "", EllWarpRules::of_width(width), window_of(ctx, a, request), {}};
  RowSequence given = detail::given_sequence(ctx, a, plan.rules.longest_warp_row);
  RowSequence sorted = detail::sorted_sequence(ctx, a, given, plan.window);
  const bool comes_sorted = detail::is_natural(ctx, sorted);
  if (request.variant.empty()) {
    plan.variant = Variant(a.rows == a.cols && comes_sorted ? default_variant : "k2");
    if (a.rows != a.cols) plan.note = "k2, since the matrix is not square; ";
    if (a.rows == a.cols && !comes_sorted) plan.note = "k2, since the rows are not in the planned order; ";
  } else if (plan.variant.renumbers && !comes_sorted) {
    plan.note = "rows in their given order, not the planned one; ";
  }
  plan.sequence = std::move(plan.variant.renumbers ? given : sorted);
  clock.end("sort rows");
  if (plan.variant.halves) {
    plan.rules.threshold = request.options.ell_warp_threshold;
    if (plan.rules.threshold <= 0) {
      plan.rules.threshold =
          detail::choose_threshold(detail::count_for_each_threshold(ctx, a, plan.sequence, width),
                                   detail::ThresholdWeights::of(request.machine, a.nnz(), request.value_bytes));
    }
    clock.end("threshold");
  }
  return plan;
}

// The columns' old numbers, which K1r and K2r keep the entries of a row in order of; empty where they came so.
template <Space S>
std::vector<Index> old_columns(const Context<S>& ctx, const RowOrder<S>& order, const Variant& variant, Index cols) {
  if (!variant.renumbers || variant.sorts || order.old_of_new.size() != cols) return {};
  return to_vector(ctx, order.old_of_new.cspan());
}

// The columns, and behind them the zeros that a prefetching host product reads.
template <Space S>
Array<Index, S> columns(const Context<S>& ctx, const EllWarpLayout& layout, bool prefetch) {
  if constexpr (S == Space::host) {
    if (prefetch) {
      Array<Index, S> col(ctx, layout.slots() + detail::prefetch_ahead);
      std::fill(std::copy(layout.col.begin(), layout.col.end(), col.begin()), col.end(), Index{0});
      return col;
    }
  }
  (void)prefetch;
  return make_array(ctx, layout.col.cspan());
}

// Shares of equal slots, eight slots a warp being counted for its other work.
std::vector<Offset> cut_warps(const EllWarpLayout& layout, int threads) {
  const Index width = layout.rules.width;
  const auto work = [&](Offset warp) {
    return layout.slot_begin[layout.shared_warps + warp] - layout.slot_begin[layout.shared_warps] + warp * width;
  };
  const int shares = std::clamp(threads, 1, detail::ell_warp_most_shares);
  const Offset total = work(layout.warps);
  std::vector<Offset> cuts = {0};
  for (int share = 1; share < shares; ++share) {
    const Offset place = total / shares * share + total % shares * share / shares;
    Offset low = cuts.back(), high = layout.warps;
    while (low < high) {
      const Offset middle = low + (high - low) / 2;
      if (work(middle) < place)
        low = middle + 1;
      else
        high = middle;
    }
    cuts.push_back(low);
  }
  cuts.push_back(layout.warps);
  return cuts;
}

// All that info() says but for bytes and seconds.
OperatorInfo describe(const EllWarpLayout& layout, const Plan& plan, Offset nonzeros) {
  const Offset shared_rows = layout.shared_begin.size() - 1, warps = layout.warps + layout.shared_warps;
  const bool halved = !layout.row_begin.empty();
  OperatorInfo info;
  info.name = "ellwarp:" + plan.variant.name();
  info.detail = plan.note + std::to_string(warps) + " warps of " + std::to_string(layout.rules.width);
  if (halved) info.detail += ", rows above " + std::to_string(layout.rules.threshold) + " entries halved";
  if (plan.variant.halves && !halved) info.detail += ", no row halved";
  if (shared_rows > 0) info.detail += ", " + std::to_string(shared_rows) + " rows shared by warps";
  info.rows = layout.rows;
  info.cols = layout.cols;
  info.nonzeros = nonzeros;
  info.stored_slots = layout.slots();
  if (plan.variant.halves) info.figures.emplace_back("threshold", layout.rules.threshold);
  info.figures.emplace_back("longest row", static_cast<double>(layout.longest));
  info.figures.emplace_back("warps", static_cast<double>(warps));
  info.figures.emplace_back("padding", info.padding_ratio());
  info.figures.emplace_back("sort window", plan.window);
  info.figures.emplace_back("shared rows", static_cast<double>(shared_rows));
  return info;
}

template <class V, Space S>
const V* data_or_null(const Array<V, S>& array) {
  return array.empty() ? nullptr : array.data();
}

}  // namespace

template <class T, Space S>
EllWarpOperator<T, S>::EllWarpOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                                       const FormatRequest& request)
    : rows_(a.rows), cols_(a.cols) {
  if (request.machine.lanes != detail::ell_warp_lanes<S>) {
    throw InputError("ELL-WARP needs warps of " + std::to_string(detail::ell_warp_lanes<S>) + ", not " +
                     std::to_string(request.machine.lanes));
  }
  detail::PhaseClock clock;
  const Context<Space::host> host = host_context(ctx);
  prefetch_ = S == Space::host && detail::prefetch_pays(cols_, sizeof(T));
  const detail::HostPattern on_host(ctx, a);
  const Pattern<Space::host>& pattern = on_host.view();
  if (S == Space::device) clock.end("download");

  const Plan plan = make_plan(host, pattern, request, clock);
  const std::vector<Index> old_of_new = old_columns(ctx, order, plan.variant, cols_);
  const EllWarpLayout layout = detail::make_ell_warp_layout(
      host, pattern, plan.sequence, plan.rules, {old_of_new.data(), static_cast<std::int64_t>(old_of_new.size())});
  clock.end("layout");

  first_ = plan.sequence.first;
  count_ = plan.sequence.count;
  shared_warps_ = layout.shared_warps;
  warps_ = layout.warps;
  shared_row_ = make_array(ctx, plan.sequence.shared_row.cspan());
  shared_begin_ = make_array(ctx, layout.shared_begin.cspan());
  slot_begin_ = make_array(ctx, layout.slot_begin.cspan());
  row_begin_ = make_array(ctx, layout.row_begin.cspan());
  reductions_ = make_array(ctx, layout.reductions.cspan());
  row_list_ = make_array(ctx, plan.sequence.row_list.cspan());
  col_ = columns(ctx, layout, prefetch_);
  values_ = detail::SlotValues<T, S>(ctx, a, layout.slot_source.cspan());
  shared_sum_ = Array<T, S>(ctx, shared_warps_);
  if constexpr (S == Space::host) {
    cuts_ = cut_warps(layout, host.threads());
  } else {
    const detail::EllWarpGrid grid = detail::choose_grid(warps_ + shared_row_.size(), request.machine);
    block_threads_ = grid.block_threads;
    dot_partial_ = Array<double, S>(ctx, grid.dot_blocks);
  }
  ctx.synchronize();
  clock.end("upload and fill");
  info_ = describe(layout, plan, a.nnz());
  info_.setup_seconds = clock.seconds();
}

template <class T, Space S>
void EllWarpOperator<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  values_.refresh(ctx, values);
}

template <class T, Space S>
detail::EllWarpView<T> EllWarpOperator<T, S>::view() const {
  detail::EllWarpView<T> view;
  view.val = values_.data();
  view.col = col_.data();
  view.slot_begin = slot_begin_.data();
  view.row_begin = data_or_null(row_begin_);
  view.reductions = data_or_null(reductions_);
  view.row_list = data_or_null(row_list_);
  view.first = first_;
  view.count = count_;
  view.shared_warps = shared_warps_;
  view.warps = warps_;
  view.shared_rows = static_cast<Index>(shared_row_.size());
  view.shared_row = shared_row_.data();
  view.shared_begin = shared_begin_.data();
  view.shared_sum = const_cast<T*>(shared_sum_.data());
  view.dot_partial = const_cast<double*>(dot_partial_.data());
  view.cuts = cuts_.data();
  view.shares = static_cast<int>(cuts_.size()) - 1;
  view.prefetch = prefetch_;
  view.block_threads = block_threads_;
  view.dot_blocks = static_cast<int>(dot_partial_.size());
  return view;
}

template <class T, Space S>
void EllWarpOperator<T, S>::apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const {
  detail::ell_warp_product(ctx, view(), detail::ProductArgs<T>{alpha, x.data, beta, y.data, nullptr});
}

template <class T, Space S>
void EllWarpOperator<T, S>::apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const {
  detail::ell_warp_product(ctx, view(), detail::ProductArgs<T>{T(1), x.data, T(0), y.data, xy});
}

template <class T, Space S>
std::optional<detail::ResidualSums> EllWarpOperator<T, S>::residual(const Context<S>& ctx, Span<const T, S> b,
                                                                    Span<const T, S> x,
                                                                    const detail::ResidualScale& scale,
                                                                    Span<T, S> r) const {
  return detail::ell_warp_residual(ctx, view(), detail::ResidualArgs<T>{b.data, x.data, r.data, scale});
}

template <class T, Space S>
OperatorInfo EllWarpOperator<T, S>::info() const {
  const std::uint64_t shared_bytes = shared_row_.bytes() + shared_begin_.bytes();
  const std::uint64_t warp_bytes = slot_begin_.bytes() + row_begin_.bytes() + reductions_.bytes();
  OperatorInfo info = info_;
  info.bytes = {{"values", values_.value_bytes()},
                {"columns", col_.bytes()},
                {"warps", warp_bytes},
                {"row list", row_list_.bytes()},
                {"shared rows", shared_bytes + shared_sum_.bytes()},
                {"partial sums of x.y", dot_partial_.bytes()},
                {"value map", values_.map_bytes()}};
  info.bytes_per_product = values_.value_bytes() + col_.bytes() + warp_bytes + row_list_.bytes() + shared_bytes +
                           2 * shared_sum_.bytes() +
                           (static_cast<std::uint64_t>(rows_) + static_cast<std::uint64_t>(cols_)) * sizeof(T);
  return info;
}

std::vector<std::string> ell_warp_variants() { return {default_variant, "k1", "k1r", "k1rs", "k2", "k2r"}; }

bool ell_warp_square_only(std::string_view variant) { return Variant(variant).renumbers; }

std::uint64_t ell_warp_bytes(Index rows, Index, Offset nonzeros, std::size_t value_bytes) {
  constexpr std::uint64_t warp_bytes = sizeof(Offset) + sizeof(Index) + 1;
  const auto n = static_cast<std::uint64_t>(rows), nnz = static_cast<std::uint64_t>(nonzeros);
  return nnz * (value_bytes + sizeof(Index) + detail::least_map_bytes(nonzeros)) + (n + 31) / 32 * warp_bytes;
}

CostEstimate ell_warp_cost(const PatternFacts& facts, const FormatRequest& request) {
  // Windows pad this much more than one sort; halving keeps the padding of rows that stand out below the other.
  constexpr double window_padding = 1.01, most_padding = 1.2;
  const double entries = static_cast<double>(facts.nonzeros), rows = facts.rows, cols = facts.cols;
  const double slots = std::min(window_padding * static_cast<double>(facts.sorted_slots(request.machine.lanes)),
                                most_padding * entries + rows);
  const double value_bytes = static_cast<double>(request.value_bytes);
  CostEstimate cost_estimate;
  cost_estimate.product_bytes = slots * (value_bytes + sizeof(Index)) + (rows + cols) * value_bytes +
                                (facts.rows == facts.cols ? 0.0 : rows * sizeof(Index));
  detail::set_fitted(cost_estimate, facts, request.machine, request.value_bytes,
                     &detail::HostProductConstants::ell_warp, &detail::BandwidthShares::ell_warp, slots);
  cost_estimate.upload_bytes = slots * (sizeof(Index) + sizeof(Offset));
  return cost_estimate;
}

RowOrder<Space::host> plan_ell_warp_order(const Context<Space::host>& ctx, const Pattern<Space::host>& pattern,
                                          const FormatRequest& request) {
  if (!Variant(request.variant.empty() ? default_variant : request.variant).renumbers) return {};
  detail::PhaseClock clock;
  const EllWarpRules rules = EllWarpRules::of_width(request.machine.lanes);
  const Index window = window_of(ctx, pattern, request);
  const RowSequence sorted =
      detail::sorted_sequence(ctx, pattern, detail::given_sequence(ctx, pattern, rules.longest_warp_row), window);
  if (detail::is_natural(ctx, sorted)) return {};
  RowOrder<Space::host> order;
  order.old_of_new = Array<Index, Space::host>(ctx, pattern.rows);
  std::copy(sorted.row_list.begin(), sorted.row_list.end(),
            std::copy(sorted.shared_row.begin(), sorted.shared_row.end(), order.old_of_new.begin()));
  order.new_of_old = Array<Index, Space::host>(ctx, pattern.rows);
  parallel_for(ctx, pattern.rows, [&](Index i) { order.new_of_old[order.old_of_new[i]] = i; });
  order.report.method = "rows sorted by length within " + std::to_string(window) + " rows";
  order.report.figures = {{"sort window", window}};
  clock.end("sort rows");
  order.report.seconds = clock.seconds();
  return order;
}

#define X(T, S) template class EllWarpOperator<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
