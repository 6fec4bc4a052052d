// SPDX-License-Identifier: Apache-2.0
// EHYB as an operator: which variant, which arrays, what it is made of.
#include "spmv/ehyb/ehyb.hpp"

#include <algorithm>

#include "core/vectors/column_ops.hpp"
#include "core/vectors/instantiate.hpp"
#include "reorder/host_pattern.hpp"
#include "spmv/ehyb/ehyb_columns.hpp"
#include "spmv/ehyb/ehyb_plan.hpp"
#include "spmv/plan/phase_clock.hpp"

namespace newel {
namespace {

using detail::EhybGeometry;
using detail::EhybShape;
using detail::EhybVariant;

// What is built, and how it came to that.
struct Choice {
  EhybShape shape;
  std::vector<Index> part_begin;
  std::string name;
  std::string remark;
};

template <Space S>
Choice candidate(const FormatRequest& request, const Pattern<S>& a, const std::vector<Index>& planned, bool halo,
                 int block) {
  const Index rows = a.rows;
  Choice choice;
  const EhybGeometry geometry = halo ? detail::halo_geometry(request.machine, rows, request.value_bytes, block)
                                     : detail::paper_geometry(request.machine, rows, request.value_bytes);
  choice.part_begin = detail::ehyb_parts(planned, rows, block, geometry);
  const auto parts = static_cast<Index>(choice.part_begin.empty() ? 0 : choice.part_begin.size() - 1);
  const int share =
      detail::ehyb_share(request.machine, rows / block, a.nnz() / (Offset{block} * block), parts, block);
  choice.shape = {block, halo, geometry.cached_length, request.machine.lanes, share};
  choice.name = !halo ? "ehyb:paper" : block > 1 ? "ehyb:block" : "ehyb:halo";
  return choice;
}

// What a variant other than the paper's is built as.
template <Space S>
Choice cached_candidate(const Context<S>& ctx, const Pattern<S>& a, const std::vector<Index>& planned,
                        const FormatRequest& request, EhybVariant variant) {
  if (variant == EhybVariant::halo) return candidate(request, a, planned, true, 1);
  int block = detail::ehyb_block(ctx, a);
  std::string remark;
  if (block == 1) {
    remark = variant == EhybVariant::block
                 ? "the pattern has no 2 x 2, 3 x 3 or 6 x 6 blocks, so ehyb:block is not used"
                 : "";
  } else if (!detail::bounds_divide_by(planned, block)) {
    remark = "the order cuts through " + std::to_string(block) + " x " + std::to_string(block) + " blocks";
    block = 1;
  }
  Choice choice = candidate(request, a, planned, true, block);
  choice.remark = remark;
  return choice;
}

template <Space S>
struct Built {
  Choice choice;
  detail::EhybLayout<S> layout;
};

Built<Space::host> build_on_host(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                                 const std::vector<Index>& planned, const FormatRequest& request,
                                 EhybVariant variant) {
  const auto layout_of = [&](const Choice& choice) {
    return make_ehyb_layout(ctx, a, choice.part_begin, choice.shape);
  };
  Choice paper = candidate(request, a, planned, false, 1);
  if (variant == EhybVariant::paper) return {paper, layout_of(paper)};
  Choice cached = cached_candidate(ctx, a, planned, request, variant);
  detail::EhybLayout<Space::host> layout = layout_of(cached);
  // An entry outside costs the paper's variant a wide column, a read of x and its share of a second pass over y: more
  // than its share of a halo. So it can only win where the halo leaves a remainder too.
  if (variant == EhybVariant::fewest_bytes && layout.has_remainder() &&
      measure_ehyb(ctx, a, paper.part_begin, paper.shape).product_bytes(request.value_bytes) <
          sizes_of(layout).product_bytes(request.value_bytes)) {
    return {paper, layout_of(paper)};
  }
  return {std::move(cached), std::move(layout)};
}

// Where the device can lay the pattern out, nothing is left for the paper's variant to win by. Where it cannot, the
// layout is the host's, from a copy of the pattern.
template <Space S>
Built<S> build(const Context<S>& ctx, const Pattern<S>& a, const std::vector<Index>& planned,
               const FormatRequest& request, detail::PhaseClock& clock) {
  const EhybVariant variant = detail::ehyb_variant(request.variant);
  if constexpr (S == Space::device) {
    if (variant != EhybVariant::paper && a.rows > 0) {
      Choice cached = cached_candidate(ctx, a, planned, request, variant);
      auto layout = make_ehyb_layout(ctx, a, cached.part_begin, cached.shape);
      clock.end(layout ? "layout" : "inspection");
      if (layout) return {std::move(cached), std::move(*layout)};
    }
  }
  const detail::HostPattern pattern(ctx, a);
  if (S == Space::device) clock.end("download");
  auto [choice, layout] = build_on_host(host_context(ctx), pattern.view(), planned, request, variant);
  clock.end("layout");
  return {std::move(choice), layout_in(ctx, std::move(layout))};
}

// Rows.
Index longest_part(const std::vector<Index>& part_begin) {
  Index longest = 0;
  for (std::size_t p = 1; p < part_begin.size(); ++p) longest = std::max(longest, part_begin[p] - part_begin[p - 1]);
  return longest;
}

template <Space S>
std::string detail_line(const Choice& choice, const detail::EhybLayout<S>& layout) {
  std::string line = std::to_string(layout.part.size()) + " parts";
  if (choice.shape.block > 1) line += ", " + std::to_string(choice.shape.block) + " rows per node";
  if (choice.shape.share > 1) line += ", " + std::to_string(choice.shape.share) + " threads per node";
  line += ", x cached up to " + std::to_string(layout.longest_cache) + " entries per part";
  if (layout.has_remainder()) {
    line += ", " + std::to_string(layout.er_row.size()) + " extra and " + std::to_string(layout.long_rows.size()) +
            " long rows";
  }
  return choice.remark.empty() ? line : line + "; " + choice.remark;
}

}  // namespace

template <class T, Space S>
EhybOperator<T, S>::EhybOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                                 const FormatRequest& request)
    : rows_(a.rows), cols_(a.cols) {
  detail::PhaseClock clock;
  auto [choice, layout] = build(ctx, Pattern<S>(a), order.part_begin, request, clock);
  layout_ = std::move(layout);
  const int block = layout_.shape.block, slice_nodes = layout_.shape.slice_nodes();
  const Index most_slices = (longest_part(choice.part_begin) / block + slice_nodes - 1) / slice_nodes;
  const int block_threads =
      detail::ehyb_block_threads(request.machine, static_cast<Index>(layout_.part.size()), layout_.longest_cache,
                                 most_slices, sizeof(T), detail::ehyb_most_threads(block));
  values_ = {ctx, a, std::move(layout_.run_source), block, layout_.shape.lanes, std::move(layout_.rest_source)};
  scratch_ = {ctx, layout_, S == Space::device};
  view_ = detail::view_of(layout_, values_.data(), values_.data() + layout_.block_slots, block_threads, scratch_);
  detail::prepare_ehyb(ctx, view_);
  view_.kept_share = detail::ehyb_kept_share(request.machine, values_.value_bytes() + layout_.column.bytes());
  ctx.synchronize();
  clock.end("upload and fill");

  info_.name = choice.name;
  info_.detail = detail_line(choice, layout_);
  info_.rows = rows_;
  info_.cols = cols_;
  info_.nonzeros = a.nnz();
  info_.stored_slots = values_.slots();
  info_.cached_share =
      a.nnz() == 0 ? 0.0 : static_cast<double>(layout_.cached_entries) / static_cast<double>(a.nnz());
  info_.bytes_per_product = sizes_of(layout_).product_bytes(sizeof(T));
  info_.figures = {{"parts", static_cast<double>(layout_.part.size())},
                   {"node rows", choice.shape.block},
                   {"halo per row", rows_ == 0 ? 0.0 : double(layout_.halo_node.size()) * choice.shape.block / rows_},
                   {"longest cache", layout_.longest_cache},
                   {"extra rows", static_cast<double>(layout_.er_row.size())},
                   {"long rows", static_cast<double>(layout_.long_rows.size())},
                   {"lanes a node", choice.shape.share},
                   {"threads a part", S == Space::device ? block_threads : 1}};
  info_.setup_seconds = clock.seconds();
}

