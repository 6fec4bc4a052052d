// SPDX-License-Identifier: Apache-2.0
// EVC-HYB in both spaces: from the pattern to the arrays, how the host shares them out, and what they weigh.
#include "spmv/evc_hyb/evc_hyb.hpp"

#include <algorithm>

#include <newel/core/parallel.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "reorder/host_pattern.hpp"
#include "spmv/cost/product_constants.hpp"
#include "spmv/plan/phase_clock.hpp"
#include "spmv/plan/slot_sum_host.hpp"

namespace newel {
namespace {

// One line for people, and what the model of section 3.2 and Table 3 need.
void describe(const EvcHybLayout& layout, const EvcHybShape& shape, OperatorInfo& info) {
  const auto ratio = [](double a, double b) { return b == 0 ? 1.0 : a / b; };
  info.stored_slots = layout.slots();
  info.detail = std::to_string(layout.split) + " rows as ELL of " + std::to_string(layout.ell_ranges) + " lengths, " +
                std::to_string(layout.rows - layout.split) + " as CSR, " +
                std::to_string(layout.pieces.joined_row.size()) + " of them in several pieces";
  const double nonzeros = static_cast<double>(info.nonzeros), slots = static_cast<double>(layout.slots());
  info.figures = {{"LCmax", static_cast<double>(shape.longest_ell)},
                  {"Isplit", static_cast<double>(layout.split)},
                  {"slots of ELL", static_cast<double>(layout.ell_slots())},
                  {"slots of CSR", static_cast<double>(layout.csr_slots())},
                  {"beta", ratio(nonzeros, slots)},
                  {"entries a row", ratio(nonzeros, static_cast<double>(info.rows))},
                  {"ranges", static_cast<double>(layout.ranges())},
                  {"rows in pieces", static_cast<double>(layout.pieces.joined_row.size())}};
}

bool renumbers(std::string_view variant) { return variant == "renumbered"; }

}  // namespace

template <class T, Space S>
EvcHybOperator<T, S>::EvcHybOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>&,
                                     const FormatRequest& request)
    : rows_(a.rows), cols_(a.cols) {
  detail::PhaseClock clock;
  const Context<Space::host> host = host_context(ctx);
  const detail::HostPattern pattern(ctx, a);
  if constexpr (S == Space::device) clock.end("download");
  const EvcHybShape shape = evc_hyb_shape(request.machine, row_lengths(pattern.view()), sizeof(T));
  const EvcHybLayout layout = make_evc_hyb_layout(host, pattern.view(), shape, renumbers(request.variant));
  clock.end("layout");

  const bool listed = !renumbers(request.variant) || !layout.row_list.empty();
  info_.name = listed ? "evchyb:listed" : "evchyb:renumbered";
  info_.rows = rows_;
  info_.cols = cols_;
  info_.nonzeros = a.nnz();
  describe(layout, shape, info_);
  val_ = detail::SlotValues<T, S>(ctx, a, layout.slot_source.cspan());
  make_view(ctx, layout);
  ctx.synchronize();
  clock.end("upload and fill");
  info_.setup_seconds = clock.seconds();
}

template <class T, Space S>
void EvcHybOperator<T, S>::make_view(const Context<S>& ctx, const EvcHybLayout& layout) {
  row_list_ = make_array(ctx, layout.row_list.cspan());
  range_ = make_array(ctx, layout.range.cspan());
  csr_slot_ = make_array(ctx, layout.csr_slot.cspan());
  piece_slot_ = make_array(ctx, layout.pieces.piece_slot);
  joined_row_ = make_array(ctx, layout.pieces.joined_row);
  joined_first_ = make_array(ctx, layout.pieces.joined_first);
  piece_sums_ = Array<T, S>(ctx, piece_slot_.size() - 1);
  col_ = make_array(ctx, layout.col.cspan());

  view_.rows = rows_;
  view_.row_list = row_list_.empty() ? nullptr : row_list_.data();
  view_.split = layout.split;
  view_.ell_ranges = layout.ell_ranges;
  view_.ranges = layout.ranges();
  view_.range = range_.data();
  view_.csr_rows = layout.csr_rows();
  view_.csr_slot = csr_slot_.data();
  view_.pieces = static_cast<Index>(piece_sums_.size());
  view_.piece_slot = piece_slot_.data();
  view_.join = {static_cast<Index>(joined_row_.size()), joined_row_.data(), joined_first_.data(), piece_sums_.data()};
  view_.val = val_.data();
  view_.col = col_.data();
  const Offset before_pieces = layout.csr_slot[layout.csr_rows()];
  view_.piece_val = val_.data() + before_pieces;
  view_.piece_col = col_.data() + before_pieces;
  view_.range_blocks = static_cast<unsigned>(layout.range[layout.ranges()].first_block);
  if constexpr (S == Space::device) {
    partial_ = Array<double, S>(ctx, std::int64_t{view_.range_blocks} + view_.pieces + view_.join.rows);
    view_.partial = partial_.data();
  } else {
    view_.shares = std::clamp(ctx.threads(), 1, detail::most_host_shares);
  }
}

