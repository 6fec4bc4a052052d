// SPDX-License-Identifier: Apache-2.0
// Restarted GMRES.
#include <newel/solver/gmres.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include <newel/core/error.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/krylov/monitor/convergence_monitor.hpp"
#include "solver/krylov/monitor/least_gain.hpp"
#include "solver/krylov/steps/basis.hpp"
#include "solver/krylov/steps/gmres_steps.hpp"
#include "solver/krylov/steps/iteration_graph.hpp"

namespace newel {

using namespace detail;

namespace {

// Where a cycle's true residual is above so many times what its recurrence said, or where it gained nothing, the
// basis was less orthogonal than was estimated. Later cycles are careful: they run Gram-Schmidt again for every
// vector of which less than this share is left.
constexpr double broken_promise = 10, careful_share = 0.7;

// To which share of the residual before it a cycle goes down. A V_j = V_{j+1} H holds to the rounding of V: where
// that is coarser than the vectors', the estimate would soon be of nothing else.
template <class T, class B>
constexpr double deepest_cycle = std::is_same_v<T, B> ? 0.0 : 1e-5;

int cycle_length(Index n, int restart) {
  if (restart < 1) throw InputError("the restart of GMRES is 1 or more, not " + std::to_string(restart));
  return std::min(restart, std::max<int>(n, 1));
}

}  // namespace

template <class T, Space S, class B>
Gmres<T, S, B>::Gmres(const Context<S>& ctx, Index n, int restart, bool left)
    : n_(n),
      m_(cycle_length(n, restart)),
      left_(left),
      basis_(ctx, (std::int64_t{m_} + 1) * n),
      newest_(ctx, std::is_same_v<T, B> ? 0 : n),
      r_(ctx, n),
      w_(ctx, n),
      z_(ctx, n),
      best_x_(ctx, n),
      small_(ctx, GmresArrays::size(m_)),
      partial_(ctx, basis_scratch(ctx, n, m_ + 1)),
      state_(ctx, 1),
      graph_(std::make_unique<IterationGraph<S>>()) {}
template <class T, Space S, class B>
Gmres<T, S, B>::Gmres(Gmres&&) noexcept = default;
template <class T, Space S, class B>
Gmres<T, S, B>& Gmres<T, S, B>::operator=(Gmres&&) noexcept = default;
template <class T, Space S, class B>
Gmres<T, S, B>::~Gmres() = default;

/// One cycle: extends the basis column by column, then corrects x.
template <class T, Space S, class B>
class Gmres<T, S, B>::Cycle {
 public:
  Cycle(Gmres& solver, const SolveRequest<T, S>& arguments)
      : g_(solver), args_(arguments), small_(solver.small_.data(), solver.m_), state_(solver.state_.data()) {}

  // v_0 = r / |r|, or M r / |M r| from the left, where the tolerance is carried over to the norm of M r.
  void begin(MonitorState monitor, double residual, double tightening, bool careful) {
    const auto& ctx = args_.ctx;
    Span<T, S> first = g_.r_;
    if (g_.left_ && args_.M != nullptr) {
      args_.M->apply(ctx, T(1), in(g_.r_), T(0), g_.w_);
      first = g_.w_;
      norm2<T, S>(ctx, in(first), &state_->scratch);
      const double m_norm = fetch(ctx, &state_->scratch);
      monitor.tolerance *= tightening * m_norm / residual;
      residual = m_norm;
      if (!(m_norm > 0)) monitor.event = m_norm == 0 ? Event::krylov_space_exhausted : Event::not_finite;
    }
    GmresState start{};
    start.monitor = monitor;
    start.scale = 1 / residual;
    start.epsilon = std::numeric_limits<B>::epsilon();
    start.basis = Orthogonality::start<T, B>(g_.n_);
    if (careful) start.basis.loss = careful_share * Orthogonality::limit;
    copy<GmresState>(ctx, Span<const GmresState, Space::host>(&start, 1), g_.state_.span());
    copy<double>(ctx, Span<const double, Space::host>(&residual, 1), Span<double, S>(small_.g, 1));
    sweep(ctx, g_.n_, GmresScale<T, B>{state_, first.data, v(0).data, g_.newest_.data()});
  }

