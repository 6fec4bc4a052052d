// SPDX-License-Identifier: Apache-2.0
// A matrix whose rows are shared out among ranks, as one of them has it.
#include "distributed/distributed_operator.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include <newel/spmv/registry.hpp>
#include "core/ranks/device_ranks.hpp"
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "distributed/rank_ehyb.hpp"
#include "distributed/values_in_space.hpp"

namespace newel::detail {
namespace {

constexpr Space host = Space::host;

// Part of the caller's rows as an operator that the caller's values refresh.
template <class T, Space S>
OperatorPtr<T, S> operator_of(const Context<S>& ctx, const RowPart& part, Index cols, Span<const T, host> values) {
  const auto rows = static_cast<Index>(part.row_ptr.size()) - 1;
  std::vector<T> val;
  val.reserve(part.source.size());
  for (const Offset source : part.source) val.push_back(values[source]);
  Array<Offset, S> row_ptr_there, source_there;
  Array<Index, S> col_there;
  Array<T, S> val_there;
  const ValueMap<S> map =
      make_value_map(ctx, in_space<Offset, S>(ctx, Span<const Offset, host>(part.source), source_there), values.size);
  CsrView<T, S> view(rows, cols, in_space<Offset, S>(ctx, Span<const Offset, host>(part.row_ptr), row_ptr_there),
                     in_space<Index, S>(ctx, Span<const Index, host>(part.col), col_there),
                     in_space<T, S>(ctx, Span<const T, host>(val), val_there));
  view.value_map = &map;
  return make_spmv<T, S>(ctx, view, RowOrder<S>{}, SpmvOptions{"csr"});
}

// The larger, or NaN if one of them is NaN.
double larger(double a, double b) { return a >= b || std::isnan(a) ? a : b; }

}  // namespace

template <class T, Space S>
DistributedOperator<T, S>::DistributedOperator(const Context<S>& ctx, const RankRows<T>& a,
                                               const std::vector<std::int64_t>& first_rows,
                                               const Span<const Index, host>* order)
    : rows_(static_cast<Index>(a.row_ptr.size - 1)) {
  build(ctx, a, split_rows(a.row_ptr, a.col, first_row(ctx), first_rows.back(), order), first_rows);
}

template <class T, Space S>
DistributedOperator<T, S>::DistributedOperator(const Context<S>& ctx, const RankRows<T>& a,
                                               const std::vector<std::int64_t>& first_rows, OneKernel one_kernel)
    : rows_(static_cast<Index>(a.row_ptr.size - 1)) {
  check_rank_rows(a.row_ptr, a.col, first_row(ctx), first_rows.back());
  Span<const Index, host> order;
  if constexpr (S == Space::device) {
    if (one_kernel == OneKernel::if_possible) ehyb_ = RankEhyb<T>::make(ctx, a, first_rows);
    if (ehyb_ != nullptr) order = Span<const Index, host>(ehyb_->old_of_new());
  }
  build(ctx, a, split_rows(a.row_ptr, a.col, first_row(ctx), first_rows.back(), ehyb_ != nullptr ? &order : nullptr),
        first_rows);
}

template <class T, Space S>
void DistributedOperator<T, S>::build(const Context<S>& ctx, const RankRows<T>& a, RowSplit split,
                                      const std::vector<std::int64_t>& first_rows) {
  inner_ = operator_of<T, S>(ctx, split.inner, rows_, a.val);
  inner_entries_ = static_cast<Offset>(split.inner.source.size());
  Array<Offset, S> diagonal_there;
  Array<T, S> val_there;
  diagonal_source_ = make_value_map(
      ctx, in_space<Offset, S>(ctx, Span<const Offset, host>(split.diagonal), diagonal_there), a.val.size);
  diagonal_ = Array<T, S>(ctx, std::max<Index>(rows_, 1));
  read_diagonal(ctx, in_space<T, S>(ctx, a.val, val_there));
  if (first_rows.size() == 2) return;
  if (!std::is_sorted(split.new_of_old.begin(), split.new_of_old.end())) {
    old_of_new_ = make_array(ctx, split.old_of_new);
    new_of_old_ = make_array(ctx, split.new_of_old);
  }
  border_ = operator_of<T, S>(ctx, split.border, static_cast<Index>(split.read.size() + split.ghosts.size()), a.val);
  border_entries_ = static_cast<Offset>(split.border.source.size());
  halo_ = std::make_unique<Halo<T, S>>(ctx, first_rows, split.read, split.ghosts, split.new_of_old);
  if constexpr (S == Space::device) exchange_capturable_ = ranks_of(ctx)->device->capturable();
}

template <class T, Space S>
void DistributedOperator<T, S>::read_diagonal(const Context<S>& ctx, Span<const T, S> values) {
  if (rows_ > 0) gather<T, S>(ctx, values, diagonal_source_, diagonal_.span().subspan(0, rows_));
}

// A map without entries is that of a matrix whose values are the caller's, as they are.
template <class T, Space S>
void DistributedOperator<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  require_values(inner_entries_ + border_entries_, values.size);
  if (inner_entries_ > 0) inner_->refresh(ctx, values);
  if (border_entries_ > 0) border_->refresh(ctx, values);
  if constexpr (S == Space::device) {
    if (ehyb_ != nullptr) ehyb_->refresh(ctx, values);
  }
  read_diagonal(ctx, values);
}

