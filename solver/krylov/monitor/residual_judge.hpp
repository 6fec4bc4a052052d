// SPDX-License-Identifier: Apache-2.0
/// ResidualJudge: what a solve knows of b - A x, and whether that meets its tolerance. Internal.
#pragma once

#include <optional>

#include <newel/solver/krylov.hpp>
#include "solver/krylov/monitor/true_residual.hpp"

namespace newel::detail {

template <class T, Space S>
class ResidualJudge {
 public:
  /// `scratch` is a double in S.
  ResidualJudge(const SolveRequest<T, S>& system, double* scratch) : system_(system), scratch_(scratch) {}

  const SolveRequest<T, S>& system() const { return *system_; }
  /// From here on A, M, b and x are these.
  void follow(const SolveRequest<T, S>& system) { system_.emplace(system); }
  double* scratch() const { return scratch_; }

  void set_rhs(double rhs_norm, double tolerance) { rhs_norm_ = rhs_norm, tolerance_ = tolerance; }
  double tolerance() const { return tolerance_; }

  /// r = b - A x in twice the precision and its norm; true when that, its rounding included, meets the tolerance.
  bool form(Span<T, S> r);
  /// The same by an ordinary product, in the precision of those that follow.
  void form_roughly(Span<T, S> r);
  /// The norm has been computed elsewhere, by ordinary products.
  void take(double norm);
  /// x is 0: b - A x is b, without a product and without rounding.
  void take_rhs();

  /// The latest that is known.
  double norm() const { return judged_.norm; }
  const TrueResidual& what() const { return judged_; }
  /// Whether it has been formed in twice the precision, of the present x.
  bool known() const { return known_; }
  void x_has_changed() { known_ = false; }
  bool meets_tolerance() const;

 private:
  std::optional<SolveRequest<T, S>> system_;
  double* scratch_;
  double rhs_norm_ = 0, tolerance_ = 0;
  TrueResidual judged_;
  bool known_ = false;
};

}  // namespace newel::detail
