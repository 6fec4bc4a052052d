// SPDX-License-Identifier: Apache-2.0
// A time step of the heart in both spaces.
#include "apps/heart/monodomain.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <newel/config.hpp>
#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include <newel/precond/registry.hpp>

namespace newel::heart {
namespace {

using transient::Phase;

// A linear system is solved as far as Newton's method will get with it: its next residual is about quadratic in this
// one.
constexpr double forcing = 1e-3;
// And where the tolerance is near, a little below it, so that the next residual meets it.
constexpr double below_tolerance = 0.3;
// A preconditioner that costs more than a product is kept until a solve needs that many times the iterations.
constexpr double worn_out = 1.4;

std::shared_ptr<const fem::NodeTets> tets_around(const Context<Space::host>& host, const HeartView& heart) {
  return heart.around ? heart.around : std::make_shared<const fem::NodeTets>(fem::node_tets(host, heart.mesh));
}

template <Space S>
LinearSystem<double, S> make_system(const Context<S>& ctx, const HeartView& heart, const fem::NodeTets& around,
                                    const fem::HostCsr& conduction, double dt, SystemOptions options) {
  if (options.solver.name == "auto") options.solver.name = "cg";
  const fem::HostVector values = resting_tangent(host_context(ctx), heart.mesh, around, conduction, heart.tissue, dt);
  const CsrView<double, Space::host> tangent(Pattern<Space::host>(CsrView<double, Space::host>(conduction)),
                                             values.cspan());
  if constexpr (S == Space::host) {
    return LinearSystem<double, S>(ctx, tangent, std::move(options));
  } else {
    const Csr<double, S> there = make_csr(ctx, tangent);
    return LinearSystem<double, S>(ctx, there, std::move(options));
  }
}

// What f makes, and the end of a phase where phases are timed.
template <class F>
auto made(cli::RunClock* clock, const char* phase, F&& f) {
  struct End {
    cli::RunClock* clock;
    const char* phase;
    ~End() {
      if (clock != nullptr) clock->end(phase);
    }
  } end{clock, phase};
  return f();
}

std::string refusal_of(const detail::ElementVerdict& verdict) {
  if (verdict.failed > 0) return "the recovery variable of an element does not converge";
  if (verdict.too_steep > 0) return "the reaction is too fast for the step";
  return {};
}

double norm_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

template <class V>
std::vector<V> reordered(const std::vector<V>& values, const std::vector<Index>& from) {
  std::vector<V> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) result[i] = values[from[i]];
  return result;
}

}  // namespace

template <Space S>
Monodomain<S>::Monodomain(const Context<S>& ctx, const HeartView& heart, double dt, SystemOptions options,
                          AssemblyKind kind, const NewtonOptions& newton, cli::RunClock* clock)
    : ctx_(ctx),
      tissue_(heart.tissue),
      newton_(newton),
      around_(tets_around(host_context(ctx), heart)),
      conduction_(made(clock, "conduction",
                       [&] {
                         return assemble_conduction(host_context(ctx), heart.mesh, *around_, heart.fibers,
                                                    heart.conductivity);
                       })),
      system_(made(clock, "linear system",
                   [&] { return make_system(ctx, heart, *around_, conduction_, dt, std::move(options)); })),
      assembly_(made(clock, "element lists",
                     [&] {
                       return HeartAssembly<S>(ctx, heart.mesh, *around_, conduction_, heart.fibers,
                                               heart.conductivity, heart.marks, system_, kind);
                     })),
      volume_norm_(norm_of(assembly_.node_volumes(ctx))),
      phi_(ctx, system_.rows()),
      old_phi_(ctx, system_.rows()),
      previous_(ctx, system_.rows()),
      rhs_(ctx, system_.rows()),
      r_(ctx, assembly_.elements()) {
  conduction_ = {};  // its values are where they are needed
  around_.reset();
  const std::string name = system_.info().preconditioner.name;
  cheap_preconditioner_ = name == "none" || find_preconditioner(name).diagonal;
  for (Array<double, S>* array : {&phi_, &old_phi_, &previous_, &r_}) fill<double, S>(ctx_, 0.0, array->span());
}

template <Space S>
void Monodomain<S>::begin_step(double dt) {
  if (moved_on_) previous_.swap(old_phi_);
  moved_on_ = false;
  copy<double>(ctx_, phi_.cspan(), old_phi_.span());
  if (previous_dt_ == 0) return;
  // The guess: where phi goes if it continues as it did.
  const double ratio = dt / previous_dt_;
  axpby<double, S>(ctx_, -ratio, previous_.cspan(), 1 + ratio, phi_.span());
}