template <class T, Space S>
OperatorInfo DistributedOperator<T, S>::info() const {
  OperatorInfo info = alone() ? inner_->info() : joined(inner_->info(), border_->info());
  if constexpr (S == Space::device) {
    if (ehyb_ != nullptr)
      info.bytes.emplace_back("the same rows in EHYB, for one kernel across devices", ehyb_->bytes());
  }
  return info;
}

template <class T, Space S>
ResidentView<T, S> DistributedOperator<T, S>::resident_view() const {
  ResidentView<T, S> view;
  if constexpr (S == Space::device) {
    if (ehyb_ != nullptr) view.across = &ehyb_->across();
  }
  return view;
}

template <class T, Space S>
std::uint64_t DistributedOperator<T, S>::bytes() const {
  std::uint64_t total = inner_->info().total_bytes() + diagonal_.bytes() + old_of_new_.bytes() + new_of_old_.bytes() +
                        diagonal_source_.bytes();
  if (!alone()) total += border_->info().total_bytes() + halo_->bytes();
  if constexpr (S == Space::device) {
    if (ehyb_ != nullptr) total += ehyb_->bytes();
  }
  return total;
}

template <class T, Space S>
void DistributedOperator<T, S>::apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta,
                                      Span<T, S> y) const {
  if (alone()) return inner_->apply(ctx, alpha, x, beta, y);
  halo_->start(ctx, x);
  inner_->apply(ctx, alpha, x, beta, of_inner(y));
  halo_->finish();
  border_->apply(ctx, alpha, halo_->values(), beta, of_border(y));
}

template <class T, Space S>
void DistributedOperator<T, S>::apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const {
  if (alone()) return inner_->apply_dot(ctx, x, y, xy);
  LinearOperator<T, S>::apply_dot(ctx, x, y, xy);
}

// A row's terms are all of one part, so that each part is judged as if it were a matrix of its own.
template <class T, Space S>
std::optional<ResidualSums> DistributedOperator<T, S>::residual(const Context<S>& ctx, Span<const T, S> b,
                                                                Span<const T, S> x, const ResidualScale& scale,
                                                                Span<T, S> r) const {
  if (alone()) return inner_->residual(ctx, b, x, scale, r);
  halo_->start(ctx, x);
  ResidualSums all = *inner_->residual(ctx, of_inner(b), x, scale, of_inner(r));
  halo_->finish();
  const ResidualSums more = *border_->residual(ctx, of_border(b), halo_->values(), scale, of_border(r));
  double sums[] = {all.square + more.square, all.sum + more.sum, all.error_sum + more.error_sum,
                   all.beyond_square + more.beyond_square};
  // A part without rows does not know the largest x.
  double most[] = {std::max(all.worst_row, more.worst_row), larger(all.x_max, more.x_max)};
  sum_over_ranks(ctx, sums, 4);
  max_over_ranks(ctx, most, 2);
  return ResidualSums{sums[0], sums[1], sums[2], sums[3], most[0], most[1]};
}

template <class T, Space S>
bool DistributedOperator<T, S>::matrix_diagonal(const Context<S>& ctx, Span<T, S> d) const {
  copy<T>(ctx, matrix_diagonal(), d);
  return true;
}

template <class T, Space S>
OperatorTraits<T, S> DistributedOperator<T, S>::traits() const {
  OperatorTraits<T, S> traits;
  traits.capturable = exchange_capturable_ && inner_->capturable() && (alone() || border_->capturable());
  return traits;
}

#define X(T, S) template class DistributedOperator<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
