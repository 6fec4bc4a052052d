// SPDX-License-Identifier: Apache-2.0
/// What the functions of AsyncSolves return: a solve on a separate thread, until its report is taken.
#pragma once

#include <memory>
#include <vector>

#include <newel/solver/krylov.hpp>

namespace newel {
namespace detail {
class SolveGate;
template <class Result>
struct SolveTask;
}  // namespace detail

/// A solve that is running, or has ended and whose report has not been taken. `Result` is a SolveReport, or a vector
/// of them. Movable, not copyable; used by one thread at a time. It may outlive the system, whose destructor waits
/// for the solve.
///
/// Destroying or assigning to a pending solve cancels it and waits for it. x then holds what a stopped solve leaves,
/// and an error is lost.
template <class Result>
class Pending {
 public:
  Pending(Pending&&) noexcept;
  Pending& operator=(Pending&&) noexcept;
  ~Pending();

  /// Whether `get` would return without waiting.
  bool ready() const;
  /// Waits until the solve has ended. System and context stay locked.
  void wait() const;
  /// Asks the solve to stop at its next check, like a progress callback that returns false. Its status is then
  /// `stopped_by_caller`, unless it ended before. Returns at once.
  void cancel();
  /// Waits, unlocks system and context and returns the report, or rethrows what the solve threw. Only once:
  /// afterwards this and the functions above throw InputError. They also throw if the report was moved to another
  /// object.
  Result get();

 private:
  friend class detail::SolveGate;
  explicit Pending(std::shared_ptr<detail::SolveTask<Result>> task);
  detail::SolveTask<Result>& task() const;

  std::shared_ptr<detail::SolveTask<Result>> task_;
};

/// A pending solve for one right-hand side.
using PendingSolve = Pending<SolveReport>;
/// A pending solve for several right-hand sides, with a report for each.
using PendingColumns = Pending<std::vector<SolveReport>>;

}  // namespace newel
