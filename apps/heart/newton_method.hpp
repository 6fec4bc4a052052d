// SPDX-License-Identifier: Apache-2.0
/// NewtonMethod: the voltage at the end of a step of time, by systems that are solved as far as the next one needs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/heart/heart_assembly.hpp"
#include "apps/transient/shares.hpp"

namespace newel::heart {

struct NewtonOptions {
  /// The step is solved when |R|_2 <= tolerance |m|_2 / dt, m being the volume of each node: an error in phi of about
  /// `tolerance`.
  double tolerance = 1e-7;
  int most_iterations = 12;
};

/// What came of a step that was tried.
struct StepOutcome {
  bool accepted = false;
  std::string refusal;  ///< why not, in a few words
  int newton = 0;       ///< systems solved
  std::int64_t iterations = 0;
  double residual = 0;  ///< |R| at the end, over |m|/dt
};

/// When the preconditioner is made again.
class PrecondAge {
 public:
  explicit PrecondAge(const std::string& name);

  bool is_due(double dt, bool first_of_step) const;
  void made(double dt) {
    dt_ = dt;
    fresh_iterations_ = 0;
  }
  /// In the first solve of a step.
  void solved(int iterations) {
    last_iterations_ = iterations;
    if (fresh_iterations_ == 0) fresh_iterations_ = iterations;
  }
  /// It is due in the next solve.
  void expire() { dt_ = 0; }

 private:
  bool cheap_;                ///< one that follows every matrix
  double dt_ = 0;             ///< the step that it was made for; 0: it is due
  int fresh_iterations_ = 0;  ///< of the first solve after it was made; 0: none yet
  int last_iterations_ = 0;
};

/// What it solves, with whose vectors; system and assembly outlive it.
template <Space S>
class NewtonMethod {
 public:
  /// Solves A x = rhs, A being what the slots of the system hold, from the guess in x until |rhs - A x| is at most
  /// stop.abs_tol; all in solver order. Of the report the status, its reason, the iterations and the initial residual
  /// are read.
  using OtherSolver =
      std::function<SolveReport(Span<const double, S> rhs, Span<double, S> x, const StopCriterion& stop)>;

  /// `limits`: of each solve, whose tolerance is Newton's choice.
  NewtonMethod(const Context<S>& ctx, const NewtonOptions& options, const StopCriterion& limits,
               LinearSystem<double, S>& system, HeartAssembly<S>& assembly);

  /// From phi, the guess, and r as the step began. `accepted` is left to the caller.
  StepOutcome run(const ElementForces& forces, Array<double, S>& phi, Array<double, S>& r, transient::Shares& shares,
                  transient::SolveTotals& totals);

  /// See Monodomain.
  void solve_with(OtherSolver solver) { other_solver_ = std::move(solver); }
  PrecondAge& preconditioner() { return preconditioner_; }
  /// By Newton iteration the residual that the last step began with: what the next one expects. May be empty.
  std::vector<double>& expected_residual() { return expected_residual_; }
  /// Where right-hand sides are made.
  Span<double, S> rhs() { return rhs_.span(); }

 private:
  detail::StepVerdict check(const ElementForces& forces, const Array<double, S>& phi, Array<double, S>& r,
                            transient::Shares& shares, transient::SolveTotals& totals);
  std::string assemble(double dt, int newton, transient::Shares& shares);
  SolveReport solve(int newton, double tolerance, Array<double, S>& phi, transient::Shares& shares,
                    transient::SolveTotals& totals);
  SolveReport solve_to(const StopCriterion& stop, Array<double, S>& phi, transient::Shares& shares,
                       transient::SolveTotals& totals);

  Context<S> ctx_;
  NewtonOptions options_;
  StopCriterion limits_;
  LinearSystem<double, S>& system_;
  HeartAssembly<S>& assembly_;
  OtherSolver other_solver_;
  double volume_norm_;
  Array<double, S> rhs_;
  PrecondAge preconditioner_;
  std::vector<double> expected_residual_;
};

}  // namespace newel::heart
