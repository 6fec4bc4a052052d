// SPDX-License-Identifier: Apache-2.0
// The driver of a solve: what is done around the steps of a Krylov method.
#include "solver/krylov/methods/driver.hpp"

#include <cmath>
#include <optional>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/krylov/steps/bicgstab_recurrence.hpp"

namespace newel::detail {
namespace {

constexpr int most_restarts = 5;

/// One solve.
template <class T, Space S>
class Driver {
 public:
  Driver(Recurrence<T, S>& recurrence, const SolveRequest<T, S>& request, int expected)
      : recurrence_(recurrence),
        parts_(recurrence.parts()),
        system_(request),
        convergence_(parts_.name, parts_.r.size, request, parts_.scratch, expected),
        best_(parts_.kept),
        cyclic_(parts_.keeps == Keeps::cycles) {
    recurrence_.bind(*system_);
    recurrence_.watch(convergence_);
  }

  SolveReport run(int& iterations) {
    Next next = open();
    while (next != Next::reported) {
      if (next == Next::begins) begin();
      next =
          on_chip_ ? run_on_chip(next == Next::begins ? ResidentBegin::residual : ResidentBegin::onward) : iterate();
    }
    if (convergence_.seen().iteration > 0 && !convergence_.report.converged()) return_best();
    iterations = convergence_.seen().iteration - convergence_.forecast.present_from();
    return convergence_.close(parts_.r, parts_.work);
  }

 private:
  /// What is to be done.
  enum class Next {
    reported,   ///< nothing: the outcome is known
    begins,     ///< a recurrence, from r = b - A x
    continues,  ///< more steps of the present one
  };

  // r = b - A x, unless one kernel is to form it.
  Next open() {
    on_chip_ = recurrence_.fits_on_chip();
    if (on_chip_) return run_on_chip(ResidentBegin::guess);
    return convergence_.open(parts_.r) ? Next::begins : Next::reported;
  }

  void begin() {
    keep_best();
    if (cyclic_ && convergence_.seen().iteration > 0 && exchange_due(convergence_)) static_cast<void>(renumber());
    if (!on_chip_) recurrence_.begin(convergence_.fresh_monitor(), convergence_.residual.norm());
  }

  void keep_best() {
    const int iteration = convergence_.seen().iteration;
    if (parts_.keeps != Keeps::iterates) return best_.offer(*system_, convergence_.residual.norm(), iteration);
    if (!best_.empty() && iteration < best_.what().iteration + iterations_between_keeping) return;
    best_.offer(*system_, convergence_.report.recurrence_residual, iteration);
  }

  // The steps of a recurrence, up to its event or to an exchange of the operators.
  Next iterate() {
    convergence_.report.resident = false;
    bool more = true, running = true, due = false;
    while (more && running && !due) {
      if (parts_.keeps == Keeps::iterates) keep_best();
      more = recurrence_.advance(cyclic_ ? convergence_.check_every() : until_poll(convergence_));
      running = convergence_.poll(parts_.monitor);
      due = running && !cyclic_ && exchange_due(convergence_);
    }
    recurrence_.complete(convergence_, due);
    return due ? exchange() : judge();
  }

  Next run_on_chip(ResidentBegin begin) {
    switch (recurrence_.run_on_chip(convergence_, best_.what(), begin)) {
      case ResidentEnd::reported:
        return Next::reported;
      case ResidentEnd::event:
        return judge();
      case ResidentEnd::exchange:
        return exchange();
      case ResidentEnd::continue_in_loop:
        on_chip_ = false;
        return Next::begins;
      case ResidentEnd::declined:
        on_chip_ = false;
        return begin == ResidentBegin::onward ? resume() : Next::begins;
    }
    return Next::reported;
  }

  // With other operators a recurrence goes on; with an M that is not the same another one begins.
  Next exchange() {
    const bool was_on_chip = on_chip_;
    const bool same_preconditioner = renumber();
    if (same_preconditioner && (parts_.crosses || on_chip_ == was_on_chip)) return resume();
    if (parts_.keeps == Keeps::starts) best_.forget();  // the recurrence before cannot be repeated
    return renew();
  }