template <class T, Space S>
void EvcHybOperator<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  val_.refresh(ctx, values);
}

template <class T, Space S>
void EvcHybOperator<T, S>::apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const {
  detail::evc_hyb_product(ctx, view_, detail::ProductArgs<T>{alpha, x.data, beta, y.data, nullptr});
}

template <class T, Space S>
void EvcHybOperator<T, S>::apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const {
  if (rows_ == 0) return fill<double, S>(ctx, 0.0, Span<double, S>(xy, 1));
  detail::evc_hyb_product(ctx, view_, detail::ProductArgs<T>{T(1), x.data, T(0), y.data, xy});
}

template <class T, Space S>
std::optional<detail::ResidualSums> EvcHybOperator<T, S>::residual(const Context<S>& ctx, Span<const T, S> b,
                                                                   Span<const T, S> x,
                                                                   const detail::ResidualScale& scale,
                                                                   Span<T, S> r) const {
  return detail::evc_hyb_residual(ctx, view_, detail::ResidualArgs<T>{b.data, x.data, r.data, scale});
}

template <class T, Space S>
OperatorInfo EvcHybOperator<T, S>::info() const {
  OperatorInfo info = info_;
  const std::size_t pieces = piece_slot_.bytes() + joined_row_.bytes() + joined_first_.bytes();
  info.bytes = {{"values", val_.value_bytes()},      {"columns", col_.bytes()},
                {"row list", row_list_.bytes()},     {"ranges", range_.bytes()},
                {"row pointers", csr_slot_.bytes()}, {"pieces of long rows", pieces + piece_sums_.bytes()},
                {"sums of x.y", partial_.bytes()},   {"value map", val_.map_bytes()}};
  info.bytes_per_product = val_.value_bytes() + col_.bytes() + row_list_.bytes() + range_.bytes() +
                           csr_slot_.bytes() + pieces + 2 * piece_sums_.bytes() +
                           (static_cast<std::uint64_t>(rows_) + static_cast<std::uint64_t>(cols_)) * sizeof(T);
  return info;
}

std::vector<std::string> evc_hyb_variants() { return {"listed", "renumbered"}; }

bool evc_hyb_square_only(std::string_view variant) { return renumbers(variant); }

RowOrder<Space::host> plan_evc_hyb_order(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                                         const FormatRequest& request) {
  RowOrder<Space::host> order;
  if (!renumbers(request.variant)) return order;
  detail::PhaseClock clock;
  order.old_of_new = rows_by_length(ctx, a);
  order.new_of_old = Array<Index, Space::host>(ctx, a.rows);
  parallel_for(ctx, a.rows, [&](Index i) { order.new_of_old[order.old_of_new[i]] = i; });
  clock.end("sort rows");
  order.report.method = "rows by ascending length, then by first column";
  order.report.seconds = clock.seconds();
  return order;
}

std::uint64_t evc_hyb_bytes(Index rows, Index, Offset nonzeros, std::size_t value_bytes) {
  return static_cast<std::uint64_t>(nonzeros) * (value_bytes + sizeof(Index) + detail::least_map_bytes(nonzeros)) +
         static_cast<std::uint64_t>(rows) * sizeof(Index);
}

CostEstimate evc_hyb_cost(const PatternFacts& facts, const FormatRequest& request) {
  const EvcHybShape shape = evc_hyb_shape(request.machine, facts.lengths, request.value_bytes);
  const auto in_csr = [&](Offset length) { return (length + shape.warp - 1) / shape.warp * shape.warp; };
  Offset slots = 0, short_rows = 0, placed = 0, longest_short = 0;
  for (const auto& [length, rows] : facts.lengths) {
    if (length > shape.longest_ell) {
      slots += in_csr(length) * rows;
      continue;
    }
    longest_short = length;
    short_rows += rows;
    const Offset end = short_rows / shape.warp * shape.warp;
    slots += (end - placed) * length;
    placed = end;
  }
  slots += (short_rows - placed) * in_csr(longest_short);
  const double T = static_cast<double>(request.value_bytes), rows = facts.rows, stored = static_cast<double>(slots);
  const double list_bytes = renumbers(request.variant) ? 0 : sizeof(Index);
  CostEstimate cost_estimate;
  cost_estimate.product_bytes = stored * (T + sizeof(Index)) + rows * (list_bytes + T) + facts.cols * T;
  detail::set_fitted(cost_estimate, facts, request.machine, request.value_bytes,
                     &detail::HostProductConstants::evc_hyb, &detail::BandwidthShares::evc_hyb, stored);
  cost_estimate.upload_bytes = stored * (2 * sizeof(Index) + sizeof(Offset));
  cost_estimate.launches = facts.longest_row > shape.reach ? 2 : 1;
  return cost_estimate;
}

#define X(T, S) template class EvcHybOperator<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
