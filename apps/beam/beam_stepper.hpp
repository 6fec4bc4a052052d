// SPDX-License-Identifier: Apache-2.0
/// BeamStepper: elastodynamics in a space, one time step after the other, for one strike or several at once.
///
///     M u'' + C u' + s(t) K u = f(t),     C = a M + b s(t) K
///
/// in steps of average acceleration, Newmark's method with beta = 1/4 and gamma = 1/2 (N. M. Newmark, J. Eng. Mech.
/// Div. ASCE 85, 1959). With the mean velocity w = (v + v_new) / 2 of a step this is
///
///     u_new = u + dt w,   v_new = 2 w - v,   (M + dt/2 C + dt^2/4 s K) w = M v - dt/2 s K u + dt/2 f
///
/// with s and f of the step. It is of second order, and keeps the energy of a body without damping and force: a solve
/// that leaves the residual r changes it by dt w . r and nothing else. No acceleration is needed, not even at the
/// beginning.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include <newel/core/vector_ops.hpp>
#include <newel/solver/linear_system.hpp>

#include "beam_body.hpp"
#include "step_matrix.hpp"

namespace newel::beam {

/// The vectors of all strikes, one after the other, in solver order; and the factors s that A and M have values of.
struct BeamState {
  std::vector<double> displacement, velocity, mean_velocity, mean_velocity_before;
  double matrix_factor = 1, preconditioner_factor = 1;
};

/// Set up once. All strikes share the matrix and are solved together. A step is one solve, two products and a few
/// vector operations for each strike; nothing is allocated and nothing renumbered between the second step and the
/// last.
template <Space S>
class BeamStepper {
 public:
  BeamStepper(const Context<S>& ctx, const BeamBody& body, const StepScheme& scheme, const SystemOptions& options)
      : ctx_(ctx),
        scheme_(scheme),
        strikes_(static_cast<Index>(body.strikes.size())),
        matrix_(ctx, body.matrices, scheme),
        system_(ctx, matrix_.combined(scheme.first_factor), options),
        factor_(scheme.first_factor),
        full_factor_(scheme.first_factor) {
    SpmvOptions spmv = options.spmv;
    spmv.format = system_.info().matrix.name;
    stiffness_ = ordered_operator<S>(ctx, matrix_.stiffness(), system_.ordered().order(), spmv);
    mass_ = ordered_operator<S>(ctx, matrix_.mass(), system_.ordered().order(), spmv);
    if (!scheme_.stiffness_varies) matrix_.release();
    for (auto* vectors : {&u_, &v_, &w_, &before_, &x_, &stiffness_u_, &mass_v_, &rhs_, &force_}) {
      *vectors = Array<double, S>(ctx, Offset{strikes_} * system_.rows());
      fill<double, S>(ctx, 0.0, vectors->span());
    }
    for (Index k = 0; k < strikes_; ++k) {
      const Array<double, S> force = make_array(ctx, body.strikes[static_cast<std::size_t>(k)]);
      system_.ordered().from_user_order(force.cspan(), column(force_, k));
      ctx.synchronize();
    }
    watch(body.probes);
  }

  LinearSystem<double, S>& system() { return system_; }

  /// Begins from this displacement and velocity in the caller's order, the same for all strikes. Without it a body
  /// begins at rest.
  void start(const std::vector<double>& displacement, const std::vector<double>& velocity) {
    const Array<double, S> u = make_array(ctx_, displacement), v = make_array(ctx_, velocity);
    for (Index k = 0; k < strikes_; ++k) {
      system_.ordered().from_user_order(u.cspan(), column(u_, k));
      for (auto* of : {&v_, &w_, &before_}) system_.ordered().from_user_order(v.cspan(), column(*of, k));
    }
    ctx_.synchronize();
    multiply_state();
  }

  BeamState state() const {
    return {to_vector(ctx_, u_.cspan()),
            to_vector(ctx_, v_.cspan()),
            to_vector(ctx_, w_.cspan()),
            to_vector(ctx_, before_.cspan()),
            factor_,
            full_factor_};
  }
  void resume(const BeamState& state) {
    u_ = make_array(ctx_, state.displacement);
    v_ = make_array(ctx_, state.velocity);
    w_ = make_array(ctx_, state.mean_velocity);
    before_ = make_array(ctx_, state.mean_velocity_before);
    if (scheme_.stiffness_varies) {
      if (state.preconditioner_factor != full_factor_) refresh(state.preconditioner_factor, RefreshScope::everything);
      if (state.matrix_factor != factor_) refresh(state.matrix_factor, RefreshScope::operator_only);
    }
    multiply_state();
  }

