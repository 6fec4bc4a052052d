// SPDX-License-Identifier: Apache-2.0
// BCE in both spaces: from the pattern to the arrays, and what they weigh.
#include "spmv/bce/bce.hpp"

#include <algorithm>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "reorder/host_pattern.hpp"
#include "spmv/bce/bce_columns.hpp"
#include "spmv/cost/product_constants.hpp"
#include "spmv/plan/phase_clock.hpp"
#include "spmv/plan/slot_sum_host.hpp"

namespace newel {
namespace {

// One line for people, and what a reader of the report may ask for.
void describe(const BceLayout& layout, const BceShape& shape, OperatorInfo& info) {
  const auto& pieces = layout.pieces;
  Index long_rows = static_cast<Index>(pieces.joined_row.size());
  for (const Index row : pieces.piece_row) long_rows += row >= 0 ? 1 : 0;
  info.detail = std::to_string(layout.bounds.size()) + " sets of widths in " + std::to_string(layout.blocks()) +
                " blocks, " + std::to_string(long_rows) + " long rows";
  info.stored_slots = layout.slots();
  info.figures = {{"sets", static_cast<double>(layout.bounds.size())},
                  {"blocks", static_cast<double>(layout.blocks())},
                  {"rows a block", static_cast<double>(shape.block_rows)},
                  {"lower limit of rows", static_cast<double>(shape.least_rows)},
                  {"widest blocked row", static_cast<double>(shape.widest)},
                  {"slots of a piece", static_cast<double>(shape.piece_slots)},
                  {"long rows", static_cast<double>(long_rows)},
                  {"pieces of long rows", static_cast<double>(pieces.piece_row.size())}};
}

}  // namespace

template <class T, Space S>
BceOperator<T, S>::BceOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>&,
                               const FormatRequest& request)
    : rows_(a.rows), cols_(a.cols) {
  detail::PhaseClock clock;
  const Context<Space::host> host = host_context(ctx);
  const detail::HostPattern pattern(ctx, a);
  if constexpr (S == Space::device) clock.end("download");
  const BceShape shape = bce_shape(request.machine, row_lengths(pattern.view()), sizeof(T));
  const WidthDistribution f = width_distribution(host, pattern.view(), shape.widest);
  clock.end("distribution");
  std::vector<Index> bounds = optimal_bounds(f, shape.least_rows);
  clock.end("partition");
  BceLayout layout = make_bce_layout(host, pattern.view(), shape, std::move(bounds));
  clock.end("layout");

  info_.name = "bce";
  info_.rows = rows_;
  info_.cols = cols_;
  info_.nonzeros = a.nnz();
  describe(layout, shape, info_);
  val_ = detail::SlotValues<T, S>(ctx, a, layout.slot_source.cspan());
  make_view(ctx, layout, shape, request.machine);
  ctx.synchronize();
  clock.end("upload and fill");
  info_.setup_seconds = clock.seconds();
}

template <class T, Space S>
void BceOperator<T, S>::make_view(const Context<S>& ctx, const BceLayout& layout, const BceShape& shape,
                                  const Machine& machine) {
  row_no_ = make_array(ctx, layout.row_no.cspan());
  block_row_ = make_array(ctx, layout.block_row.cspan());
  block_width_ = make_array(ctx, layout.block_width.cspan());
  block_slot_ = make_array(ctx, layout.block_slot.cspan());
  piece_slot_ = make_array(ctx, layout.pieces.piece_slot);
  piece_row_ = make_array(ctx, layout.pieces.piece_row);
  joined_row_ = make_array(ctx, layout.pieces.joined_row);
  joined_first_ = make_array(ctx, layout.pieces.joined_first);
  piece_sums_ = Array<T, S>(ctx, joined_row_.empty() ? 0 : piece_row_.size());
  col_ = make_array(ctx, layout.col.cspan());

  view_.rows = rows_;
  view_.blocks = layout.blocks();
  view_.row_no = row_no_.data();
  view_.block_row = block_row_.data();
  view_.block_width = block_width_.data();
  view_.block_slot = block_slot_.data();
  view_.pieces = static_cast<Index>(piece_row_.size());
  view_.piece_slot = piece_slot_.data();
  view_.piece_row = piece_row_.data();
  const Offset blocked = layout.block_slot[layout.blocks()];
  view_.piece_val = val_.data() + blocked;
  view_.piece_col = col_.data() + blocked;
  view_.join = {static_cast<Index>(joined_row_.size()), joined_row_.data(), joined_first_.data(), piece_sums_.data()};
  view_.whole_pieces = layout.pieces.joined_first.front();
  view_.val = val_.data();
  view_.col = col_.data();
  if constexpr (S == Space::device) {
    view_.grid = bce_grid(layout, shape, machine);
    view_.batch = shape.batch;
    partial_ = Array<double, S>(ctx, std::int64_t{view_.grid.blocks} + view_.join.rows);
    view_.partial = partial_.data();
  } else {
    view_.shares = std::clamp(ctx.threads(), 1, detail::most_host_shares);
  }
}

