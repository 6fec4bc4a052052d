// SPDX-License-Identifier: Apache-2.0
// CG for several right-hand sides at once: which column has which place, and what comes of it.
#include "solver/krylov/batch/batch_cg.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/alone.hpp"
#include "core/vectors/column_ops.hpp"
#include "core/vectors/instantiate.hpp"
#include "solver/krylov/batch/batch_cg_steps.hpp"
#include "solver/krylov/methods/cg_iteration.hpp"
#include "solver/krylov/methods/best_x.hpp"
#include "solver/krylov/monitor/column_progress.hpp"
#include "solver/krylov/monitor/symmetry.hpp"

namespace newel::detail {
namespace {

int level_of(int width) { return width == 8 ? 3 : width == 4 ? 2 : width == 2 ? 1 : 0; }

}  // namespace

/// One call of `solve`.
template <class T, Space S>
struct BatchCg<T, S>::Run {
  using Clock = std::chrono::steady_clock;

  /// A column that is iterating. Its convergence monitor refers to the two members before it.
  struct Place {
    Index column;
    StopCriterion stop;
    ProgressFn progress;
    std::optional<ConvergenceMonitor<T, S>> convergence;
    int begun = 0;  ///< its iterations before the present recurrence, which started from the x outside the batch
  };

  BatchCg& own;
  const Context<S>& ctx;
  const LinearOperator<T, S>& A;
  const LinearOperator<T, S>* M;
  Span<const T, S> b;
  Span<T, S> x;
  Index columns;
  const StopCriterion& stop;
  ColumnProgress& progress;
  InitialGuess guess;

  std::vector<SolveReport> reports = std::vector<SolveReport>(static_cast<std::size_t>(columns));
  int width = batch_width(columns);
  std::vector<std::unique_ptr<Place>> places = std::vector<std::unique_ptr<Place>>(static_cast<std::size_t>(width));
  BatchState state{};  // as it stands in S, or is to stand there before the next iteration
  Index next = 0;      // the first column that waits
  std::optional<Asymmetric> fault = std::nullopt;  // of A and M, once a column has asked for it
  Clock::time_point start = Clock::now();

  Span<const T, S> b_of(Index column) const { return b.subspan(std::int64_t{column} * own.n_, own.n_); }
  Span<T, S> x_of(Index column) const { return x.subspan(std::int64_t{column} * own.n_, own.n_); }

  bool time_is_over() const {
    return stop.time_limit_seconds > 0 &&
           std::chrono::duration<double>(Clock::now() - start).count() > stop.time_limit_seconds;
  }

  // Takes columns that wait until one has something to iterate on; that gets place c.
  void fill(int c) {
    for (auto& place = places[static_cast<std::size_t>(c)]; place == nullptr && next < columns;) {
      place.reset(new Place{next++, stop, {}, {}, 0});
      if (stop.time_limit_seconds > 0) {
        const double spent = std::chrono::duration<double>(Clock::now() - start).count();
        place->stop.time_limit_seconds = std::max(stop.time_limit_seconds - spent, 1e-9);
      }
      place->progress = progress.of(place->column);
      const SolveRequest<T, S> system{
          ctx, A, M, b_of(place->column), x_of(place->column), place->stop, place->progress, guess};
      ConvergenceMonitor<T, S>& convergence =
          place->convergence.emplace("cg", own.n_, system, &own.state_.data()->scratch, 0);
      convergence.growth.watch(first_growth, most_growth<T>, [this] {
        if (!fault) fault = symmetry_fault(ctx, A, M);
        return *fault;
      });
      if (!convergence.open(own.column_r_.span())) {
        close(c);
      } else if (progress.stopped() || time_is_over()) {
        static_cast<void>(convergence.poll(0, Event::none, nullptr));  // the convergence monitor detects it
        convergence.conclude(Event::none);
        close(c);
      } else {
        begin(c);
      }
    }
  }

