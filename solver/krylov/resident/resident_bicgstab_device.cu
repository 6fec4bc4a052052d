// SPDX-License-Identifier: Apache-2.0
// BiCGStab as one kernel: how its launches make a solve.
#include <limits>

#include <newel/core/vector_ops.hpp>
#include "solver/krylov/resident/resident_bicgstab_device.cuh"

namespace newel::detail {
namespace {

template <class T, int B, ResidentPrecond precond>
ResidentKernel<T> kernel_with(ResidentStorage storage) {
  constexpr bool has_rows = B == 1 && matrices_of(precond) == 0;
  switch (storage) {
    case ResidentStorage::on_chip:
      if constexpr (has_ehyb_kernels<T, B>) return resident_bicgstab<T, B, precond, ResidentStorage::on_chip>;
      return nullptr;
    case ResidentStorage::streaming:
      if constexpr (has_ehyb_kernels<T, B>) return resident_bicgstab<T, B, precond, ResidentStorage::streaming>;
      return nullptr;
    case ResidentStorage::rows_on_chip:
      if constexpr (has_rows) return resident_bicgstab<T, B, precond, ResidentStorage::rows_on_chip>;
      return nullptr;
    default:
      if constexpr (has_rows) return resident_bicgstab<T, B, precond, ResidentStorage::rows_streaming>;
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
      case ResidentPrecond::matrix:
        return kernel_with<T, B, ResidentPrecond::matrix>(storage);
      default:
        return nullptr;
    }
  });
}

template <class T>
ResidentMethod<T> method_of(ResidentPrecond precond) {
  return {resident_bicgstab_needs(precond), kernel_of<T>};
}

}  // namespace

template <class T>
ResidentBicgstab<T>::ResidentBicgstab(const Context<Space::device>& ctx, const LinearOperator<T, Space::device>& A,
                                      const LinearOperator<T, Space::device>* M)
    : ResidentSystem<T>(ctx, A, M, method_of<T>) {}

template <class T>
ResidentEnd ResidentBicgstab<T>::run(const SolveRequest<T, Space::device>& system,
                                     ConvergenceMonitor<T, Space::device>& convergence,
                                     const ResidentBicgstabVectors<T>& vectors, KeptIterate& best,
                                     ResidentBegin begin, double& r0_norm) {
  const Context<Space::device>& ctx = system.ctx;
  const bool opened = begin != ResidentBegin::guess;
  ResidentTask<T> task =
      this->task_of(system, convergence.exchange.not_before(), opened ? convergence.seen().iteration : 0);
  task.r = vectors.r.data;
  task.p = vectors.p.data;
  task.r0 = vectors.r0.data;
  task.kept = vectors.kept.data;
  task.begin = begin;
  auto& [state, residuals] = this->log_of(ctx);
  state = {};
  state.max_iterations = system.stop.max_iterations;
  state.epsilon = std::numeric_limits<T>::epsilon();
  if (opened) {
    state.iteration = convergence.seen().iteration;
    state.residual = state.r0_norm = convergence.residual.norm();
    if (begin == ResidentBegin::onward) state.r0_norm = r0_norm;
    state.tolerance = convergence.residual.tolerance();
    state.kept_residual = best.residual;
    state.kept_at = best.iteration;
    state.event = convergence.fresh_monitor().event;  // where no iterations are left
  }
  bool taken = state.event != Event::none || this->launch(ctx, task, convergence);
  if (!opened) {
    if (!taken || !state.started) {
      if (!convergence.open(vectors.r)) return ResidentEnd::reported;
      copy<T>(ctx, Span<const T, Space::device>(system.x), vectors.kept);
      best = {convergence.residual.norm(), 0};
      return ResidentEnd::continue_in_loop;
    }
    best = {state.kept_residual, state.kept_at};
    if (!convergence.open(state.rhs_norm, state.initial_residual, vectors.r)) return ResidentEnd::reported;
    if (convergence.residual.norm() <= convergence.residual.tolerance()) return ResidentEnd::continue_in_loop;
  }
  task.begin = ResidentBegin::onward;
  bool due = false;
  while (taken && !due && convergence.poll(state.iteration, state.event, residuals)) {
    due = exchange_due(convergence);
    task.iterations = this->launch_length(system, convergence.exchange.not_before(), state.iteration);
    if (!due) taken = this->launch(ctx, task, convergence);
  }
  best = {state.kept_residual, state.kept_at};
  convergence.report.resident = taken && state.iteration > 0;
  r0_norm = state.r0_norm;
  if (due) return ResidentEnd::exchange;
  if (!taken) {
    if (!convergence.residual.form(vectors.r)) return ResidentEnd::continue_in_loop;
    convergence.outcome.conclude(Status::converged);
    return ResidentEnd::reported;
  }
  return ResidentEnd::event;
}

template class ResidentBicgstab<double>;
template class ResidentBicgstab<float>;

}  // namespace newel::detail
