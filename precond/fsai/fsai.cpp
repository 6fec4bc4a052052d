// SPDX-License-Identifier: Apache-2.0
// FSAI in both spaces: pattern, numbers, and the two products.
#include "precond/fsai/fsai.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include <newel/spmv/registry.hpp>
#include "core/vectors/column_ops.hpp"
#include "core/vectors/instantiate.hpp"
#include "precond/fsai/fsai_symbolic.hpp"
#include "precond/renumbered.hpp"
#include "precond/require_symmetry.hpp"
#include "spmv/plan/phase_clock.hpp"

namespace newel {

std::uint64_t detail::estimate_fsai_bytes(const PrecondOptions& options, const SpmvFormat& format, Index rows,
                                          Offset nonzeros, std::size_t value_bytes) {
  const auto half_of = [&](Offset entries) { return (entries + rows) / 2; };  // with all of a full diagonal
  const PatternOptions& shape = options.of<PatternOptions>();
  Offset entries = shape.drop > 0 ? rows : half_of(nonzeros);
  if (shape.pattern != nullptr) entries = half_of(static_cast<Offset>(shape.pattern->col.size()));
  const auto n = static_cast<std::uint64_t>(rows), g = static_cast<std::uint64_t>(entries);
  const bool own_pattern = options.of<FsaiOptions>().power > 1 || shape.drop > 0 || shape.pattern != nullptr;
  return 2 * format.estimate_bytes(rows, rows, entries, value_bytes) + g * (value_bytes + sizeof(std::uint32_t)) +
         static_cast<std::uint64_t>(half_of(nonzeros)) * (sizeof(Index) + value_bytes + sizeof(std::uint32_t)) +
         (n + 1) * sizeof(Offset) + n * value_bytes +
         (own_pattern ? g * sizeof(Index) + (n + 1) * sizeof(Offset) : 0);
}

namespace {

constexpr Offset most_entries = 4096;  // of a row: a triangle of 64 MiB and some seconds of arithmetic

template <Space S>
void require_short_rows(const Context<S>& ctx, const detail::FsaiSymbolic<S>& symbolic, const RowOrder<S>& order) {
  if (symbolic.longest <= most_entries) return;
  const std::vector<Index> user_row = to_vector(ctx, order.old_of_new.cspan());
  const Index row = symbolic.longest_row;
  throw InputError(
      LocatedText("row ")
          .at(user_row.empty() ? row : user_row[row])
          .counted()
          .add(" of FSAI's factor would have " + std::to_string(symbolic.longest) + " entries, more than " +
               std::to_string(most_entries) +
               ", and a dense system of that size to solve: drop small entries, use a lower power, or another "
               "preconditioner"));
}

}  // namespace

template <class T, Space S>
FsaiOperator<T, S>::FsaiOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                                 const PrecondOptions& options, const SpmvOptions& spmv_options,
                                 const Pattern<S>* whole)
    : rows_(a.rows), a_nonzeros_(a.nnz()), uneven_(whole != nullptr && options.format.empty()) {
  detail::PhaseClock clock;
  if (a.rows != a.cols) throw InputError("FSAI needs a square matrix");
  if (!options.of<FsaiOptions>().symmetric_product) detail::require_symmetry(ctx, a, order);
  clock.end("symmetry");
  detail::FsaiSymbolic<S> symbolic = detail::make_fsai_symbolic(ctx, a, order, options, whole);
  require_short_rows(ctx, symbolic, order);
  ctx.synchronize();
  clock.end("pattern");

  a_source_ = make_value_map(ctx, symbolic.a_source.cspan(), a.nnz(), a.value_map);
  const ValueMap<S> in_view = make_value_map(ctx, symbolic.a_source.cspan(), a.nnz());
  a_val_ = Array<T, S>(ctx, symbolic.a_source.size());
  gather<T, S>(ctx, a.val, in_view, a_val_.span());
  symbolic.a_source = {};
  place(ctx, symbolic, order);
  ctx.synchronize();
  clock.end("values");
  compute(ctx);
  clock.end("numeric");
  make_products(ctx, symbolic, order, product_options(precond_spmv(options, spmv_options)));
  between_ = Array<T, S>(ctx, rows_);
  ctx.synchronize();
  clock.end("formats");

  info_.name = "fsai";
  const bool given = whole != nullptr || options.of<PatternOptions>().pattern != nullptr;
  info_.detail = given ? "on the pattern given" : "power " + std::to_string(options.of<FsaiOptions>().power);
  const double entries = 2 * static_cast<double>(g_val_.size()) - static_cast<double>(rows_);
  info_.figures = {{"density", a_nonzeros_ == 0 ? 0.0 : entries / static_cast<double>(a_nonzeros_)},
                   {"largest local problem", static_cast<double>(symbolic.longest)},
                   {local_operations, symbolic.operations}};
  info_.setup_seconds = clock.seconds();
}

