// SPDX-License-Identifier: Apache-2.0
// Phases of a process, and when it began.
#include "run_clock.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>

namespace newel::cli {
namespace {

double seconds_of(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Field `number` of proc_pid_stat(5), from 1; empty where there is none. The second field, the program's name, stands
// in parentheses and may hold anything.
std::string_view stat_field(std::string_view stat, int number) {
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return {};
  stat.remove_prefix(name_end + 1);
  for (int field = 3;; ++field) {
    const std::size_t begin = stat.find_first_not_of(' ');
    if (begin == std::string_view::npos) return {};
    stat.remove_prefix(begin);
    const std::size_t end = std::min(stat.find(' '), stat.size());
    if (field == number) return stat.substr(0, end);
    stat.remove_prefix(end);
  }
}

}  // namespace

double process_age(std::string_view stat, double uptime, double ticks_per_second, double processor_seconds) {
  constexpr int start_time = 22;
  const std::string_view field = stat_field(stat, start_time);
  unsigned long long ticks = 0;
  const auto parsed = std::from_chars(field.data(), field.data() + field.size(), ticks);
  if (field.empty() || parsed.ec != std::errc() || ticks == 0 || !(ticks_per_second > 0)) return processor_seconds;
  // The start is rounded down to a tick.
  const double start = static_cast<double>(ticks + 1) / ticks_per_second;
  return std::max(processor_seconds, uptime - start);
}

double process_age() {
  std::ifstream file("/proc/self/stat");
  std::string stat;
  std::getline(file, stat);
  return process_age(stat, seconds_of(CLOCK_BOOTTIME), static_cast<double>(sysconf(_SC_CLK_TCK)),
                     seconds_of(CLOCK_PROCESS_CPUTIME_ID));
}

RunClock::RunClock(double age, std::function<double()> now)
    : now_(now ? std::move(now) : std::function<double()>(steady_seconds)), phase_start_(now_() - age) {}

void RunClock::end(const std::string& phase) {
  const double now = now_();
  const double seconds = now - phase_start_;
  phase_start_ = now;
  const auto known = std::find_if(phases_.begin(), phases_.end(), [&](const auto& p) { return p.first == phase; });
  if (known != phases_.end()) {
    known->second += seconds;
  } else {
    phases_.emplace_back(phase, seconds);
  }
}

double RunClock::seconds(std::string_view phase) const {
  for (const auto& [name, seconds] : phases_) {
    if (name == phase) return seconds;
  }
  return 0;
}

double RunClock::total() const {
  double total = 0;
  for (const auto& phase : phases_) total += phase.second;
  return total;
}

}  // namespace newel::cli