  // w = A M v_j (right) or M A v_j (left), made orthogonal to v_0 .. v_j, is v_{j+1}. In addition to the products,
  // moves the basis up to v_j twice and w five times; twice that where the second pass runs.
  void extend(int j) {
    const auto& [ctx, A, M, b, x, stop, progress, guess, exchange] = args_;
    const Span<T, S> w = g_.w_, z = g_.z_;
    if (M == nullptr) {
      A.apply(ctx, T(1), newest(j), T(0), w);  // w = A v_j
    } else if (g_.left_) {
      A.apply(ctx, T(1), newest(j), T(0), z);  // z = A v_j
      M->apply(ctx, T(1), in(z), T(0), w);     // w = M z
    } else {
      M->apply(ctx, T(1), newest(j), T(0), z);  // z = M v_j
      A.apply(ctx, T(1), in(z), T(0), w);       // w = A z
    }
    const B* const V = g_.basis_.data();
    double* const partial = g_.partial_.data();
    const PassGate first{&state_->monitor, nullptr, nullptr, nullptr};
    const PassGate second{&state_->monitor, &state_->basis, small_.h + j + 1, &state_->after_first};
    basis_dot(ctx, first, V, g_.n_, j + 1, w.data, small_.h, partial);                             // h = V^T w
    basis_subtract(ctx, first, V, g_.n_, j + 1, small_.h, w.data, &state_->after_first, partial);  // w -= V h
    basis_dot(ctx, second, V, g_.n_, j + 1, w.data, small_.h2, partial);
    basis_subtract(ctx, second, V, g_.n_, j + 1, small_.h2, w.data, &state_->after_second, partial);
    sweep(ctx, 0, GmresRotate{state_, small_, j});  // column j of R, |g_{j+1}|
    sweep(ctx, g_.n_, GmresScale<T, B>{state_, w.data, v(j + 1).data, g_.newest_.data()});  // v_{j+1} = w / |w|
  }

  // x += M V y with R y = g
  void correct(int columns) {
    const auto& [ctx, A, M, b, x, stop, progress, guess, exchange] = args_;
    if (columns <= 0) return;
    sweep(ctx, 0, GmresBackSolve{small_, columns});
    basis_combine(ctx, g_.basis_.data(), g_.n_, columns, small_.y, g_.w_.data());  // w = V y
    if (M != nullptr && !g_.left_) {
      M->apply(ctx, T(1), in(g_.w_), T(1), x);
    } else {
      axpy<T, S>(ctx, T(1), in(g_.w_), x);
    }
  }

  int second_passes() const { return fetch(args_.ctx, &state_->second_passes); }
  MonitorState* monitor() const { return &state_->monitor; }

 private:
  static Span<const T, S> in(Span<T, S> vector) { return vector; }
  Span<B, S> v(int j) const { return g_.basis_.span().subspan(std::int64_t{j} * g_.n_, g_.n_); }
  // v_j, the last that was made, in T
  Span<const T, S> newest(int j) const {
    if constexpr (std::is_same_v<T, B>) {
      return v(j);
    } else {
      return g_.newest_.cspan();
    }
  }

  Gmres& g_;
  SolveRequest<T, S> args_;
  GmresArrays small_;
  GmresState* state_;
};

template <class T, Space S, class B>
SolveRequest<T, S> Gmres<T, S, B>::sided(const SolveRequest<T, S>& system) const {
  const LinearOperator<T, S>* const M = left_ && system.M != nullptr ? system.M->from_left() : system.M;
  return {system.ctx, system.A, M, system.b, system.x, system.stop, system.progress, system.guess, system.exchange};
}

/// One call of `solve`: a cycle after the other, each from the true residual that the one before left.
template <class T, Space S, class B>
class Gmres<T, S, B>::Run {
 public:
  Run(Gmres& solver, const SolveRequest<T, S>& system)
      : own_(solver),
        system_(solver.sided(system)),
        left_(solver.left_ && system_->M != nullptr),
        convergence_(own_.name(), own_.n_, *system_, &own_.state_.data()->scratch, own_.last_iterations_),
        cycle_(std::in_place, own_, *system_) {
    if (left_) convergence_.begin_rate_at(1);
  }

  SolveReport all() {
    convergence_.watch_growth(first_growth, 0, {});
    bind();
    convergence_.report().cycle_length = own_.m_;
    for (bool more = convergence_.open(own_.r_); more;) {  // r = b - A x
      keep_best();
      if (convergence_.iterations() > 0 && convergence_.exchange_due()) exchange();
      const Outcome cycle = iterate();  // x += M V y
      more = !has_ended(cycle) && !has_stagnated(cycle);
      if (more) ++convergence_.report().restarts;
    }
    return_best();
    own_.last_iterations_ = convergence_.iterations_with_present();
    return convergence_.close(own_.r_, own_.w_);
  }

 private:
  /// What became of a cycle.
  struct Outcome {
    bool whole;  ///< it aimed at the tolerance itself
    Event event;
    double before;      ///< the true residual
    double recurrence;  ///< what the recurrence says of the one after
  };

  // A cycle's columns do not see x.
  void bind() { own_.graph_->bind(system_->ctx, system_->A, system_->M, Span<T, S>()); }