template <class T, Space S>
void EhybOperator<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  values_.refresh(ctx, values);
}

template <class T, Space S>
void EhybOperator<T, S>::apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const {
  detail::ehyb_product(ctx, view_, detail::ProductArgs<T>{alpha, x.data, beta, y.data, nullptr});
}

template <class T, Space S>
void EhybOperator<T, S>::apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const {
  // The remainder is added by later passes, behind which the dot product is formed.
  if (rows_ == 0 || view_.has_remainder()) {
    return LinearOperator<T, S>::apply_dot(ctx, x, y, xy);
  }
  detail::ehyb_product(ctx, view_, detail::ProductArgs<T>{T(1), x.data, T(0), y.data, xy});
}

template <class T, Space S>
void EhybOperator<T, S>::apply_columns(const Context<S>& ctx, int columns, T alpha, Span<const T, S> x, T beta,
                                       Span<T, S> y, Span<char, S> work) const {
  if (columns == 1) return apply(ctx, alpha, x, beta, y);
  const detail::ColumnProductArgs<T> args{alpha, x.data, beta, y.data, nullptr, work.data};
  detail::ehyb_columns_product(ctx, view_, columns, args);
}

template <class T, Space S>
void EhybOperator<T, S>::apply_dot_columns(const Context<S>& ctx, int columns, Span<const T, S> x, Span<T, S> y,
                                           double* xy, Span<char, S> work) const {
  if (columns == 1) return apply_dot(ctx, x, y, xy);
  const bool apart = rows_ == 0 || view_.has_remainder();
  const detail::ColumnProductArgs<T> args{T(1), x.data, T(0), y.data, apart ? nullptr : xy, work.data};
  detail::ehyb_columns_product(ctx, view_, columns, args);
  if (apart) dot_columns<T, S>(ctx, columns, x, y, xy);
}

