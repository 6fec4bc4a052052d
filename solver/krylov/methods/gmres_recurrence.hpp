// SPDX-License-Identifier: Apache-2.0
/// GmresRecurrence: restarted GMRES, by Saad, Iterative Methods for Sparse Linear Systems, algorithm 9.5, and 9.4
/// from the left; the base of flexible GMRES. Internal.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/over_ranks.hpp"
#include "solver/krylov/methods/recurrence.hpp"
#include "solver/krylov/steps/basis.hpp"
#include "solver/krylov/steps/gmres_steps.hpp"
#include "solver/krylov/steps/iteration_graph.hpp"
#include "solver/krylov/steps/least_gain.hpp"
#include "solver/recycle/cycle_deflation.hpp"

namespace newel::detail {

/// Where a cycle's true residual is above so many times what its recurrence said, or where it gained nothing, the
/// basis was less orthogonal than was estimated. Later cycles are careful: they run Gram-Schmidt again for every
/// vector of which less than this share is left.
inline constexpr double broken_promise = 10, careful_share = 0.7;

/// To which share of the residual before it a cycle goes down. A V_j = V_{j+1} H holds to the rounding of V: where
/// that is coarser than the vectors', the estimate would soon be of nothing else.
template <class T, class B>
constexpr double deepest_cycle = std::is_same_v<T, B> ? 0.0 : 1e-5;

inline int cycle_length(std::int64_t n, int restart) {
  if (restart < 1) throw InputError("the restart of GMRES must be 1 or more, not " + std::to_string(restart));
  return static_cast<int>(std::clamp<std::int64_t>(n, 1, restart));
}

/// GMRES as the driver moves it: a cycle extends the basis column by column, then corrects x.
template <class T, Space S, class B>
class GmresRecurrence : public Recurrence<T, S> {
 public:
  /// `recycled`: columns of the basis for recycled vectors.
  GmresRecurrence(const Context<S>& ctx, Index n, int restart, bool left, int recycled)
      : n_(n),
        m_(cycle_length(all_rows(ctx, n), restart)),
        w_(ctx, n),
        left_(left),
        deflation_(n, m_, std::min(recycled, (m_ + 1) / 2)),
        basis_(ctx, (std::int64_t{deflation_.room()} + m_ + 1) * n),
        newest_(ctx, std::is_same_v<T, B> ? 0 : n),
        r_(ctx, n),
        z_(ctx, n),
        best_x_(ctx, n),
        small_(ctx, GmresArrays::size(m_, deflation_.room())),
        partial_(ctx, basis_scratch(ctx, n, deflation_.room() + m_ + 1)),
        state_(ctx, 1) {}

  CycleDeflation<T, S, B>& deflation() { return deflation_; }

  // v_0 = r / |r|, or M r / |M r| from the left, where the tolerance is carried over to the norm of M r. Of r, the
  // part in recycled vectors is left out. From the left, and with recycled vectors, this waits for the stream.
  void begin(MonitorState monitor, double residual) override {
    const Context<S>& ctx = system_->ctx;
    monitor.growth_limit = std::numeric_limits<double>::infinity();  // it may hold |M r|; b - A x is judged
    prepare_deflation();
    cycle_ = {};
    cycle_.before = residual;
    cycle_.first_iteration = monitor.iteration;
    cycle_.whole = monitor.tolerance >= deepest_cycle<T, B> * residual;
    if (!cycle_.whole) monitor.tolerance = deepest_cycle<T, B> * residual;
    Span<T, S> first = r_;
    if (is_left()) {
      M_->apply(ctx, T(1), r_.cspan(), T(0), w_);  // w = M r
      first = w_;
      norm2<T, S>(ctx, first, &state_.data()->scratch);
      const double m_norm = fetch(ctx, static_cast<const double*>(&state_.data()->scratch));
      monitor.tolerance *= (cycle_.whole ? shown_.tightening : 1) * m_norm / residual;
      residual = m_norm;
      if (!(m_norm > 0)) monitor.event = m_norm == 0 ? Event::krylov_space_exhausted : Event::not_finite;
    }
    if (deflation_.deflated() > 0 && monitor.running()) {
      residual = deflation_.project(ctx, v(0).data, first);
      if (!(residual > monitor.tolerance)) monitor.event = residual >= 0 ? Event::tolerance_met : Event::not_finite;
    }
    GmresState start{};
    start.monitor = monitor;
    start.scale = 1 / residual;
    start.epsilon = std::numeric_limits<B>::epsilon();
    start.basis = Orthogonality::start<T, B>(n_);
    if (shown_.careful) start.basis.loss = careful_share * Orthogonality::limit;
    copy<GmresState>(ctx, Span<const GmresState, Space::host>(&start, 1), state_.span());
    copy<double>(ctx, Span<const double, Space::host>(&residual, 1), Span<double, S>(small().g, 1));
    sweep(ctx, n_, GmresScale<T, B>{state_.data(), first.data, v(0).data, newest_.data()});  // v_0 = r / |r|
  }

