// SPDX-License-Identifier: Apache-2.0
/// The operators of a LinearSystem whose A is an operator of the caller's. Internal.
#pragma once

#include "solver/krylov/mixed/mixed_solvers.hpp"
#include "solver/krylov/monitor/null_space.hpp"
#include "solver/system/system_operators.hpp"

namespace newel::detail {

/// A as it is; M the caller's, none, or one that is made from A's diagonal. No entry of A is known, so there are no
/// formats, orders, refreshes or slots.
template <class T, Space S>
class GivenOperators final : public SystemOperators<T, S> {
 public:
  /// Throws as the constructor of LinearSystem does.
  GivenOperators(const Context<S>& ctx, std::shared_ptr<const LinearOperator<T, S>> a, SystemOptions options,
                 SystemParts<T, S> parts);

  const RowOrder<S>& order() const override { return order_; }
  const LinearOperator<T, S>& matrix() const override { return *A_; }
  const LinearOperator<T, S>* preconditioner() const override;
  const std::string& preconditioner_name() const override { return precond_name_; }
  SolverChain<T, S> make_chain() override;
  [[noreturn]] void refresh(Span<const T, S> values, RefreshScope scope) override;
  [[noreturn]] Slots<T, S> matrix_slots() override;
  [[noreturn]] Slots<T, S> preconditioner_slots() override;
  [[noreturn]] void slots_written(RefreshScope scope) override;
  void operator_changed(RefreshScope scope) override;
  [[noreturn]] void move_nodes(std::shared_ptr<const NodeCoordinates> coordinates) override;
  bool sound() const override { return sound_; }
  SystemInfo info() override;
  PhaseSeconds setup_seconds() const override { return setup_seconds_; }
  void write_decision(SystemDecision& decision) override {
    decision.preconditioner = precond_name_;
    decision.solvers = choice_.order;
  }

 private:
  void refuse_what_needs_entries() const;
  void make_preconditioner();
  void make_low_system();
  void choose_solver_for_operator();

  Context<S> ctx_;
  SystemOptions options_;
  SystemParts<T, S> parts_;
  RowOrder<S> order_;  // the natural one
  std::shared_ptr<const LinearOperator<T, S>> A_;
  OperatorPtr<T, S> M_;  // made from A's diagonal
  OperatorPtr<float, S> low_M_;
  std::unique_ptr<ZeroMeanPrecond<float, S>> low_zero_mean_;
  std::string precond_name_ = "none";
  LocatedText precond_reason_;
  SolverChoice choice_;
  bool sound_ = true;
  PhaseSeconds setup_seconds_;
};

}  // namespace newel::detail
