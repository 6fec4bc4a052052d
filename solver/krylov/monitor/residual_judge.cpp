// SPDX-License-Identifier: Apache-2.0
// What a solve knows of b - A x.
#include "solver/krylov/monitor/residual_judge.hpp"

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"

namespace newel::detail {

template <class T, Space S>
bool ResidualJudge<T, S>::form(Span<T, S> r) {
  judged_ = true_residual<T, S>(system_->ctx, system_->A, system_->b, Span<const T, S>(system_->x), rhs_norm_,
                                tolerance_, r, scratch_);
  known_ = true;
  return meets_tolerance();
}

template <class T, Space S>
void ResidualJudge<T, S>::form_roughly(Span<T, S> r) {
  copy<T>(system_->ctx, system_->b, r);
  system_->A.apply(system_->ctx, T(-1), Span<const T, S>(system_->x), T(1), r);
  take(norm_in_range<T, S>(system_->ctx, Span<const T, S>(r), scratch_));
}

template <class T, Space S>
void ResidualJudge<T, S>::take(double norm) {
  judged_ = {norm};
  known_ = false;
}

template <class T, Space S>
void ResidualJudge<T, S>::take_rhs() {
  judged_ = {rhs_norm_, 0, true, rhs_norm_ > 0 ? 1.0 : 0.0, 0};
  known_ = true;
}

// An estimate of the rounding is compared by itself: it is no bound that could be added.
template <class T, Space S>
bool ResidualJudge<T, S>::meets_tolerance() const {
  if (judged_.proven) return judged_.norm + judged_.error_bound <= tolerance_;
  return judged_.norm <= tolerance_ && judged_.error_bound <= tolerance_;
}

#define X(T, S) template class ResidualJudge<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
