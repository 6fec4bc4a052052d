// SPDX-License-Identifier: Apache-2.0
/// Recurrence: a Krylov method as the driver moves it. Internal.
#pragma once

#include <string_view>
#include <vector>

#include "solver/krylov/methods/best_x.hpp"

namespace newel::detail {

/// Which x a solve keeps, to return the best if it does not converge.
enum class Keeps {
  starts,    ///< where a recurrence begins; if one has diverged, its iterates are computed again
  cycles,    ///< x before a cycle
  iterates,  ///< iterates, at least `iterations_between_keeping` apart
};

/// What the event that ended a recurrence leaves to do.
enum class Verdict {
  outcome,    ///< nothing: it is the outcome
  confirm,    ///< b - A x decides whether the tolerance is met
  breakdown,  ///< another recurrence begins with b - A x, a few times
  cycle_end,  ///< another cycle begins with b - A x, as long as they gain something
};

/// What a method hands to its driver; all of it stays where it is.
template <class T, Space S>
struct RecurrenceParts {
  std::string_view name;
  Span<T, S> r;                     ///< b - A x, from which a recurrence begins
  Span<T, S> work;                  ///< holds nothing once a recurrence has ended
  Span<T, S> kept;                  ///< for the best x
  std::vector<Span<T, S>> carried;  ///< what a recurrence needs to go on, r among them: other operators renumber it
  MonitorState* monitor;            ///< in S
  double* scratch;                  ///< in S
  Keeps keeps;
  bool crosses = false;  ///< a recurrence may go on in one kernel from separate ones, and back
};

/// A recurrence begins with r = b - A x; then come steps, until an event ends it or the driver changes the operators.
/// No function waits for a device but where that is said.
template <class T, Space S>
class Recurrence {
 public:
  virtual ~Recurrence() = default;

  virtual RecurrenceParts<T, S> parts() = 0;
  /// The system from here on: as the solve begins, and after an exchange of its operators. It is there until the
  /// solve ends.
  virtual void bind(const SolveRequest<T, S>& system) = 0;
  /// What is to be watched of this method, after the first `bind`.
  virtual void watch(ConvergenceMonitor<T, S>&) {}

  /// From r, whose norm is `residual`.
  virtual void begin(MonitorState monitor, double residual) = 0;
  /// Queues at most `count` steps. False: a cycle is over.
  virtual bool advance(int count) = 0;
  /// x of the last step. `pausing`: the recurrence may go on.
  virtual void complete(ConvergenceMonitor<T, S>& convergence, bool pausing) = 0;
  /// After an exchange of the operators: goes on from the vectors carried. `residual` is the recurrence's own.
  virtual void resume(const MonitorState&, double /*residual*/) {}
  virtual Verdict judge(Event event) = 0;
  /// Whether another cycle is of no use, by b - A x after this one.
  virtual bool stagnates(const ConvergenceMonitor<T, S>&) { return false; }
  /// So many steps from x, of which the host sees nothing.
  virtual void repeat(int) {}

  /// Whether one kernel can iterate with these operators.
  virtual bool fits_on_chip() { return false; }
  /// The same as the loop's steps in one kernel, from `begin` to an event.
  virtual ResidentEnd run_on_chip(ConvergenceMonitor<T, S>&, KeptIterate& /*best*/, ResidentBegin) {
    return ResidentEnd::declined;
  }
};

}  // namespace newel::detail
