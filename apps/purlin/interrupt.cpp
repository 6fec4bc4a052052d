// SPDX-License-Identifier: Apache-2.0
// Ctrl-C during a solve.
#include "interrupt.hpp"

namespace purlin::cli {
namespace {

volatile std::sig_atomic_t signal_came = 0;

extern "C" void on_signal(int) {
  signal_came = 1;
  // Either signal disarms both: whichever comes next kills.
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace

InterruptScope::InterruptScope() {
  signal_came = 0;
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;  // a write of the live line that is under way goes on
  // A shell starts background jobs with the signal ignored, and nohup means it: then it stays so.
  sigaction(SIGINT, nullptr, &old_interrupt_);
  if (old_interrupt_.sa_handler != SIG_IGN) sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, nullptr, &old_terminate_);
  if (old_terminate_.sa_handler != SIG_IGN) sigaction(SIGTERM, &action, nullptr);
}

InterruptScope::~InterruptScope() {
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
}

bool InterruptScope::requested() const { return signal_came != 0; }

}  // namespace purlin::cli
