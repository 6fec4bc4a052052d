// SPDX-License-Identifier: Apache-2.0
/// The operators of a LinearSystem in mixed precision. Internal.
#pragma once

#include "solver/krylov/mixed/mixed_solvers.hpp"
#include "solver/krylov/monitor/null_space.hpp"
#include "solver/system/system_operators.hpp"

namespace newel::detail {

/// A in double as CSR, for true residuals; A in the chosen format and M in single precision, for the iteration. The
/// solver requested is tried in mixed precision first, then as it is, in double with the M that there is.
///
/// The values of the matrix are divided by a power of two that fits those given to the constructor before they are
/// rounded.
template <Space S>
class MixedOperators final : public SystemOperators<double, S> {
 public:
  /// As PlainOperators.
  MixedOperators(const Context<S>& ctx, const CsrView<double, S>& a, const SystemOptions& options,
                 const SystemParts<double, S>& parts);

  const RowOrder<S>& order() const override { return low_->order(); }
  const LinearOperator<double, S>& matrix() const override { return *A_; }
  const LinearOperator<double, S>* preconditioner() const override { return M_.get(); }
  const std::string& preconditioner_name() const override { return low_->preconditioner_name(); }
  SolverChain<double, S> make_chain() override;
  void refresh(Span<const double, S> values, RefreshScope scope) override;
  void move_nodes(std::shared_ptr<const NodeCoordinates> coordinates) override {
    low_->move_nodes(std::move(coordinates));
  }
  [[noreturn]] Slots<double, S> matrix_slots() override;
  [[noreturn]] Slots<double, S> preconditioner_slots() override;
  [[noreturn]] void slots_written(RefreshScope scope) override;
  bool sound() const override { return sound_ && low_->sound(); }
  SystemInfo info() override;
  PhaseSeconds setup_seconds() const override;
  void write_decision(SystemDecision& decision) override { low_->write_decision(decision); }

 private:
  LowSystem<S> low_system() const { return {low_->matrix(), low_->preconditioner(), scale_}; }

  Context<S> ctx_;
  SolverOptions solver_;
  NullSpace null_space_;
  double scale_ = 1;         // of the matrix in single precision
  Array<float, S> rounded_;  // the values in single precision, in the caller's order
  std::optional<PlainOperators<float, S>> low_;
  OperatorPtr<double, S> A_;
  std::shared_ptr<WidenedPrecond<S>> M_;                  // null where there is none
  std::unique_ptr<ZeroMeanPrecond<float, S>> zero_mean_;  // M of the low system with the constant null space
  bool sound_ = true;
  PhaseSeconds setup_seconds_;
};

}  // namespace newel::detail