  /// One step with this share of the peak force and this factor of the stiffness, which is that of the first step
  /// unless the stiffness varies. One report for each strike; if one did not converge, the state stays as it was.
  [[nodiscard]] std::vector<SolveReport> step(double force, double factor) {
    const double half = 0.5 * scheme_.dt;
    if (scheme_.stiffness_varies && factor != factor_) {
      const bool far = std::fabs(factor / full_factor_ - 1) > most_change;
      refresh(factor, far ? RefreshScope::everything : RefreshScope::operator_only);
    }
    copy<double>(ctx_, mass_v_.cspan(), rhs_.span());
    axpy<double, S>(ctx_, -half * factor_, stiffness_u_.cspan(), rhs_.span());
    axpy<double, S>(ctx_, half * force, force_.cspan(), rhs_.span());  // rhs = M v - dt/2 s K u + dt/2 f
    copy<double>(ctx_, before_.cspan(), x_.span());
    axpby<double, S>(ctx_, 2.0, w_.cspan(), -1.0, x_.span());  // guess = 2 w - before
    std::vector<SolveReport> reports;                          // A x = rhs
    if (strikes_ == 1) {
      reports.push_back(system_.ordered().solve(rhs_.cspan(), x_.span()));
    } else {
      reports = system_.ordered().solve_columns(rhs_.cspan(), x_.span(), strikes_);
    }
    for (const SolveReport& report : reports) {
      if (!report.converged()) return reports;
    }
    std::swap(w_, before_);
    copy<double>(ctx_, x_.cspan(), w_.span());
    axpy<double, S>(ctx_, scheme_.dt, w_.cspan(), u_.span());  // u = u + dt w
    axpby<double, S>(ctx_, 2.0, w_.cspan(), -1.0, v_.span());  // v = 2 w - v
    multiply_state();
    return reports;
  }

  /// For each strike kinetic energy, strain energy in J, then x, y, z of each probe in m. Waits for the stream.
  std::vector<double> observe() {
    const Offset probe_rows = probe_rows_.size(), each = 2 + probe_rows;
    for (Index k = 0; k < strikes_; ++k) {
      double* const seen = seen_.data() + k * each;
      newel::dot<double, S>(ctx_, column(v_, k), column(mass_v_, k), seen);
      newel::dot<double, S>(ctx_, column(u_, k), column(stiffness_u_, k), seen + 1);
      gather<double, S>(ctx_, column(u_, k), probe_rows_.cspan(), seen_.span().subspan(k * each + 2, probe_rows));
    }
    std::vector<double> seen = to_vector(ctx_, seen_.cspan());
    for (Index k = 0; k < strikes_; ++k) {
      seen[static_cast<std::size_t>(k * each)] *= 0.5;
      seen[static_cast<std::size_t>(k * each + 1)] *= 0.5 * factor_;
    }
    return seen;
  }

  /// Of a strike, in the caller's order. Wait for the stream.
  std::vector<double> displacement(Index strike) const { return unordered(u_, strike); }
  std::vector<double> velocity(Index strike) const { return unordered(v_, strike); }

 private:
  static constexpr double most_change = 0.05;  // of the stiffness, before the preconditioner gets new values

  Span<double, S> column(Array<double, S>& vectors, Index k) const {
    return vectors.span().subspan(Offset{k} * system_.rows(), system_.rows());
  }
  std::vector<double> unordered(const Array<double, S>& vectors, Index k) const {
    Array<double, S> user(ctx_, system_.rows());
    system_.ordered().to_user_order(vectors.cspan().subspan(Offset{k} * system_.rows(), system_.rows()), user.span());
    return to_vector(ctx_, user.cspan());
  }
  void watch(const std::vector<Index>& probes) {
    const std::vector<Index> new_of_old = to_vector(ctx_, system_.ordered().order().new_of_old.cspan());
    std::vector<Index> places;
    for (const Index node : probes) {
      for (Index row = 3 * node; row < 3 * node + 3; ++row) {
        places.push_back(new_of_old.empty() ? row : new_of_old[static_cast<std::size_t>(row)]);
      }
    }
    probe_rows_ = make_array(ctx_, places);
    seen_ = Array<double, S>(ctx_, Offset{strikes_} * (2 + probe_rows_.size()));
  }
  void multiply_state() {
    for (Index k = 0; k < strikes_; ++k) {
      mass_->apply(ctx_, 1.0, column(v_, k), 0.0, column(mass_v_, k));
      stiffness_->apply(ctx_, 1.0, column(u_, k), 0.0, column(stiffness_u_, k));
    }
  }
  void refresh(double factor, RefreshScope scope) {
    system_.refresh(matrix_.combined(factor).val, scope);
    factor_ = factor;
    if (scope == RefreshScope::everything) full_factor_ = factor;
  }

  Context<S> ctx_;
  StepScheme scheme_;
  Index strikes_;
  StepMatrix<S> matrix_;  // released if the stiffness does not vary
  LinearSystem<double, S> system_;
  OperatorPtr<double, S> stiffness_, mass_;
  Array<double, S> u_, v_, w_, before_, stiffness_u_, mass_v_, rhs_, force_;
  Array<double, S> x_;  // of the solves, always the same: a device captures its address in graphs
  Array<Index, S> probe_rows_;
  Array<double, S> seen_;
  double factor_, full_factor_;
};

}  // namespace newel::beam
