// SPDX-License-Identifier: Apache-2.0
// A matrix whose rows are shared out among ranks, as one of them has it.
#include "distributed/distributed_operator.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include <newel/spmv/registry.hpp>
#include "core/vectors/over_ranks.hpp"

namespace newel::detail {
namespace {

constexpr Space host = Space::host;

// Part of the caller's rows as an operator that the caller's values refresh.
template <class T>
OperatorPtr<T, host> operator_of(const Context<host>& ctx, const RowPart& part, Index cols,
                                 Span<const T, host> values) {
  const auto rows = static_cast<Index>(part.row_ptr.size()) - 1;
  std::vector<T> val;
  val.reserve(part.source.size());
  for (const Offset source : part.source) val.push_back(values[source]);
  const ValueMap<host> map = make_value_map(ctx, Span<const Offset, host>(part.source), values.size);
  CsrView<T, host> view(rows, cols, Span<const Offset, host>(part.row_ptr), Span<const Index, host>(part.col),
                        Span<const T, host>(val));
  view.value_map = &map;
  return make_spmv<T, host>(ctx, view, RowOrder<host>{}, SpmvOptions{"csr"});
}

}  // namespace

template <class T>
DistributedOperator<T>::DistributedOperator(const Context<host>& ctx, const RankRows<T>& a,
                                            const std::vector<std::int64_t>& first_rows,
                                            const Span<const Index, host>* order)
    : rows_(static_cast<Index>(a.row_ptr.size - 1)), entries_(a.col.size) {
  build(ctx, a, split_rows(a.row_ptr, a.col, first_row(ctx), first_rows.back(), order), first_rows);
}

template <class T>
void DistributedOperator<T>::build(const Context<host>& ctx, const RankRows<T>& a, RowSplit split,
                                   const std::vector<std::int64_t>& first_rows) {
  inner_ = operator_of<T>(ctx, split.inner, rows_, a.val);
  diagonal_source_ = make_value_map(ctx, Span<const Offset, host>(split.diagonal), a.val.size);
  diagonal_ = Array<T, host>(ctx, std::max<Index>(rows_, 1));
  gather<T, host>(ctx, a.val, diagonal_source_, diagonal_.span().subspan(0, rows_));
  if (first_rows.size() == 2) return;
  if (!std::is_sorted(split.new_of_old.begin(), split.new_of_old.end())) {
    old_of_new_ = make_array(ctx, split.old_of_new);
    new_of_old_ = make_array(ctx, split.new_of_old);
  }
  const auto read = static_cast<std::int64_t>(split.read.size()),
             ghosts = static_cast<std::int64_t>(split.ghosts.size());
  border_ = operator_of<T>(ctx, split.border, static_cast<Index>(read + ghosts), a.val);
  read_ = make_array(ctx, split.read);
  border_x_ = Array<T, host>(ctx, read + ghosts);
  halo_ = std::make_unique<Halo<T>>(ctx, first_rows, split.ghosts, split.new_of_old, border_x_.data() + read);
}

template <class T>
void DistributedOperator<T>::refresh(const Context<host>& ctx, Span<const T, host> values) {
  if (values.size != entries_) {
    throw InputError("expected " + std::to_string(entries_) + " values, found " + std::to_string(values.size));
  }
  // A part without entries has no way to values either, which would be that of all of them.
  for (const auto& part : {inner_.get(), border_.get()}) {
    if (part != nullptr && part->info().nonzeros > 0) part->refresh(ctx, values);
  }
  gather<T, host>(ctx, values, diagonal_source_, diagonal_.span().subspan(0, rows_));
}

template <class T>
std::uint64_t DistributedOperator<T>::bytes() const {
  return inner_->info().total_bytes() + (alone() ? 0 : border_->info().total_bytes()) + diagonal_.bytes() +
         old_of_new_.bytes() + new_of_old_.bytes() + read_.bytes() + border_x_.bytes() + diagonal_source_.bytes();
}

template <class T>
void DistributedOperator<T>::read_for_border(const Context<host>& ctx, Span<const T, host> x) const {
  gather<T, host>(ctx, x, read_.cspan(), border_x_.span().subspan(0, read_.size()));
}

template <class T>
void DistributedOperator<T>::apply(const Context<host>& ctx, T alpha, Span<const T, host> x, T beta,
                                   Span<T, host> y) const {
  if (alone()) return inner_->apply(ctx, alpha, x, beta, y);
  halo_->start(ctx, x);
  inner_->apply(ctx, alpha, x, beta, of_inner(y));
  read_for_border(ctx, x);
  halo_->finish();
  border_->apply(ctx, alpha, border_x_.cspan(), beta, of_border(y));
}

template <class T>
void DistributedOperator<T>::apply_dot(const Context<host>& ctx, Span<const T, host> x, Span<T, host> y,
                                       double* xy) const {
  if (alone()) return inner_->apply_dot(ctx, x, y, xy);
  LinearOperator<T, host>::apply_dot(ctx, x, y, xy);
}

// A row's terms are all of one part, so that each part is judged as if it were a matrix of its own.
template <class T>
std::optional<ResidualSums> DistributedOperator<T>::residual(const Context<host>& ctx, Span<const T, host> b,
                                                             Span<const T, host> x, const ResidualScale& scale,
                                                             Span<T, host> r) const {
  if (alone()) return inner_->residual(ctx, b, x, scale, r);
  halo_->start(ctx, x);
  ResidualSums all = *inner_->residual(ctx, of_inner(b), x, scale, of_inner(r));
  read_for_border(ctx, x);
  halo_->finish();
  const ResidualSums more = *border_->residual(ctx, of_border(b), border_x_.cspan(), scale, of_border(r));
  double sums[] = {all.square + more.square, all.sum + more.sum, all.error_sum + more.error_sum,
                   all.beyond_square + more.beyond_square};
  double worst_row = std::max(all.worst_row, more.worst_row);
  sum_over_ranks(ctx, sums, 4);
  max_over_ranks(ctx, &worst_row, 1);
  return ResidualSums{sums[0], sums[1], sums[2], sums[3], worst_row, *scale.x_max};
}

template <class T>
bool DistributedOperator<T>::matrix_diagonal(const Context<host>& ctx, Span<T, host> d) const {
  copy<T>(ctx, matrix_diagonal(), d);
  return true;
}

template class DistributedOperator<double>;
template class DistributedOperator<float>;

}  // namespace newel::detail
