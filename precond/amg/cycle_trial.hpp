// SPDX-License-Identifier: Apache-2.0
/// CycleTrial: how fast CG with a cycle reduces an error that is known. Internal.
#pragma once

#include <cmath>
#include <functional>
#include <utility>

#include <purlin/core/vector_ops.hpp>
#include <purlin/spmv/operator.hpp>

namespace purlin::detail {

/// CG with M on A e = 0, whose error is e itself, after a step e - M A e, which takes what every smoother takes away.
/// A and M are symmetric. Takes four vectors besides e.
template <class T>
class CycleTrial {
 public:
  using Vector = Array<T, Space::host>;
  /// x = M b
  using Cycle = std::function<void(Span<const T, Space::host> b, Span<T, Space::host> x)>;

  /// Keeps references to `ctx` and `a`.
  CycleTrial(const Context<Space::host>& ctx, const MatrixOperator<T, Space::host>& a, Cycle m, Vector e)
      : ctx_(ctx), a_(a), m_(std::move(m)), e_(std::move(e)) {
    for (Vector* vector : {&r_, &z_, &p_, &q_}) *vector = Vector(ctx, e_.size());
    multiply(e_, r_);
    m_(r_.cspan(), z_.span());
    axpy(ctx, T(-1), z_.cspan(), e_.span());
    start_ = multiply(e_, r_);
  }

  /// The energy norm of e after one iteration more, over that before the first; 0 where nothing was left then.
  double iterate() {
    if (!(start_ > 0)) return 0;
    const double before = rz_;
    m_(r_.cspan(), z_.span());
    dot(ctx_, r_.cspan(), z_.cspan(), &rz_);
    axpby(ctx_, T(1), z_.cspan(), static_cast<T>(before == 0 ? 0 : rz_ / before), p_.span());
    const T step = static_cast<T>(rz_ / multiply(p_, q_));
    axpy(ctx_, -step, p_.cspan(), e_.span());
    axpy(ctx_, -step, q_.cspan(), r_.span());
    double energy = 0;
    dot(ctx_, e_.cspan(), r_.cspan(), &energy);
    return std::sqrt(energy / start_);
  }

  const Vector& error() const { return e_; }

 private:
  // y = A x; returns x.y.
  double multiply(const Vector& x, Vector& y) const {
    double xy = 0;
    a_.apply_dot(ctx_, x.cspan(), y.span(), &xy);
    return xy;
  }

  const Context<Space::host>& ctx_;
  const MatrixOperator<T, Space::host>& a_;
  Cycle m_;
  Vector e_, r_, z_, p_, q_;
  double start_ = 0, rz_ = 0;
};

}  // namespace purlin::detail
