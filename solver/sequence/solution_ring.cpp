// SPDX-License-Identifier: Apache-2.0
// Columns that are replaced in turn.
#include "solver/sequence/solution_ring.hpp"

#include <algorithm>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"

namespace newel::detail {

template <class T, Space S>
void SolutionRing<T, S>::allocate(const Context<S>& ctx, std::int64_t n) {
  Array<T, S> D(ctx, n * m_), C(ctx, n * m_), last(ctx, n);
  fill<T, S>(ctx, T(0), D.span());
  fill<T, S>(ctx, T(0), C.span());
  fill<T, S>(ctx, T(0), last.span());
  D_ = std::move(D), C_ = std::move(C), last_ = std::move(last);
  n_ = n;
  allocated_ = true;
}

template <class T, Space S>
bool SolutionRing<T, S>::is_older(int column, int than) const {
  const auto age = [this](int j) { return (next_ - 1 - j + 2 * m_) % m_; };
  return column < held_ && age(column) >= age(than);
}

template <class T, Space S>
int SolutionRing<T, S>::add(const Context<S>& ctx, Span<const T, S> x) {
  const int column = next_;
  copy<T>(ctx, x, difference(column));
  axpy<T, S>(ctx, T(-1), last_.cspan(), difference(column));
  copy<T>(ctx, x, last_.span());
  next_ = (next_ + 1) % m_;
  held_ = std::min(held_ + 1, m_);
  return column;
}

template <class T, Space S>
void SolutionRing<T, S>::begin_state(const Context<S>& ctx, int held, int next) {
  fill<T, S>(ctx, T(0), D_.span());
  held_ = held;
  next_ = next;
}

#define X(T, S) template class SolutionRing<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
