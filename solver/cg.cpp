// SPDX-License-Identifier: Apache-2.0
// The preconditioned conjugate gradient method.
#include <purlin/solver/cg.hpp>

#include <limits>
#include <string>

#include <purlin/core/error.hpp>
#include <purlin/core/instantiate.hpp>
#include <purlin/core/vector_ops.hpp>
#include <purlin/solver/cg_iteration.hpp>
#include <purlin/solver/cg_steps.hpp>
#include <purlin/solver/convergence_monitor.hpp>
#include <purlin/solver/resident_cg.hpp>
#include <purlin/solver/symmetry.hpp>

namespace purlin {

using namespace detail;

template <class T, Space S>
Cg<T, S>::Cg(const Context<S>& ctx, Index n, bool resident)
    : cg_(std::make_unique<CgIteration<T, S>>(ctx, n)), start_x_(ctx, n), may_be_resident_(resident) {}
template <class T, Space S>
Cg<T, S>::Cg(Cg&&) noexcept = default;
template <class T, Space S>
Cg<T, S>& Cg<T, S>::operator=(Cg&&) noexcept = default;
template <class T, Space S>
Cg<T, S>::~Cg() = default;

template <class T, Space S>
SolveReport Cg<T, S>::solve(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
                            Span<const T, S> b, Span<T, S> x, const StopCriterion& stop, const ProgressFn& progress) {
  CgIteration<T, S>& cg = *cg_;
  const SolveArguments<T, S> system{ctx, A, M, b, x, stop, progress};
  ConvergenceMonitor<T, S> convergence(name(), cg.r().size, system, cg.scratch(), last_iterations_);
  convergence.watch_growth(first_growth, most_growth<T>, [&] { return symmetry_fault(ctx, A, M); });
  bool more = open(system, convergence);  // r = b - A x
  // The recurrence that began at `start_x_`. A resident solve has kept the guess there, and may leave the end to the
  // loop.
  double least = std::numeric_limits<double>::infinity();
  CgHistory best;
  if (convergence.iterations() > 0) least = convergence.report().initial_residual;
  typename CgIteration<T, S>::Step step;
  if (more) step = cg.bind(ctx, A, M, x);
  while (more) {
    if (!(convergence.residual() > least)) {
      copy<T>(ctx, Span<const T, S>(x), start_x_.span());
      least = convergence.residual();
      best = {convergence.iterations(), -1};
    } else if (best.end < 0) {
      best.end = convergence.iterations();
    }
    cg.begin(ctx, M, convergence.fresh_monitor(), convergence.residual());
    do {
      cg.repeat(convergence.check_every(), step);
    } while (convergence.poll(&cg.state()->monitor));
    cg.finish(ctx, x);
    convergence.conclude(convergence.event(), cg.r());
    more = convergence.event() == Event::tolerance_met && !convergence.confirm(cg.r());  // r = b - A x
  }
  if (convergence.report().status == Status::diverged) {
    return_to_best(cg, system, convergence, start_x_.cspan(), best);
  }
  last_iterations_ = convergence.iterations();
  return convergence.close(cg.r(), cg.q());
}

template <class T, Space S>
void Cg<T, S>::iterate(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
                       Span<const T, S> b, Span<T, S> x, int iterations) {
  check_system<T, S>(cg_->r().size, A, M, b, x);
  if (iterations < 0) throw InputError("the number of iterations is 0 or more, not " + std::to_string(iterations));
  cg_->iterate(ctx, A, M, b, x, iterations);
}

template <class T, Space S>
void Cg<T, S>::prepare(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M) {
  if constexpr (S == Space::device) {
    if (!may_be_resident_ || (resident_ != nullptr && resident_->serves(ctx, A, M))) return;
    ctx.make_current();
    resident_ = std::make_shared<ResidentCg<T>>(ctx, A, M);
  }
}

// r = b - A x. Where the system fits on the chip it is solved there, and as a rule nothing is left to do.
template <class T, Space S>
bool Cg<T, S>::open(const SolveArguments<T, S>& system, ConvergenceMonitor<T, S>& convergence) {
  if constexpr (S == Space::device) {
    prepare(system.ctx, system.A, system.M);
    if (may_be_resident_ && resident_->fits()) {
      return resident_->solve(system, convergence, {cg_->r(), cg_->p(), cg_->q(), start_x_}) ==
             ResidentEnd::continue_in_loop;
    }
  }
  return convergence.open(cg_->r());
}

#define X(T, S) template class Cg<T, S>;
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin
