// SPDX-License-Identifier: Apache-2.0
// Ctrl-C during a solve.
#include "interrupt.hpp"

#include <cerrno>
#include <ctime>

namespace newel::cli {
namespace {

InterruptLogic logic;

extern "C" void on_signal(int number) {
  const int kept = errno;
  struct timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (logic.on_signal(std::int64_t{now.tv_sec} * 1000000000 + now.tv_nsec) == InterruptLogic::Meaning::end_now) {
    std::signal(number, SIG_DFL);
    std::raise(number);  // comes when this handler has returned
  }
  errno = kept;
}

}  // namespace

InterruptScope::InterruptScope() {
  logic.reset();
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;  // a write of the live line that is under way continues
  // A shell starts background jobs with the signal ignored, and nohup means it: then it stays so.
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    sigaction(numbers[k], nullptr, &old_[k]);
    if (old_[k].sa_handler != SIG_IGN) sigaction(numbers[k], &action, nullptr);
  }
}

InterruptScope::~InterruptScope() {
  // What was asked to stop now writes its results; a signal repeated then must not cost them.
  if (logic.requested()) return;
  for (std::size_t k = 0; k < numbers.size(); ++k) sigaction(numbers[k], &old_[k], nullptr);
}

bool InterruptScope::requested() const { return logic.requested(); }

void ignore_signals_of_writes() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace newel::cli
