// SPDX-License-Identifier: Apache-2.0
// BiCGStab as one kernel: how its launches make a solve.
#include <limits>

#include <purlin/core/vector_ops.hpp>
#include <purlin/solver/resident_bicgstab_device.cuh>

namespace purlin::detail {
namespace {

template <class T, int B, ResidentPrecond precond>
ResidentKernel<T> kernel_with(bool on_chip) {
  return on_chip ? resident_bicgstab<T, B, precond, true> : resident_bicgstab<T, B, precond, false>;
}

template <class T>
ResidentKernel<T> kernel_of(int block, ResidentPrecond precond, bool on_chip) {
  return for_block(block, [&](auto rows) -> ResidentKernel<T> {
    constexpr int B = decltype(rows)::value;
    switch (precond) {
      case ResidentPrecond::none:
        return kernel_with<T, B, ResidentPrecond::none>(on_chip);
      case ResidentPrecond::diagonal:
        return kernel_with<T, B, ResidentPrecond::diagonal>(on_chip);
      case ResidentPrecond::matrix:
        return kernel_with<T, B, ResidentPrecond::matrix>(on_chip);
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
ResidentEnd ResidentBicgstab<T>::run(const SolveArguments<T, Space::device>& system,
                                     Journal<T, Space::device>& journal, const ResidentBicgstabVectors<T>& vectors,
                                     KeptIterate& best, bool opened) {
  const Context<Space::device>& ctx = system.ctx;
  ResidentArgs<T> args = this->args_of(system);
  args.r = vectors.r.data;
  args.p = vectors.p.data;
  args.r0 = vectors.r0.data;
  args.kept = vectors.kept.data;
  auto& [state, residuals] = this->log_of(ctx);
  state = {};
  state.max_iterations = system.stop.max_iterations;
  state.epsilon = std::numeric_limits<T>::epsilon();
  if (opened) {
    args.begin = ResidentBegin::residual;
    state.iteration = journal.iterations();
    state.residual = state.r0_norm = journal.residual();
    state.tolerance = journal.tolerance();
    state.kept_residual = best.residual;
    state.kept_at = best.iteration;
    state.event = journal.fresh_monitor().event;  // where no iterations are left
  }
  bool taken = state.event != Event::none || this->launch(ctx, args);
  if (!opened) {
    if (!taken || !state.started) {
      if (!journal.open(vectors.r)) return ResidentEnd::told;
      copy<T>(ctx, Span<const T, Space::device>(system.x), vectors.kept);
      best = {journal.residual(), 0};
      return ResidentEnd::rest_is_for_the_loop;
    }
    best = {state.kept_residual, state.kept_at};
    if (!journal.open(state.rhs_norm, state.initial_residual)) return ResidentEnd::told;
  }
  args.begin = ResidentBegin::onward;
  while (taken && journal.look(state.iteration, state.event, residuals)) taken = this->launch(ctx, args);
  best = {state.kept_residual, state.kept_at};
  journal.report().resident = taken && state.iteration > 0;
  if (!taken) {
    if (!journal.form_residual(vectors.r)) return ResidentEnd::rest_is_for_the_loop;
    journal.conclude(Status::converged, "");
    return ResidentEnd::told;
  }
  return journal.event() == Event::tolerance_met && journal.confirm(state.true_residual) ? ResidentEnd::told
                                                                                         : ResidentEnd::event;
}

template class ResidentBicgstab<double>;
template class ResidentBicgstab<float>;

}  // namespace purlin::detail
