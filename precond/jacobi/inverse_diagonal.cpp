// SPDX-License-Identifier: Apache-2.0
// Inverting a diagonal in both spaces.
#include "precond/jacobi/inverse_diagonal.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "precond/jacobi/jacobi_steps.hpp"

namespace newel::detail {
namespace {

// The first entry of the first rank that has one.
template <class T>
T first_of_ranks(Communicator& ranks, Span<const T, Space::host> own) {
  const double mine[] = {own.size > 0 ? 1.0 : 0.0, own.size > 0 ? static_cast<double>(own[0]) : 0.0};
  std::vector<double> all(2 * static_cast<std::size_t>(ranks.size()));
  ranks.all_gather(mine, 2, all.data());
  for (std::size_t r = 0; r < all.size(); r += 2) {
    if (all[r] > 0) return static_cast<T>(all[r + 1]);
  }
  return T(0);
}

}  // namespace

template <class T, Space S>
InverseDiagonal<T, S>::InverseDiagonal(const Context<S>& ctx, Index rows)
    : rows_(rows), values_(ctx, std::max<Index>(rows, ranks_of(ctx) != nullptr ? 1 : 0)), counts_(ctx, 2) {}

template <class T, Space S>
template <class Position>
bool InverseDiagonal<T, S>::take(const Context<S>& ctx, Span<const T, S> values, Span<const Position, S> position) {
  if (rows_ == 0) return true;
  sweep(ctx, rows_, TakeInverseStep<T, Position>(values.data, position.data, values_.data(), counts_.data()));
  return all_regular(ctx);
}

template <class T, Space S>
bool InverseDiagonal<T, S>::invert(const Context<S>& ctx) {
  if (rows_ == 0 && ranks_of(ctx) == nullptr) return true;
  sweep(ctx, rows_, InvertStep<T>(values_.data(), counts_.data()));
  const T* first = values_.data();
  Array<T, S> first_of_all;
  if (const Ranks* const ranks = ranks_of(ctx)) {
    const std::vector<T> own = to_vector(ctx, view().subspan(0, std::min<Index>(rows_, 1)));
    first_of_all = make_array(ctx, std::vector<T>{first_of_ranks<T>(*ranks->communicator, own)});
    first = first_of_all.data();
  }
  sweep(ctx, rows_, DifferingStep<T>(values_.data(), first, counts_.data() + 1));
  return all_regular(ctx);
}

// By what was counted.
template <class T, Space S>
bool InverseDiagonal<T, S>::all_regular(const Context<S>& ctx) {
  const std::vector<double> counts = to_vector(ctx, counts_.cspan());
  constant_ = counts[1] == 0;
  return counts[0] == 0;
}

#define X(T, S)                                                                                                 \
  template class InverseDiagonal<T, S>;                                                                         \
  template bool InverseDiagonal<T, S>::take(const Context<S>&, Span<const T, S>, Span<const std::uint32_t, S>); \
  template bool InverseDiagonal<T, S>::take(const Context<S>&, Span<const T, S>, Span<const Offset, S>);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
