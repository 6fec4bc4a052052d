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
#include "solver/krylov/methods/arnoldi_basis.hpp"
#include "solver/krylov/methods/recurrence.hpp"
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

/// M as GMRES applies it.
template <class T, Space S>
struct SidedPreconditioner {
  const LinearOperator<T, S>* op = nullptr;  ///< null: none
  bool left = false;                         ///< the basis is one of M A instead of A M

  // The operator of the basis; z is its intermediate vector.
  void multiply(const SolveRequest<T, S>& system, Span<const T, S> u, Span<T, S> z, Span<T, S> image) const {
    const LinearOperator<T, S>& A = system.A;
    if (op == nullptr) return A.apply(system.ctx, T(1), u, T(0), image);
    const LinearOperator<T, S>&first = left ? A : *op, &second = left ? *op : A;
    first.apply(system.ctx, T(1), u, T(0), z);
    second.apply(system.ctx, T(1), Span<const T, S>(z), T(0), image);
  }
  // x = x + w, or x + M w from the right.
  void add_to_x(const SolveRequest<T, S>& system, Span<const T, S> w) const {
    if (op != nullptr && !left) {
      op->apply(system.ctx, T(1), w, T(1), system.x);
    } else {
      axpy<T, S>(system.ctx, T(1), w, system.x);
    }
  }
};

