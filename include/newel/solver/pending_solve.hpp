// SPDX-License-Identifier: Apache-2.0
/// What `LinearSystem::solve_async` returns: a solve that runs on a thread of its own, until its report is taken.
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

/// A solve under way, or one that has ended and whose report has not been taken: `Result` is a SolveReport, or a
/// vector of them. Moves, never copies; used by one thread at a time. It may outlive the system, which waits for the
/// solve before it goes.
///
/// A pending solve that is destroyed, or assigned to, is cancelled, and waited for: x then holds what a solve that
/// was stopped leaves, and an error is lost.
template <class Result>
class Pending {
 public:
  Pending(Pending&&) noexcept;
  Pending& operator=(Pending&&) noexcept;
  ~Pending();

  /// Whether `get` would not have to wait.
  bool ready() const;
  /// Waits until the solve has ended. System and context stay locked.
  void wait() const;
  /// Asks the solve to stop at its next check, as a progress callback that returns false does: its status is then
  /// `stopped_by_caller`, unless it ended before. Returns at once.
  void cancel();
  /// Waits, unlocks system and context and returns the report, or throws what the solve threw. Once only: throws
  /// InputError after that, and where the report has moved elsewhere, as the functions above do.
  Result get();

 private:
  friend class detail::SolveGate;
  explicit Pending(std::shared_ptr<detail::SolveTask<Result>> task);
  detail::SolveTask<Result>& task() const;

  std::shared_ptr<detail::SolveTask<Result>> task_;
};

/// Of one right-hand side.
using PendingSolve = Pending<SolveReport>;
/// Of several right-hand sides, with a report for each.
using PendingColumns = Pending<std::vector<SolveReport>>;

}  // namespace newel
