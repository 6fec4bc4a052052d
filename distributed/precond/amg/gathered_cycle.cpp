// SPDX-License-Identifier: Apache-2.0
// The cycle of one rank over the levels that all ranks have.
#include "distributed/precond/amg/gathered_cycle.hpp"

#include <utility>

#include "core/vectors/instantiate.hpp"

namespace newel::detail {

template <class T, Space S>
GatheredCycle<T, S>::GatheredCycle(const Context<S>& ctx, const Context<S>& alone,
                                   const std::vector<std::int64_t>& first_rows, const AmgHierarchy<S>& hierarchy,
                                   int degree, bool symmetric)
    : b_(ctx, first_rows), x_(alone, first_rows.back()) {
  AmgFinest<T, S> first;
  first.symmetric = symmetric;
  first.below_first = first.in_blocks = true;
  const AmgLevel<S>& level = hierarchy.levels().front();
  if (level.smoother_diagonal.size() > 0) first.a = make_block_matrix<T>(alone, level.a);
  cycle_ = AmgCycle<T, S>(alone, std::move(first), hierarchy, {}, degree);
}

#define X(T, S) template class GatheredCycle<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
