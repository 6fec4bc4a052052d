// SPDX-License-Identifier: Apache-2.0
/// FactoredInverse: M = G^T G as two products, on one rank and on several. Internal.
#pragma once

#include <algorithm>
#include <memory>

#include <newel/core/vector_ops.hpp>
#include <newel/spmv/operator.hpp>
#include "core/vectors/column_ops.hpp"

namespace newel::detail {

/// Symmetric and positive definite by construction. `Factor` is the operator that G and its transpose are.
template <class T, Space S, class Factor>
class FactoredInverse : public MatrixOperator<T, S> {
 public:
  Index rows() const override { return g_->rows(); }
  Index cols() const override { return g_->rows(); }

  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override {
    g_->apply(ctx, T(1), x, T(0), between_.span());
    gt_->apply(ctx, alpha, between_.cspan(), beta, y);
  }
  /// x.y as |G x|^2: never negative, whatever the rounding.
  void apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const override {
    apply(ctx, T(1), x, T(0), y);
    dot<T, S>(ctx, between_.cspan(), between_.cspan(), xy);
  }
  void apply_columns(const Context<S>& ctx, int columns, T alpha, Span<const T, S> x, T beta, Span<T, S> y,
                     Span<char, S> work) const override {
    const Span<T, S> between(reinterpret_cast<T*>(work.data), x.size);
    const auto used = static_cast<std::int64_t>(between_bytes(columns));
    const Span<char, S> rest = work.subspan(used, work.size - used);
    g_->apply_columns(ctx, columns, T(1), x, T(0), between, rest);
    gt_->apply_columns(ctx, columns, alpha, Span<const T, S>(between), beta, y, rest);
  }
  void apply_dot_columns(const Context<S>& ctx, int columns, Span<const T, S> x, Span<T, S> y, double* xy,
                         Span<char, S> work) const override {
    apply_columns(ctx, columns, T(1), x, T(0), y, work);
    const Span<const T, S> between(reinterpret_cast<T*>(work.data), x.size);
    dot_columns<T, S>(ctx, columns, between, between, xy);
  }
  std::uint64_t column_work_bytes(int columns) const override {
    return between_bytes(columns) + std::max(g_->column_work_bytes(columns), gt_->column_work_bytes(columns));
  }
  OperatorTraits<T, S> traits() const override { return {g_->capturable() && gt_->capturable()}; }

 protected:
  FactoredInverse() = default;
  FactoredInverse(FactoredInverse&&) = default;

  std::unique_ptr<Factor> g_, gt_;
  mutable Array<T, S> between_;  ///< G x

 private:
  // G X of several columns stands in front of the work of the two products.
  std::uint64_t between_bytes(int columns) const {
    constexpr std::uint64_t alignment = 256;
    const std::uint64_t bytes = sizeof(T) * static_cast<std::uint64_t>(rows()) * static_cast<std::uint64_t>(columns);
    return (bytes + alignment - 1) / alignment * alignment;
  }
};

}  // namespace newel::detail
