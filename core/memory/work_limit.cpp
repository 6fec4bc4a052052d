// SPDX-License-Identifier: Apache-2.0
// The clock and the caller, asked in the middle of work.
#include "core/memory/work_limit.hpp"

#include <limits>
#include <utility>

#include "core/memory/context_lock.hpp"

namespace newel::detail {
namespace {

constexpr double most_seconds = 1e9;  // more than a clock of nanoseconds can add is no limit

}  // namespace

void WorkLimit::begin(double seconds, Ask ask) {
  ended_ = WorkEnd::none;
  owner_ = std::this_thread::get_id();
  asked_ = Clock::now();
  timed_ = seconds < most_seconds;
  if (timed_) end_ = asked_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  ask_ = std::move(ask);
  active_ = timed_ || ask_;
}

void WorkLimit::end() {
  active_ = false;
  ask_ = {};
}

void WorkLimit::check_active() {
  constexpr std::chrono::milliseconds between_asks{50};
  const WorkEnd before = ended_.load(std::memory_order_relaxed);
  if (before != WorkEnd::none) throw WorkInterrupted(before);
  const auto now = Clock::now();
  WorkEnd end = WorkEnd::none;
  if (timed_ && now > end_) end = WorkEnd::time;
  if (end == WorkEnd::none && ask_ && std::this_thread::get_id() == owner_ && now - asked_ > between_asks) {
    asked_ = now;
    if (!ask_()) end = WorkEnd::caller;
  }
  if (end == WorkEnd::none) return;
  ended_ = end;
  throw WorkInterrupted(end);
}

double WorkLimit::seconds_left() const {
  if (!active_ || !timed_) return std::numeric_limits<double>::infinity();
  return std::chrono::duration<double>(end_ - Clock::now()).count();
}

WorkLimit& work_limit(const Context<Space::host>& ctx) { return lock_of(ctx)->work(); }

}  // namespace newel::detail
