// SPDX-License-Identifier: Apache-2.0
/// Ctrl-C: the first SIGINT or SIGTERM during a solve asks it to stop, the second ends the process.
#pragma once

#include <csignal>

namespace purlin::cli {

/// Catches the two signals while it lives. One at a time.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  /// Whether a signal has come.
  bool requested() const;

 private:
  struct sigaction old_interrupt_ = {};
  struct sigaction old_terminate_ = {};
};

}  // namespace purlin::cli
