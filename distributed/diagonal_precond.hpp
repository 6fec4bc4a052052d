// SPDX-License-Identifier: Apache-2.0
/// DiagonalPrecond: Jacobi of a matrix whose rows are distributed over ranks. Internal.
#pragma once

#include <algorithm>
#include <cmath>

#include <newel/core/vector_ops.hpp>
#include <newel/spmv/operator.hpp>

namespace newel::detail {

/// Whether a number and its inverse are finite.
template <class T>
bool has_inverse(T number) {
  return std::isfinite(number) && std::isfinite(T(1) / number);
}

/// z = D r, D the inverse of the diagonal. A rank without rows has it all the same, so that all ranks take the same
/// steps.
template <class T>
class DiagonalPrecond final : public LinearOperator<T, Space::host> {
 public:
  /// Throws ZeroDiagonal for an entry of this rank that has no finite inverse, with its number in the whole system,
  /// of which `user_row` tells the row that entry i belongs to.
  template <class UserRow>
  DiagonalPrecond(const Context<Space::host>& ctx, Span<const T, Space::host> diagonal, UserRow&& user_row)
      : rows_(static_cast<Index>(diagonal.size)), inverse_(ctx, std::max<Index>(rows_, 1)) {
    refresh(diagonal, user_row);
  }

  /// The same with other values.
  template <class UserRow>
  void refresh(Span<const T, Space::host> diagonal, UserRow&& user_row) {
    std::int64_t first = -1, count = 0;
    double value = 0;
    for (Index i = 0; i < rows_; ++i) {
      inverse_[i] = T(1) / diagonal[i];
      if (has_inverse(diagonal[i])) continue;
      const std::int64_t row = user_row(i);
      ++count;
      if (first >= 0 && first < row) continue;
      first = row;
      value = static_cast<double>(diagonal[i]);
    }
    if (count > 0) throw ZeroDiagonal(first, count, value);
    this->renew_serial();
  }

  Index rows() const override { return rows_; }
  Index cols() const override { return rows_; }
  void apply(const Context<Space::host>& ctx, T alpha, Span<const T, Space::host> x, T beta,
             Span<T, Space::host> y) const override {
    multiply<T, Space::host>(ctx, alpha, d(), x, beta, y);
  }
  void apply_dot(const Context<Space::host>& ctx, Span<const T, Space::host> x, Span<T, Space::host> y,
                 double* xy) const override {
    multiply_dot<T, Space::host>(ctx, d(), x, y, xy);
  }
  OperatorTraits<T, Space::host> traits() const override { return {true, false, false, d()}; }

 private:
  Span<const T, Space::host> d() const { return inverse_.cspan().subspan(0, rows_); }

  Index rows_;
  Array<T, Space::host> inverse_;
};

}  // namespace newel::detail
