// SPDX-License-Identifier: Apache-2.0
/// Solvers for systems in double that iterate in single precision. Internal.
#pragma once

#include <memory>
#include <string>

#include <newel/solver/krylov.hpp>
#include <newel/solver/low_system.hpp>
#include "solver/krylov/methods/cg_iteration.hpp"
#include "solver/krylov/monitor/convergence_monitor.hpp"

namespace newel::detail {

/// The name in reports of a method that iterates in single precision.
inline std::string mixed_name(std::string_view method) { return "mixed " + std::string(method); }

/// M of a low system as an operator on vectors in double, for iterations in double next to those in single precision:
/// y = alpha scale M x + beta y. x is divided by a power of two near its length before it is rounded.
template <Space S>
class WidenedPrecond final : public LinearOperator<double, S> {
 public:
  WidenedPrecond(const Context<S>& ctx, LowSystem<S> low);

  Index rows() const override { return low_.A.rows(); }
  Index cols() const override { return low_.A.cols(); }
  void apply(const Context<S>& ctx, double alpha, Span<const double, S> x, double beta,
             Span<double, S> y) const override;

  OperatorTraits<double, S> traits() const override { return {low_.M->capturable(), low_.M->traits().takes_long}; }

 private:
  LowSystem<S> low_;
  // One thread at a time uses an operator.
  mutable Array<double, S> norm_;
  mutable Array<float, S> x_, z_;
};

/// CG in single precision whose residual is replaced by that of the system in double whenever it has fallen by a
/// factor of ten, while the direction continues: the reliable updates of G. L. G. Sleijpen, H. A. van der Vorst,
/// "Reliable updated residuals in hybrid Bi-CG methods", Computing 56 (1996), in the mixed precision of M. A. Clark,
/// R. Babich, K. Barros, R. C. Brower, C. Rebbi, "Solving lattice QCD systems of equations using mixed precision
/// solvers on GPUs", Comput. Phys. Commun. 181 (2010), section 4. Ends with `stagnation` or `breakdown` where single
/// precision does not suffice for the matrix; x is then the best so far.
template <Space S>
class MixedCg final : public KrylovSolver<double, S> {
 public:
  MixedCg(const Context<S>& ctx, LowSystem<S> low);

  std::string_view name() const override { return "mixed cg"; }
  /// `M` is not used: the low system has its own.
  [[nodiscard]] SolveReport run(const SolveRequest<double, S>& request) override;

 private:
  bool poll(const Context<S>& ctx, ConvergenceMonitor<double, S>& convergence, double unit);
  double drift(const Context<S>& ctx, ConvergenceMonitor<double, S>& convergence, double unit, Span<double, S> x);

  LowSystem<S> low_;
  CgIteration<float, S> cg_;
  Array<float, S> d_;   // the correction since the last replacement
  Array<double, S> r_;  // b - A x
  int last_iterations_ = 0;
};

/// Iterative refinement: solves A d = r in single precision by another method, adds d to x and forms r = b - A x in
/// double, again and again. A solve of GMRES is one cycle, which would end in a new residual anyway; one of BiCGStab
/// takes three digits.
template <Space S>
class MixedRefinement final : public KrylovSolver<double, S> {
 public:
  MixedRefinement(const Context<S>& ctx, LowSystem<S> low, std::unique_ptr<KrylovSolver<float, S>> inner,
                  int cycle_length);

  std::string_view name() const override { return name_; }
  /// `M` is not used: the low system has its own.
  [[nodiscard]] SolveReport run(const SolveRequest<double, S>& request) override;

 private:
  LowSystem<S> low_;
  std::unique_ptr<KrylovSolver<float, S>> inner_;
  int cycle_length_;  // of GMRES; 0: none
  std::string name_;
  Array<float, S> s_, d_;
  Array<double, S> r_;
  Array<double, S> scratch_;
};

}  // namespace newel::detail