template <Space S>
StepOutcome Monodomain<S>::step(double dt, const StimulusRates& stimulus, transient::Shares& shares,
                                transient::SolveTotals& totals) {
  shares.timed(ctx_, Phase::vector_work, [&] { begin_step(dt); });
  assembly_.begin_step(old_phi_.cspan(), r_);
  StepOutcome outcome = iterate({tissue_, dt, stimulus}, shares, totals);
  outcome.accepted = outcome.refusal.empty();
  if (outcome.accepted) {
    moved_on_ = true;
    previous_dt_ = dt;
  } else {
    copy<double>(ctx_, old_phi_.cspan(), phi_.span());
    assembly_.restore(r_);
    preconditioner_dt_ = 0;
    expected_residual_.clear();
  }
  return outcome;
}

// The element results of a linearisation are read with the residual after its solve, by one wait for both, or where
// the step would end earlier: a solve is then occasionally wasted, and most steps wait once less.
template <Space S>
StepOutcome Monodomain<S>::iterate(const ElementForces& forces, transient::Shares& shares,
                                   transient::SolveTotals& totals) {
  StepOutcome outcome;
  const double scale = volume_norm_ / forces.dt;
  const auto refused = [&](const detail::ElementVerdict& verdict) {
    outcome.refusal = refusal_of(verdict);
    return !outcome.refusal.empty();
  };
  const auto met = [&](double residual) {
    outcome.residual = residual / scale;
    return outcome.residual <= newton_.tolerance;
  };
  for (int k = 0; k <= newton_.most_iterations; ++k) {
    const double last = outcome.residual;
    const bool check = k > 0 && assembly_.checks();
    if (check) {
      const detail::StepVerdict verdict = this->check(forces, shares, totals);
      if (refused(verdict.linearized) || refused(verdict.checked) || met(verdict.residual)) return outcome;
    }
    shares.timed(ctx_, Phase::elements, [&] { assembly_.linearize(ctx_, forces, phi_.cspan(), r_.span()); });
    const auto linearized = [&] { return assembly_.verdict(ctx_).linearized; };
    if (!assembly_.checks() && refused(linearized())) return outcome;
    const std::string indefinite = assemble(forces.dt, k, shares);
    if (!indefinite.empty()) {
      if (!refused(linearized())) outcome.refusal = indefinite;
      return outcome;
    }
    const SolveReport report = solve(k, newton_.tolerance * scale, shares, totals);
    outcome.iterations += report.iterations;
    outcome.newton += report.iterations > 0 ? 1 : 0;
    if (!check && met(report.initial_residual)) {
      refused(linearized());
      return outcome;
    }
    if (!report.converged()) {
      if (!refused(linearized())) {
        outcome.refusal = "the solver ends with " + std::string(name_of(report.status)) + ": " + report.reason;
      }
    } else if (k > 1 && outcome.residual > last) {
      outcome.refusal = "Newton's method diverges";
    }
    if (!outcome.refusal.empty()) return outcome;
  }
  outcome.refusal = "Newton's method does not converge";
  return outcome;
}

// |R| at phi, by the matrix of the iteration before: most steps end here, and need no matrix of their own.
template <Space S>
detail::StepVerdict Monodomain<S>::check(const ElementForces& forces, transient::Shares& shares,
                                         transient::SolveTotals& totals) {
  shares.timed(ctx_, Phase::check, [&] { assembly_.check(ctx_, forces, phi_.cspan(), r_.span(), rhs_.span()); });
  ++totals.other_products;
  return shares.timed(ctx_, Phase::solve, [&] {
    system_.ordered_matrix().apply(ctx_, -1.0, phi_.cspan(), 1.0, rhs_.span());
    norm2<double, S>(ctx_, rhs_.cspan(), assembly_.residual());
    return assembly_.verdict(ctx_);
  });
}

// Matrix, preconditioner where it is due, right-hand side; returns why not.
template <Space S>
std::string Monodomain<S>::assemble(double dt, int newton, transient::Shares& shares) {
  const bool worn = fresh_iterations_ > 0 && last_iterations_ > worn_out * fresh_iterations_ + 2;
  const bool due = cheap_preconditioner_ || dt != preconditioner_dt_ || (newton == 0 && worn);
  try {
    shares.timed(ctx_, Phase::sums, [&] {
      assembly_.fill(ctx_, due ? RefreshScope::everything : RefreshScope::operator_only, rhs_.span());
    });
  } catch (const NotPositiveDefinite& e) {
    return e.what();
  } catch (const ZeroDiagonal& e) {
    return e.what();
  }
  if (due) {
    preconditioner_dt_ = dt;
    fresh_iterations_ = 0;
  }
  return {};
}

