// SPDX-License-Identifier: Apache-2.0
// The projection that takes the constant vector out.
#include "solver/krylov/monitor/null_space.hpp"

#include <algorithm>
#include <cmath>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "core/vectors/random.hpp"
#include "solver/krylov/monitor/true_residual.hpp"

namespace newel::detail {

template <class T, Space S>
void ZeroMeanPrecond<T, S>::apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const {
  if (inner_ != nullptr) {
    copy<T>(ctx, x, projected_.span());
    remove_mean(ctx, projected_.span());
    inner_->apply(ctx, alpha, projected_.cspan(), beta, y);
  } else {
    axpby<T, S>(ctx, alpha, x, beta, y);
  }
  remove_mean(ctx, y);
}

template <class T, Space S>
bool ZeroMeanPrecond<T, S>::is_null_vector_of(const Context<S>& ctx, const LinearOperator<T, S>& A, Span<T, S> v,
                                              Span<T, S> w) const {
  const auto image_norm = [&] {
    A.apply(ctx, T(1), Span<const T, S>(v), T(0), w);
    return norm_in_range<T, S>(ctx, Span<const T, S>(w), total_.data());
  };
  fill<T, S>(ctx, T(1), v);
  const double of_ones = image_norm();
  fill_random<T, S>(ctx, RandomKind::sign, 1, 0, v);
  return of_ones <= rounding * image_norm();
}

template <class T, Space S>
std::pair<double, double> ZeroMeanPrecond<T, S>::constant_part(const Context<S>& ctx, Span<const T, S> r) const {
  sum<T, S>(ctx, r, total_.data());
  const double constant = std::abs(fetch(ctx, total_.data())) /
                          std::sqrt(static_cast<double>(std::max<std::int64_t>(all_rows(ctx, n_), 1)));
  return {constant, norm_in_range<T, S>(ctx, r, total_.data())};
}

template <class T, Space S>
void ZeroMeanPrecond<T, S>::remove_mean(const Context<S>& ctx, Span<T, S> x) const {
  sum<T, S>(ctx, x, total_.data());
  subtract_mean<T, S>(ctx, total_.data(), x);
}

#define X(T, S) template class ZeroMeanPrecond<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
