// SPDX-License-Identifier: Apache-2.0
/// A preconditioner whose result has mean zero: what a singular system with the constant null space needs. Internal.
#pragma once

#include <utility>

#include <newel/spmv/operator.hpp>

namespace newel::detail {

/// z = P M P r with P = I - 1 1^T / n: symmetric where M is. M may be null (z = P r).
template <class T, Space S>
class ZeroMeanPrecond final : public LinearOperator<T, S> {
 public:
  /// `inner`, M or null, is not owned and outlives this.
  ZeroMeanPrecond(const Context<S>& ctx, Index n, const LinearOperator<T, S>* inner)
      : n_(n), inner_(inner), total_(ctx, 1), projected_(ctx, n) {}

  /// Another M in the place of the one before.
  void set_inner(const LinearOperator<T, S>* inner) {
    inner_ = inner;
    this->renew_serial();
  }

  Index rows() const override { return n_; }
  Index cols() const override { return n_; }

  /// y = P (alpha M x + beta y): where beta is not 0, y has mean zero already.
  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override;

  OperatorTraits<T, S> traits() const override {
    return {inner_ == nullptr || inner_->capturable(), inner_ != nullptr && inner_->traits().takes_long};
  }

  /// x = x - mean(x)
  void remove_mean(const Context<S>& ctx, Span<T, S> x) const;

  /// What counts as zero relative to the length of a vector computed by A.
  static constexpr double rounding = std::is_same_v<T, double> ? 1e-8 : 1e-3;

  /// |A 1| is no more than rounding relative to |A v| for a v of mixed signs. Uses two vectors of work, and leaves A
  /// v in w.
  bool is_null_vector_of(const Context<S>& ctx, const LinearOperator<T, S>& A, Span<T, S> v, Span<T, S> w) const;

  /// |r - P r| and |r|. Waits for the stream.
  std::pair<double, double> constant_part(const Context<S>& ctx, Span<const T, S> r) const;

 private:
  Index n_;
  const LinearOperator<T, S>* inner_;
  mutable Array<double, S> total_;  ///< scratch of the sum
  mutable Array<T, S> projected_;   ///< P r
};

}  // namespace newel::detail
