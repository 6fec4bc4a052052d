// SPDX-License-Identifier: Apache-2.0
/// CycleTrial: how fast CG with a cycle reduces an error that is known. Internal.
#pragma once

#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include <newel/core/vector_ops.hpp>
#include "precond/amg/blocks/amg_steps.hpp"

namespace newel::detail {

/// CG with M on A e = 0, whose error is e itself, after a step e - M A e, which takes what every smoother takes away.
/// A and M are symmetric. Takes four vectors besides e.
template <class T, Space S>
class CycleTrial {
 public:
  using Vector = Array<T, S>;
  /// y = A x
  using Product = std::function<void(const Vector& x, Vector& y)>;
  /// x = M b
  using Cycle = std::function<void(Span<const T, S> b, Span<T, S> x)>;

  /// Keeps a reference to `ctx`. Queued on the stream.
  CycleTrial(const Context<S>& ctx, Product a, Cycle m, Vector e)
      : ctx_(ctx), a_(std::move(a)), m_(std::move(m)), e_(std::move(e)), scalars_(ctx, 5) {
    for (Vector* vector : {&r_, &z_, &p_, &q_}) *vector = Vector(ctx, e_.size());
    a_(e_, r_);
    m_(r_.cspan(), z_.span());
    axpy(ctx, T(-1), z_.cspan(), e_.span());
    a_(e_, r_);
    dot(ctx, e_.cspan(), r_.cspan(), scalar(start));
    fill(ctx, T(0), p_.span());
    copy<double>(ctx, Span<const double, Space::host>(&infinite, 1), Span<double, S>(scalar(rz + 1), 1));
  }

  /// One iteration more. Queued on the stream.
  void iterate() {
    double *const now = scalar(rz + iterations_ % 2), *const before = scalar(rz + (iterations_ + 1) % 2);
    ++iterations_;
    m_(r_.cspan(), z_.span());
    dot(ctx_, r_.cspan(), z_.cspan(), now);
    sweep(ctx_, e_.size(), TrialDirection<T>(z_.data(), now, before, p_.data()));
    a_(p_, q_);
    dot(ctx_, p_.cspan(), q_.cspan(), scalar(pq));
    sweep(ctx_, e_.size(), TrialMove<T>(p_.data(), q_.data(), now, scalar(pq), e_.data(), r_.data(), scalar(energy)));
  }

  /// The energy norm of e over that before the first iteration; 0 where nothing was left then. Waits on the stream.
  double left() const {
    const std::vector<double> found = to_vector(ctx_, scalars_.cspan());
    return found[start] > 0 ? std::sqrt(found[energy] / found[start]) : 0;
  }

  const Vector& error() const { return e_; }

 private:
  enum Scalar { start, energy, pq, rz };        // rz: two, in turn
  static constexpr double infinite = HUGE_VAL;  // before the first iteration: no former direction

  double* scalar(int which) { return scalars_.data() + which; }

  const Context<S>& ctx_;
  Product a_;
  Cycle m_;
  Vector e_, r_, z_, p_, q_;
  Array<double, S> scalars_;
  int iterations_ = 0;
};

}  // namespace newel::detail
