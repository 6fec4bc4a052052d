// SPDX-License-Identifier: Apache-2.0
// A matrix whose rows are shared out among ranks, as one of them has it.
#include "distributed/rows/distributed_operator.hpp"

#include <algorithm>
#include <utility>

#include <newel/core/parallel.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/ranks/device_ranks.hpp"
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "distributed/rows/rank_csr.hpp"
#include "distributed/rows/rank_ehyb.hpp"
#include "distributed/rows/values_in_space.hpp"
#include "reorder/partition_device.hpp"
#include "spmv/plan/phase_clock.hpp"

namespace newel::detail {
template <class T, Space S>
DistributedOperator<T, S>::DistributedOperator(const Context<S>& ctx, const RankRows<T>& a,
                                               const std::vector<std::int64_t>& first_rows,
                                               const Span<const Index, Space::host>* order)
    : rows_(static_cast<Index>(a.row_ptr.size - 1)), entries_(a.val.size) {
  make_csr(ctx, a, first_rows, order);
}

template <class T, Space S>
DistributedOperator<T, S>::DistributedOperator(const Context<S>& ctx, const RankRows<T>& a,
                                               const std::vector<std::int64_t>& first_rows, RankFormat format)
    : rows_(static_cast<Index>(a.row_ptr.size - 1)), entries_(a.val.size) {
  if constexpr (S == Space::device) {
    if (format != RankFormat::csr && first_rows.size() > 2) {
      PhaseClock clock;
      const ColumnsOfRank columns{a.row_ptr, a.col, first_rows, ranks_of(ctx)->communicator->rank()};
      rows_on_device_ = std::make_shared<const RowsOnDevice<T>>(ctx, columns, a.val);
      clock.end("rows to the device");
      seconds_ = clock.seconds();
      if (format == RankFormat::at_once) {
        product_ = make_rank_csr(ctx, first_rows, *rows_on_device_);
        clock.end("format");
        number_on_device(ctx, {});
        clock.end("diagonal and numbering");
        seconds_ = clock.seconds();
        return;
      }
      if (std::unique_ptr<RankEhyb<T>> rows = RankEhyb<T>::make(ctx, columns, *rows_on_device_)) {
        const OperatorInfo info = rows->info();
        seconds_.insert(seconds_.end(), info.setup_seconds.begin(), info.setup_seconds.end());
        clock = {};
        number_on_device(ctx, rows->old_of_new());
        plan_ = rows->plan();
        product_ = std::move(rows);
        clock.end("diagonal and numbering");
        seconds_.push_back(clock.seconds().back());
        return;
      }
    }
  }
  make_csr(ctx, a, first_rows, nullptr);
}

template <class T, Space S>
void DistributedOperator<T, S>::make_csr(const Context<S>& ctx, const RankRows<T>& a,
                                         const std::vector<std::int64_t>& first_rows,
                                         const Span<const Index, Space::host>* order) {
  PhaseClock clock;
  const RowSplit split = split_rows(host_context(ctx), a.row_ptr, a.col, first_row(ctx), first_rows.back(), order);
  clock.end("split of the rows");
  number(ctx, a, split.old_of_new, split.diagonal);
  clock.end("diagonal and numbering");
  product_ = make_csr_rows<T, S>(ctx, a, split, first_rows);
  clock.end("format");
  seconds_.insert(seconds_.end(), clock.seconds().begin(), clock.seconds().end());
}

// `diagonal`: of each row in rank order, the position of its diagonal entry, or -1.
template <class T, Space S>
void DistributedOperator<T, S>::number(const Context<S>& ctx, const RankRows<T>& a,
                                       const std::vector<Index>& old_of_new, const std::vector<Offset>& diagonal) {
  Array<Offset, S> diagonal_there;
  diagonal_source_ = make_value_map(
      ctx, in_space<Offset, S>(ctx, Span<const Offset, Space::host>(diagonal), diagonal_there), a.val.size);
  diagonal_ = Array<T, S>(ctx, std::max<Index>(rows_, 1));
  std::vector<T> values(diagonal.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = diagonal[i] < 0 ? T(0) : a.val[diagonal[i]];
  copy<T>(ctx, Span<const T, Space::host>(values), diagonal_.span().subspan(0, rows_));
  if (std::is_sorted(old_of_new.begin(), old_of_new.end())) return;
  std::vector<Index> new_of_old(old_of_new.size());
  for (std::size_t i = 0; i < old_of_new.size(); ++i) {
    new_of_old[static_cast<std::size_t>(old_of_new[i])] = static_cast<Index>(i);
  }
  old_of_new_ = make_array(ctx, old_of_new);
  new_of_old_ = make_array(ctx, new_of_old);
}

// The same from the rows on the device.
template <class T, Space S>
void DistributedOperator<T, S>::number_on_device(const Context<S>& ctx, const std::vector<Index>& old_of_new) {
  if constexpr (S == Space::device) {
    if (!std::is_sorted(old_of_new.begin(), old_of_new.end())) {
      old_of_new_ = make_array(ctx, old_of_new);
      new_of_old_ = inverse_order(ctx, old_of_new_.cspan());
    }
    const RowsOnDevice<T>& rows = *rows_on_device_;
    diagonal_source_ =
        make_value_map(ctx, diagonal_positions(ctx, *rows.columns, old_of_new_.cspan()).cspan(), rows.val.size());
    diagonal_ = Array<T, S>(ctx, std::max<Index>(rows_, 1));
    read_diagonal(ctx, rows.val.cspan());
  }
}

template <class T, Space S>
template <class C>
std::unique_ptr<DistributedOperator<C, S>> DistributedOperator<T, S>::in_precision(
    const Context<S>& ctx, const std::vector<std::int64_t>& first_rows) const {
  if constexpr (S == Space::device) {
    if (plan_ == nullptr) return nullptr;
    std::unique_ptr<DistributedOperator<C, S>> made(new DistributedOperator<C, S>(rows_));
    made->rows_on_device_ = std::make_shared<const RowsOnDevice<C>>(ctx, *rows_on_device_);
    made->entries_ = entries_;
    made->product_ = RankEhyb<C>::make(ctx, first_rows, *made->rows_on_device_, plan_);
    if (made->product_ == nullptr) return nullptr;
    made->number_on_device(ctx, plan_->order.old_of_new);
    made->rows_on_device_.reset();
    return made;
  } else {
    static_cast<void>(ctx);
    static_cast<void>(first_rows);
    return nullptr;
  }
}

template <class T, Space S>
void DistributedOperator<T, S>::read_diagonal(const Context<S>& ctx, Span<const T, S> values) {
  if (rows_ > 0) gather<T, S>(ctx, values, diagonal_source_, diagonal_.span().subspan(0, rows_));
}

template <class T, Space S>
void DistributedOperator<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  require_values(entries_, values.size);
  product_->refresh(ctx, values);
  read_diagonal(ctx, values);
}

template <class T, Space S>
std::uint64_t DistributedOperator<T, S>::bytes() const {
  return product_->info().total_bytes() + product_->more_bytes() + diagonal_.bytes() + old_of_new_.bytes() +
         new_of_old_.bytes() + diagonal_source_.bytes();
}

template <class T, Space S>
std::optional<ResidualSums> DistributedOperator<T, S>::residual(const Context<S>& ctx, Span<const T, S> b,
                                                                Span<const T, S> x, const ResidualScale& scale,
                                                                Span<T, S> r) const {
  const ResidualSums mine = product_->residual(ctx, b, x, scale, r);
  if (ranks_of(ctx)->communicator->size() == 1) return mine;
  double sums[] = {mine.square, mine.sum, mine.error_sum, mine.beyond_square};
  double most[] = {mine.worst_row, mine.x_max};
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
  traits.capturable = product_->capturable();
  return traits;
}

template <class T, Space S>
ResidentView<T, S> DistributedOperator<T, S>::resident_view() const {
  ResidentView<T, S> view;
  view.across = product_->across();
  view.published = product_->published();
  return view;
}

#define X(T, S) template class DistributedOperator<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

#define X(S)                                                                                            \
  template std::unique_ptr<DistributedOperator<float, S>> DistributedOperator<double, S>::in_precision( \
      const Context<S>&, const std::vector<std::int64_t>&) const;
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
