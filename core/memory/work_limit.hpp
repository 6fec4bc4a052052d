// SPDX-License-Identifier: Apache-2.0
/// WorkLimit: what may end a long setup before it is done. Internal.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include <newel/core/context.hpp>
#include <newel/core/error.hpp>

namespace newel::detail {

/// Why work ends before it is done.
enum class WorkEnd { none, time, caller };

/// Thrown by work that is to end. Whoever began it catches it; all that it had made is dropped.
class WorkInterrupted : public Error {
 public:
  explicit WorkInterrupted(WorkEnd why)
      : Error(why == WorkEnd::caller ? "the caller ended the setup" : "the time limit ended the setup"), why_(why) {}
  WorkEnd why() const { return why_; }

 private:
  WorkEnd why_;
};

/// A limit of time, and the caller's wish, for the work that is done with a context and its copies. Loops over rows
/// whose work is not bounded by a few passes over the matrix check it for every row or problem; where nothing limits
/// the work, that reads one number.
class WorkLimit {
 public:
  /// Whether to go on.
  using Ask = std::function<bool()>;

  /// While it lives, the work of this thread and of those that work for it is limited to `seconds` (infinite: not by
  /// time), and by `ask`, which may be empty: called on this thread alone, some times a second. In another scope it
  /// changes nothing.
  class Scope {
   public:
    Scope(WorkLimit& limit, double seconds, Ask ask) : limit_(limit), outermost_(!limit.active_) {
      if (outermost_) limit_.begin(seconds, std::move(ask));
    }
    ~Scope() {
      if (outermost_) limit_.end();
    }
    /// Whether it is this one that limits the work.
    bool outermost() const { return outermost_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    WorkLimit& limit_;
    bool outermost_;
  };

  /// Throws WorkInterrupted where the work is to end. Any thread may call it.
  void check() const {
    if (active_.load(std::memory_order_relaxed)) const_cast<WorkLimit*>(this)->check_active();
  }
  /// Of the limit of time; infinite where there is none.
  double seconds_left() const;
  /// What has ended work in the present scope.
  WorkEnd ended() const { return active_ ? ended_.load() : WorkEnd::none; }

 private:
  using Clock = std::chrono::steady_clock;
  void begin(double seconds, Ask ask);
  void end();
  void check_active();

  std::atomic<bool> active_{false};
  std::atomic<WorkEnd> ended_{WorkEnd::none};
  // Written while no work is done.
  std::thread::id owner_;
  Clock::time_point end_, asked_;
  bool timed_ = false;
  Ask ask_;
};

/// The limit of a context's work, which its copies share; of a device context that of the host context that works for
/// it.
WorkLimit& work_limit(const Context<Space::host>& ctx);
template <Space S>
WorkLimit& work_limit(const Context<S>& ctx) {
  return work_limit(host_context(ctx));
}

}  // namespace newel::detail
