// SPDX-License-Identifier: Apache-2.0
/// When a solve asks for other operators, and how it goes on with them. Internal.
#pragma once

#include <optional>
#include <vector>

#include <newel/solver/krylov.hpp>
#include "solver/krylov/monitor/operator_exchange.hpp"

namespace newel::detail {

template <class T, Space S>
class ConvergenceMonitor;

template <class T, Space S>
class ExchangeQuestion {
 public:
  /// Null: nobody is asked.
  explicit ExchangeQuestion(OperatorExchange<T, S>* exchange) : exchange_(exchange) {}

  /// Before so many iterations `exchange_due` need not be asked; `no_exchange`: not at all.
  int not_before() const {
    if (exchange_ == nullptr) return no_exchange;
    if (not_before_ == unknown) not_before_ = exchange_->not_before();
    return not_before_;
  }
  /// What it said last depends on what it was asked and has changed since.
  void forget() { not_before_ = unknown; }
  /// To be called while a device is at work: see OperatorExchange::prepare.
  void prepare() {
    if (exchange_ != nullptr) exchange_->prepare();
  }
  /// Null: nobody is asked.
  OperatorExchange<T, S>* owner() const { return exchange_; }
  /// See CgSpectrum::left.
  double of_usual_iterations() const { return exchange_ != nullptr ? exchange_->of_usual_iterations() : 1; }

 private:
  static constexpr int unknown = -1;
  OperatorExchange<T, S>* exchange_;
  mutable int not_before_ = unknown;
};

/// Iterations up to the next poll: as many as `check_every` has, fewer where other operators may be due before.
template <class T, Space S>
int until_poll(const ConvergenceMonitor<T, S>& convergence);

/// Whether the solve should change its operators here. To be asked after a poll that returned true.
template <class T, Space S>
bool exchange_due(ConvergenceMonitor<T, S>& convergence);

/// Makes the change, by which `vectors` and x are renumbered; then the arguments to go on with. Nothing: there is
/// none to be had, and all is as it was.
template <class T, Space S>
std::optional<SolveRequest<T, S>> exchange_operators(ConvergenceMonitor<T, S>& convergence,
                                                     const std::vector<Span<T, S>>& vectors,
                                                     bool* same_preconditioner);

}  // namespace newel::detail
