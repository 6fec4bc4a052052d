// SPDX-License-Identifier: Apache-2.0
// The system of B and the vectors of its solves.
#include "solver/equivalent/equivalent_system.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"

namespace newel::detail {

template <class T, Space S>
EquivalentSystem<T, S>::EquivalentSystem(const Context<S>& ctx, Index rows)
    : ctx_(ctx), work_(ctx, rows), scratch_(ctx, 1) {
  vectors_.best = Array<T, S>(ctx, rows);
  vectors_.correction = Array<T, S>(ctx, rows);
}

template <class T, Space S>
void EquivalentSystem<T, S>::set_inner(const CsrView<T, S>& B, SystemOptions options) {
  inner_.reset();
  vectors_.c = Array<T, S>(ctx_, B.rows);
  vectors_.y = Array<T, S>(ctx_, B.rows);
  inner_.emplace(ctx_, B, std::move(options));
}

template <class T, Space S>
double EquivalentSystem<T, S>::norm_of(Span<const T, S> v) {
  const double norm = norm_in_range<T, S>(ctx_, v, scratch_.data());
  if (!std::isinf(norm) || !all_finite<T, S>(ctx_, v, scratch_.data())) return norm;
  return std::numeric_limits<double>::max();
}

#define X(T, S) template class EquivalentSystem<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
