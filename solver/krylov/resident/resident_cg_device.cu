// SPDX-License-Identifier: Apache-2.0
// CG as one kernel: how its launches make a solve.
#include <limits>

#include "solver/krylov/resident/resident_cg.hpp"
#include "solver/krylov/resident/resident_cg_device.cuh"
#include "solver/krylov/monitor/symmetry.hpp"

namespace newel::detail {
namespace {

template <class T, int B, ResidentPrecond precond>
ResidentKernel<T> kernel_with(ResidentStorage storage) {
  constexpr bool has_rows = B == 1 && matrices_of(precond) == 0;
  switch (storage) {
    case ResidentStorage::on_chip:
      if constexpr (has_ehyb_kernels<T, B>) return resident_cg<T, B, precond, ResidentStorage::on_chip>;
      return nullptr;
    case ResidentStorage::streaming:
      if constexpr (has_ehyb_kernels<T, B>) return resident_cg<T, B, precond, ResidentStorage::streaming>;
      return nullptr;
    case ResidentStorage::rows_on_chip:
      if constexpr (has_rows) return resident_cg<T, B, precond, ResidentStorage::rows_on_chip>;
      return nullptr;
    default:
      if constexpr (has_rows) return resident_cg<T, B, precond, ResidentStorage::rows_streaming>;
      return nullptr;
  }
}

template <class T>
ResidentKernel<T> kernel_of(int block, ResidentPrecond precond, ResidentStorage storage) {
  return for_block(block, [&](auto rows) -> ResidentKernel<T> {
    constexpr int B = decltype(rows)::value;
    switch (precond) {
      case ResidentPrecond::none:
        return kernel_with<T, B, ResidentPrecond::none>(storage);
      case ResidentPrecond::diagonal:
        return kernel_with<T, B, ResidentPrecond::diagonal>(storage);
      case ResidentPrecond::factors:
        return kernel_with<T, B, ResidentPrecond::factors>(storage);
      default:
        return nullptr;
    }
  });
}

template <class T>
ResidentMethod<T> method_of(ResidentPrecond precond) {
  return {resident_cg_needs(precond), kernel_of<T>, resident_cg_across<T>, resident_cg_needs_across};
}

}  // namespace

template <class T>
ResidentCg<T>::ResidentCg(const Context<Space::device>& ctx, const LinearOperator<T, Space::device>& A,
                          const LinearOperator<T, Space::device>* M)
    : ResidentSystem<T>(ctx, A, M, method_of<T>) {}

template <class T>
ResidentTask<T> ResidentCg<T>::task_with(const SolveRequest<T, Space::device>& system,
                                         const ResidentCgVectors<T>& vectors, int asks_from, int done) const {
  ResidentTask<T> task = this->task_of(system, asks_from, done);
  task.r = vectors.r.data;
  task.p = vectors.p.data;
  task.s = vectors.s.data;
  task.kept = vectors.start.data;
  task.coefficients = vectors.coefficients.data;
  return task;
}

template <class T>
ResidentEnd ResidentCg<T>::solve(const SolveRequest<T, Space::device>& system,
                                 ConvergenceMonitor<T, Space::device>& convergence,
                                 const ResidentCgVectors<T>& vectors) {
  const Context<Space::device>& ctx = system.ctx;
  ResidentState& state = this->log_of(ctx).state;
  state = {};
  state.max_iterations = system.stop.max_iterations;
  state.rho = std::numeric_limits<double>::infinity();
  state.alpha = 1;
  ResidentTask<T> task = task_with(system, vectors, convergence.exchange.not_before(), 0);
  if (!this->launch(ctx, task, convergence) || !state.started) {
    return convergence.open(vectors.r) ? ResidentEnd::continue_in_loop : ResidentEnd::reported;
  }
  if (!convergence.open(state.rhs_norm, state.initial_residual, vectors.r)) return ResidentEnd::reported;
  if (convergence.residual.norm() <= convergence.residual.tolerance()) return ResidentEnd::continue_in_loop;
  convergence.report.resident = true;
  task.begin = ResidentBegin::onward;
  return launch_until_event(system, convergence, task);
}

template <class T>
ResidentEnd ResidentCg<T>::go_on(const SolveRequest<T, Space::device>& system,
                                 ConvergenceMonitor<T, Space::device>& convergence,
                                 const ResidentCgVectors<T>& vectors, const CgScalars& last, bool has_s) {
  const Context<Space::device>& ctx = system.ctx;
  if (!has_s) system.A.apply(ctx, T(1), Span<const T, Space::device>(vectors.p), T(0), vectors.s);  // s = A p
  ResidentState& state = this->log_of(ctx).state;
  const MonitorState monitor = convergence.fresh_monitor();
  state = {};
  state.tolerance = monitor.tolerance;
  state.iteration = monitor.iteration;
  state.max_iterations = monitor.max_iterations;
  state.started = true;
  state.rho = last.rho;
  state.alpha = last.alpha;
  ResidentTask<T> task = task_with(system, vectors, convergence.exchange.not_before(), monitor.iteration);
  task.begin = ResidentBegin::onward;
  if (!this->launch(ctx, task, convergence)) return ResidentEnd::declined;
  return launch_until_event(system, convergence, task);
}

template <class T>
CgScalars ResidentCg<T>::last_scalars(const Context<Space::device>& ctx) const {
  const ResidentState& state = this->log_of(ctx).state;
  return {state.rho, state.alpha};
}

// From the first launch on, whose log is there.
template <class T>
ResidentEnd ResidentCg<T>::launch_until_event(const SolveRequest<T, Space::device>& system,
                                              ConvergenceMonitor<T, Space::device>& convergence,
                                              ResidentTask<T> task) {
  const Context<Space::device>& ctx = system.ctx;
  const Span<T, Space::device> r(task.r, system.x.size);
  const auto hand_over = [&] {
    const bool met = convergence.residual.form(r);
    if (met) convergence.outcome.conclude(Status::converged);
    convergence.report.resident = convergence.report.resident && met;
    return met ? ResidentEnd::reported : ResidentEnd::continue_in_loop;
  };
  auto& [state, residuals] = this->log_of(ctx);
  while (convergence.poll(state.iteration, state.event, residuals, state.gained) && !state.undecided) {
    if (exchange_due(convergence)) return ResidentEnd::exchange;
    task.iterations = this->launch_length(system, convergence.exchange.not_before(), state.iteration);
    if (!this->launch(ctx, task, convergence)) return hand_over();
  }
  convergence.report.resident = convergence.report.resident && state.iteration > 0;
  const Event event = convergence.seen().event;
  if (event == Event::tolerance_met) {
    if (convergence.confirm(r)) return ResidentEnd::reported;
    convergence.report.resident = false;
    return ResidentEnd::continue_in_loop;
  }
  if (convergence.clock.interrupted()) {
    convergence.conclude(Event::none);
    return ResidentEnd::reported;
  }
  // p.A p is a difference here, by which a matrix that is not symmetric looks indefinite.
  const bool misjudged =
      event == Event::matrix_not_positive && symmetry_fault(ctx, system.A, system.M) != Asymmetric::none;
  if (state.undecided || misjudged) return hand_over();
  convergence.conclude(event, r);
  return ResidentEnd::reported;
}

template class ResidentCg<double>;
template class ResidentCg<float>;

}  // namespace newel::detail
