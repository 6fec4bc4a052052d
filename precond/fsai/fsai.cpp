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
#include "core/vectors/instantiate.hpp"
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

// G from the lower triangle that has been written.
template <class T, Space S>
void compute(const Context<S>& ctx, detail::FsaiFactor<T, S>& factor) {
  const detail::FsaiVerdict verdict = factor.compute(ctx);
  if (verdict.count == 0) return;
  throw NotPositiveDefinite(static_cast<std::int64_t>(verdict.first), static_cast<std::int64_t>(verdict.count));
}

// G^T, which takes its values from G's, in one gather.
template <class T, Space S>
OperatorPtr<T, S> transpose_of(const Context<S>& ctx, const CsrView<T, S>& g, const detail::FsaiSymbolic<S>& symbolic,
                               const RowOrder<S>& order, const SpmvOptions& options) {
  const ValueMap<S> from_g = make_value_map(ctx, symbolic.t_source.cspan(), g.nnz());
  Array<T, S> val(ctx, g.nnz());
  gather<T, S>(ctx, g.val, from_g, val.span());
  CsrView<T, S> transposed(g.rows, g.rows, symbolic.t_row_ptr.cspan(), symbolic.t_col.cspan(), val.cspan());
  transposed.value_map = &from_g;
  return make_spmv(ctx, transposed, order, options);
}

}  // namespace

template <class T, Space S>
FsaiOperator<T, S>::FsaiOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                                 const PrecondOptions& options, const SpmvOptions& spmv_options,
                                 const Pattern<S>* whole)
    : uneven_(whole != nullptr && options.format.empty()) {
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
  symbolic.a_source = {};
  Array<Index, S> user_row;
  if (!order.natural()) user_row = make_array(ctx, order.old_of_new.cspan());
  factor_ = detail::FsaiFactor<T, S>(ctx, symbolic, std::move(user_row));
  gather<T, S>(ctx, a.val, in_view, factor_.triangle());
  ctx.synchronize();
  clock.end("values");
  compute(ctx, factor_);
  clock.end("numeric");
  const SpmvOptions of_products = product_options(precond_spmv(options, spmv_options));
  g_ = make_spmv(ctx, factor(), order, of_products);
  gt_ = transpose_of(ctx, factor(), symbolic, order, of_products);
  between_ = Array<T, S>(ctx, a.rows);
  ctx.synchronize();
  clock.end("formats");

  info_.name = "fsai";
  const bool given = whole != nullptr || options.of<PatternOptions>().pattern != nullptr;
  info_.detail = given ? "on the pattern given" : "power " + std::to_string(options.of<FsaiOptions>().power);
  const double entries = 2 * static_cast<double>(factor().nnz()) - static_cast<double>(a.rows);
  info_.figures = {{"density", a.nnz() == 0 ? 0.0 : entries / static_cast<double>(a.nnz())},
                   {"largest local problem", static_cast<double>(symbolic.longest)},
                   {local_operations, symbolic.operations}};
  info_.setup_seconds = clock.seconds();
}

template <class T, Space S>
SpmvOptions FsaiOperator<T, S>::product_options(SpmvOptions options) const {
  if (uneven_) options.format = "csr";
  return options;
}

template <class T, Space S>
void FsaiOperator<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  gather<T, S>(ctx, values, a_source_, factor_.triangle());
  slots_written(ctx);
}

template <class T, Space S>
Slots<T, S> FsaiOperator<T, S>::slots(const Context<S>& ctx) {
  const Span<T, S> triangle = factor_.triangle();
  return {triangle, positions_of(ctx, a_source_, triangle.size)};
}

template <class T, Space S>
void FsaiOperator<T, S>::slots_written(const Context<S>& ctx) {
  compute(ctx, factor_);
  g_->refresh(ctx, factor().val);
  gt_->refresh(ctx, factor().val);
}

template <class T, Space S>
OperatorPtr<T, S> FsaiOperator<T, S>::renumbered(const Context<S>& ctx, const RowOrder<S>& order,
                                                 const SpmvOptions& options) {
  if (factor_.user_row().size > 0) return nullptr;
  OperatorPtr<T, S> g_made = detail::renumbered_matrix(ctx, *g_, order, product_options(options));
  OperatorPtr<T, S> gt_made = detail::renumbered_matrix(ctx, *gt_, order, product_options(options));
  if (g_made == nullptr || gt_made == nullptr) return nullptr;
  std::unique_ptr<FsaiOperator> moved(new FsaiOperator(std::move(*this)));
  moved->g_ = std::move(g_made);
  moved->gt_ = std::move(gt_made);
  return moved;
}

template <class T, Space S>
OperatorInfo FsaiOperator<T, S>::info() const {
  OperatorInfo info = info_;
  const OperatorInfo g = g_->info(), gt = gt_->info();
  info.rows = info.cols = this->rows();
  const detail::FsaiFactorBytes of_factor = factor_.bytes();
  info.detail = "G as " + g.name + ", " + info_.detail;
  info.nonzeros = g.nonzeros + gt.nonzeros;
  info.stored_slots = g.stored_slots + gt.stored_slots;
  info.bytes_per_product = g.bytes_per_product + gt.bytes_per_product;
  info.bytes = {
      {"G", g.total_bytes()},
      {"G^T", gt.total_bytes()},
      {"intermediate vector", between_.bytes()},
      {"values of G", of_factor.values},
      {"pattern of G", of_factor.pattern},
      {"lower triangle of A", of_factor.triangle},
      {"value map", a_source_.bytes() + sizeof(Index) * static_cast<std::uint64_t>(factor_.user_row().size)},
      {"local problems", of_factor.problems}};
  return info;
}

#define X(T, S) template class FsaiOperator<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
