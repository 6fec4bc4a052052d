// SPDX-License-Identifier: Apache-2.0
// The progress of a simulation on a terminal or in a pipe.
#include "run_progress.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "apps/common/text.hpp"

namespace newel::transient {
namespace {

using cli::text;

constexpr double live_interval_seconds = 0.1;
constexpr double plain_interval_share = 0.05;  // of the run: some twenty lines in all
constexpr double plain_interval_seconds = 1;   // and not more often than this

double share_done(const RunState& state) {
  return state.end > state.start ? (state.time - state.start) / (state.end - state.start) : 1;
}

std::vector<std::string> parts_of(const RunState& state, const TimeUnit& unit) {
  std::vector<std::string> parts;
  parts.push_back(text("%.6g of %.6g %s", state.time, state.end, unit.name.c_str()));
  parts.push_back(text("%3.0f%%", 100 * share_done(state)));
  parts.push_back(cli::clock_text(seconds_left(state)) + " left");
  const std::string pace = pace_text(real_time_factor(state, unit));
  if (!pace.empty()) parts.push_back(pace);
  if (state.newton > 0) parts.push_back(text("newton %lld", static_cast<long long>(state.newton)));
  parts.push_back(text("iterations %lld", static_cast<long long>(state.iterations)));
  if (!state.note.empty()) parts.push_back(state.note);
  return parts;
}

}  // namespace

double real_time_factor(const RunState& state, const TimeUnit& unit) {
  const double simulated = (state.time - state.start) * unit.seconds;
  return simulated > 0 ? state.seconds / simulated : 0;
}

std::string pace_text(double factor) {
  if (!(factor > 0)) return "";
  const double times = factor < 1 ? 1 / factor : factor;
  constexpr double first_of_four_digits = 999.5;
  return (times < first_of_four_digits ? text("%.3g", times) : cli::thousands(std::llround(times))) +
         (factor < 1 ? " times faster" : " times slower") + " than real time";
}

double seconds_left(const RunState& state) {
  const double done = share_done(state);
  return done > 0 ? std::max(0.0, state.seconds * (1 - done) / done) : 0;
}

std::string format_run_line(const RunState& state, const TimeUnit& unit, int width) {
  std::string line;
  for (const std::string& part : parts_of(state, unit)) {
    const std::string more = (line.empty() ? "" : "  ") + part;
    if (static_cast<int>(line.size() + more.size()) > width) break;
    line += more;
  }
  return line;
}

void RunProgress::update(const RunState& state) {
  if (mode_ == Mode::silent) return;
  const bool ended = state.time >= state.end;
  if (mode_ == Mode::live) {
    if (any_drawn_ && !ended && state.seconds - last_drawn_seconds_ < live_interval_seconds) return;
    // The last column stays free: some terminals wrap when it is written.
    live_.draw(format_run_line(state, unit_, cli::terminal_width(out_) - 1));
  } else {
    const bool far = state.time - last_drawn_time_ >= plain_interval_share * (state.end - state.start);
    const bool late = state.seconds - last_drawn_seconds_ >= plain_interval_seconds;
    if (any_drawn_ && !ended && !(far && late)) return;
    constexpr int any_width = 4096;
    std::fprintf(out_, "  %s\n", format_run_line(state, unit_, any_width).c_str());
    std::fflush(out_);
  }
  any_drawn_ = true;
  last_drawn_seconds_ = state.seconds;
  last_drawn_time_ = state.time;
}

void RunProgress::say(const std::string& line) {
  if (mode_ == Mode::silent) return;
  live_.erase();
  std::fprintf(out_, "  %s\n", line.c_str());
  std::fflush(out_);
}

}  // namespace newel::transient