template <class T, Space S>
FsaiOperator<T, S>::~FsaiOperator() = default;

// Patterns, classes and scratch stay where the numeric phase works, G's transpose until its format is made.
template <class T, Space S>
void FsaiOperator<T, S>::place(const Context<S>& ctx, detail::FsaiSymbolic<S>& symbolic, const RowOrder<S>& order) {
  const detail::FsaiScratch scratch =
      detail::fsai_scratch(machine_of(ctx), symbolic.by_size.classes, symbolic.longest);
  a_row_ptr_ = std::move(symbolic.a_row_ptr);
  a_col_ = std::move(symbolic.a_col);
  const bool g_is_lower = symbolic.g_is_lower();
  g_row_ptr_ = std::move(symbolic.g_row_ptr);
  g_col_ = std::move(symbolic.g_col);
  g_val_ = Array<T, S>(ctx, symbolic.g_nonzeros());
  if (!order.natural()) user_row_ = make_array(ctx, order.old_of_new.cspan());
  pieces_ = std::move(symbolic.by_size.pieces);
  classes_ = std::move(symbolic.by_size.classes);
  scratch_ = Array<double, S>(ctx, scratch.groups * scratch.length);
  verdict_ = Array<detail::FsaiVerdict, S>(ctx, 1);

  view_.rows = rows_;
  view_.a_row_ptr = a_row_ptr_.data();
  view_.a_col = a_col_.data();
  view_.a_val = a_val_.data();
  view_.g_row_ptr = g_is_lower ? a_row_ptr_.data() : g_row_ptr_.data();
  view_.g_col = g_is_lower ? a_col_.data() : g_col_.data();
  view_.g_val = g_val_.data();
  view_.user_row = user_row_.data();
  view_.pieces = pieces_.data();
  view_.piece_count = static_cast<Index>(pieces_.size());
  view_.scratch = scratch_.data();
  view_.scratch_length = scratch.length;
  view_.scratch_groups = scratch.groups;
  view_.verdict = verdict_.data();
}

template <class T, Space S>
SpmvOptions FsaiOperator<T, S>::product_options(SpmvOptions options) const {
  if (uneven_) options.format = "csr";
  return options;
}

template <class T, Space S>
void FsaiOperator<T, S>::make_products(const Context<S>& ctx, const detail::FsaiSymbolic<S>& symbolic,
                                       const RowOrder<S>& order, const SpmvOptions& options) {
  const Offset entries = g_val_.size();
  g_ = make_spmv(ctx, factor(), order, options);
  // G^T takes its values from G's, in one gather.
  const ValueMap<S> from_g = make_value_map(ctx, symbolic.t_source.cspan(), entries);
  Array<T, S> val(ctx, entries);
  gather<T, S>(ctx, g_val_.cspan(), from_g, val.span());
  CsrView<T, S> transposed(rows_, rows_, symbolic.t_row_ptr.cspan(), symbolic.t_col.cspan(), val.cspan());
  transposed.value_map = &from_g;
  gt_ = make_spmv(ctx, transposed, order, options);
}

// From a_val_ to g_val_.
template <class T, Space S>
void FsaiOperator<T, S>::compute(const Context<S>& ctx) {
  detail::fsai_numeric(ctx, view_, classes_);
  const detail::FsaiVerdict verdict = fetch(ctx, verdict_.cspan().data);
  if (verdict.count == 0) return;
  throw NotPositiveDefinite(static_cast<std::int64_t>(verdict.first), static_cast<std::int64_t>(verdict.count));
}

template <class T, Space S>
void FsaiOperator<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  gather<T, S>(ctx, values, a_source_, a_val_.span());
  slots_written(ctx);
}

template <class T, Space S>
Slots<T, S> FsaiOperator<T, S>::slots(const Context<S>& ctx) {
  return {a_val_.span(), positions_of(ctx, a_source_, a_val_.size())};
}

