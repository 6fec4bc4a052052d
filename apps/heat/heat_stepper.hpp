// SPDX-License-Identifier: Apache-2.0
/// HeatStepper: one time step after the other in a space, with everything in solver order from the first to the last.
#pragma once

#include <utility>
#include <vector>

#include <newel/core/vector_ops.hpp>
#include <newel/solver/linear_system.hpp>

#include "heat_equation.hpp"

namespace newel::heat {

/// Set up once; a step is one product with the explicit matrix, two vector additions and one solve, which starts from
/// the line through the last two states, or from what the system makes of that and its past solutions (GuessOptions).
/// Nothing is allocated and nothing renumbered between the first steps and the last.
template <Space S>
class HeatStepper {
 public:
  HeatStepper(const Context<S>& ctx, const HeatEquation& equation, const SystemOptions& options)
      : ctx_(ctx), system_(ctx, placed(ctx, equation.implicit_matrix), options) {
    const Csr<double, S> explicit_matrix = make_csr(ctx, CsrView<double, Space::host>(equation.explicit_matrix));
    SpmvOptions spmv = options.spmv;
    spmv.format = system_.info().matrix.name;
    if (system_.ordered().order().natural()) {
      explicit_ = make_spmv<double, S>(ctx, explicit_matrix, system_.ordered().order(), spmv);
    } else {
      const PermutedCsr<double, S> permuted = permute<double, S>(ctx, explicit_matrix, system_.ordered().order());
      explicit_ = make_spmv<double, S>(ctx, permuted.view(), system_.ordered().order(), spmv);
    }
    ambient_ = ordered(equation.ambient_load.cspan());
    source_ = ordered(equation.source_load.cspan());
    capacity_ = ordered(equation.capacity);
    total_ = Array<double, S>(ctx, 1);
    for (const double c : equation.capacity) total_capacity_ += c;
    rhs_ = Array<double, S>(ctx, system_.rows());
    uploaded_ = {};
  }

  LinearSystem<double, S>& system() { return system_; }

  /// The state in the caller's order, to begin with.
  void start(Span<const double, Space::host> u) {
    u_ = ordered(u);
    before_ = ordered(u);
  }
  /// The last two states in solver order, as `state` and `state_before` gave them.
  void resume(const std::vector<double>& u, const std::vector<double>& before) {
    u_ = make_array(ctx_, u);
    before_ = make_array(ctx_, before);
  }
  std::vector<double> state() const { return to_vector(ctx_, u_.cspan()); }
  std::vector<double> state_before() const { return to_vector(ctx_, before_.cspan()); }

  /// The state in the caller's order. Waits for the stream.
  std::vector<double> temperature() const { return unordered(u_.cspan()); }

  /// The last step's right-hand side, and the guess that the next step will start from, in the caller's order: what
  /// it takes to solve such a step by other means.
  std::vector<double> last_rhs() const { return unordered(rhs_.cspan()); }
  std::vector<double> next_guess() const {
    Array<double, S> guess(ctx_, u_.size());
    copy<double>(ctx_, before_.cspan(), guess.span());
    axpby<double, S>(ctx_, 2.0, u_.cspan(), -1.0, guess.span());
    return unordered(guess.cspan());
  }

  /// Mean temperature by heat capacity. Waits for the stream.
  double mean() {
    newel::dot<double, S>(ctx_, capacity_.cspan(), u_.cspan(), total_.data());
    return fetch<double, S>(ctx_, total_.data()) / total_capacity_;
  }

  /// One step with the source at `amplitude`. Where the solve does not converge, the state stays as it was.
  [[nodiscard]] SolveReport step(double amplitude) {
    explicit_->apply(ctx_, 1.0, u_.cspan(), 0.0, rhs_.span());                   // rhs = E u
    axpy<double, S>(ctx_, 1.0, ambient_.cspan(), rhs_.span());                   // rhs = rhs + h u_inf s
    axpy<double, S>(ctx_, amplitude, source_.cspan(), rhs_.span());              // rhs = rhs + a q
    axpby<double, S>(ctx_, 2.0, u_.cspan(), -1.0, before_.span());               // guess = 2 u - before
    SolveReport report = system_.ordered().solve(rhs_.cspan(), before_.span());  // I u_new = rhs
    if (report.converged()) std::swap(u_, before_);
    return report;
  }

 private:
  // The matrix in the space of the system, for as long as the constructor needs it.
  CsrView<double, S> placed(const Context<S>& ctx, const fem::HostCsr& a) {
    if constexpr (S == Space::host) {
      return CsrView<double, S>(a);
    } else {
      uploaded_ = make_csr(ctx, CsrView<double, Space::host>(a));
      return CsrView<double, S>(uploaded_);
    }
  }
  Array<double, S> ordered(Span<const double, Space::host> user) const {
    const Array<double, S> here = make_array(ctx_, user);
    Array<double, S> result(ctx_, user.size);
    system_.ordered().from_user_order(here.cspan(), result.span());
    ctx_.synchronize();
    return result;
  }
  std::vector<double> unordered(Span<const double, S> solver) const {
    Array<double, S> user(ctx_, solver.size);
    system_.ordered().to_user_order(solver, user.span());
    return to_vector(ctx_, user.cspan());
  }

  Context<S> ctx_;
  Csr<double, S> uploaded_;  // before system_: it is filled while that is made
  LinearSystem<double, S> system_;
  OperatorPtr<double, S> explicit_;
  Array<double, S> ambient_, source_, capacity_, total_;
  Array<double, S> u_, before_, rhs_;
  double total_capacity_ = 0;
};

}  // namespace newel::heat