  // The recurrence of place c starts from the column's x and from r = b - A x in `column_r_`.
  void begin(int c) {
    Place& place = *places[static_cast<std::size_t>(c)];
    const ConvergenceMonitor<T, S>& convergence = *place.convergence;
    place.begun = convergence.seen().iteration;
    state.monitor[c] = convergence.fresh_monitor();
    state.rr[c] = convergence.residual.norm() * convergence.residual.norm();
    state.rho_old[c] = std::numeric_limits<double>::infinity();
    state.alpha[c] = 0;
    if (M != nullptr && M->traits().diagonal.data != nullptr) {  // which a rank without rows has too
      double* const rz = &own.state_.data()->scratch;
      M->apply_dot(ctx, own.column_r_.cspan(), own.column_work_.span(), rz);
      state.rz[c] = fetch(ctx, rz);
    }
    sweep(ctx, own.n_,
          BatchPlace<T>(own.column_r_.data(), x_of(place.column).data, own.r_.data() + c, own.x_.data() + c,
                        own.p_.data() + c, width));
  }

  // The column in place c has its report, and the place is free.
  void close(int c) {
    auto& place = places[static_cast<std::size_t>(c)];
    reports[static_cast<std::size_t>(place->column)] =
        place->convergence->close(own.column_r_.span(), own.column_work_.span());
    place.reset();
    state.monitor[c].event = Event::iterations_spent;
  }

  // Polls place c. True if its column continues to iterate.
  bool poll(int c) { return places[static_cast<std::size_t>(c)]->convergence->poll(state.monitor[c], 1); }

  // The recurrence in place c has ended: x is taken out, and judged.
  void end(int c) {
    Place& place = *places[static_cast<std::size_t>(c)];
    ConvergenceMonitor<T, S>& convergence = *place.convergence;
    if (convergence.seen().event != Event::diverged) {
      sweep(ctx, own.n_,
            BatchTake<T>{&own.state_.data()->alpha[c], own.x_.data() + c, own.p_.data() + c, width,
                         x_of(place.column).data});
    }
    if (ends_recurrence_alone(convergence.seen().event, c)) {
      if (!convergence.confirm(own.column_r_.span())) return begin(c);
    } else {
      convergence.conclude(convergence.seen().event, own.column_r_.span());
    }
    if (convergence.outcome.has_grown()) return_to_best(place);
    close(c);
    fill(c);
  }

  // As in Cg.
  bool ends_recurrence_alone(Event event, int c) {
    const bool of_matrix = event == Event::matrix_not_positive;
    if (!of_matrix && event != Event::precond_not_positive) return event == Event::tolerance_met;
    const Span<T, S> v = own.column_work_, image = own.column_r_;
    double* const scratch = &own.state_.data()->scratch;
    const Array<T, S>& vectors = of_matrix ? own.p_ : own.r_;
    take_column<T, S>(ctx, vectors.cspan().subspan(0, std::int64_t{own.n_} * width), width, c, v);
    if (of_matrix) return !is_not_positive_along<T, S>(ctx, A, v, image, scratch);
    return M == nullptr || !is_precond_not_positive_along<T, S>(ctx, *M, v, image, scratch);
  }

  // As Cg does, with the column alone. x is where the recurrence began, and stays there for want of memory.
  void return_to_best(Place& place) {
    try {
      const Span<T, S> x_c = x_of(place.column);
      const SolveRequest<T, S> system{ctx, A, M, b_of(place.column), x_c, place.stop, place.progress};
      CgIteration<T, S> alone(ctx, own.n_);
      Array<T, S> start(ctx, own.n_);
      BestX<T, S> best(start);
      best.offer(system, 0, place.begun);
      alone.bind(ctx, A, M, x_c);
      const auto repeat = [&](int steps) { alone.iterate(system.b, steps); };
      detail::return_to_best<T, S>(system, *place.convergence, alone.r(), best, repeat);
    } catch (const OutOfMemory&) {
      detail::require_alone(ctx);
    }
  }

  int check_every() const {
    int least = MonitorState::max_between_polls;
    for (const auto& place : places) {
      if (place != nullptr) least = std::min(least, place->convergence->check_every());
    }
    return least;
  }

  void poll_all() {
    state = fetch(ctx, own.state_.data());
    std::vector<int> ended, going;
    for (int c = 0; c < width; ++c) {
      if (places[static_cast<std::size_t>(c)] != nullptr) (poll(c) ? going : ended).push_back(c);
    }
    // Columns that were reported before the caller stopped the solve are stopped now.
    for (const int c : going) {
      if (progress.stopped() && !poll(c)) ended.push_back(c);
    }
    for (const int c : ended) end(c);
  }

  // Continues with fewer places where those suffice. False when no column is left.
  bool adjust() {
    std::vector<int> kept;
    for (int c = 0; c < width; ++c) {
      if (places[static_cast<std::size_t>(c)] != nullptr) kept.push_back(c);
    }
    if (kept.empty()) return false;
    const int wanted = batch_width(static_cast<Index>(kept.size()));
    if (wanted == width) return true;
    own.narrow(ctx, width, wanted, kept);
    const BatchState wide = state;
    std::vector<std::unique_ptr<Place>> left(static_cast<std::size_t>(wanted));
    for (std::size_t c = 0; c < left.size(); ++c) {
      state.monitor[c].event = Event::iterations_spent;
      if (c >= kept.size()) continue;
      const int from = kept[c];
      state.monitor[c] = wide.monitor[from];
      state.rr[c] = wide.rr[from];
      state.rz[c] = wide.rz[from];
      state.rho_old[c] = wide.rho_old[from];
      state.pq[c] = wide.pq[from];
      state.alpha[c] = wide.alpha[from];
      left[c] = std::move(places[static_cast<std::size_t>(from)]);
    }
    places = std::move(left);
    width = wanted;
    return true;
  }

  std::vector<SolveReport> all() {
    state.preconditioned = M != nullptr;
    for (MonitorState& monitor : state.monitor) monitor.event = Event::iterations_spent;
    for (int c = 0; c < width; ++c) fill(c);
    std::function<void()> step;
    for (int bound = 0; adjust();) {
      IterationGraph<S>& graph = own.graphs_[static_cast<std::size_t>(level_of(width))];
      if (bound != width) {
        step = own.iteration(ctx, A, M, width);
        graph.bind(ctx, A, M, own.x_.span());
        bound = width;
      }
      copy<BatchState>(ctx, Span<const BatchState, Space::host>(&state, 1), own.state_.span());
      graph.repeat(check_every(), step);
      poll_all();
    }
    return std::move(reports);
  }
};

template <class T, Space S>
BatchCg<T, S>::BatchCg(const Context<S>& ctx, Index n) : n_(n), state_(ctx, 1) {}
template <class T, Space S>
BatchCg<T, S>::~BatchCg() = default;

template <class T, Space S>
void BatchCg<T, S>::reserve(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
                            int width) {
  std::uint64_t bytes = 0;
  for (int k = 1; k <= width; k *= 2) {
    bytes = std::max(bytes, A.column_work_bytes(k));
    if (M != nullptr) bytes = std::max(bytes, M->column_work_bytes(k));
  }
  if (width > capacity_) {
    capacity_ = 0;
    const std::int64_t size = std::int64_t{n_} * width;
    for (Array<T, S>* vectors : {&r_, &z_, &p_, &q_, &x_}) {
      *vectors = Array<T, S>();
      *vectors = Array<T, S>(ctx, size);
      fill<T, S>(ctx, T(0), vectors->span());  // places that never get a column hold numbers
    }
    column_r_ = Array<T, S>(ctx, n_);
    column_work_ = Array<T, S>(ctx, n_);
    capacity_ = width;
    graphs_.clear();
  }
  if (work_.size() < static_cast<std::int64_t>(bytes)) {
    work_ = Array<char, S>();
    work_ = Array<char, S>(ctx, static_cast<std::int64_t>(bytes));
    graphs_.clear();
  }
  if (graphs_.empty()) graphs_.resize(4);  // they hold the addresses of the vectors
}

// One iteration of k columns moves k times the vectors that one of `Cg` moves, and the matrix once.
template <class T, Space S>
template <int k>
std::function<void()> BatchCg<T, S>::iteration(const Context<S>& ctx, const LinearOperator<T, S>& A,
                                               const LinearOperator<T, S>* M) {
  const std::int64_t n = n_;
  const T* const d = M != nullptr ? M->traits().diagonal.data : nullptr;
  BatchState* const s = state_.data();
  const auto batch = [&](Array<T, S>& vectors) { return vectors.span().subspan(0, n * k); };
  const Span<T, S> r = batch(r_), p = batch(p_), q = batch(q_), x = batch(x_);
  const bool forms_z = M != nullptr && d == nullptr;  // also on a rank without rows, whose vectors have no address
  const Span<T, S> z = forms_z ? batch(z_) : r;
  const Span<char, S> work = work_;
  const auto direction = [=, &ctx] {
    if (d != nullptr) return sweep_columns(ctx, n, BatchDirection<T, k, true>{s, d, r.data, p.data, x.data});
    sweep_columns(ctx, n, BatchDirection<T, k, false>{s, nullptr, z.data, p.data, x.data});
  };
  const auto update = [=, &ctx] {
    if (d != nullptr) return sweep_columns(ctx, n, BatchUpdate<T, k, true>{s, d, q.data, r.data});
    sweep_columns(ctx, n, BatchUpdate<T, k, false>{s, nullptr, q.data, r.data});
  };
  return [=, &ctx, &A] {
    if (forms_z) M->apply_dot_columns(ctx, k, r, z, s->rz, work);  // z = M r, rho = r.z
    direction();                                                   // x += alpha p, p = z + (rho / rho_old) p
    A.apply_dot_columns(ctx, k, p, q, s->pq, work);                // q = A p, p.q
    update();                                                      // r -= alpha q, |r|, with D: rho = r.D r
  };
}

template <class T, Space S>
std::function<void()> BatchCg<T, S>::iteration(const Context<S>& ctx, const LinearOperator<T, S>& A,
                                               const LinearOperator<T, S>* M, int width) {
  if (width == 8) return iteration<8>(ctx, A, M);
  if (width == 4) return iteration<4>(ctx, A, M);
  return width == 2 ? iteration<2>(ctx, A, M) : iteration<1>(ctx, A, M);
}

// By way of q, which holds nothing between iterations.
template <class T, Space S>
void BatchCg<T, S>::narrow(const Context<S>& ctx, int wide, int narrow, const std::vector<int>& kept) {
  BatchNarrow<T> step{};
  step.to = q_.data();
  step.wide = wide;
  step.narrow = narrow;
  std::copy(kept.begin(), kept.end(), step.kept);
  const std::int64_t size = std::int64_t{n_} * narrow;
  for (Array<T, S>* vectors : {&r_, &p_, &x_}) {
    step.from = vectors->data();
    sweep(ctx, n_, step);
    copy<T>(ctx, q_.cspan().subspan(0, size), vectors->span().subspan(0, size));
  }
}

template <class T, Space S>
std::vector<SolveReport> BatchCg<T, S>::solve(const Context<S>& ctx, const LinearOperator<T, S>& A,
                                              const LinearOperator<T, S>* M, Span<const T, S> b, Span<T, S> x,
                                              Index columns, const StopCriterion& stop, ColumnProgress& progress,
                                              InitialGuess guess) {
  ctx.make_current();
  reserve(ctx, A, M, batch_width(columns));
  return Run{*this, ctx, A, M, b, x, columns, stop, progress, guess}.all();
}

#define X(T, S) template class BatchCg<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
