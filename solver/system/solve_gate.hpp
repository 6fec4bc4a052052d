// SPDX-License-Identifier: Apache-2.0
/// A LinearSystem's side of its asynchronous solves: starts them, refuses other calls, waits for them. Internal.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include <newel/solver/pending_solve.hpp>
#include "core/memory/context_lock.hpp"

namespace newel::detail {

class WorkerThread;

class SolveGate {
 public:
  /// A solve as the calling thread would do it, with this callback.
  template <class Result>
  using Solve = std::function<Result(const ProgressFn&)>;

  explicit SolveGate(std::shared_ptr<ContextLock> lock) : lock_(std::move(lock)) {}

  /// Throws InUse while a solve on the context is pending, but for the thread that runs it.
  void require_free() const { lock_->require_free(); }

  /// Runs `solve` on a thread of its own. Throws InUse, and std::system_error where there are no more threads.
  template <class Result>
  Pending<Result> start(Solve<Result> solve, ProgressFn progress);

  /// Waits until the solve that runs, if one does, has ended; its report may be taken later.
  void settle() const noexcept;

 private:
  std::shared_ptr<ContextLock> lock_;
  std::weak_ptr<WorkerThread> running_;
};

}  // namespace newel::detail
