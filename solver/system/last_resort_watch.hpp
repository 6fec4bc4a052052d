// SPDX-License-Identifier: Apache-2.0
/// LastResortWatch: when a solve has taken so long that the method of the last resort is faster. Internal.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include <newel/solver/registry.hpp>
#include <newel/spmv/format_choice.hpp>
#include "solver/cost/profiles/factor_constants.hpp"
#include "solver/krylov/monitor/residual_rate.hpp"
#include "solver/operators/system_estimates.hpp"
#include "solver/policy/factor_question.hpp"
#include "solver/system/system_state.hpp"

namespace newel::detail {

/// Counts the seconds of all attempts of a solve by the cost model, and asks a FactorQuestion. Methods for definite
/// matrices get there, and stronger preconditioners are for them: with many rows, or on a device, it asks once they
/// have the strongest, and counts the iterations with that alone.
template <class T, Space S>
class LastResortWatch {
 public:
  /// The state outlives this.
  explicit LastResortWatch(SystemState<T, S>& of) : s_(of) {}

  /// Whether the solve should end here. Makes the factors then.
  std::optional<Failure> operator()(const Progress& now) {
    if (solver_ != now.solver || precond_ != s_.operators->options.precond.name) look_up(now);
    if (method_ == nullptr || ended_) return std::nullopt;
    count(now);
    if (instead_) return end();
    const bool definite = method_->demands == Demand::definite;
    if (definite) after_definite_ = true;
    const bool after_stronger = definite && !has_few_rows();
    const double to_order = seconds_to_order();
    const FactorQuestion question = question_at(now, after_stronger);
    const double most = question.most_seconds();
    if (!(most > 0) || most < needed_ || !question.worth_an_order(to_order)) return std::nullopt;
    if (after_stronger && !has_the_strongest()) return std::nullopt;
    allowed_ = most;
    if (!s_.last_resort.ready_within(*s_.operators, most)) {
      needed_ = s_.last_resort.seconds_to_be_ready();
      return std::nullopt;
    }
    return end();
  }

  /// The factors that ended the solve did not serve, and others would have taken longer than was allowed: the solve
  /// continues, and is asked again when it has taken clearly longer.
  void others_were_refused() {
    ended_ = instead_ = false;
    needed_ = factor_limits.ask_again * allowed_;
  }

  /// Whether factors are expected to be faster than a stronger preconditioner that the solve is about to get, setup
  /// included. They are made then, and end the solve at the next call above. Asked only if their order takes far
  /// less.
  bool faster_than_move() {
    const double by_move = s_.advisor.seconds_with_stronger();
    expected_ = std::isfinite(by_move) ? by_move : 0;
    if (method_ == nullptr || ended_ || method_->demands == Demand::definite || after_definite_) return false;
    if (!std::isfinite(by_move) || !(by_move >= factor_limits.orders_before_move * seconds_to_order())) return false;
    allowed_ = by_move;
    return instead_ = s_.last_resort.ready_within(*s_.operators, by_move);
  }

 private:
  bool has_few_rows() const { return S == Space::host && factor_limits.is_small_definite(s_.rows, entries()); }
  double entries() const { return static_cast<double>(s_.entries); }
  double seconds_to_order() const {
    // If A is indefinite, L D L^T often meets a zero pivot, and L U follows with an order of its own.
    const bool definite = S == Space::host && method_->demands == Demand::definite;
    return definite ? order_constants.seconds_to_order_definite(s_.rows, entries())
                    : order_constants.seconds_to_order(s_.rows, entries());
  }

  Failure end() {
    ended_ = true;
    Failure failure{Cause::slower_than_factors};
    failure.iterations = iterations_;
    return failure;
  }

  // Whether the solve has left the preconditioner that it began with, and none is left that may follow.
  bool has_the_strongest() {
    if (!s_.changes.preconditioner) return false;
    const PrecondOutlooks* const left = s_.alternatives->forecasts().stronger_preconditioners(last_);
    return left == nullptr || std::all_of(left->stronger.begin(), left->stronger.end(),
                                          [](const PrecondOutlook& one) { return one.passed_over; });
  }

  // The method and what its iteration takes; none if it iterates in single precision. Until the pattern is known, its
  // bytes are all that is.
  void look_up(const Progress& now) {
    Operators<T, S>& system = *s_.operators;
    solver_ = now.solver;
    since_ = last_;
    rate_ = {};
    precond_ = system.options.precond.name;
    method_ = nullptr;
    if (system.A == nullptr) return;
    for (const SolverMethod& method : solver_methods()) {
      if (method.name == now.solver) method_ = &method;
    }
    if (method_ == nullptr) return;
    const IterationModel model = SystemEstimates<T, S>(system).model(*method_);
    const std::string& format = system.options.spmv.format;
    const auto product = is_format_choice(format) ? std::nullopt : model.product(format);
    const auto bytes = static_cast<double>(system.A->info().bytes_per_product);
    of_iteration_ = product ? model.iteration(precond_, *product).seconds
                            : model.bytes(bytes, s_.rows) / system.machine.bytes_per_second;
  }

  void count(const Progress& now) {
    if (now.iteration < last_) {  // of the next attempt
      last_ = since_ = 0;
      rate_ = {};
    }
    rate_.add(now.residual);
    spent_ += of_iteration_ * (now.iteration - last_);
    iterations_ += now.iteration - last_;
    last_ = now.iteration;
  }

  // By the residuals with the present operators, of which there is one for each poll.
  FactorQuestion question_at(const Progress& now, bool with_these_alone) const {
    const int iterations = last_ - since_;
    FactorQuestion question;
    const bool symmetric = method_->demands != Demand::nothing;
    if (S == Space::host && !symmetric) question.share = factor_limits.unsymmetric_share_of_solve;
    question.spent = with_these_alone ? of_iteration_ * iterations : spent_;
    const double polls_left = rate_.left(now.tolerance), with_these = of_iteration_ * iterations;
    if (polls_left > 0) question.left = with_these * polls_left / rate_.iterations();
    question.expect(with_these, expected_);
    return question;
  }

  SystemState<T, S>& s_;
  std::string solver_, precond_;
  const SolverMethod* method_ = nullptr;  // these three are of `of_iteration_`
  double of_iteration_ = 0, spent_ = 0;
  double expected_ = 0;  // seconds with the preconditioner that the solve moved to last; 0: it has moved to none
  double needed_ = 0;    // seconds of the factors, as they were refused last
  double allowed_ = 0;   // seconds for those that were made
  int last_ = 0, iterations_ = 0;
  ResidualRate rate_;  // since `since_`
  int since_ = 0;
  bool ended_ = false, instead_ = false, after_definite_ = false;
};

}  // namespace newel::detail