template <class T, Space S>
std::uint64_t EhybOperator<T, S>::column_work_bytes(int columns) const {
  return columns == 1 ? 0 : detail::ehyb_column_work(static_cast<const Context<S>*>(nullptr), view_, columns);
}

template <class T, Space S>
std::optional<detail::ResidualSums> EhybOperator<T, S>::residual(const Context<S>& ctx, Span<const T, S> b,
                                                                 Span<const T, S> x,
                                                                 const detail::ResidualScale& scale,
                                                                 Span<T, S> r) const {
  return detail::ehyb_residual(ctx, view_, detail::ResidualArgs<T>{b.data, x.data, r.data, scale});
}

template <class T, Space S>
OperatorInfo EhybOperator<T, S>::info() const {
  OperatorInfo info = info_;
  const detail::EhybLayout<S>& layout = layout_;
  info.bytes = {
      {"values", values_.value_bytes()},
      {"columns", layout.column.bytes() + layout.er_column.bytes() + layout.long_column.bytes()},
      {"parts and slices", layout.part.bytes() + layout.slice_first.bytes() + layout.er_slice_first.bytes()},
      {"halo", layout.halo_node.bytes()},
      {"extra and long rows",
       layout.er_row.bytes() + layout.long_rows.bytes() + layout.long_segment.bytes() + layout.segment_begin.bytes()},
      {"scratch", scratch_.bytes()},
      {"value map", values_.map_bytes()}};
  return info;
}

std::vector<std::string> ehyb_variants() { return {"paper", "halo", "block"}; }

bool ehyb_square_only(std::string_view) { return true; }

std::uint64_t ehyb_bytes(Index rows, Index, Offset nonzeros, std::size_t value_bytes) {
  const auto slots = static_cast<std::uint64_t>(nonzeros) * 11 / 10;
  return slots * (value_bytes + sizeof(std::uint16_t) + detail::least_map_bytes(nonzeros)) +
         static_cast<std::uint64_t>(rows) * 2;
}

#define X(T, S) template class EhybOperator<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
