// SPDX-License-Identifier: Apache-2.0
/// A preconditioner that leaves some unknowns as they are. Internal.
#pragma once

#include <newel/core/vector_ops.hpp>

namespace newel::detail {

/// y = alpha D M x + beta y, D the identity but for zeros at some unknowns. Where A has no entries in their columns,
/// A D M is A M: a method that multiplies with A after M has the same residuals, and those unknowns keep the guess
/// instead of wandering off to infinity.
template <class T, Space S>
class FixedUnknowns final : public LinearOperator<T, S> {
 public:
  /// `unknowns` of n; M follows by `set_inner`.
  FixedUnknowns(const Context<S>& ctx, Index n, const std::vector<Index>& unknowns) : product_(ctx, n) {
    std::vector<T> kept(static_cast<std::size_t>(n), T(1));
    for (const Index j : unknowns) kept[static_cast<std::size_t>(j)] = T(0);
    kept_ = make_array(ctx, kept);
  }

  /// M, null: none. It outlives this.
  void set_inner(const LinearOperator<T, S>* inner) {
    if (inner == inner_ && (inner == nullptr || inner->serial() == inner_serial_)) return;
    inner_ = inner;
    inner_serial_ = inner == nullptr ? 0 : inner->serial();
    this->renew_serial();
  }

  Index rows() const override { return static_cast<Index>(kept_.size()); }
  Index cols() const override { return rows(); }
  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override {
    if (inner_ == nullptr) return multiply<T, S>(ctx, alpha, kept_.cspan(), x, beta, y);
    inner_->apply(ctx, T(1), x, T(0), product_.span());
    multiply<T, S>(ctx, alpha, kept_.cspan(), product_.cspan(), beta, y);
  }
  OperatorTraits<T, S> traits() const override {
    OperatorTraits<T, S> traits;
    traits.capturable = inner_ == nullptr || inner_->capturable();
    traits.takes_long = inner_ != nullptr && inner_->traits().takes_long;
    traits.from_left = inner_;
    return traits;
  }

 private:
  const LinearOperator<T, S>* inner_ = nullptr;
  std::uint64_t inner_serial_ = 0;
  Array<T, S> kept_;             ///< D
  mutable Array<T, S> product_;  ///< M x
};

}  // namespace newel::detail