template <class T, Space S>
void BceOperator<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  val_.refresh(ctx, values);
}

template <class T, Space S>
void BceOperator<T, S>::apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const {
  detail::bce_product(ctx, view_, detail::ProductArgs<T>{alpha, x.data, beta, y.data, nullptr});
}

template <class T, Space S>
void BceOperator<T, S>::apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const {
  if (rows_ == 0) return fill<double, S>(ctx, 0.0, Span<double, S>(xy, 1));
  detail::bce_product(ctx, view_, detail::ProductArgs<T>{T(1), x.data, T(0), y.data, xy});
}

template <class T, Space S>
void BceOperator<T, S>::apply_columns(const Context<S>& ctx, int columns, T alpha, Span<const T, S> x, T beta,
                                      Span<T, S> y, Span<char, S> work) const {
  if constexpr (S == Space::host) {
    if (columns > 1) {
      return detail::bce_columns_product<T>(ctx, view_, columns, {alpha, x.data, beta, y.data, nullptr, work.data});
    }
  }
  LinearOperator<T, S>::apply_columns(ctx, columns, alpha, x, beta, y, work);
}

template <class T, Space S>
void BceOperator<T, S>::apply_dot_columns(const Context<S>& ctx, int columns, Span<const T, S> x, Span<T, S> y,
                                          double* xy, Span<char, S> work) const {
  if constexpr (S == Space::host) {
    if (columns > 1) {
      return detail::bce_columns_product<T>(ctx, view_, columns, {T(1), x.data, T(0), y.data, xy, work.data});
    }
  }
  LinearOperator<T, S>::apply_dot_columns(ctx, columns, x, y, xy, work);
}

template <class T, Space S>
std::uint64_t BceOperator<T, S>::column_work_bytes(int columns) const {
  if (S == Space::device || columns == 1) return LinearOperator<T, S>::column_work_bytes(columns);
  return static_cast<std::uint64_t>(columns) * piece_sums_.bytes();
}

template <class T, Space S>
std::optional<detail::ResidualSums> BceOperator<T, S>::residual(const Context<S>& ctx, Span<const T, S> b,
                                                                Span<const T, S> x,
                                                                const detail::ResidualScale& scale,
                                                                Span<T, S> r) const {
  return detail::bce_residual(ctx, view_, detail::ResidualArgs<T>{b.data, x.data, r.data, scale});
}

template <class T, Space S>
OperatorInfo BceOperator<T, S>::info() const {
  OperatorInfo info = info_;
  const std::size_t blocks = block_row_.bytes() + block_width_.bytes() + block_slot_.bytes();
  const std::size_t pieces = piece_slot_.bytes() + piece_row_.bytes() + joined_row_.bytes() + joined_first_.bytes();
  info.bytes = {{"values", val_.value_bytes()},
                {"columns", col_.bytes()},
                {"row numbers", row_no_.bytes()},
                {"blocks", blocks},
                {"pieces of long rows", pieces + piece_sums_.bytes()},
                {"sums of x.y", partial_.bytes()},
                {"value map", val_.map_bytes()}};
  info.bytes_per_product = val_.value_bytes() + col_.bytes() + row_no_.bytes() + blocks + pieces +
                           2 * piece_sums_.bytes() +
                           (static_cast<std::uint64_t>(rows_) + static_cast<std::uint64_t>(cols_)) * sizeof(T);
  return info;
}

std::uint64_t bce_bytes(Index rows, Index, Offset nonzeros, std::size_t value_bytes) {
  return static_cast<std::uint64_t>(nonzeros) * (value_bytes + sizeof(Index) + detail::least_map_bytes(nonzeros)) +
         static_cast<std::uint64_t>(rows) * sizeof(Index);
}

CostEstimate bce_cost(const PatternFacts& facts, const FormatRequest& request) {
  const BceShape shape = bce_shape(request.machine, facts.lengths, request.value_bytes);
  WidthDistribution f;
  Offset slots = 0;
  for (const auto& [width, rows] : facts.lengths) {
    if (width > shape.widest) {
      slots += Offset{width} * rows;
    } else if (width > 0) {
      f.width.push_back(width);
      f.rows.push_back(rows);
    }
  }
  slots += partition_cost(f, optimal_bounds(f, shape.least_rows), 0);
  const double T = static_cast<double>(request.value_bytes), rows = facts.rows, stored = static_cast<double>(slots);
  CostEstimate cost_estimate;
  cost_estimate.product_bytes = stored * (T + sizeof(Index)) + rows * (sizeof(Index) + T) + facts.cols * T;
  detail::set_fitted(cost_estimate, facts, request.machine, request.value_bytes, &detail::HostProductConstants::bce,
                     &detail::BandwidthShares::bce, stored);
  cost_estimate.upload_bytes = stored * (2 * sizeof(Index) + sizeof(Offset));
  cost_estimate.launches = facts.longest_row > std::max<Offset>(shape.widest, shape.piece_slots) ? 2 : 1;
  return cost_estimate;
}

#define X(T, S) template class BceOperator<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