  // w = A z_j (right, z_j = M v_j) or M A v_j (left), made orthogonal to v_0 .. v_j, is v_{j+1}. In addition to the
  // products, moves the basis up to v_j twice and w five times; twice that where the second pass runs.
  void extend(int j) {
    const Context<S>& ctx = system_->ctx;
    const LinearOperator<T, S>& A = system_->A;
    GmresState* const s = state_.data();
    const GmresArrays a = small(j);
    const Span<T, S> w = w_;
    if (is_left()) {
      A.apply(ctx, T(1), newest(j), T(0), z_);    // z = A v_j
      M_->apply(ctx, T(1), z_.cspan(), T(0), w);  // w = M z
    } else {
      A.apply(ctx, T(1), direction(j), T(0), w);  // w = A z_j
    }
    const int recycled = deflation_.deflated(), all = recycled + j + 1;
    const B* const V = v(-recycled).data;  // after the recycled columns C: [C V] for V
    double *const h = a.h - recycled, *const h2 = a.h2 - recycled, *const partial = partial_.data();
    const PassGate first{&s->monitor, nullptr, nullptr, nullptr};
    const PassGate second{&s->monitor, &s->basis, a.h + j + 1, &s->after_first};
    basis_dot(ctx, first, V, n_, all, w.data, h, partial);                           // h = V^T w
    basis_subtract(ctx, first, V, n_, all, h, w.data, &s->after_first, partial);     // w = w - V h
    basis_dot(ctx, second, V, n_, all, w.data, h2, partial);                         // h2 = V^T w
    basis_subtract(ctx, second, V, n_, all, h2, w.data, &s->after_second, partial);  // w = w - V h2, h = h + h2
    sweep(ctx, 0, GmresRotate{s, a, j});                                             // column j of R, |g_{j+1}|
    sweep(ctx, n_, GmresScale<T, B>{s, w.data, v(j + 1).data, newest_.data()});      // v_{j+1} = w / |w|
  }

  // x = x + Z y with R y = g
  void correct(int columns) {
    if (columns > 0) sweep(system_->ctx, 0, GmresBackSolve{small(), columns});  // y = R^-1 g
    if (deflation_.deflated() > 0) return add_deflated(std::max(columns, 0));
    if (columns > 0) add_directions(columns, small().y);
  }

  bool advance(int count) override {
    count = std::min(count, m_ - cycle_.columns);
    graph_.range(cycle_.columns, count, [this](int j) { extend(j); });
    cycle_.columns += count;
    return cycle_.columns < m_;
  }

  void complete(ConvergenceMonitor<T, S>& convergence, bool) override {
    cycle_.event = convergence.seen().event;
    cycle_.recurrence = convergence.report.recurrence_residual;
    convergence.report.second_passes += fetch(system_->ctx, static_cast<const int*>(&state_.data()->second_passes));
    const int columns = convergence.seen().iteration - cycle_.first_iteration;
    correct(cycle_.event == Event::not_finite ? columns - 1 : columns);
    if (!deflation_.works()) return;
    if (deflation_.deflated() > 0) convergence.residual.x_has_changed();
    // The column after an event was not made.
    const int whole = cycle_.event == Event::none ? columns : columns - 1;
    if (cycle_.event != Event::not_finite) deflation_.harvest(system_->ctx, small_.cspan(), v(0).data, whole);
  }

  // From the left the recurrence does not know |r|.
  Verdict judge(Event event) override {
    return event == Event::tolerance_met && cycle_.whole && !is_left() ? Verdict::confirm : Verdict::cycle_end;
  }

  // Whether two cycles gained nothing, and what the next has to observe.
  bool stagnates(const ConvergenceMonitor<T, S>& convergence) override {
    const double reached = convergence.residual.norm();
    if (cycle_.event == Event::tolerance_met && cycle_.whole)
      shown_.tightening *= 0.5 * convergence.residual.tolerance() / reached;
    const bool gained = reached < (1 - least_gain) * cycle_.before;
    shown_.cycles_without_progress = gained ? 0 : shown_.cycles_without_progress + 1;
    const bool promise_broken = !is_left() && reached > broken_promise * cycle_.recurrence;
    shown_.careful = shown_.careful || shown_.cycles_without_progress > 0 || promise_broken;
    if (shown_.cycles_without_progress < 2) return false;
    if (!deflation_.assist()) return true;
    shown_.cycles_without_progress = 0;
    return false;
  }