  // Whether M is the same.
  bool renumber() {
    bool same_preconditioner = true;
    const auto changed = exchange_operators(convergence_, parts_.carried, &same_preconditioner);
    if (!changed) return true;
    system_.emplace(*changed);
    recurrence_.bind(*system_);
    on_chip_ = recurrence_.fits_on_chip();
    return same_preconditioner;
  }

  Next resume() {
    if (!on_chip_) recurrence_.resume(convergence_.fresh_monitor(), convergence_.report.recurrence_residual);
    return Next::continues;
  }

  // r = b - A x, from which another recurrence begins.
  Next renew() {
    if (convergence_.residual.form(parts_.r)) {
      convergence_.outcome.conclude(Status::converged);
      return Next::reported;
    }
    if (std::isfinite(convergence_.residual.norm())) return Next::begins;
    convergence_.conclude(Event::not_finite);
    return Next::reported;
  }

  // What follows from the event of a recurrence.
  Next judge() {
    const Event event = convergence_.seen().event;
    switch (recurrence_.judge(event)) {
      case Verdict::confirm:
        if (convergence_.confirm(parts_.r)) return Next::reported;
        return cyclic_ ? next_cycle() : Next::begins;
      case Verdict::cycle_end:
        return judge_cycle();
      case Verdict::breakdown:
        if (convergence_.clock.interrupted()) convergence_.conclude(Event::none);
        if (convergence_.clock.interrupted() || convergence_.report.restarts == most_restarts) break;
        ++convergence_.report.restarts;
        return renew();
      case Verdict::outcome:
        break;
    }
    convergence_.conclude(event, parts_.r);
    return Next::reported;
  }

  // r = b - A x, and whether that or the cycle's event is the outcome.
  Next judge_cycle() {
    const Event event = convergence_.seen().event;
    if (convergence_.residual.form(parts_.r)) convergence_.outcome.conclude(Status::converged);
    if (event == Event::iterations_spent || event == Event::not_finite) convergence_.conclude(event);
    if (convergence_.clock.interrupted()) convergence_.conclude(Event::none);
    return convergence_.outcome.known() ? Next::reported : next_cycle();
  }

  Next next_cycle() {
    if (!recurrence_.stagnates(convergence_)) {
      ++convergence_.report.restarts;
      return Next::begins;
    }
    if (convergence_.seen().event == Event::krylov_space_exhausted) convergence_.outcome.conclude_exhaustion();
    if (convergence_.residual.norm() > convergence_.growth.limit())
      convergence_.outcome.conclude_divergence(convergence_.residual.norm());
    convergence_.outcome.conclude_stagnation();
    return Next::reported;
  }

  // x = the best one. It was judged by a recurrence, which may have drifted: the true residuals decide.
  void return_best() {
    if (parts_.keeps == Keeps::starts) {
      if (!convergence_.outcome.has_grown()) return;
      const auto repeat = [this](int steps) { recurrence_.repeat(steps); };
      return return_to_best<T, S>(*system_, convergence_, parts_.r, best_, repeat);
    }
    if (!convergence_.residual.known() && convergence_.residual.form(parts_.r)) return;
    const double last = convergence_.residual.norm();
    if (best_.empty() || last <= best_.what().residual) return;
    const Span<T, S> x = system_->x;
    copy<T>(system_->ctx, Span<const T, S>(x), parts_.work);
    best_.restore(*system_);
    if (convergence_.residual.form(parts_.r) || !(convergence_.residual.norm() > last)) return;
    copy<T>(system_->ctx, Span<const T, S>(parts_.work), x);
    convergence_.residual.form(parts_.r);
  }

  Recurrence<T, S>& recurrence_;
  const RecurrenceParts<T, S> parts_;
  std::optional<SolveRequest<T, S>> system_;  // changed by an exchange
  ConvergenceMonitor<T, S> convergence_;
  BestX<T, S> best_;
  const bool cyclic_;
  bool on_chip_ = false;  // one kernel iterates
};

}  // namespace

template <class T, Space S>
SolveReport drive(Recurrence<T, S>& recurrence, const SolveRequest<T, S>& request, int& expected) {
  return Driver<T, S>(recurrence, request, expected).run(expected);
}

#define X(T, S) template SolveReport drive(Recurrence<T, S>&, const SolveRequest<T, S>&, int&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
