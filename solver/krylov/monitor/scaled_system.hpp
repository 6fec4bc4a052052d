// SPDX-License-Identifier: Apache-2.0
/// Systems near the ends of the range of their precision, in units that take them to its middle. Internal.
#pragma once

#include <optional>

#include <newel/spmv/operator.hpp>

namespace newel::detail {

/// A = 2^matrix A', b = 2^rhs b', where A' and b' have entries near 1. A x = b is A' x' = b' with x = 2^(rhs -
/// matrix) x'. Powers of two change no digit.
struct SystemUnits {
  int matrix = 0;
  int rhs = 0;
};

/// The units of a system whose squares, or those of its products, leave the range of T, so that solvers see zeros or
/// infinities where there are none; or whose b leaves the range of M (null: none), as single precision has it.
/// None for all other systems, and where an entry of b is not finite. Allocates two vectors, with M three; a few
/// products and passes; waits for the stream. Throws OutOfMemory.
template <class T, Space S>
std::optional<SystemUnits> units_out_of_range(const Context<S>& ctx, const LinearOperator<T, S>& A,
                                              const LinearOperator<T, S>* M, Span<const T, S> b);

/// y = 2^exponent x; y may be x. No step in between leaves the range where x and y are inside.
template <class T, Space S>
void scale_by_power(const Context<S>& ctx, int exponent, Span<const T, S> x, Span<T, S> y);

/// 2^exponent B, of which no product leaves the range where the vectors are near 1.
template <class T, Space S>
class ScaledOperator final : public LinearOperator<T, S> {
 public:
  /// `inner` outlives this.
  ScaledOperator(const Context<S>& ctx, const LinearOperator<T, S>& inner, int exponent)
      : inner_(inner), exponent_(exponent), x_(ctx, inner.cols()), x_max_(ctx, 1) {}

  Index rows() const override { return inner_.rows(); }
  Index cols() const override { return inner_.cols(); }
  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override;
  std::optional<ResidualSums> residual(const Context<S>& ctx, Span<const T, S> b, Span<const T, S> x,
                                       const ResidualScale& scale, Span<T, S> r) const override;
  OperatorTraits<T, S> traits() const override {
    OperatorTraits<T, S> traits;
    traits.capturable = inner_.capturable();
    traits.takes_long = inner_.traits().takes_long;
    traits.exponent = exponent_;
    return traits;
  }

 private:
  const LinearOperator<T, S>& inner_;
  int exponent_;
  mutable Array<T, S> x_;  // one thread at a time uses an operator
  mutable Array<double, S> x_max_;
};

}  // namespace newel::detail