template <class T, Space S>
OperatorPtr<T, S> FsaiOperator<T, S>::renumbered(const Context<S>& ctx, const RowOrder<S>& order,
                                                 const SpmvOptions& options) {
  if (user_row_.size() > 0) return nullptr;
  OperatorPtr<T, S> g_made = detail::renumbered_matrix(ctx, *g_, order, product_options(options));
  OperatorPtr<T, S> gt_made = detail::renumbered_matrix(ctx, *gt_, order, product_options(options));
  if (g_made == nullptr || gt_made == nullptr) return nullptr;
  std::unique_ptr<FsaiOperator> moved(new FsaiOperator(std::move(*this)));
  moved->g_ = std::move(g_made);
  moved->gt_ = std::move(gt_made);
  return moved;
}

template <class T, Space S>
void FsaiOperator<T, S>::slots_written(const Context<S>& ctx) {
  compute(ctx);
  g_->refresh(ctx, g_val_.cspan());
  gt_->refresh(ctx, g_val_.cspan());
}

template <class T, Space S>
void FsaiOperator<T, S>::apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const {
  g_->apply(ctx, T(1), x, T(0), between_.span());
  gt_->apply(ctx, alpha, between_.cspan(), beta, y);
}

template <class T, Space S>
void FsaiOperator<T, S>::apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const {
  apply(ctx, T(1), x, T(0), y);
  dot<T, S>(ctx, between_.cspan(), between_.cspan(), xy);
}

// G X of several columns stands in front of the work of the two products.
template <class T, Space S>
std::uint64_t FsaiOperator<T, S>::between_bytes(int columns) const {
  constexpr std::uint64_t alignment = 256;
  const std::uint64_t bytes = sizeof(T) * static_cast<std::uint64_t>(rows_) * static_cast<std::uint64_t>(columns);
  return (bytes + alignment - 1) / alignment * alignment;
}

template <class T, Space S>
std::uint64_t FsaiOperator<T, S>::column_work_bytes(int columns) const {
  return between_bytes(columns) + std::max(g_->column_work_bytes(columns), gt_->column_work_bytes(columns));
}

template <class T, Space S>
void FsaiOperator<T, S>::apply_columns(const Context<S>& ctx, int columns, T alpha, Span<const T, S> x, T beta,
                                       Span<T, S> y, Span<char, S> work) const {
  const Span<T, S> between(reinterpret_cast<T*>(work.data), x.size);
  const auto used = static_cast<std::int64_t>(between_bytes(columns));
  const Span<char, S> rest = work.subspan(used, work.size - used);
  g_->apply_columns(ctx, columns, T(1), x, T(0), between, rest);
  gt_->apply_columns(ctx, columns, alpha, Span<const T, S>(between), beta, y, rest);
}

template <class T, Space S>
void FsaiOperator<T, S>::apply_dot_columns(const Context<S>& ctx, int columns, Span<const T, S> x, Span<T, S> y,
                                           double* xy, Span<char, S> work) const {
  apply_columns(ctx, columns, T(1), x, T(0), y, work);
  const Span<const T, S> between(reinterpret_cast<T*>(work.data), x.size);
  dot_columns<T, S>(ctx, columns, between, between, xy);
}

template <class T, Space S>
OperatorInfo FsaiOperator<T, S>::info() const {
  OperatorInfo info = info_;
  const OperatorInfo g = g_->info(), gt = gt_->info();
  info.rows = info.cols = rows_;
  info.detail = "G as " + g.name + ", " + info_.detail;
  info.nonzeros = g.nonzeros + gt.nonzeros;
  info.stored_slots = g.stored_slots + gt.stored_slots;
  info.bytes_per_product = g.bytes_per_product + gt.bytes_per_product;
  info.bytes = {{"G", g.total_bytes()},
                {"G^T", gt.total_bytes()},
                {"intermediate vector", between_.bytes()},
                {"values of G", g_val_.bytes()},
                {"pattern of G", g_row_ptr_.bytes() + g_col_.bytes()},
                {"lower triangle of A", a_row_ptr_.bytes() + a_col_.bytes() + a_val_.bytes()},
                {"value map", a_source_.bytes() + user_row_.bytes()},
                {"local problems", pieces_.bytes() + scratch_.bytes() + verdict_.bytes()}};
  return info;
}

#define X(T, S) template class FsaiOperator<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
