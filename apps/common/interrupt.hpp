// SPDX-License-Identifier: Apache-2.0
/// Ctrl-C: the first SIGINT, SIGTERM or SIGHUP during a solve asks it to stop; one more than a second later ends the
/// process.
#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>

namespace newel::cli {

/// What a signal means, by the time at which it comes. `timeout` and batch systems send several within milliseconds:
/// those are one wish to stop, not a second one to end at once. Safe in a signal handler.
class InterruptLogic {
 public:
  enum class Meaning { stop, repeated, end_now };
  static constexpr std::int64_t patience = 1000000000;  ///< ns after the first signal in which others mean the same

  /// `now`: ns of a clock that does not go back, not negative.
  Meaning on_signal(std::int64_t now) noexcept {
    std::int64_t first = none;
    if (first_.compare_exchange_strong(first, now)) return Meaning::stop;
    return now - first > patience ? Meaning::end_now : Meaning::repeated;
  }
  bool requested() const noexcept { return first_ != none; }
  void reset() noexcept { first_ = none; }

 private:
  static constexpr std::int64_t none = -1;
  std::atomic<std::int64_t> first_{none};
  static_assert(std::atomic<std::int64_t>::is_always_lock_free, "a signal handler must not wait for a lock");
};

/// Catches these signals while it lives; where one has come, also afterwards, when results are written. One at a
/// time.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  /// Whether a signal has come.
  bool requested() const;

 private:
  static constexpr std::array<int, 3> numbers = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, numbers.size()> old_ = {};
};

/// What every program does first: a reader that goes away (| head) and a limit on the size of files make writes fail,
/// which is reported, instead of ending the process without a word.
void ignore_signals_of_writes();

}  // namespace newel::cli