  RecurrenceParts<T, S> parts() override {
    GmresState* const state = state_.data();
    return {"gmres", r_, w_, best_x_, {r_, best_x_}, &state->monitor, &state->scratch, Keeps::cycles, false};
  }
  // A cycle's columns do not see x.
  void bind(const SolveRequest<T, S>& system) override {
    system_ = &system;
    M_ = left_ && system.M != nullptr ? system.M->traits().from_left.value_or(system.M) : system.M;
    graph_.bind(system.ctx, system.A, M_, Span<T, S>());
  }
  void watch(ConvergenceMonitor<T, S>& convergence) override {
    convergence.growth.watch(first_growth, 0, {});
    if (is_left()) convergence.forecast.begin_rate_at(1);
    convergence.report.cycle_length = m_;
    shown_ = {};
  }

 protected:
  // z_j, which A multiplies: M v_j.
  virtual Span<const T, S> direction(int j) {
    if (M_ == nullptr) return newest(j);
    M_->apply(system_->ctx, T(1), newest(j), T(0), z_);
    return z_.cspan();
  }
  // x = x + Z y, which is M V y
  virtual void add_directions(int columns, const double* y) {
    basis_combine(system_->ctx, v(0).data, n_, columns, y, w_.data());  // w = V y
    add_combination();
  }

  Index n_;
  int m_;
  Array<T, S> w_;
  const SolveRequest<T, S>* system_ = nullptr;
  const LinearOperator<T, S>* M_ = nullptr;  // as it is applied

  // v_j, the last that was made, in T
  Span<const T, S> newest(int j) {
    if constexpr (std::is_same_v<T, B>) {
      return v(j);
    } else {
      return newest_.cspan();
    }
  }

 private:
  bool is_left() const { return left_ && M_ != nullptr; }
  GmresArrays small(int column = 0) { return {small_.data(), m_, deflation_.room(), column}; }
  Span<B, S> v(int j) { return {basis_.data() + std::int64_t{deflation_.room() + j} * n_, n_}; }

  // The operator of the basis: A M, or M A from the left.
  void multiply(Span<const T, S> u, Span<T, S> image) {
    const Context<S>& ctx = system_->ctx;
    const LinearOperator<T, S>& A = system_->A;
    if (M_ == nullptr) return A.apply(ctx, T(1), u, T(0), image);
    const LinearOperator<T, S>&first = left_ ? A : *M_, &second = left_ ? *M_ : A;
    first.apply(ctx, T(1), u, T(0), z_);
    second.apply(ctx, T(1), z_.cspan(), T(0), image);
  }
  void prepare_deflation() {
    if (!deflation_.works()) return with_recycled(0);
    const Context<S>& ctx = system_->ctx;
    const auto product = [this](Span<const T, S> u, Span<T, S> image) { multiply(u, image); };
    deflation_.prepare(ctx, product, v(0).data, w_.span());
    with_recycled(deflation_.deflated());
    // A second pass that does not run leaves nothing there.
    const std::int64_t products = GmresArrays::products_size(m_, deflation_.room());
    fill<double, S>(ctx, 0.0, small_.span().subspan(products, products));
  }
  void with_recycled(int vectors) {
    if (std::exchange(vectors_in_graph_, vectors) != vectors) graph_.drop();
  }
  // x = x + w, or x + M w
  void add_combination() {
    const Context<S>& ctx = system_->ctx;
    if (M_ != nullptr && !left_) {
      M_->apply(ctx, T(1), w_.cspan(), T(1), system_->x);  // x = x + M w
    } else {
      axpy<T, S>(ctx, T(1), w_.cspan(), system_->x);  // x = x + w
    }
  }
  // w = V y + U s
  void add_deflated(int columns) {
    const Context<S>& ctx = system_->ctx;
    if (columns > 0) {
      basis_combine(ctx, v(0).data, n_, columns, small().y, w_.data());
    } else {
      fill<T, S>(ctx, T(0), w_.span());
    }
    deflation_.add_vectors(ctx, small_.cspan(), columns, w_.span());
    add_combination();
  }

  bool left_;
  CycleDeflation<T, S, B> deflation_;
  Array<B, S> basis_;   // places for recycled columns, then m + 1 columns of n
  Array<T, S> newest_;  // its last column in T; empty where B is T
  Array<T, S> r_, z_;
  Array<T, S> best_x_;  // where the cycle with the least residual before it began
  Array<double, S> small_, partial_;
  Array<GmresState, S> state_;
  IterationGraph<S> graph_;
  int vectors_in_graph_ = 0;

  /// Of the present cycle.
  struct Cycle {
    bool whole = false;  ///< it aims at the tolerance itself
    double before = 0;   ///< the true residual
    int first_iteration = 0;
    int columns = 0;  ///< that are queued
    Event event = Event::none;
    double recurrence = 0;  ///< what the recurrence says of the residual after it
  };
  /// What the cycles of this solve have shown.
  struct Experience {
    double tightening = 1;  ///< of the tolerance for M r, from the left
    bool careful = false;   ///< Gram-Schmidt runs again
    int cycles_without_progress = 0;
  };
  Cycle cycle_;
  Experience shown_;
};

}  // namespace newel::detail
