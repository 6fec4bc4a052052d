// SPDX-License-Identifier: Apache-2.0
/// RunProgress: a simulation as it runs, as one line updated in place on a terminal, as a few plain lines in a pipe.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "apps/common/live_progress.hpp"

namespace newel::transient {

/// What a line shows.
struct RunState {
  double time = 0;   ///< simulated, in the program's unit
  double end = 0;    ///< of the run
  double start = 0;  ///< where this process began: not 0 after a resume
  double step = 0;   ///< the step just taken
  std::int64_t steps = 0;
  std::int64_t newton = 0;      ///< Newton iterations of the step; 0: none are made
  std::int64_t iterations = 0;  ///< Krylov iterations of the step
  double seconds = 0;           ///< wall clock, since this process began to step
  std::string note;             ///< the program's own, short: "hottest 81.3 C"; may be empty
};

/// How a program counts time.
struct TimeUnit {
  std::string name;    ///< "ms", "s"
  double seconds = 1;  ///< 1e-3, 1
};

/// Wall-clock seconds per simulated second so far; below 1: faster than real time. 0 before the first step.
double real_time_factor(const RunState& state, const TimeUnit& unit);
/// "8.2 times slower than real time", "37 times faster than real time" of such a factor; "" for 0.
std::string pace_text(double factor);
/// Wall-clock seconds that the rest will take at the pace so far; 0 before the first step.
double seconds_left(const RunState& state);

/// "12.5 of 400 ms   3%  1:12 min left  8.2 times slower than real time  newton 3  iterations 14  note", in at most
/// `width` columns; parts are left out from the right where it is too narrow.
std::string format_run_line(const RunState& state, const TimeUnit& unit, int width);

/// Draws on `out`; nothing at all when silent.
class RunProgress {
 public:
  using Mode = cli::LiveProgress::Mode;  ///< see LiveProgress::mode_for

  RunProgress(std::FILE* out, Mode mode, TimeUnit unit)
      : out_(out), mode_(mode), live_(out), unit_(std::move(unit)) {}

  /// After each step. Cheap when nothing is due: a live line is drawn ten times a second at most, a plain one when a
  /// twentieth of the run went without one, and at the end.
  void update(const RunState& state);

  /// A line of its own, above the live one: "step halved to 0.05 ms". Nothing when silent.
  void say(const std::string& line);

  /// Ends the drawing: a live line is taken away. May be called again.
  void finish() { live_.erase(); }

 private:
  std::FILE* out_;
  Mode mode_;
  cli::LiveLine live_;
  TimeUnit unit_;
  bool any_drawn_ = false;
  double last_drawn_seconds_ = 0;
  double last_drawn_time_ = 0;
};

}  // namespace newel::transient
