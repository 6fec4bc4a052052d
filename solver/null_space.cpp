// SPDX-License-Identifier: Apache-2.0
// The projection that takes the constant vector out.
#include <purlin/solver/null_space.hpp>

#include <purlin/core/instantiate.hpp>
#include <purlin/core/vector_ops.hpp>

namespace purlin::detail {

template <class T, Space S>
void ZeroMeanPrecond<T, S>::apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const {
  if (inner_ != nullptr) {
    inner_->apply(ctx, alpha, x, beta, y);
  } else {
    axpby<T, S>(ctx, alpha, x, beta, y);
  }
  remove_mean(ctx, y);
}

template <class T, Space S>
void ZeroMeanPrecond<T, S>::remove_mean(const Context<S>& ctx, Span<T, S> x) const {
  sum<T, S>(ctx, x, total_.data());
  subtract_mean<T, S>(ctx, total_.data(), x);
}

#define X(T, S) template class ZeroMeanPrecond<T, S>;
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin::detail