// Towards |K phi - rhs| <= tolerance, from the present phi. The first solves of a step go only as far as Newton's
// method will follow, judged by the step before; where that one was accepted without a solve, so may this.
template <Space S>
SolveReport Monodomain<S>::solve(int newton, double tolerance, transient::Shares& shares,
                                 transient::SolveTotals& totals) {
  const auto k = static_cast<std::size_t>(newton);
  const double expected = k < expected_residual_.size() ? expected_residual_[k] : 0;
  const bool last = expected > 0 && expected <= tolerance;
  StopCriterion stop = system_.stop_criterion();
  stop.rel_tol = 0;
  stop.abs_tol = last ? tolerance : std::max(below_tolerance * tolerance, forcing * expected);
  SolveReport report = solve_to(stop, shares, totals);
  const double residual = report.initial_residual;
  if (report.iterations == 0 && report.converged() && residual > tolerance) {  // the step before was no guide
    stop.abs_tol = std::max(below_tolerance * tolerance, forcing * residual);
    report = solve_to(stop, shares, totals);
  }
  expected_residual_.resize(std::max(expected_residual_.size(), k + 1), 0.0);
  expected_residual_[k] = residual;
  if (newton == 0) {
    last_iterations_ = report.iterations;
    if (fresh_iterations_ == 0) fresh_iterations_ = report.iterations;
  }
  return report;
}

template <Space S>
SolveReport Monodomain<S>::solve_to(const StopCriterion& stop, transient::Shares& shares,
                                    transient::SolveTotals& totals) {
  system_.set_stop_criterion(stop);
  SolveReport report = shares.timed(ctx_, Phase::solve, [&] {
    return other_solver_ ? other_solver_(rhs_.cspan(), phi_.span(), stop) : system_.solve_ordered(rhs_, phi_);
  });
  totals.add(report);
  return report;
}

template <Space S>
AssemblySeconds Monodomain<S>::measure_assembly(double dt, int repeats) {
  const ElementForces forces{tissue_, dt, {}};
  preconditioner_dt_ = 0;
  assembly_.begin_step(phi_.cspan(), r_);
  AssemblySeconds seconds;
  seconds.elements =
      transient::seconds_of_one(ctx_, repeats, [&] { assembly_.linearize(ctx_, forces, phi_.cspan(), r_.span()); });
  seconds.sums = transient::seconds_of_one(ctx_, repeats,
                                           [&] { assembly_.fill(ctx_, RefreshScope::operator_only, rhs_.span()); });
  assembly_.restore(r_);
  return seconds;
}

template <Space S>
std::vector<double> Monodomain<S>::in_mesh_order(Span<const double, S> node_values) const {
  const std::vector<double> values = to_vector(ctx_, node_values);
  const std::vector<Index> new_of_old = to_vector(ctx_, system_.order().new_of_old.cspan());
  return new_of_old.empty() ? values : reordered(values, new_of_old);
}

template <Space S>
std::vector<double> Monodomain<S>::recovery() const {
  const std::vector<double> values = to_vector(ctx_, r_.cspan());
  std::vector<double> result(values.size());
  for (std::size_t e = 0; e < values.size(); ++e) result[assembly_.element_order()[e]] = values[e];
  return result;
}

template <Space S>
HeartState Monodomain<S>::state() {
  preconditioner_dt_ = 0;
  fresh_iterations_ = 0;
  HeartState state;
  state.phi = in_mesh_order(phi_.cspan());
  state.previous_dt = previous_dt_;
  if (previous_dt_ > 0) state.previous = in_mesh_order(moved_on_ ? old_phi_.cspan() : previous_.cspan());
  state.r = recovery();
  state.expected_residual = expected_residual_;
  return state;
}

template <Space S>
void Monodomain<S>::set_state(const HeartState& state) {
  const std::vector<Index> old_of_new = to_vector(ctx_, system_.order().old_of_new.cspan());
  const auto place = [&](const std::vector<double>& from, Array<double, S>& to, const std::vector<Index>& order) {
    if (static_cast<std::int64_t>(from.size()) != to.size()) {
      throw InputError("a state of " + std::to_string(from.size()) + " values for a heart of " +
                       std::to_string(to.size()));
    }
    const std::vector<double> ordered = order.empty() ? from : reordered(from, order);
    copy<double>(ctx_, Span<const double, Space::host>(ordered.data(), to.size()), to.span());
  };
  place(state.phi, phi_, old_of_new);
  place(state.r, r_, assembly_.element_order());
  if (state.previous_dt > 0) place(state.previous, old_phi_, old_of_new);
  moved_on_ = true;
  previous_dt_ = state.previous_dt;
  preconditioner_dt_ = 0;
  fresh_iterations_ = 0;
  expected_residual_ = state.expected_residual;
}

#define X(S) template class Monodomain<S>;
X(Space::host)
#if NEWEL_HAS_CUDA
X(Space::device)
#endif
#undef X

}  // namespace newel::heart
