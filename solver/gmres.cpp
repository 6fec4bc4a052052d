// SPDX-License-Identifier: Apache-2.0
// Restarted GMRES.
#include <purlin/solver/gmres.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include <purlin/core/error.hpp>
#include <purlin/core/instantiate.hpp>
#include <purlin/solver/basis.hpp>
#include <purlin/solver/gmres_steps.hpp>
#include <purlin/solver/convergence_monitor.hpp>
#include <purlin/solver/least_gain.hpp>

namespace purlin {

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
      state_(ctx, 1) {}

/// One cycle: extends the basis column by column, then corrects x.
template <class T, Space S, class B>
class Gmres<T, S, B>::Cycle {
 public:
  Cycle(Gmres& solver, const SolveArguments<T, S>& arguments)
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
    const auto& [ctx, A, M, b, x, stop, progress] = args_;
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
    const auto& [ctx, A, M, b, x, stop, progress] = args_;
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
  SolveArguments<T, S> args_;
  GmresArrays small_;
  GmresState* state_;
};

template <class T, Space S, class B>
SolveReport Gmres<T, S, B>::solve(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
                                  Span<const T, S> b, Span<T, S> x, const StopCriterion& stop,
                                  const ProgressFn& progress) {
  const SolveArguments<T, S> arguments{ctx, A, M, b, x, stop, progress};
  const bool left = left_ && M != nullptr;
  ConvergenceMonitor<T, S> convergence(name(), n_, arguments, &state_.data()->scratch, last_iterations_);
  convergence.watch_growth(first_growth, 0, {});
  Cycle cycle(*this, arguments);
  graph_.bind(ctx, A, M, Span<T, S>());  // a cycle's columns do not see x

  convergence.report().cycle_length = m_;
  const bool iterate = convergence.open(r_);  // r = b - A x
  double best = std::numeric_limits<double>::infinity();
  double tightening = 1;
  bool careful = false;
  for (int cycles_without_progress = 0; iterate;) {
    const double before = convergence.residual();
    if (before < best) {
      copy<T>(ctx, Span<const T, S>(x), best_x_.span());
      best = before;
    }
    const int first_iteration = convergence.iterations();
    MonitorState monitor = convergence.fresh_monitor();
    monitor.growth_limit = std::numeric_limits<double>::infinity();  // it may hold |M r|; b - A x is judged below
    const bool whole = monitor.tolerance >= deepest_cycle<T, B> * before;
    if (!whole) monitor.tolerance = deepest_cycle<T, B> * before;
    cycle.begin(monitor, before, whole ? tightening : 1, careful);  // v_0 = r / |r|
    bool running = true;
    for (int j = 0; j < m_ && running;) {
      const int count = std::min(convergence.check_every(), m_ - j);
      graph_.range(j, count, [&](int column) { cycle.extend(column); });
      j += count;
      running = convergence.poll(cycle.monitor());
    }
    const Event event = convergence.event();
    const int columns = convergence.iterations() - first_iteration;
    const double recurrence = convergence.report().recurrence_residual;
    convergence.report().second_passes += cycle.second_passes();
    cycle.correct(event == Event::not_finite ? columns - 1 : columns);  // x += M V y

    if (event == Event::tolerance_met && whole && !left) {
      if (convergence.confirm(r_)) break;  // r = b - A x
    } else if (convergence.form_residual(r_)) {
      convergence.conclude(Status::converged);
      break;
    }
    if (event == Event::iterations_spent || event == Event::not_finite) {
      convergence.conclude(event);
      break;
    }
    if (convergence.interrupted()) {
      convergence.conclude(Event::none);
      break;
    }
    const double reached = convergence.residual();
    if (event == Event::tolerance_met && whole) tightening *= 0.5 * convergence.tolerance() / reached;
    cycles_without_progress = reached < (1 - least_gain) * before ? 0 : cycles_without_progress + 1;
    careful = careful || cycles_without_progress > 0 || (!left && reached > broken_promise * recurrence);
    if (cycles_without_progress == 2) {
      if (event == Event::krylov_space_exhausted) convergence.conclude(event);
      if (reached > convergence.growth_limit()) convergence.conclude_divergence();
      convergence.conclude_stagnation();
      break;
    }
    ++convergence.report().restarts;
  }
  if (std::isfinite(best) && !convergence.report().converged() && !(convergence.residual() <= best)) {
    copy<T>(ctx, best_x_.cspan(), x);
    convergence.form_residual(r_);
  }
  last_iterations_ = convergence.iterations();
  return convergence.close(r_, w_);
}

#define X(T, S) template class Gmres<T, S>;
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X
#define X(S) template class Gmres<double, S, float>;
PURLIN_FOR_SPACES(X)
#undef X

}  // namespace purlin
