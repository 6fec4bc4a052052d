// SPDX-License-Identifier: Apache-2.0
// A time step of the heart in both spaces.
#include "apps/heart/monodomain.hpp"

#include <utility>

#include <newel/config.hpp>
#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>

namespace newel::heart {
namespace {

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

template <class V>
std::vector<V> reordered(const std::vector<V>& values, const std::vector<Index>& from) {
  std::vector<V> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) result[i] = values[from[i]];
  return result;
}

}  // namespace

template <Space S>
VoltageHistory<S>::VoltageHistory(const Context<S>& ctx, Index nodes)
    : phi_(ctx, nodes), old_phi_(ctx, nodes), previous_(ctx, nodes) {
  for (Array<double, S>* array : {&phi_, &old_phi_, &previous_}) fill<double, S>(ctx, 0.0, array->span());
}

template <Space S>
void VoltageHistory<S>::begin_step(const Context<S>& ctx, double dt) {
  if (moved_on_) previous_.swap(old_phi_);
  moved_on_ = false;
  copy<double>(ctx, phi_.cspan(), old_phi_.span());
  if (previous_dt_ == 0) return;
  // The guess: where phi goes if it continues as it did.
  const double ratio = dt / previous_dt_;
  axpby<double, S>(ctx, -ratio, previous_.cspan(), 1 + ratio, phi_.span());
}

template <Space S>
Monodomain<S>::Monodomain(const Context<S>& ctx, const HeartView& heart, double dt, const SystemOptions& options,
                          AssemblyKind kind, const NewtonOptions& newton, cli::RunClock* clock)
    : ctx_(ctx),
      tissue_(heart.tissue),
      around_(tets_around(host_context(ctx), heart)),
      conduction_(made(clock, "conduction",
                       [&] {
                         return assemble_conduction(host_context(ctx), heart.mesh, *around_, heart.fibers,
                                                    heart.conductivity);
                       })),
      system_(
          made(clock, "linear system", [&] { return make_system(ctx, heart, *around_, conduction_, dt, options); })),
      assembly_(made(clock, "element lists",
                     [&] {
                       return HeartAssembly<S>(ctx, heart.mesh, *around_, conduction_, heart.fibers,
                                               heart.conductivity, heart.marks, system_, kind);
                     })),
      newton_(ctx, newton, options.stop, system_, assembly_),
      voltage_(ctx, system_.rows()),
      r_(ctx, assembly_.elements()) {
  conduction_ = {};  // its values are where they are needed
  around_.reset();
  fill<double, S>(ctx_, 0.0, r_.span());
}

template <Space S>
StepOutcome Monodomain<S>::step(double dt, const StimulusRates& stimulus, transient::Shares& shares,
                                transient::SolveTotals& totals) {
  shares.timed(ctx_, transient::Phase::vector_work, [&] { voltage_.begin_step(ctx_, dt); });
  assembly_.begin_step(voltage_.before(), r_);
  StepOutcome outcome = newton_.run({tissue_, dt, stimulus}, voltage_.phi(), r_, shares, totals);
  outcome.accepted = outcome.refusal.empty();
  if (outcome.accepted) {
    voltage_.accept(dt);
  } else {
    voltage_.refuse(ctx_);
    assembly_.restore(r_);
    newton_.preconditioner().expire();
    newton_.expected_residual().clear();
  }
  return outcome;
}

template <Space S>
AssemblySeconds Monodomain<S>::measure_assembly(double dt, int repeats) {
  const ElementForces forces{tissue_, dt, {}};
  newton_.preconditioner().expire();
  assembly_.begin_step(phi(), r_);
  AssemblySeconds seconds;
  seconds.elements =
      transient::seconds_of_one(ctx_, repeats, [&] { assembly_.linearize(ctx_, forces, phi(), r_.span()); });
  seconds.sums = transient::seconds_of_one(ctx_, repeats,
                                           [&] { assembly_.fill(ctx_, RefreshScope::operator_only, newton_.rhs()); });
  assembly_.restore(r_);
  return seconds;
}

template <Space S>
std::vector<double> Monodomain<S>::in_mesh_order(Span<const double, S> node_values) const {
  const std::vector<double> values = to_vector(ctx_, node_values);
  const std::vector<Index> new_of_old = to_vector(ctx_, system_.ordered().order().new_of_old.cspan());
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
  newton_.preconditioner().made(0);
  HeartState state;
  state.phi = in_mesh_order(phi());
  state.previous_dt = voltage_.previous_dt();
  if (state.previous_dt > 0) state.previous = in_mesh_order(voltage_.previous());
  state.r = recovery();
  state.expected_residual = newton_.expected_residual();
  return state;
}

template <Space S>
void Monodomain<S>::set_state(const HeartState& state) {
  const std::vector<Index> old_of_new = to_vector(ctx_, system_.ordered().order().old_of_new.cspan());
  const auto place = [&](const std::vector<double>& from, Span<double, S> to, const std::vector<Index>& order) {
    if (static_cast<std::int64_t>(from.size()) != to.size) {
      throw InputError("a state of " + std::to_string(from.size()) + " values for a heart of " +
                       std::to_string(to.size));
    }
    const std::vector<double> ordered = order.empty() ? from : reordered(from, order);
    copy<double>(ctx_, Span<const double, Space::host>(ordered.data(), to.size), to);
  };
  place(state.phi, voltage_.phi().span(), old_of_new);
  place(state.r, r_.span(), assembly_.element_order());
  const Span<double, S> before = voltage_.set_previous(state.previous_dt);
  if (state.previous_dt > 0) place(state.previous, before, old_of_new);
  newton_.preconditioner().made(0);
  newton_.expected_residual() = state.expected_residual;
}

#define X(S) template class Monodomain<S>;
X(Space::host)
#if NEWEL_HAS_CUDA
X(Space::device)
#endif
#undef X

}  // namespace newel::heart
