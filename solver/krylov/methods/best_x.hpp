// SPDX-License-Identifier: Apache-2.0
/// BestX: the x that a solve keeps, to return it if it does not converge. Internal.
#pragma once

#include <functional>
#include <limits>

#include "solver/krylov/monitor/convergence_monitor.hpp"
#include "solver/krylov/resident/resident_system.hpp"

namespace newel::detail {

template <class T, Space S>
class BestX {
 public:
  /// A copy is kept in `kept`.
  explicit BestX(Span<T, S> kept) : kept_(kept) {}

  bool empty() const { return what_.residual == std::numeric_limits<double>::infinity(); }
  KeptIterate& what() { return what_; }
  const KeptIterate& what() const { return what_; }
  /// Of a recurrence that began with it, the last iteration; negative: it is under way.
  int last() const { return last_; }

  /// Keeps x after so many iterations if its residual is the least so far. A guess of zeros is not copied.
  void offer(const SolveRequest<T, S>& system, double residual, int iteration);
  void forget() { what_ = {}; }
  /// x = the kept one.
  void restore(const SolveRequest<T, S>& system) const;

 private:
  Span<T, S> kept_;
  KeptIterate what_;
  bool is_zero_ = false;
  int last_ = -1;
};

/// x = the iterate of least residual of the recurrence that began with `start`, computed again by `repeat`, which
/// makes so many steps from x: iterates are not kept on the way, which would cost every solve, and those of one that
/// diverged are few. x = `start` where that is the best. r = b - A x.
template <class T, Space S>
void return_to_best(const SolveRequest<T, S>& system, ConvergenceMonitor<T, S>& convergence, Span<T, S> r,
                    const BestX<T, S>& start, const std::function<void(int)>& repeat);

}  // namespace newel::detail