  // The next cycle has other operators.
  void exchange() {
    bool same_preconditioner = true;  // no matter: a cycle has a basis of its own
    const auto changed = convergence_.exchange({own_.r_, own_.best_x_}, &same_preconditioner);
    if (!changed) return;
    system_.emplace(own_.sided(*changed));
    cycle_.emplace(own_, *system_);
    bind();
  }

  // x of the least residual is kept from before its cycle.
  void keep_best() {
    if (!(convergence_.residual() < best_)) return;
    best_is_zero_ = system_->guess == InitialGuess::zero && convergence_.iterations() == 0;
    if (!best_is_zero_) copy<T>(system_->ctx, Span<const T, S>(system_->x), own_.best_x_.span());
    best_ = convergence_.residual();
  }

  Outcome iterate() {
    const double before = convergence_.residual();
    const int first_iteration = convergence_.iterations();
    MonitorState monitor = convergence_.fresh_monitor();
    monitor.growth_limit = std::numeric_limits<double>::infinity();  // it may hold |M r|; b - A x is judged below
    const bool whole = monitor.tolerance >= deepest_cycle<T, B> * before;
    if (!whole) monitor.tolerance = deepest_cycle<T, B> * before;
    cycle_->begin(monitor, before, whole ? tightening_ : 1, careful_);  // v_0 = r / |r|
    extend_basis();
    const Event event = convergence_.event();
    const int columns = convergence_.iterations() - first_iteration;
    const double recurrence = convergence_.report().recurrence_residual;
    convergence_.report().second_passes += cycle_->second_passes();
    cycle_->correct(event == Event::not_finite ? columns - 1 : columns);  // x += M V y
    return {whole, event, before, recurrence};
  }

  void extend_basis() {
    bool running = true;
    for (int j = 0; j < own_.m_ && running;) {
      const int count = std::min(convergence_.check_every(), own_.m_ - j);
      own_.graph_->range(j, count, [&](int column) { cycle_->extend(column); });
      j += count;
      running = convergence_.poll(cycle_->monitor());
    }
  }

  // r = b - A x, and whether that or the cycle's event is the outcome.
  bool has_ended(const Outcome& cycle) {
    if (cycle.event == Event::tolerance_met && cycle.whole && !left_) {
      if (convergence_.confirm(own_.r_)) return true;
    } else if (convergence_.form_residual(own_.r_)) {
      convergence_.conclude(Status::converged);
      return true;
    }
    if (cycle.event == Event::iterations_spent || cycle.event == Event::not_finite) {
      convergence_.conclude(cycle.event);
      return true;
    }
    if (convergence_.interrupted()) convergence_.conclude(Event::none);
    return convergence_.interrupted();
  }

  // Whether two cycles gained nothing, and what the next has to observe.
  bool has_stagnated(const Outcome& cycle) {
    const double reached = convergence_.residual();
    if (cycle.event == Event::tolerance_met && cycle.whole) tightening_ *= 0.5 * convergence_.tolerance() / reached;
    cycles_without_progress_ = reached < (1 - least_gain) * cycle.before ? 0 : cycles_without_progress_ + 1;
    careful_ = careful_ || cycles_without_progress_ > 0 || (!left_ && reached > broken_promise * cycle.recurrence);
    if (cycles_without_progress_ < 2) return false;
    if (cycle.event == Event::krylov_space_exhausted) convergence_.conclude_exhaustion();
    if (reached > convergence_.growth_limit()) convergence_.conclude_divergence();
    convergence_.conclude_stagnation();
    return true;
  }

  // x = the best one, unless the last is.
  void return_best() {
    if (!std::isfinite(best_) || convergence_.report().converged() || convergence_.residual() <= best_) return;
    if (best_is_zero_) fill<T, S>(system_->ctx, T(0), system_->x);
    if (!best_is_zero_) copy<T>(system_->ctx, own_.best_x_.cspan(), system_->x);
    convergence_.form_residual(own_.r_);
  }

  Gmres& own_;
  std::optional<SolveRequest<T, S>> system_;  // changed by an exchange
  bool left_;
  ConvergenceMonitor<T, S> convergence_;
  std::optional<Cycle> cycle_;  // with the present operators
  double best_ = std::numeric_limits<double>::infinity();
  bool best_is_zero_ = false;  // `best_x_` is not filled
  double tightening_ = 1;      // of the tolerance for M r, from the left
  bool careful_ = false;       // Gram-Schmidt runs again
  int cycles_without_progress_ = 0;
};

template <class T, Space S, class B>
SolveReport Gmres<T, S, B>::run(const SolveRequest<T, S>& request) {
  return Run(*this, request).all();
}

#define X(T, S) template class Gmres<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X
#define X(S) template class Gmres<double, S, float>;
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel
