// SPDX-License-Identifier: Apache-2.0
// The preconditioned conjugate gradient method.
#include <newel/solver/cg.hpp>

#include <limits>
#include <optional>
#include <string>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/krylov/monitor/cg_iteration.hpp"
#include "solver/krylov/monitor/convergence_monitor.hpp"
#include "solver/krylov/monitor/symmetry.hpp"
#include "solver/krylov/resident/resident_cg.hpp"
#include "solver/krylov/steps/cg_steps.hpp"

namespace newel {

using namespace detail;

template <class T, Space S>
Cg<T, S>::Cg(const Context<S>& ctx, Index n, bool resident)
    : cg_(std::make_unique<CgIteration<T, S>>(ctx, n)), start_x_(ctx, n), may_be_resident_(resident) {}
template <class T, Space S>
Cg<T, S>::Cg(Cg&&) noexcept = default;
template <class T, Space S>
Cg<T, S>& Cg<T, S>::operator=(Cg&&) noexcept = default;
template <class T, Space S>
Cg<T, S>::~Cg() = default;

/// One call of `solve`: recurrences, each of which begins with r = b - A x, until one gives the outcome.
template <class T, Space S>
class Cg<T, S>::Run {
 public:
  Run(Cg& solver, const SolveRequest<T, S>& system)
      : own_(solver),
        cg_(*solver.cg_),
        system_(system),
        convergence_(own_.name(), cg_.r().size, system, cg_.scratch(), own_.last_iterations_) {
    convergence_.watch_growth(first_growth, most_growth<T>,
                              [this] { return symmetry_fault(system_->ctx, system_->A, system_->M); });
    convergence_.watch_spectrum(cg_.coefficients());
  }

  SolveReport all() {
    Next next = open();
    while (next != Next::reported) {
      if (next == Next::begins) {
        note_start();
        cg_.begin(system_->ctx, system_->M, convergence_.fresh_monitor(), convergence_.residual());
      }
      next = iterate();
    }
    if (convergence_.has_grown()) {
      if (started_at_zero_) fill<T, S>(system_->ctx, T(0), own_.start_x_.span());
      return_to_best(cg_, *system_, convergence_, own_.start_x_.cspan(), best_);
    }
    own_.last_iterations_ = convergence_.iterations_with_present();
    return convergence_.close(cg_.r(), cg_.q());
  }

 private:
  /// What the loop has to do.
  enum class Next {
    reported,  ///< nothing: the outcome is known
    begins,    ///< a recurrence, from r = b - A x
    goes_on,   ///< more steps of the present one
  };

  // r = b - A x. Where one kernel can solve the system, as a rule nothing is left to do.
  Next open() {
    if constexpr (S == Space::device) {
      if (fits_on_chip()) {
        end_ = own_.resident_->solve(*system_, convergence_, on_chip_vectors());
        if (convergence_.iterations() > 0) least_ = convergence_.report().initial_residual;
        return behind_one_kernel();
      }
    }
    return convergence_.open(cg_.r()) ? Next::begins : Next::reported;
  }

  // The start of the recurrence with the smallest residual is kept. A resident solve has kept the guess there, and
  // may leave the end to the loop.
  void note_start() {
    if (!(convergence_.residual() > least_)) {
      started_at_zero_ = system_->guess == InitialGuess::zero && convergence_.iterations() == 0;
      if (!started_at_zero_) copy<T>(system_->ctx, Span<const T, S>(system_->x), own_.start_x_.span());
      least_ = convergence_.residual();
      best_ = {convergence_.iterations(), -1};
    } else if (best_.end < 0) {
      best_.end = convergence_.iterations();
    }
  }

  // The steps of a recurrence, up to its event or to an exchange of the operators.
  Next iterate() {
    const typename CgIteration<T, S>::Step step = cg_.bind(system_->ctx, system_->A, system_->M, system_->x);
    bool running = true, due = false;
    while (running && !due) {
      cg_.repeat(convergence_.until_poll(), step);
      running = convergence_.poll(&cg_.state()->monitor);
      due = running && convergence_.exchange_due();
    }
    cg_.finish(system_->ctx, system_->x);
    if (due) return exchange(cg_.pause(system_->ctx), false);
    if (ends_recurrence_alone()) return convergence_.confirm(cg_.r()) ? Next::reported : Next::begins;  // r = b - A x
    convergence_.conclude(convergence_.event(), cg_.r());
    return Next::reported;
  }

  // Whether the event is no outcome by itself: the tolerance was met, or p.A p <= 0 or r.M r <= 0 by rounding.
  bool ends_recurrence_alone() {
    const auto& [ctx, A, M, b, x, stop, progress, guess, exchange] = *system_;
    switch (convergence_.event()) {
      case Event::tolerance_met:
        return true;
      case Event::matrix_not_positive:
        return !is_not_positive_along<T, S>(ctx, A, cg_.p(), cg_.q(), cg_.scratch());
      case Event::precond_not_positive:
        return M == nullptr || !is_precond_not_positive_along<T, S>(ctx, *M, cg_.r(), cg_.q(), cg_.scratch());
      default:
        return false;
    }
  }

  // With other operators the recurrence goes on from r, p and the scalars of its last step; with an M that is not the
  // same another one begins. Either in one kernel, where that is possible.
  Next exchange(const CgScalars& last, bool in_one_kernel) {
    bool same_preconditioner = true;
    const auto changed = convergence_.exchange({cg_.r(), cg_.p(), own_.start_x_}, &same_preconditioner);
    if (changed) system_.emplace(*changed);
    if (same_preconditioner) {
      if (goes_on_in_one_kernel(last, in_one_kernel && !changed)) return behind_one_kernel();
      if (in_one_kernel) {
        cg_.resume(system_->ctx, system_->M, convergence_.fresh_monitor(), convergence_.report().recurrence_residual,
                   last);
      }
      return Next::goes_on;
    }
    least_ = std::numeric_limits<double>::infinity();  // the recurrence before cannot be repeated
    if (convergence_.form_residual(cg_.r())) {
      convergence_.conclude(Status::converged);
      return Next::reported;
    }
    note_start();
    fill<T, S>(system_->ctx, T(0), cg_.p());
    if (goes_on_in_one_kernel({std::numeric_limits<double>::infinity(), 1}, false)) return behind_one_kernel();
    return Next::begins;
  }

  // From r, p and the scalars of a step; `has_s`: and from s = A p. False where the loop has to.
  bool goes_on_in_one_kernel([[maybe_unused]] const CgScalars& last, [[maybe_unused]] bool has_s) {
    end_ = ResidentEnd::event;
    if constexpr (S == Space::device) {
      if (fits_on_chip()) end_ = own_.resident_->go_on(*system_, convergence_, on_chip_vectors(), last, has_s);
    }
    if (end_ == ResidentEnd::event) convergence_.report().resident = false;
    return end_ != ResidentEnd::event;
  }

  // What `end_` leaves to do.
  Next behind_one_kernel() {
    if constexpr (S == Space::device) {
      if (end_ == ResidentEnd::exchange) return exchange(own_.resident_->last_scalars(system_->ctx), true);
    }
    return end_ == ResidentEnd::continue_in_loop ? Next::begins : Next::reported;
  }

  bool fits_on_chip() {
    own_.prepare(system_->ctx, system_->A, system_->M);
    if constexpr (S == Space::device) return own_.resident_ != nullptr && own_.resident_->fits();
    return false;
  }
  auto on_chip_vectors() {
    if constexpr (S == Space::device)
      return ResidentCgVectors<T>{cg_.r(), cg_.p(), cg_.q(), own_.start_x_, cg_.coefficients()};
  }

  Cg& own_;
  CgIteration<T, S>& cg_;
  std::optional<SolveRequest<T, S>> system_;  // changed by an exchange
  ConvergenceMonitor<T, S> convergence_;
  double least_ = std::numeric_limits<double>::infinity();  // residual at `start_x_`
  bool started_at_zero_ = false;                            // `start_x_` is zero, and not filled
  CgHistory best_;                                          // the recurrence that began there
  ResidentEnd end_ = ResidentEnd::event;                    // of the last kernel
};

template <class T, Space S>
SolveReport Cg<T, S>::run(const SolveRequest<T, S>& request) {
  return Run(*this, request).all();
}

template <class T, Space S>
void Cg<T, S>::iterate(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
                       Span<const T, S> b, Span<T, S> x, int iterations) {
  check_system<T, S>(cg_->r().size, A, M, b, x);
  if (iterations < 0) throw InputError("the number of iterations is 0 or more, not " + std::to_string(iterations));
  cg_->iterate(ctx, A, M, b, x, iterations);
}

template <class T, Space S>
void Cg<T, S>::prepare(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M) {
  if constexpr (S == Space::device) {
    if (!may_be_resident_ || (resident_ != nullptr && resident_->serves(ctx, A, M))) return;
    ctx.make_current();
    resident_ = std::make_shared<ResidentCg<T>>(ctx, A, M);
  }
}

#define X(T, S) template class Cg<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
