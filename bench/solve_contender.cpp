// SPDX-License-Identifier: Apache-2.0
// LinearSystem as a contender.
#include "solve_contender.hpp"

#include <newel/core/vector_ops.hpp>
#include <newel/solver/gmres.hpp>
#include <newel/solver/linear_system.hpp>
#include "core/vectors/instantiate.hpp"

#include "measure.hpp"

namespace newel::bench {
namespace {

template <class T, Space S>
class SystemSolve final : public BuiltSolve<T, S> {
 public:
  SystemSolve(const Context<S>& ctx, const CsrView<T, S>& a, const SystemChoice& choice) : ctx_(ctx) {
    SystemOptions options;
    options.spmv.format = choice.format;
    options.precond.name = choice.precond;
    options.solver.name = choice.solver;
    options.solver.of<GmresOptions>().restart = choice.restart;
    options.mixed = choice.mixed;
    options.solver.of<GmresOptions>().single_basis = choice.single_basis;
    setup_seconds_ = seconds_of([&] {
      system_ = std::make_unique<LinearSystem<T, S>>(ctx, a, options);
      ctx.synchronize();
    });
  }

  SolveEnd solve(Span<const T, S> b, Span<T, S> x, const SolveGoal& goal) override {
    StopCriterion stop;
    stop.rel_tol = goal.tolerance;
    stop.max_iterations = goal.max_iterations;
    system_->set_stop_criterion(stop);
    fill(ctx_, T(0), x);
    const SolveReport report = system_->solve(b, x);
    return {std::string(name_of(report.status)), report.reason, report.iterations,
            report.relative(report.recurrence_residual), report.resident};
  }

  SolveFacts facts() const override {
    const SystemInfo info = system_->info();
    SolveFacts facts;
    facts.format = info.matrix.name;
    facts.detail = info.matrix.detail;
    facts.product_bytes = info.matrix.bytes_per_product;
    const LinearOperator<T, S>* M = system_->ordered().preconditioner();
    const bool diagonal = info.preconditioner.stored_slots == info.preconditioner.rows;
    if (M != nullptr && !diagonal) facts.precond_bytes = info.preconditioner.bytes_per_product;
    facts.setup_seconds = setup_seconds_;
    facts.setup_phases = info.setup_seconds;
    return facts;
  }

 private:
  Context<S> ctx_;
  std::unique_ptr<LinearSystem<T, S>> system_;
  double setup_seconds_ = 0;
};

}  // namespace

template <class T, Space S>
SolveContender<T, S> system_contender(const SystemChoice& choice) {
  SolveContender<T, S> contender;
  contender.by = choice.mixed ? "newel:mixed" : choice.single_basis ? "newel:single-basis" : "newel";
  contender.mixed = choice.mixed;
  contender.single_basis = choice.single_basis;
  contender.solver = choice.solver;
  contender.precond = choice.precond;
  contender.format = choice.format;
  contender.build = [choice](const Context<S>& ctx, const CsrView<T, S>& a) {
    return std::make_unique<SystemSolve<T, S>>(ctx, a, choice);
  };
  return contender;
}

bool competitors_know(const std::string& solver, const std::string& precond) {
  return (solver == "cg" || solver == "bicgstab") && (precond == "none" || precond == "jacobi");
}

#define X(T, S) template SolveContender<T, S> system_contender(const SystemChoice&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::bench
