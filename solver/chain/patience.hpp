// SPDX-License-Identifier: Apache-2.0
/// Patience: when an attempt gives up for the next solver. Internal.
#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include <newel/solver/method.hpp>

namespace newel::detail {

/// Of a method whose residuals may grow, that has not found a lower one for long. BiCGStab may wander for as many
/// iterations as there are, and the next solver would get none. CG may wait as long, and longer, on its way; but
/// where it is slow, and A or M is not symmetric, it gives up.
class Patience {
 public:
  /// `fault` finds out whether A and M are symmetric; it is asked once at most where they are.
  Patience(const SolverMethod& method, std::function<Asymmetric()> fault)
      : definite_(method.demands == Demand::definite), fault_(std::move(fault)) {}

  /// Whether it has run out, and why.
  std::optional<Failure> operator()(const Progress& now) {
    constexpr int most_iterations = 1000;
    constexpr double share_of_cg = 0.1;
    if (now.residual < (definite_ ? share_of_cg : 1) * lowest_) {
      lowest_ = now.residual;
      lowest_at_ = now.iteration;
    }
    if (endless_ || now.iteration - lowest_at_ < most_iterations) return std::nullopt;
    if (!definite_) return Failure{Cause::no_better_residual, Subject::none, 0, most_iterations, Asymmetric::none};
    const Asymmetric fault = fault_();
    endless_ = fault == Asymmetric::none;
    if (endless_) return std::nullopt;
    return Failure{Cause::slow_residual, Subject::none, 0, most_iterations, fault};
  }

 private:
  bool definite_;
  bool endless_ = false;
  std::function<Asymmetric()> fault_;
  double lowest_ = INFINITY;
  int lowest_at_ = 0;
};

/// Whether the method may need it.
inline bool may_wander(const SolverMethod* method) {
  return method != nullptr && !method->minimises && !method->from_matrix();
}

}  // namespace newel::detail