/// GMRES as the driver moves it: a cycle extends the basis column by column, then corrects x.
template <class T, Space S, class B>
class GmresRecurrence : public Recurrence<T, S> {
 public:
  /// `recycled`: columns of the basis for recycled vectors.
  GmresRecurrence(const Context<S>& ctx, Index n, int restart, bool left, int recycled)
      : n_(n),
        m_(cycle_length(all_rows(ctx, n), restart)),
        w_(ctx, n),
        deflation_(n, m_, std::min(recycled, (m_ + 1) / 2)),
        V_(ctx, n, m_, deflation_.room()),
        left_(left),
        r_(ctx, n),
        z_(ctx, n),
        best_x_(ctx, n) {}

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
    if (M_.left) {
      M_.op->apply(ctx, T(1), r_.cspan(), T(0), w_);  // w = M r
      first = w_;
      norm2<T, S>(ctx, first, &V_.state()->scratch);
      const double m_norm = fetch(ctx, static_cast<const double*>(&V_.state()->scratch));
      monitor.tolerance *= (cycle_.whole ? shown_.tightening : 1) * m_norm / residual;
      residual = m_norm;
      if (!(m_norm > 0)) monitor.event = m_norm == 0 ? Event::krylov_space_exhausted : Event::not_finite;
    }
    if (deflation_.deflated() > 0 && monitor.running()) {
      residual = deflation_.project(ctx, V_.v(0).data, first);
      if (!(residual > monitor.tolerance)) monitor.event = residual >= 0 ? Event::tolerance_met : Event::not_finite;
    }
    GmresState start{};
    start.monitor = monitor;
    start.scale = 1 / residual;
    start.epsilon = std::numeric_limits<B>::epsilon();
    start.basis = Orthogonality::start<T, B>(n_);
    if (shown_.careful) start.basis.loss = careful_share * Orthogonality::limit;
    V_.start(ctx, start, first, residual);  // v_0 = r / |r|
  }

  // w = A z_j (right, z_j = M v_j) or M A v_j (left), made orthogonal to v_0 .. v_j, is v_{j+1}. In addition to the
  // products, moves the basis up to v_j twice and w five times; twice that where the second pass runs.
  void extend(int j) {
    const Context<S>& ctx = system_->ctx;
    if (M_.left) {
      M_.multiply(*system_, V_.newest(j), z_, w_);  // w = M A v_j
    } else {
      system_->A.apply(ctx, T(1), direction(j), T(0), w_);  // w = A z_j
    }
    V_.append(ctx, j, deflation_.deflated(), w_);
  }

  // x = x + Z y with R y = g
  void correct(int columns) {
    const Context<S>& ctx = system_->ctx;
    if (columns > 0) sweep(ctx, 0, GmresBackSolve{V_.small(), columns});  // y = R^-1 g
    if (deflation_.deflated() == 0) {
      if (columns > 0) add_directions(columns, V_.small().y);
      return;
    }
    if (columns > 0) {
      V_.combine(ctx, columns, V_.small().y, w_);  // w = V y
    } else {
      fill<T, S>(ctx, T(0), w_.span());
    }
    deflation_.add_vectors(ctx, V_.numbers(), std::max(columns, 0), w_.span());  // w = w + U s
    M_.add_to_x(*system_, w_.cspan());
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
    convergence.report.second_passes += fetch(system_->ctx, static_cast<const int*>(&V_.state()->second_passes));
    const int columns = convergence.seen().iteration - cycle_.first_iteration;
    correct(cycle_.event == Event::not_finite ? columns - 1 : columns);
    if (!deflation_.works()) return;
    if (deflation_.deflated() > 0) convergence.residual.x_has_changed();
    // The column after an event was not made.
    const int whole = cycle_.event == Event::none ? columns : columns - 1;
    if (cycle_.event != Event::not_finite) deflation_.harvest(system_->ctx, V_.numbers(), V_.v(0).data, whole);
  }

  // From the left the recurrence does not know |r|.
  Verdict judge(Event event) override {
    return event == Event::tolerance_met && cycle_.whole && !M_.left ? Verdict::confirm : Verdict::cycle_end;
  }

  // Whether two cycles gained nothing, and what the next has to observe.
  bool stagnates(const ConvergenceMonitor<T, S>& convergence) override {
    const double reached = convergence.residual.norm();
    if (cycle_.event == Event::tolerance_met && cycle_.whole)
      shown_.tightening *= 0.5 * convergence.residual.tolerance() / reached;
    const bool gained = reached < (1 - least_gain) * cycle_.before;
    shown_.cycles_without_progress = gained ? 0 : shown_.cycles_without_progress + 1;
    const bool promise_broken = !M_.left && reached > broken_promise * cycle_.recurrence;
    shown_.careful = shown_.careful || shown_.cycles_without_progress > 0 || promise_broken;
    if (shown_.cycles_without_progress < 2) return false;
    if (!deflation_.assist()) return true;
    shown_.cycles_without_progress = 0;
    return false;
  }

  RecurrenceParts<T, S> parts() override {
    GmresState* const state = V_.state();
    return {"gmres", r_, w_, best_x_, {r_, best_x_}, &state->monitor, &state->scratch, Keeps::cycles, false};
  }
  // A cycle's columns do not see x.
  void bind(const SolveRequest<T, S>& system) override {
    system_ = &system;
    M_.op = left_ && system.M != nullptr ? system.M->traits().from_left.value_or(system.M) : system.M;
    M_.left = left_ && M_.op != nullptr;
    graph_.bind(system.ctx, system.A, M_.op, Span<T, S>());
  }
  void watch(ConvergenceMonitor<T, S>& convergence) override {
    convergence.growth.watch(first_growth, 0, {});
    if (M_.left) convergence.forecast.begin_rate_at(1);
    convergence.report.cycle_length = m_;
    shown_ = {};
  }

 protected:
  // z_j, which A multiplies: M v_j.
  virtual Span<const T, S> direction(int j) {
    if (M_.op == nullptr) return V_.newest(j);
    M_.op->apply(system_->ctx, T(1), V_.newest(j), T(0), z_);
    return z_.cspan();
  }
  // x = x + Z y, which is M V y
  virtual void add_directions(int columns, const double* y) {
    V_.combine(system_->ctx, columns, y, w_);  // w = V y
    M_.add_to_x(*system_, w_.cspan());
  }

  Index n_;
  int m_;
  Array<T, S> w_;
  const SolveRequest<T, S>* system_ = nullptr;
  SidedPreconditioner<T, S> M_;
  CycleDeflation<T, S, B> deflation_;
  ArnoldiBasis<T, S, B> V_;

 private:
  void prepare_deflation() {
    const Context<S>& ctx = system_->ctx;
    const auto product = [this](Span<const T, S> u, Span<T, S> image) { M_.multiply(*system_, u, z_, image); };
    const bool works = deflation_.works();
    if (works) deflation_.prepare(ctx, product, V_.v(0).data, w_.span());
    const int vectors = works ? deflation_.deflated() : 0;
    if (std::exchange(vectors_in_graph_, vectors) != vectors) graph_.drop();
    if (works) V_.clear_second_products(ctx);
  }

  bool left_;
  Array<T, S> r_, z_;
  Array<T, S> best_x_;  // where the cycle with the least residual before it began
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
