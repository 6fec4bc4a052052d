// SPDX-License-Identifier: Apache-2.0
/// SingleCopy: the operators of a system in mixed precision that iterate in single. Internal.
#pragma once

#include <memory>

#include <newel/solver/system_parts.hpp>
#include "solver/krylov/monitor/null_space.hpp"
#include "solver/operators/operators.hpp"

namespace newel::detail {

/// Either a system of its own, made from rounded values, or the caller's operators. The values are divided by a power
/// of two that fits those of the constructor before they are rounded.
template <Space S>
class SingleCopy {
 public:
  /// Of the matrix `a`, in the format and with the preconditioner that `options` name or leave to "auto".
  SingleCopy(const Context<S>& ctx, const CsrView<double, S>& a, const SystemOptions& options,
             SystemParts<float, S> parts);
  /// Of operators: M is `made`, or the caller's.
  SingleCopy(std::shared_ptr<const LinearOperator<float, S>> A, OperatorPtr<float, S> made,
             std::shared_ptr<const LinearOperator<float, S>> M);

  /// What iterates: with the constant null space M takes out the mean.
  LowSystem<S> iterated() const;
  /// The same with M as it is.
  LowSystem<S> plain() const;
  void take_out_mean(const Context<S>& ctx);

  /// Rounds new values.
  void refresh(const Context<S>& ctx, Span<const double, S> values, RefreshScope scope);
  /// The operators of the caller have changed.
  void operator_changed(const Context<S>& ctx);

  /// Null: the caller's operators.
  Operators<float, S>* system() { return system_.get(); }
  const Operators<float, S>* system() const { return system_.get(); }
  std::uint64_t value_bytes() const { return static_cast<std::uint64_t>(rounded_.size()) * sizeof(float); }

 private:
  double scale_ = 1;
  Array<float, S> rounded_;  // in the caller's order
  std::unique_ptr<Operators<float, S>> system_;
  std::shared_ptr<const LinearOperator<float, S>> A_, given_M_;
  OperatorPtr<float, S> M_;
  std::unique_ptr<ZeroMeanPrecond<float, S>> zero_mean_;
};

/// A system in mixed precision: A in double as CSR, for true residuals, and a SingleCopy for the iteration. The
/// solver requested is tried in mixed precision first, then in double with the M that there is. Throws as the
/// constructor of LinearSystem does.
template <Space S>
std::unique_ptr<Operators<double, S>> build_mixed(const Context<S>& ctx, const CsrView<double, S>& a,
                                                  SystemOptions options, const SystemParts<double, S>& parts);

}  // namespace newel::detail
