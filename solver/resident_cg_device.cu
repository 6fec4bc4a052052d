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
ResidentEnd ResidentCg<T>::solve(const SolveArguments<T, Space::device>& system, Journal<T, Space::device>& journal,
                                 const ResidentCgVectors<T>& vectors) {
  const auto& [r, p, s, start] = vectors;
  const auto told_unless = [](bool open) { return open ? ResidentEnd::rest_is_for_the_loop : ResidentEnd::told; };
  const auto hand_over = [&, r = vectors.r] {
    const bool met = journal.form_residual(r);
    if (met) journal.conclude(Status::converged, "");
    journal.report().resident = journal.report().resident && met;
    return told_unless(!met);
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
  if (!this->launch(ctx, args) || !state.started) return told_unless(journal.open(r));
  if (!journal.open(state.rhs_norm, state.initial_residual)) return ResidentEnd::told;
  args.begin = ResidentBegin::onward;
  while (journal.look(state.iteration, state.event, residuals) && !state.undecided) {
    if (!this->launch(ctx, args)) return hand_over();
  }
  journal.report().resident = state.iteration > 0;
  const Event event = journal.event();
  if (event == Event::tolerance_met && journal.confirm(state.true_residual)) return ResidentEnd::told;
  if (journal.interrupted()) {
    journal.conclude(Event::none);
    return ResidentEnd::told;
  }
  if (event == Event::tolerance_met) {
    if (journal.confirm(r)) return ResidentEnd::told;
    journal.report().resident = false;
    return ResidentEnd::rest_is_for_the_loop;
  }
  // p.A p is a difference here, by which a matrix that is not symmetric looks indefinite.
  const bool misjudged = event == Event::matrix_not_positive && !symmetry_fault(ctx, system.A, system.M).empty();
  if (state.undecided || misjudged) return hand_over();
  journal.conclude(event, r);
  return ResidentEnd::told;
}

template class ResidentCg<double>;
template class ResidentCg<float>;

}  // namespace purlin::detail
