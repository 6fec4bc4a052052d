// SPDX-License-Identifier: Apache-2.0
// M r and the correction.
#include "solver/recycle/deflated_preconditioner.hpp"

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"

namespace newel::detail {

template <class T, Space S>
void DeflatedPreconditioner<T, S>::bind(Index n, const LinearOperator<T, S>* M, bool deflates, bool records) {
  const std::uint64_t serial = M != nullptr ? M->serial() : 0;
  const int held = deflates ? correction_.held() : 0;
  const float* const vectors = held > 0 ? correction_.vectors() : nullptr;
  const bool same = n == n_ && serial == M_serial_ && held == held_ && vectors == bound_ && records == records_;
  if (same) return;
  n_ = n;
  M_ = M;
  M_serial_ = serial;
  held_ = held;
  bound_ = vectors;
  records_ = records;
  this->renew_serial();  // graphs contain the vectors' number and place
}

template <class T, Space S>
OperatorTraits<T, S> DeflatedPreconditioner<T, S>::traits() const {
  OperatorTraits<T, S> traits;
  traits.capturable = !records_ && (M_ == nullptr || M_->capturable());
  traits.takes_long = M_ != nullptr && M_->traits().takes_long;
  return traits;
}

template <class T, Space S>
void DeflatedPreconditioner<T, S>::apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta,
                                         Span<T, S> y) const {
  if (M_ == nullptr) {
    axpby<T, S>(ctx, alpha, x, beta, y);
  } else {
    M_->apply(ctx, alpha, x, beta, y);
  }
  if (held_ > 0) correction_.correct(ctx, x, alpha, y, nullptr);
}

template <class T, Space S>
void DeflatedPreconditioner<T, S>::apply_dot(const Context<S>& ctx, Span<const T, S> r, Span<T, S> z,
                                             double* rz) const {
  if (M_ == nullptr) {
    copy<T>(ctx, r, z);
    dot<T, S>(ctx, r, r, rz);
  } else {
    M_->apply_dot(ctx, r, z, rz);
  }
  if (held_ > 0) correction_.correct(ctx, r, T(1), z, rz);
  if (records_) window_.push(ctx, z);
}

#define X(T, S) template class DeflatedPreconditioner<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
