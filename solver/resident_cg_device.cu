// SPDX-License-Identifier: Apache-2.0
// CG as one kernel: how its launches make a solve.
#include <limits>

#include <purlin/solver/resident_cg.hpp>
#include <purlin/solver/resident_cg_device.cuh>
#include <purlin/solver/symmetry.hpp>

namespace purlin::detail {
namespace {

template <class T, int B, ResidentPrecond precond>
ResidentKernel<T> kernel_with(bool on_chip) {
  return on_chip ? resident_cg<T, B, precond, true> : resident_cg<T, B, precond, false>;
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
      case ResidentPrecond::factors:
        return kernel_with<T, B, ResidentPrecond::factors>(on_chip);
      default:
        return nullptr;
    }
  });
}

template <class T>
ResidentMethod<T> method_of(ResidentPrecond precond) {
  return {resident_cg_needs(precond), kernel_of<T>};
}

}  // namespace

template <class T>
ResidentCg<T>::ResidentCg(const Context<Space::device>& ctx, const LinearOperator<T, Space::device>& A,
                          const LinearOperator<T, Space::device>* M)
    : ResidentSystem<T>(ctx, A, M, method_of<T>) {}

template <class T>
ResidentEnd ResidentCg<T>::solve(const SolveArguments<T, Space::device>& system,
                                 ConvergenceMonitor<T, Space::device>& convergence,
                                 const ResidentCgVectors<T>& vectors) {
  const auto& [r, p, s, start] = vectors;
  const auto reported_unless = [](bool open) { return open ? ResidentEnd::continue_in_loop : ResidentEnd::reported; };
  const auto hand_over = [&, r = vectors.r] {
    const bool met = convergence.form_residual(r);
    if (met) convergence.conclude(Status::converged);
    convergence.report().resident = convergence.report().resident && met;
    return reported_unless(!met);
  };
  const Context<Space::device>& ctx = system.ctx;
  ResidentArgs<T> args = this->args_of(system);
  args.r = r.data;
  args.p = p.data;
  args.s = s.data;
  args.kept = start.data;
  auto& [state, residuals] = this->log_of(ctx);
  state = {};
  state.max_iterations = system.stop.max_iterations;
  state.rho = std::numeric_limits<double>::infinity();
  state.alpha = 1;
  if (!this->launch(ctx, args) || !state.started) return reported_unless(convergence.open(r));
  if (!convergence.open(state.rhs_norm, state.initial_residual)) return ResidentEnd::reported;
  args.begin = ResidentBegin::onward;
  while (convergence.poll(state.iteration, state.event, residuals) && !state.undecided) {
    if (!this->launch(ctx, args)) return hand_over();
  }
  convergence.report().resident = state.iteration > 0;
  const Event event = convergence.event();
  if (event == Event::tolerance_met && convergence.confirm(state.true_residual)) return ResidentEnd::reported;
  if (convergence.interrupted()) {
    convergence.conclude(Event::none);
    return ResidentEnd::reported;
  }
  if (event == Event::tolerance_met) {
    if (convergence.confirm(r)) return ResidentEnd::reported;
    convergence.report().resident = false;
    return ResidentEnd::continue_in_loop;
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

}  // namespace purlin::detail
