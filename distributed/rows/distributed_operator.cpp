// SPDX-License-Identifier: Apache-2.0
// A matrix whose rows are shared out among ranks, as one of them has it.
#include "distributed/rows/distributed_operator.hpp"

#include <newel/core/vector_ops.hpp>
#include "core/ranks/device_ranks.hpp"
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"

namespace newel::detail {

template <class T, Space S>
void DistributedOperator<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  require_values(stored_.entries, values.size);
  stored_.product->refresh(ctx, values);
  stored_.diagonal.refresh(ctx, values);
}

template <class T, Space S>
std::optional<ResidualSums> DistributedOperator<T, S>::residual(const Context<S>& ctx, Span<const T, S> b,
                                                                Span<const T, S> x, const ResidualScale& scale,
                                                                Span<T, S> r) const {
  const ResidualSums mine = stored_.product->residual(ctx, b, x, scale, r);
  if (ranks_of(ctx)->communicator->size() == 1) return mine;
  double sums[] = {mine.square, mine.sum, mine.error_sum, mine.beyond_square};
  double most[] = {mine.worst_row, mine.x_max};
  sum_over_ranks(ctx, sums, 4);
  max_over_ranks(ctx, most, 2);
  return ResidualSums{sums[0], sums[1], sums[2], sums[3], most[0], most[1]};
}

template <class T, Space S>
bool DistributedOperator<T, S>::matrix_diagonal(const Context<S>& ctx, Span<T, S> d) const {
  copy<T>(ctx, stored_.diagonal.values(), d);
  return true;
}

template <class T, Space S>
OperatorTraits<T, S> DistributedOperator<T, S>::traits() const {
  OperatorTraits<T, S> traits;
  traits.capturable = stored_.product->capturable();
  return traits;
}

template <class T, Space S>
ResidentView<T, S> DistributedOperator<T, S>::resident_view() const {
  ResidentView<T, S> view;
  view.across = stored_.product->across();
  view.published = stored_.product->published();
  return view;
}

#define X(T, S) template class DistributedOperator<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
