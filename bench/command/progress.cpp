// SPDX-License-Identifier: Apache-2.0
// The progress of measurements on a terminal.
#include "progress.hpp"

#include <algorithm>

#include "apps/common/text.hpp"

namespace newel::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds live_interval{100};

}  // namespace

std::string format_bench_line(const std::string& what, const std::string& contender, int turn, int turns,
                              double seconds, int width) {
  const std::string line =
      text("%s  %s  %d of %d  %s", what.c_str(), contender.c_str(), turn, turns, clock_text(seconds).c_str());
  return line.substr(0, static_cast<std::size_t>(std::max(width, 0)));
}

BenchProgress::BenchProgress(std::FILE* out)
    : out_(out),
      live_(LiveProgress::mode_for(out, false) == LiveProgress::Mode::live),
      line_(out),
      start_(Clock::now()) {}

void BenchProgress::begin(const std::string& what, int turns) {
  what_ = what;
  turn_ = 0;
  turns_ = turns;
}

void BenchProgress::turn_of(const std::string& contender) {
  ++turn_;
  if (!live_) return;
  const Clock::time_point now = Clock::now();
  if (turn_ > 1 && now - last_drawn_ < live_interval) return;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  // The last column stays free: some terminals wrap when it is written.
  line_.draw(format_bench_line(what_, contender, turn_, turns_, seconds, terminal_width(out_) - 1));
  last_drawn_ = now;
}

}  // namespace newel::cli
